"""What would tell on which machine, and by whom, a job was run: found before sealing, replaced before writing.

The rule keeps to what names somebody. A path counts when it has at least two parts and lies outside the system's own
folders, so `/root` does not count and `/root/bench/jobs` does. A user counts as a home folder or before an `@`, and not
when half the world's images have such a user. A host name counts as a whole word in any case, when it has more than
three characters, a letter among them, and is not a word that any log may contain.
"""

import contextlib
import os
import platform
import pwd
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["folder", "user", "host"]

_SYSTEM = frozenset("bin boot dev etc lib lib32 lib64 proc run sbin sys usr".split())  # noqa: SIM905
_COMMON_USERS = frozenset("admin agent app debian docker nobody node root runner ubuntu user vagrant".split())  # noqa: SIM905
_COMMON_HOSTS = frozenset(
    """
    admin agent alpine arch archlinux arm64 bench bookworm build builder buildkit centos client cloud computer container
    database debian default desktop devbox devcontainer docker engine fedora gateway harness home host hostname image
    instance jammy kali laptop linux local localdomain localhost machine main master mint model network node notebook
    noble package packages platform proxy python raspberrypi root runner runtime server service suite system task test
    tester testing trial trixie ubuntu unknown user vagrant verifier version windows worker workspace workstation
    """.split()  # noqa: SIM905 - a list would be eighty lines
)
_JSON_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, kw_only=True)
class Needles:
    """What to look for: absolute folders, user names, host names."""

    folders: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """Where something was found; `line` counts from 1."""

    kind: Kind
    line: int


def gather(folders: Iterable[Path] = ()) -> Needles:
    """This machine's needles; `folders` are those of the job beside the home and the working folder."""
    users = [os.environ.get(name) for name in ("USER", "LOGNAME", "SUDO_USER")]
    homes = [os.environ.get("HOME")]
    with contextlib.suppress(KeyError):  # in a container the user may have a number and no name
        entry = pwd.getpwuid(os.getuid())
        users.append(entry.pw_name)
        homes.append(entry.pw_dir)
    node = platform.node()
    return telling(
        folders=[*folders, *(Path(home) for home in homes if home), Path.cwd()],
        users=users,
        hosts=(node, node.partition(".")[0]),
    )


def telling(
    *, folders: Iterable[Path] = (), users: Iterable[str | None] = (), hosts: Iterable[str | None] = ()
) -> Needles:
    """Those of the given names that tell something."""
    both = {str(form) for folder in folders for form in (folder.absolute(), folder.resolve())}
    return Needles(
        folders=_longest_first(path for path in both if _folder_tells(path)),
        users=_longest_first(user for user in users if user and user not in _COMMON_USERS),
        hosts=_longest_first(host for host in hosts if host and _host_tells(host)),
    )


def _longest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words), key=lambda word: (-len(word), word)))


def _folder_tells(path: str) -> bool:
    parts = path.strip("/").split("/")
    if len(parts) < 2 or parts[0] in _SYSTEM:  # noqa: PLR2004
        return False
    return not (parts[0] in {"home", "Users"} and len(parts) == 2 and parts[1] in _COMMON_USERS)  # noqa: PLR2004


def _host_tells(host: str) -> bool:
    return len(host) > 3 and any(c.isalpha() for c in host) and host.lower() not in _COMMON_HOSTS  # noqa: PLR2004


def host_traces(text: str, needles: Needles, *, is_json: bool = False) -> list[Trace]:
    """Every trace in `text`, in order; with `is_json` an escape sequence ends a word as the character itself would."""
    pattern = _pattern(needles)
    if pattern is None:
        return []
    plain = _JSON_ESCAPE.sub(" ", text) if is_json else text
    return [Trace(_kind(found), plain.count("\n", 0, found.start()) + 1) for found in pattern.finditer(plain)]


def without_traces(text: str, needles: Needles) -> str:
    """`text` with `<FOLDER>`, `<USER>` and `<HOST>` in the place of what `host_traces` would find."""
    pattern = _pattern(needles)
    return text if pattern is None else pattern.sub(lambda found: f"<{_kind(found).upper()}>", text)


def _kind(found: re.Match[str]) -> Kind:
    if found["folder"] is not None:
        return "folder"
    return "host" if found["host"] is not None else "user"


def _pattern(needles: Needles) -> re.Pattern[str] | None:
    if needles == Needles():
        return None
    user = _any_of(needles.users)
    return re.compile(
        rf"(?<![\w.-])(?P<folder>{_any_of(needles.folders)})(?![\w-])"
        rf"|(?<![\w-])(?P<host>(?i:{_any_of(needles.hosts)}))(?![\w-])"
        rf"|/(?:home|Users)/{user}(?![\w.-])|(?<![\w.-]){user}(?=@\w)"
    )


def _any_of(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})" if words else r"(?!)"
