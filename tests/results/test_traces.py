"""What names a machine or a person is found, and what any log may contain is not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.results.traces import Needles, Trace, gather, host_traces, telling, without_traces

MAC_HOMES = "/Users"
ANNA = Needles(folders=("/home/anna/jobs", "/srv/bench/jobs"), users=("anna",), hosts=("annas-pc", "zeus"))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("read /srv/bench/jobs/x/lock.json", "read <FOLDER>/x/lock.json"),
        ("file:///srv/bench/jobs", "file://<FOLDER>"),
        ("in /home/anna/jobs.", "in <FOLDER>."),
        ("at /home/anna/notes", "at <USER>/notes"),
        (f"at {MAC_HOMES}/anna", "at <USER>"),
        ("anna@annas-pc:~$ ls", "<USER>@<HOST>:~$ ls"),
        ("on ANNAS-PC.example.org", "on <HOST>.example.org"),
        ('{"host": "zeus"}', '{"host": "<HOST>"}'),
    ],
)
def test_a_trace_is_found_and_can_be_replaced(text: str, cleaned: str) -> None:
    """Folders, users and hosts; after replacing, nothing is found."""
    assert host_traces(text, ANNA)
    assert without_traces(text, ANNA) == cleaned
    assert host_traces(cleaned, ANNA) == []


@pytest.mark.parametrize(
    "text",
    [
        "/srv/bench/jobs2/x",
        "/srv/bench/jobs-old",
        "/data/srv/bench/jobs",
        "/home/annabel/x",
        "/home/anna.old/x",
        "hannah and anna went home",
        "joanna@example.org",
        "zeus2 or zeus-1 or my-zeus or zeusss",
        "annas-pcx",
    ],
)
def test_a_longer_word_is_another_word(text: str) -> None:
    """And a user's name alone is a word like any other."""
    assert host_traces(text, ANNA) == []


def test_the_line_is_told_and_every_trace_counts() -> None:
    text = "\nzeus two\n/home/anna/jobs zeus\n"
    assert host_traces(text, ANNA) == [Trace("host", 2), Trace("folder", 3), Trace("host", 3)]


def test_in_json_an_escape_ends_a_word() -> None:
    """The letter of a line end is not the first letter of what follows."""
    text = r'{"message": "failed:\nzeus\t/home/anna/jobs é/srv/bench/jobs"}'
    assert host_traces(text, ANNA) != [Trace("host", 1), Trace("folder", 1), Trace("folder", 1)]
    assert host_traces(text, ANNA, is_json=True) == [Trace("host", 1), Trace("folder", 1)]


@pytest.mark.parametrize(
    ("folder", "tells"),
    [
        ("/", False),
        ("/root", False),
        ("/work", False),
        ("/usr/lib/python3", False),
        ("/etc/ssl/certs", False),
        ("/home/ubuntu", False),
        ("/home/user", False),
        ("/home/anna", True),
        ("/home/ubuntu/bench", True),
        ("/root/bench", True),
        ("/srv/jobs", True),
        (f"{MAC_HOMES}/anna", True),
    ],
)
def test_a_folder_tells_something_unless_every_machine_has_it(folder: str, tells: bool) -> None:
    """Containers have a /root and a /usr too."""
    assert bool(telling(folders=[Path(folder)]).folders) is tells


@pytest.mark.parametrize(
    ("host", "tells"),
    [
        *((common, False) for common in ("localhost", "debian", "Ubuntu", "pc1", "12345", "")),
        *((own, True) for own in ("debian-anna", "zeus", "ip-10-0-0-12", "3f2a9c81d7e0")),
    ],
)
def test_a_host_name_tells_something_unless_it_is_a_common_word(host: str, tells: bool) -> None:
    """A fresh Debian is called debian, and so are its images."""
    assert bool(telling(hosts=[host]).hosts) is tells


@pytest.mark.parametrize(
    ("user", "tells"), [("root", False), ("ubuntu", False), (None, False), ("", False), ("anna", True)]
)
def test_a_user_tells_something_unless_images_have_it_too(user: str | None, tells: bool) -> None:
    assert bool(telling(users=[user]).users) is tells


def test_this_machines_needles_have_the_jobs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the home, the user and the host; as written and with links resolved."""
    (tmp_path / "real").mkdir()
    (tmp_path / "jobs").symlink_to("real")
    monkeypatch.setenv("USER", "anna")
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setattr("platform.node", lambda: "annas-pc.example.org")
    needles = gather([tmp_path / "jobs"])
    assert {str(tmp_path / "jobs"), str((tmp_path / "real").resolve()), "/home/anna"} <= set(needles.folders)
    assert "anna" in needles.users
    assert needles.hosts == ("annas-pc.example.org", "annas-pc")


def test_a_user_without_a_name_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that was started with a bare number."""
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)
    for name in ("USER", "LOGNAME", "SUDO_USER", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert gather().users == ()


def test_without_needles_nothing_is_found_or_changed() -> None:
    assert host_traces("anything", Needles()) == []
    assert without_traces("anything", Needles()) == "anything"


@given(st.text(alphabet="/ahjnomesz@ .-\n", max_size=60))
def test_what_was_replaced_is_gone(text: str) -> None:
    needles = Needles(folders=("/home/anna",), users=("anna", "jo"), hosts=("zeus",))
    assert host_traces(without_traces(text, needles), needles) == []
