import unittest

from envfile import EnvFileError, parse


class ParseTest(unittest.TestCase):
    def test_plain_values(self):
        self.assertEqual(parse("HOST=localhost\nPORT=5432\n"), {"HOST": "localhost", "PORT": "5432"})

    def test_comments_and_blank_lines(self):
        self.assertEqual(parse("# database\n\nHOST=db # the old one\n"), {"HOST": "db"})

    def test_quotes(self):
        self.assertEqual(parse("A='one two'\nB=\"three\\tfour\"\n"), {"A": "one two", "B": "three\tfour"})

    def test_a_reference(self):
        self.assertEqual(parse("HOME=/srv\nLOGS=${HOME}/logs\n"), {"HOME": "/srv", "LOGS": "/srv/logs"})

    def test_no_equals_sign(self):
        with self.assertRaises(EnvFileError):
            parse("HOST\n")


if __name__ == "__main__":
    unittest.main()
