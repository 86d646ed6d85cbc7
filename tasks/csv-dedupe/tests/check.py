"""Whether the clean copy holds the first row of each customer, whole and in order, and the export is untouched."""

import csv
import io
import sys
from pathlib import Path

EXPORT = Path("/app/data/customers.csv")
CLEAN = Path("/app/out/customers_clean.csv")
PRISTINE = Path("/tests/customers.csv")


def rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


def expected() -> list[list[str]]:
    header, *records = rows(PRISTINE.read_bytes())
    email = header.index("email")
    first = {}
    for record in records:
        first.setdefault(record[email].strip().lower(), record)
    return [header, *first.values()]


def main() -> int:
    if EXPORT.read_bytes() != PRISTINE.read_bytes():
        print(f"FAIL: {EXPORT} was changed")
        return 1
    found = rows(CLEAN.read_bytes())
    wanted = expected()
    for number, (row, right) in enumerate(zip(found, wanted), start=1):
        if row != right:
            print(f"FAIL: record {number} is {row}, should be {right}")
            return 1
    if len(found) != len(wanted):
        print(f"FAIL: {len(found)} records, should be {len(wanted)}")
        return 1
    print("PASS")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        print(f"FAIL: {problem}")
        sys.exit(1)
