"""Whether the program builds as it should, and it and its functions do what they should with numbers made up now."""

import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path("/app/stats")
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
WRAPPED = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc", "free")]
RANDOM = random.SystemRandom()
SPACES = (" ", "\n", "\t", "  ", "\r\n", "\n\n", " \v\f")


class Wrong(Exception):
    """What was left is not what it should be."""


def run(command: list[str], folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(folder)}
    return subprocess.run(
        command, cwd=folder / "stats", env=env, input=text, capture_output=True, text=True, timeout=30, **NOBODY
    )


def must_run(command: list[str], folder: Path) -> None:
    done = run(command, folder)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(command)[:80]}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")


def prepare(folder: Path) -> None:
    """A copy of what was not built, owned by nobody, and a gcc before the real one that notes how it is called."""
    shutil.copytree(SOURCES, folder / "stats", symlinks=True, ignore=shutil.ignore_patterns("stats", "*.o"))
    shutil.copy("/tests/probe.c", folder / "probe.c")
    wrapper = folder / "bin" / "gcc"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho "$*" >>{folder}/calls\nexec /usr/bin/gcc "$@"\n')
    subprocess.run(["/bin/chown", "-R", "-h", "65534:65534", str(folder)], check=True)
    subprocess.run(["/bin/chmod", "-R", "u+rwX,go+rX", str(folder)], check=True)
    wrapper.chmod(0o755)


def check_build(folder: Path) -> None:
    must_run(["make", "clean"], folder)
    must_run(["make"], folder)
    if not os.access(folder / "stats" / "stats", os.X_OK):
        raise Wrong("make does not build the program")
    calls = [line.split() for line in (folder / "calls").read_text().splitlines()]
    for source in ("main.c", "sample.c"):
        if not any(source in call for call in calls):
            raise Wrong(f"make does not have gcc compile {source}")
    for call in calls:
        if any(word.endswith(".c") for word in call) and not set(FLAGS) <= set(call):
            raise Wrong(f"flags are missing: gcc {' '.join(call)}")
        if any(word == "-w" or word.startswith("-Wno-") for word in call):
            raise Wrong(f"warnings are switched off: gcc {' '.join(call)}")


def check_functions(folder: Path) -> None:
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", "."]
    must_run(["gcc", *flags, *WRAPPED, "-o", "../probe", "../probe.c", "sample.c", "-lm"], folder)
    done = run(["../probe"], folder)
    if (done.returncode, done.stdout) != (0, "fine\n"):
        raise Wrong(f"sample.c: exit status {done.returncode}, {done.stdout.strip()}")


def check_figures(folder: Path, words: list[str]) -> None:
    text = "".join(word + RANDOM.choice(SPACES) for word in words)
    done = run(["./stats"], folder, text.rstrip() if RANDOM.random() < 0.5 else text)
    numbers = [float.fromhex(word) if "x" in word else float(word) for word in words]
    if not numbers:
        pattern, wanted = "count 0\n", []
    else:
        number = r"(-?\d+\.\d{3})\n"
        pattern = f"count {len(numbers)}\nmean {number}deviation {number}median {number}"
        mean = math.fsum(numbers) / len(numbers)
        squares = math.fsum((value - mean) ** 2 for value in numbers)
        wanted = [mean, math.sqrt(squares / max(1, len(numbers) - 1)), statistics.median(numbers)]
    found = re.fullmatch(pattern, done.stdout)
    if done.returncode != 0 or found is None:
        raise Wrong(f"{text!r:.100}: exit status {done.returncode}, printed {done.stdout!r:.200}")
    for figure, right in zip(found.groups(), wanted, strict=True):
        if abs(float(figure) - right) > 0.0011 + 1e-12 * abs(right):
            raise Wrong(f"{text!r:.100}: printed {done.stdout!r:.200}, should be {wanted}")


def check_refusal(folder: Path, word: str) -> None:
    done = run(["./stats"], folder, f"1 2\n{word}\n3")
    said = f"stats: not a number: {word[:63]}\n"
    if (done.returncode, done.stdout, done.stderr) != (1, "", said):
        printed = f"printed {done.stdout!r:.100}, said {done.stderr!r:.100}"
        raise Wrong(f"{word!r:.100}: exit status {done.returncode}, {printed}")


def check_clean(folder: Path, before: set[str]) -> None:
    must_run(["make", "clean"], folder)
    left = {path.name for path in (folder / "stats").iterdir()} - before
    if left:
        raise Wrong(f"make clean leaves {sorted(left)}")


def some_numbers(count: int, offset: float = 0.0, width: float = 1000.0) -> list[str]:
    return [f"{offset + RANDOM.uniform(-width, width):.4f}" for _ in range(count)]


def check_program(folder: Path) -> None:
    for count in (0, 1, 2, 3, 15, 16, 17, 64, 65, 2000, 2001):
        check_figures(folder, some_numbers(count))
    check_figures(folder, some_numbers(1500, width=0.4))
    check_figures(folder, some_numbers(1500, offset=1e9, width=3.0))
    check_figures(folder, some_numbers(20, width=1e12))
    check_figures(folder, some_numbers(50_000))
    check_figures(folder, ["+1e3", ".5", "-2.", "0x1p4", "0" * 59 + "12.5", "1E-3", "-0"])
    for word in ("12x", "x12", "nan", "inf", "-INF", "1e999", "--5", "1,5", "1" * 64, "7" * 63 + "x", "w" * 300):
        check_refusal(folder, word)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        before = {path.name for path in (folder / "stats").iterdir()}
        for check in (check_build, check_functions, check_program):
            check(folder)
            print(f"PASS: {check.__name__}")
        check_clean(folder, before)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Wrong, OSError, ValueError, shutil.Error, subprocess.SubprocessError) as problem:
        print(f"FAIL: {type(problem).__name__}: {problem}")
        sys.exit(1)
