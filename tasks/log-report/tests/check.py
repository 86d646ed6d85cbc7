"""Write the share of right figures, and which ones are right, to the file given as argument."""

import json
import sys
from pathlib import Path

REPORT = Path("/app/report.json")
EXPECTED = json.loads(Path("/tests/expected.json").read_text())


def report() -> dict[str, object]:
    try:
        found = json.loads(REPORT.read_bytes())
    except (OSError, ValueError, RecursionError) as problem:
        print(f"{REPORT}: {problem}")
        return {}
    if not isinstance(found, dict):
        print(f"{REPORT} holds no JSON object")
        return {}
    return found


def right(found: object, wanted: object) -> bool:
    """Numbers by value, so that 224.0 is 224; True is no number."""
    if isinstance(wanted, str):
        return found == wanted
    return isinstance(found, int | float) and not isinstance(found, bool) and found == wanted


def main() -> None:
    found = report()
    figures = {key: int(right(found.get(key), wanted)) for key, wanted in EXPECTED.items()}
    for key, good in figures.items():
        print(f"{'PASS' if good else 'FAIL'}: {key} is {str(found.get(key))[:80]}")
    reward = {"reward": sum(figures.values()) / len(figures), **figures}
    Path(sys.argv[1]).write_text(json.dumps(reward) + "\n")


if __name__ == "__main__":
    main()
