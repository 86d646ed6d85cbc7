"""Old keys of task.toml, turned into those of format 1.4."""

import re
from collections.abc import Mapping
from typing import Any

from hbench.tomllines import Location
from hbench.tomlwords import shown

VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
_SIZE = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([KMG])\s*", re.IGNORECASE)
_MEBIBYTES = {"K": 1 / 1024, "M": 1, "G": 1024}
Table = dict[str, Any]


class OldKeyError(ValueError):
    """An old key has an impossible value, or says something else than the key that took its place."""

    def __init__(self, location: Location, what: str, hint: str) -> None:
        super().__init__(what)
        self.location = location
        self.hint = hint


def migrate(document: Mapping[str, Any]) -> Table:
    """The document with `version`, `memory`, `storage` and `allow_internet` under today's names; `document` stays.

    Raises:
        OldKeyError: An old key cannot be read or contradicts its new one, or the format's version is unknown.
    """
    migrated = _versioned(dict(document))
    _migrate_environment(migrated, ())
    _migrate_verifier(migrated, ())
    steps = migrated.get("steps")
    if isinstance(steps, list):
        migrated["steps"] = [dict(step) if isinstance(step, dict) else step for step in steps]
        for index, step in enumerate(migrated["steps"]):
            if isinstance(step, dict):
                _migrate_verifier(step, ("steps", index))
    return migrated


def _versioned(document: Table) -> Table:
    old = document.pop("version", None)
    key = "schema_version" if "schema_version" in document else "version"
    version = document.get("schema_version", VERSIONS[-1] if old is None else old)
    if old is not None and old != version:
        raise OldKeyError(
            ("version",), f'"version" {shown(old)} contradicts "schema_version" {shown(version)}', "Keep one of them."
        )
    if version not in VERSIONS:
        what = f'"{key}" {shown(version)} is not a known format of task.toml'
        raise OldKeyError((key,), what, f"Known: {', '.join(VERSIONS)}, written as strings.")
    return {**document, "schema_version": version}


def _migrate_verifier(parent: Table, location: Location) -> None:
    verifier = parent.get("verifier")
    if isinstance(verifier, dict):
        parent["verifier"] = dict(verifier)
        _migrate_environment(parent["verifier"], (*location, "verifier"))


def _migrate_environment(parent: Table, location: Location) -> None:
    environment = parent.get("environment")
    if not isinstance(environment, dict):
        return
    table = dict(environment)
    parent["environment"] = table
    for old, new, read in (
        ("memory", "memory_mb", _mebibytes),
        ("storage", "storage_mb", _mebibytes),
        ("allow_internet", "network_mode", _network_mode),
    ):
        if old not in table:
            continue
        where = (*location, "environment", old)
        said = table.pop(old)
        value = read(said, where)
        if table.setdefault(new, value) != value:
            what = f'"{old}" {shown(said)} contradicts "{new}" {shown(table[new])}'
            raise OldKeyError(where, what, f'Keep "{new}" and remove "{old}", its old name.')


def _mebibytes(said: Any, location: Location) -> int:
    match = _SIZE.fullmatch(said) if isinstance(said, str) else None
    size = int(float(match[1]) * _MEBIBYTES[match[2].upper()]) if match else 0
    if size < 1:
        hint = f'Write a size of at least 1 MiB such as "512M" or "2G", or use "{location[-1]}_mb" and a number.'
        raise OldKeyError(location, f'"{location[-1]}" {shown(said)} is not a size', hint)
    return size


def _network_mode(said: Any, location: Location) -> str:
    if not isinstance(said, bool):
        raise OldKeyError(location, f'"allow_internet" {shown(said)} is neither true nor false', 'Use "network_mode".')
    return "public" if said else "no-network"
