"""The answers that tasks hold are worked out here a second time, in another way."""

import collections
import csv
import importlib.util
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hbench.shipped import shipped

ENVFILE = shipped("tasks", "envfile-rules")
CASES: list[dict[str, Any]] = json.loads((ENVFILE / "tests" / "cases.json").read_text(encoding="utf-8"))
VAT = shipped("tasks", "vat-regression")


def module(file: Path) -> ModuleType:
    """The Python file as a module, without leaving anything beside it."""
    spec = importlib.util.spec_from_file_location(f"{file.parents[1].name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(found)
    finally:
        sys.dont_write_bytecode = kept
    return found


def test_the_customers_to_keep_are_those_a_person_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    """By reading the file: the first row of each customer."""
    check = module(shipped("tasks", "csv-dedupe", "tests", "check.py"))
    monkeypatch.setattr(check, "PRISTINE", shipped("tasks", "csv-dedupe", "tests", "customers.csv"))
    kept = [int(row[0]) for row in check.expected()[1:]]
    assert kept == [1001, 1002, 1003, 1005, 1006, 1008, 1011, 1012, 1014, 1015, 1017, 1020, 1021, 1024]


def test_the_verifier_compares_with_the_export_as_it_was_given() -> None:
    """Its own copy is the same to the byte, and has what makes the task worth trying."""
    copies = [shipped("tasks", "csv-dedupe", part, "customers.csv") for part in ("environment/data", "tests")]
    assert copies[0].read_bytes() == copies[1].read_bytes()
    with copies[0].open(newline="", encoding="utf-8") as file:
        values = [value for row in csv.reader(file) for value in row]
    for piece in (",", "\n", '"', "\t"):
        assert any(piece in value for value in values)


def test_the_figures_of_the_log_report_are_right() -> None:
    """Worked out with split and sorted groups instead of a pattern and counters."""
    folder = shipped("tasks", "log-report")
    lines = [
        line
        for name in ("access.log.1", "access.log")
        for line in (folder / "environment" / "logs" / name).read_text().split("\n")
    ]
    whole = [line.split(" ") for line in lines if line.count(" ") == 7 and not line.endswith(" ")]
    requests = [fields for fields in whole if fields[2] in ('"GET', '"POST', '"HEAD')]
    hours = collections.defaultdict(list)
    sent: dict[str, int] = collections.defaultdict(int)
    for fields in requests:
        moment = datetime.fromisoformat(fields[1]).timestamp()
        hours[moment // 3600].append(moment)
        sent[fields[3].split("?")[0]] += int(fields[6].replace("-", "0"))
    took = sorted(int(fields[7]) for fields in requests if fields[2] == '"GET' and fields[5] == "200")
    busiest = max(hours, key=lambda hour: len(hours[hour]))
    assert json.loads((folder / "tests" / "expected.json").read_text()) == {
        "requests": len(requests),
        "clients": len({fields[0] for fields in requests}),
        "error_share": round(len([fields for fields in requests if 500 <= int(fields[5]) <= 599]) / len(requests), 4),
        "busiest_hour": datetime.fromtimestamp(busiest * 3600, UTC).strftime("%Y-%m-%dT%H"),
        "heaviest_path": max(sent, key=lambda path: sent[path]),
        "p95_ms": next(ms for ms in took if len([other for other in took if other <= ms]) >= 0.95 * len(took)),
    }


def outcome(envfile: ModuleType, text: str) -> dict[str, Any]:
    try:
        return {"values": envfile.parse(text)}
    except envfile.EnvFileError as problem:
        return {"error": problem.line}


def wanted(case: dict[str, Any]) -> dict[str, Any]:
    return {key: case[key] for key in ("values", "error") if key in case}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_each_case_marked_as_right_before_is_and_no_other(case: dict[str, Any]) -> None:
    """So whoever does nothing gets exactly 0."""
    assert (outcome(module(ENVFILE / "environment/app/envfile.py"), case["text"]) == wanted(case)) == case["before"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_the_solution_gets_each_case_right(case: dict[str, Any]) -> None:
    """So whoever solves the task gets exactly 1."""
    assert outcome(module(ENVFILE / "solution/envfile.py"), case["text"]) == wanted(case)


def git(repository: Path, *arguments: str, text: str | None = None) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True, encoding="utf-8").stdout


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of vat-regression, as its Dockerfile makes it."""
    repository = tmp_path_factory.mktemp("shop")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "fast-import", "--quiet", text=(VAT / "environment/history.fi").read_text(encoding="utf-8"))
    git(repository, "checkout", "--quiet", "main")
    return repository


def printed(repository: Path, commit: str, *orders: Path) -> str:
    """What that version prints; empty if it does not run."""
    git(repository, "checkout", "--quiet", "--force", commit)
    command = [sys.executable, "-B", "-m", "shop", *map(str, orders)]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False).stdout


def commits(repository: Path) -> list[str]:
    return git(repository, "rev-list", "--reverse", "main").split()


def test_the_named_commit_is_the_first_that_prints_a_wrong_vat(shop: Path) -> None:
    """Hashes come out the same everywhere, so the answer can be written down."""
    check = module(VAT / "tests/check.py")
    order = VAT / "environment/orders/2041.json"
    right = check.summary(json.loads(order.read_text()))
    assert right == "2041 net 36.75 vat 4.18 total 40.93"
    lines = {commit: printed(shop, commit, order).strip() for commit in commits(shop)}
    assert next(commit for commit, line in lines.items() if line not in ("", right)) == check.FIRST_BAD
    assert list(lines.values()).count("") == 1
    assert lines[commits(shop)[-1]] in (VAT / "instruction.md").read_text(encoding="utf-8")


def test_no_commit_holds_the_answer(shop: Path, tmp_path: Path) -> None:
    """None is right about an order with shipping, credit and voucher of which the mended program is right."""
    check = module(VAT / "tests/check.py")
    lines = [{"item": "hook", "quantity": 1, "price": "4.45", "rate": "19"}] * 3
    extras: list[dict[str, Any]] = [
        {"shipping": {"price": "4.45", "rate": "19"}},
        {"credit": True},
        {"voucher": "5.00"},
    ]
    orders = [{"id": number, "lines": lines, **extra} for number, extra in enumerate(extras)]
    files = [tmp_path / f"{order['id']}.json" for order in orders]
    for file, order in zip(files, orders, strict=True):
        file.write_text(json.dumps(order))
    right = "".join(check.summary(order) + "\n" for order in orders)
    versions = commits(shop)
    assert not any(printed(shop, commit, *files) == right for commit in versions)
    git(shop, "checkout", "--quiet", "--force", versions[-1])
    git(shop, "apply", str(VAT / "solution/vat-per-rate.patch"))
    command = [sys.executable, "-B", "-m", "shop", *map(str, files)]
    assert subprocess.run(command, cwd=shop, capture_output=True, text=True, check=True).stdout == right


def test_the_history_holds_nothing_but_what_leads_to_head(shop: Path) -> None:
    """No branch, tag or unreachable commit with a version of later on."""
    assert git(shop, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert git(shop, "fsck", "--unreachable", "--no-reflogs").strip() == ""
    assert len(commits(shop)) == 12
    assert not re.search(r"vat|cent off|regression", git(shop, "log", "--format=%B", "3ad60d5d^..main"), re.IGNORECASE)


def test_the_verifier_rounds_half_cents_away_from_zero() -> None:
    """As the README of the repository demands, on credit notes too."""
    check = module(VAT / "tests/check.py")
    assert [check.rounded(check.Fraction(n, 2)) for n in (-3, -1, 1, 3)] == [-2, -1, 1, 2]
    assert [check.money(cents) for cents in (-5, 0, 7, 123456)] == ["-0.05", "0.00", "0.07", "1234.56"]
