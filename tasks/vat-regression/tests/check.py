"""Whether the right commit is named, and the program is right about orders made up now."""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

ANSWER = Path("/app/first-bad.txt")
REPOSITORY = Path("/app/shop")
FIRST_BAD = "3ad60d5d56dd5d12845e3cbfcf9f6876b25cd00a"
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
RUN = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("shop", run_name="__main__", alter_sys=True)
"""
RANDOM = random.SystemRandom()


def money(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def rounded(cents: Fraction) -> int:
    """To the cent, halves away from zero."""
    size = floor(abs(cents) + Fraction(1, 2))
    return -size if cents < 0 else size


def some_line(rates: list[str]) -> dict[str, Any]:
    line = {"item": "thing", "quantity": RANDOM.randint(1, 9), "price": money(RANDOM.randint(500, 20_000))}
    if RANDOM.random() < 0.4:
        line["discount"] = RANDOM.choice(["5", "10", "12.5", "33"])
    return {**line, "rate": RANDOM.choice(rates)}


def some_order(number: int) -> dict[str, Any]:
    rates = RANDOM.sample(["19", "7", "5.5", "25.5"], k=RANDOM.randint(1, 3))
    order: dict[str, Any] = {"id": number, "lines": [some_line(rates) for _ in range(RANDOM.randint(1, 8))]}
    if RANDOM.random() < 0.4:
        order["shipping"] = {"price": money(RANDOM.randint(290, 1990)), "rate": RANDOM.choice(rates)}
    if RANDOM.random() < 0.3:
        order["credit"] = True
    if RANDOM.random() < 0.4:
        order["voucher"] = RANDOM.choice(["5.00", "20.00", "17.35", "100000.00"])
    return order


def summary(order: dict[str, Any]) -> str:
    """What the program should print, worked out with fractions of cents."""
    sign = -1 if order.get("credit") else 1
    nets: dict[str, int] = defaultdict(int)
    for line in [*order["lines"], *([order["shipping"]] if "shipping" in order else [])]:
        price = Fraction(line["price"]) * 100 * (1 - Fraction(line.get("discount", 0)) / 100)
        nets[line["rate"]] += rounded(sign * line.get("quantity", 1) * price)
    net = sum(nets.values())
    vat = sum(rounded(amount * Fraction(rate) / 100) for rate, amount in nets.items())
    voucher = int(Fraction(order.get("voucher", 0)) * 100)
    total = max(net + vat - voucher, 0) if sign > 0 else net + vat
    return f"{order['id']} net {money(net)} vat {money(vat)} total {money(total)}"


def run(program: Path, names: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-B", "-c", RUN, str(program), *names]
    return subprocess.run(
        command, cwd=folder, env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, **NOBODY
    )


def check_answer() -> str | None:
    found = ANSWER.read_text().strip()
    return None if found == FIRST_BAD else f"{ANSWER} says {found!r:.80}"


def check_program(folder: Path) -> str | None:
    program = folder / "program"
    shutil.copytree(REPOSITORY, program, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    orders = [some_order(number) for number in range(1, 201)]
    for order in orders:
        (folder / f"{order['id']}.json").write_text(json.dumps(order))
    subprocess.run(["/bin/chmod", "-R", "a+rX", str(folder)], check=True)
    done = run(program, [f"{order['id']}.json" for order in orders], folder)
    printed = done.stdout.splitlines()
    for order, line in zip(orders, printed):
        if line != summary(order):
            return f"{json.dumps(order)}: printed {line!r:.120}, should be {summary(order)!r}"
    if done.returncode != 0 or len(printed) != len(orders):
        return f"exit status {done.returncode} after {len(printed)} orders: {done.stderr[-500:]}"
    (folder / "empty.json").write_text('{"id": 1, "lines": []}')
    (folder / "empty.json").chmod(0o644)
    for name in ("empty.json", "missing.json"):
        done = run(program, [name], folder)
        if done.returncode != 1 or name not in done.stderr:
            return f"{name}: exit status {done.returncode}, said {done.stderr[-200:]!r}"
    return None


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        fault = check_answer() or check_program(Path(folder))
    print(f"FAIL: {fault}" if fault else "PASS")
    return 1 if fault else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, shutil.Error, subprocess.SubprocessError) as problem:
        print(f"FAIL: {type(problem).__name__}: {problem}")
        sys.exit(1)
