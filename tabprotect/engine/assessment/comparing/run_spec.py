"""Specifications of runs, as a person writes them: ``cell_key D=5 V=3 js=1,2``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.workers.spreading import Workers, workers_field
from tabprotect.languages.messages import joined, message, uncapital


@dataclass(frozen=True, kw_only=True)
class Scope(Options):
    """The part of every release that is compared; ``None`` where it follows from the releases.

    Attributes
    ----------
    margins
        A formula of the published sub-tables: for every method that takes one, and the cells that
        are compared. Without it every method publishes what it publishes, and the cells compared
        are those of every sub-table: what a release does not publish is added up where it can be.
    groupings
        For use in the formula.
    key, sensitive
        What an intruder knows and wants to know; by default the last variable is sensitive and the
        others are the key.
    """

    goes_with = "counts"

    margins: str | None = option_field(
        None,
        label=message("Tables"),
        metavar="FORMULA",
        help=message("published tables, a*b + c, for every method that takes them"),
    )
    groupings: str | None = option_field(None, metavar="TEXT", help=message("of categories, for the formula"))
    key: Sequence[str] | None = option_field(
        None, label=message("Known"), metavar="A,B", help=message("what a reader knows of somebody")
    )
    sensitive: str | None = option_field(
        None,
        label=message("Wanted"),
        metavar="C",
        help=message("what they want to know (default: the last variable)"),
    )


@dataclass(frozen=True, kw_only=True)
class Comparing(Scope):
    """What is compared of methods, and by what.

    Attributes
    ----------
    seed
        Every run's seed follows from it.
    measures
        Names, ``risk`` or ``utility``; all by default.
    workers
        Processes, all cores by default, where it pays; or the address of a Dask scheduler.
    """

    seed: int | None = option_field(
        None, help=message("repeat these runs (default: the operating system's randomness)")
    )
    measures: Sequence[str] | None = option_field(None, metavar="A,B", help=message("or risk, utility"))
    workers: Workers = workers_field()


GRID_KINDS = ("real", "integer", "choice", "flag")
"""Kinds of parameters whose values may be a list; in texts a comma is a comma."""

FORM = message('write the method, then parameters: "cell_key D=5 V=3 js=2", "small_count_rounding base=3,5"')

_SETTING = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class RunSpec:
    """One method with one set of parameters.

    Attributes
    ----------
    method
        Registered name.
    given
        The given parameters; the others take the method's defaults.
    """

    method: str
    given: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The specification as it is written on the command line."""
        words = [self.method]
        for name, value in self.given.items():
            said = str(value).lower() if isinstance(value, bool) else str(value)
            words.append(f"{name}={said}" if said and " " not in said else f"{name}='{said}'")
        return " ".join(words)

    @property
    def title(self) -> str:
        """The title for people: the method's name and the given parameters."""
        method = methods()[self.method]
        labels = {p.name: p.label for p in method.parameters}
        said = [f"{_lower(labels.get(name, name))} {value}" for name, value in self.given.items()]
        return message("{label} ({said})", method.label, joined(said, ", ")) if said else method.label


def parse_spec(text: str) -> tuple[RunSpec, ...]:
    """Read a method with parameters; a list of values (``base=3,5``) makes a run of each.

    Quotation marks keep spaces together; a word without ``=`` goes on with the value before it, so
    that ``margins=a*b + c`` needs none.

    Raises
    ------
    ParameterError
        For an unknown method, or anything that is not ``name=value``; every fault at once.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise ParameterError(
            {"run": message("a quotation mark is missing: {text}", repr(text))}, hint=FORM
        ) from None
    if not words:
        raise ParameterError({"run": message("names no method")}, hint=FORM)
    method = methods()[words[0]]
    given: dict[str, str] = {}
    wrong: dict[str, str] = {}
    last = ""
    for word in words[1:]:
        match = _SETTING.fullmatch(word)
        if match is not None:
            last = match.group(1)
            if last in given:
                wrong[last] = message("is given twice")
            given[last] = match.group(2)
        elif last:
            given[last] += f" {word}"
        else:
            wrong[word] = message("is no name=value")
    if wrong:
        raise ParameterError({f"{method.name} {k}": why for k, why in wrong.items()}, hint=FORM)
    return expand(method.name, {name: _values(method, name, v) for name, v in given.items()})


def _lower(label: str) -> str:
    """A label as it stands within a sentence: lower case, but for abbreviations and symbols."""
    return label if label[:2].isupper() or len(label) < 2 else uncapital(label)


def expand(method: str, grid: Mapping[str, Sequence[object]]) -> tuple[RunSpec, ...]:
    """One run specification for each combination of values."""
    return tuple(RunSpec(method, dict(zip(grid, values, strict=True))) for values in product(*grid.values()))


def _values(method: Method, name: str, text: str) -> list[object]:
    """The listed values of a parameter, as numbers where it takes numbers."""
    declared = next((p for p in method.parameters if p.name == name), None)
    if declared is None or declared.kind not in GRID_KINDS:
        return [text]
    out: list[object] = []
    for part in text.split(","):
        try:
            out.append(declared.check(part.strip()))
        except ValueError:
            # The method refuses it, together with every other fault.
            out.append(part.strip())
    return out
