"""`${VAR}` and `${VAR:-default}` in the environment variables that a task sets.

As in Harbor a template is the whole value; `http://${HOST}/` is plain text. Only host variables that the suite's
`[env] pass` names are ever read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hbench.errors import TaskError
from hbench.text import safe

_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """A task's variables with their templates filled in.

    Attributes:
        literal: Those that owe nothing to the host; they may stand in the container's own environment.
        secret: Those made from a host variable; they are only handed to exec's.
    """

    literal: Mapping[str, str]
    secret: Mapping[str, str] = field(repr=False)


def resolve(env: Mapping[str, str], *, passed: Mapping[str, str]) -> Resolved:
    """`env` with each template replaced by the passed host variable's value or, without one, by its default.

    Args:
        env: As the task's file has it.
        passed: Names and values of the host variables that `[env] pass` names and the host has set. A variable that
            is set but empty counts as set.

    Raises:
        TaskError: A template has neither.
    """
    literal, secret = {}, {}
    for key, value in env.items():
        template = _TEMPLATE.fullmatch(value)
        if template is None:
            literal[key] = value
        elif template[1] in passed:
            secret[key] = passed[template[1]]
        elif template[2] is not None:
            literal[key] = template[2]
        else:
            variable = safe(template[1])
            hint = f"Set {variable} on this machine and add {variable} to [env] pass of the suite."
            raise TaskError(f'"{safe(key)}" needs the host variable {variable}, which is not passed', hint=hint)
    return Resolved(literal=literal, secret=secret)


def has_partial_template(value: str) -> bool:
    """Whether a person may have expected a template here, though it is plain text."""
    return "${" in value and _TEMPLATE.fullmatch(value) is None
