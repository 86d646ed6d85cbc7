"""The tasks that the benchmarks run: siblings of csv-dedupe with different data, and images built beforehand."""

import csv
import io
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker

TASK_COUNT = 20
EMAILS = ("ada@example.com", "bo@example.com", "cy@example.com", "di@example.com", "ed@example.com", "flo@example.com")

INSTRUCTION = """\
`/app/data/customers.csv` has duplicate customers: rows whose `email` is the same after trimming whitespace and
lowercasing. Write `/app/out/customers_clean.csv` with the same header, keeping each customer's first row, in order.
"""

TASK_TOML = """\
version = "1.0"

[agent]
timeout_sec = 120.0

[verifier]
timeout_sec = 120.0

[environment]
docker_image = "{image}"
cpus = 1
memory_mb = 512
"""

SOLVE = """\
#!/bin/bash
mkdir -p /app/out
python3 - <<'EOF'
import csv
with open("/app/data/customers.csv", newline="") as file:
    header, *rows = csv.reader(file)
first = {}
for row in rows:
    first.setdefault(row[2].strip().lower(), row)
with open("/app/out/customers_clean.csv", "w", newline="") as file:
    csv.writer(file).writerows([header, *first.values()])
EOF
"""

TEST = """\
#!/bin/bash
mkdir -p /logs/verifier
if cmp /tests/expected.csv /app/out/customers_clean.csv; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""


def customers(seed: int) -> tuple[str, str]:
    """The file that the agent is given, and the one that it should write."""
    rng = random.Random(seed)  # noqa: S311 - sample data
    picks = list(EMAILS) + rng.choices(EMAILS, k=4)
    rng.shuffle(picks)
    rows, kept = [], []
    for number, email in enumerate(picks, 1):
        repeated = email in picks[: number - 1]
        shown = rng.choice([email.upper(), email + " "]) if repeated else email
        rows.append([number, email.partition("@")[0].title(), shown, f"2024-01-{number:02}"])
        if not repeated:
            kept.append(rows[-1])
    return _csv(rows), _csv(kept)


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([["id", "name", "email", "signup_date"], *rows])
    return text.getvalue()


def write_task(folder: Path, *, seed: int, image: str, base: str, solve: str = SOLVE) -> None:
    """Write one task folder whose task.toml names `image`, and the Dockerfile that makes it."""
    given, expected = customers(seed)
    files = {
        "task.toml": TASK_TOML.format(image=image),
        "instruction.md": INSTRUCTION,
        "environment/Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY customers.csv /app/data/customers.csv\n",
        "environment/customers.csv": given,
        "solution/solve.sh": solve,
        "tests/test.sh": TEST,
        "tests/expected.csv": expected,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")


@contextmanager
def tasks(folder: Path, *, base: str, count: int = TASK_COUNT, solve: str = SOLVE) -> Iterator[list[str]]:
    """Write the tasks into `folder` and build their images; yields the images' names, and removes them at the end."""
    client = docker.from_env()
    images = [f"hbench-benchmark-{number:02}:1" for number in range(1, count + 1)]
    try:
        for number, image in enumerate(images, 1):
            task = folder / f"csv-dedupe-{number:02}"
            write_task(task, seed=number, image=image, base=base, solve=solve)
            client.images.build(path=str(task / "environment"), tag=image, rm=True)
        yield images
    finally:
        for image in images:
            if client.images.list(name=image):
                client.images.remove(image, force=True)
        client.close()
