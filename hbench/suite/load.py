"""Suite file to Suite."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hbench.errors import SuiteError
from hbench.suite.model import Suite
from hbench.suite.rules import RULES, Refusal
from hbench.tomlfile import line_of, parse_toml, read_text, validate
from hbench.tomllines import Location


@dataclass(frozen=True, kw_only=True)
class LoadedSuite:
    """A suite and where it came from.

    Attributes:
        text: The suite as a TOML document: the file as it is, or what file and flags amount to.
        base: The folder that relative paths in the suite are relative to.
        name: What messages call it.
        is_file: Whether `text` is what stands in the file called `name`, so that its lines can be named.
    """

    suite: Suite
    text: str
    base: Path
    name: str
    is_file: bool = True

    def where(self, loc: Location) -> str:
        """The place of a key as a message names it: with its line, if it stands in a file."""
        line = line_of(self.text, loc) if self.is_file else None
        return self.name if line is None else f"{self.name}:{line}"

    def error(self, refusal: Refusal) -> SuiteError:
        """The refusal as an error that names the line where it stands."""
        return SuiteError(refusal.what, where=self.where(refusal.loc), hint=refusal.hint)

    def checked(self) -> "LoadedSuite":
        """This suite, if no rule refuses it.

        Raises:
            SuiteError: The first refusal of a rule.
        """
        for rule in RULES:
            for refusal in rule(self.suite):
                raise self.error(refusal)
        return self


def load_suite(path: Path, *, base: Path | None = None) -> LoadedSuite:
    """The suite in a file, checked.

    Args:
        base: What its relative paths are relative to; the file's folder if None.

    Raises:
        SuiteError: The file cannot be read or says something it may not; names file, line and key.
    """
    return read_suite(path, base=base).checked()


def read_suite(path: Path, *, base: Path | None = None) -> LoadedSuite:
    """The suite in a file, its types checked but not what one key says about another: flags may yet change that."""
    text = read_text(path, error=SuiteError, hint="Give the path of a suite file, or none for the default suite.")
    return parse_suite(text, base=base or path.parent, name=str(path))


def parse_suite(
    text: str,
    *,
    base: Path,
    name: str,
    is_file: bool = True,
    flag_of: Callable[[Location], str | None] = lambda _: None,
) -> LoadedSuite:
    """The suite in a TOML document, its types checked; errors name the flag that said a key, where one did."""
    data = parse_toml(text, name=name, error=SuiteError)
    suite = validate(data, Suite, text=text if is_file else "", name=name, error=SuiteError, flag_of=flag_of)
    return LoadedSuite(suite=suite, text=text, base=base, name=name, is_file=is_file)
