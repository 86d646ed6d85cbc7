"""Imports go one way: from the suite file to the sealed job, and from the sealed job to the reports.

Every import counts, one inside a function too. docs/architecture/ draws the same picture.
"""

import ast
import graphlib
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "hbench"

GROUND = {"errors", "shipped", "text", "tomlfile", "tomllines", "tomlwords", "version"}
INPUTS = {"suite", "task", "adapter"}
MAY_IMPORT = {
    "suite": GROUND | INPUTS | {"results"},
    "task": GROUND | INPUTS | {"results"},
    "adapter": GROUND | INPUTS | {"results"},
    "plan": GROUND | INPUTS | {"results"},
    "container": GROUND | {"results"},
    "trial": GROUND | INPUTS | {"plan", "container", "results"},
    "job": GROUND | INPUTS | {"plan", "container", "trial", "results"},
    "results": {"errors", "text"},
    "stats": set[str](),
    "report": {"text", "results", "stats"},
    "cli": GROUND | INPUTS | {"plan", "container", "trial", "job", "results", "stats", "report"},
} | dict.fromkeys(GROUND, GROUND)


def imports_of(source: str) -> set[str]:
    """Every module that `source` imports, absolute; a name taken from a module counts as a module of its own."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute here"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def stations() -> dict[str, list[Path]]:
    """What lies directly in the package -> its files."""
    parts = [part for part in PACKAGE.iterdir() if part.suffix == ".py" or (part / "__init__.py").is_file()]
    return {
        part.stem: sorted(part.rglob("*.py")) if part.is_dir() else [part]
        for part in parts
        if part.name != "__init__.py"
    }


def imported_stations(files: list[Path]) -> set[str]:
    """The stations of hbench that these files import."""
    names = {name for file in files for name in imports_of(file.read_text(encoding="utf-8"))}
    return {name.split(".")[1] for name in names if name.startswith("hbench.")}


def module_name(file: Path) -> str:
    """`hbench.stats.rates`; of a package's `__init__.py` the package's name."""
    return ".".join(("hbench", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def imported_modules(file: Path, known: Collection[str]) -> Iterator[str]:
    """Those of the known modules that `file` imports or takes a name from."""
    for name in imports_of(file.read_text(encoding="utf-8")):
        yield from [module for module in (name, name.rpartition(".")[0]) if module in known][:1]


def test_an_import_inside_a_function_counts() -> None:
    """A late import is still an import."""
    assert imports_of("def f():\n    from hbench.job import run\n") == {"hbench.job.run"}


def test_every_station_has_a_place() -> None:
    """A new package says in MAY_IMPORT where in the flow it stands."""
    assert set(stations()) == set(MAY_IMPORT)


@pytest.mark.parametrize("station", sorted(MAY_IMPORT))
def test_a_station_imports_only_what_may_stand_before_it(station: str) -> None:
    """Its own modules, and those that MAY_IMPORT names."""
    imported = imported_stations(stations()[station]) - {station}
    assert imported <= MAY_IMPORT[station]


def test_no_two_stations_import_each_other() -> None:
    """The packages can be put in an order in which each imports earlier ones only."""
    graph = {station: imported_stations(files) - {station} for station, files in stations().items()}
    assert set(graphlib.TopologicalSorter(graph).static_order()) >= set(graph)


def test_no_two_modules_import_each_other() -> None:
    """Inside a station, too, each module can be read before those that need it; imports for types alone count."""
    files = {module_name(file): file for group in stations().values() for file in group}
    graph = {name: set(imported_modules(file, files.keys())) - {name} for name, file in files.items()}
    assert set(graphlib.TopologicalSorter(graph).static_order()) == set(files)


def test_only_the_container_package_speaks_to_docker() -> None:
    """Everything else goes through its door: no `import docker`, no `docker` process."""
    elsewhere = [file for station, files in stations().items() if station != "container" for file in files]
    assert [str(file.relative_to(PACKAGE)) for file in elsewhere if speaks_to_docker(file)] == []


def speaks_to_docker(file: Path) -> bool:
    source = file.read_text(encoding="utf-8")
    argv_heads = [
        node.elts[0] for node in ast.walk(ast.parse(source)) if isinstance(node, ast.List | ast.Tuple) and node.elts
    ]
    return any(name.split(".")[0] == "docker" for name in imports_of(source)) or any(
        isinstance(head, ast.Constant) and head.value == "docker" for head in argv_heads
    )
