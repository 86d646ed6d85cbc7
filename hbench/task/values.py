"""The kinds of values that a task.toml holds, each with its own check."""

import re
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from hbench.task.model import User

LONGEST_S = 366 * 24 * 3600
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_USER = re.compile(r"[^\s:\x00-\x1f]+(:[^\s:\x00-\x1f]+)?")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_MAX_ID = 2**32 - 2


def _no_nul(value: str) -> str:
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return value


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _user(value: Any) -> User:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID:
        return value
    if isinstance(value, str) and _USER.fullmatch(value):
        return value
    raise ValueError('must be a user\'s name or number, such as "app" or 1000')


def _variables(value: dict[str, str]) -> dict[str, str]:
    for key in value:
        if not key or "=" in key or "\x00" in key:
            raise ValueError(f"{key!r} cannot be the name of an environment variable")
    return value


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError("must be an absolute path in the container")
    return value


def _no_way_up(value: str) -> str:
    parts = PurePosixPath(value).parts
    if ".." in parts:
        raise ValueError('must not contain ".."')
    if _CONTROL.search(value):
        raise ValueError("must not contain control characters")
    if any(len(part.encode()) > 255 for part in parts):  # noqa: PLR2004 - what file systems allow
        raise ValueError("has a part of more than 255 bytes")
    return value


def _destination(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute():
        raise ValueError("must be relative to the trial's artifacts folder")
    if "\\" in value:
        raise ValueError("must separate its parts by forward slashes")
    if not path.parts:
        raise ValueError("must name a file or folder")
    if path == PurePosixPath("manifest.json"):
        raise ValueError('"manifest.json" is the name of the collection\'s own list')
    return value


def host(value: str) -> str:
    """`value` as an allowlist keeps it: a host name, `*.` and a host name, an IP address or a CIDR range, lower case.

    Raises:
        ValueError: It is none of these, such as a URL or a host with a port.
    """
    entry = value.strip().lower().rstrip(".")
    if "/" in entry or ":" in entry:
        return _address(entry)
    name = entry.removeprefix("*.")
    if not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError(f"{value!r} is not a host name, an address or a CIDR range; leave out scheme, port and path")
    if entry != name and _is_address(name):
        raise ValueError(f"{value!r}: a wildcard stands before a host name, not before an address")
    return entry


def _address(entry: str) -> str:
    try:
        parsed: IPv4Network | IPv6Network | IPv6Address
        parsed = ip_network(entry) if "/" in entry else IPv6Address(entry)
    except ValueError as problem:
        raise ValueError(f"{entry!r} is not an IP address or a CIDR range") from problem
    if "%" in entry:
        raise ValueError(f"{entry!r}: an address with a zone means nothing in a container")
    return parsed.compressed


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


Text = Annotated[str, AfterValidator(_no_nul)]
Limit = Annotated[float, Field(gt=0, le=LONGEST_S, allow_inf_nan=False)]
Pause = Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)]
Cpus = Annotated[float, Field(gt=0, le=1024, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_whole)]
Mebibytes = Annotated[Count, Field(ge=1, le=2**40)]
UserName = Annotated[User, PlainValidator(_user)]
Variables = Annotated[dict[str, Text], AfterValidator(_variables)]
Host = Annotated[str, AfterValidator(host)]
Optional = BeforeValidator(_none_if_empty)
AbsolutePath = Annotated[Text, AfterValidator(_absolute)]
ArtifactSource = Annotated[str, AfterValidator(_absolute), AfterValidator(_no_way_up)]
ArtifactDestination = Annotated[str, AfterValidator(_destination), AfterValidator(_no_way_up)]
