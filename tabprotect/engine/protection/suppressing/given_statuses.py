"""Given statuses of cells: a tau-ARGUS *a priori* file.

One cell a line: a category of every variable of the table (a group where the published sub-table
has a grouping, nothing or ``Total`` where the cell is a total), then a command::

    north,,u          sensitive
    north,retail,p    never to hide, like a cell that an earlier release published
    south,retail,m    to hide, like a cell that an earlier release has hidden
    south,,c,25       what hiding it costs (w is the same)
    west,retail,pl,3,5  sensitive: how far it must stay open downwards and upwards

``ml`` is ``u``; ``s`` says that the cell is no more than safe, and may be hidden. The separator
is a comma, a semicolon or a tab, the same in all lines; lines that begin with ``#`` are remarks.

Of magnitudes ``s`` declares a cell safe, for which somebody answers, and ``z`` says that everybody knows it
is 0; levels are in units of the sum.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import read_text
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.patterns.decided import Decided
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
    from tabprotect.engine.release.release import Release

LONGEST = 50_000_000
"""Most characters of a file."""


COMMANDS = {"s": 0, "u": 0, "p": 0, "m": 0, "ml": 0, "c": 1, "w": 1, "pl": 2}
"""Commands, and how many numbers follow each."""

KNOWN_ZERO = "z"
MEANS = {"ml": "u", "pl": "u", KNOWN_ZERO: "s"}
TOTALS = ("", "total")

HINT = "a line has a category for each variable, then s, u, p, m, c,<cost> or pl,<low>,<up>"


@dataclass(frozen=True, eq=False)
class GivenStatuses:
    """The statuses given for published cells; arrays (published cells,).

    Attributes
    ----------
    sensitive, published, hidden, safe : bool
        Commands ``u``, ``p``, ``m`` and ``s``.
    cost : float64
        NaN where none is given.
    below, above : int64
        Protection levels, -1 where none are given.
    """

    sensitive: Bools
    published: Bools
    hidden: Bools
    safe: Bools
    cost: Floats
    below: Ints
    above: Ints

    @classmethod
    def of(cls, text: str, publication: Publication) -> GivenStatuses:
        """Make one from the lines of a file.

        Raises
        ------
        InputError
            For a cell that is not published, or an unknown command, naming the line.
        """
        size = publication.size
        marks = {name: np.zeros(size, dtype=np.bool_) for name in ("s", "u", "p", "m")}
        found = cls(
            marks["u"],
            marks["p"],
            marks["m"],
            marks["s"],
            np.full(size, np.nan),
            np.full(size, -1, dtype=np.int64),
            np.full(size, -1, dtype=np.int64),
        )
        cells = _Cells(publication)
        for _, cell, command, numbers in _commands(text, publication.domain.ndim, cells.find, COMMANDS):
            if command in ("c", "w"):
                found.cost[cell] = numbers[0]
            else:
                found.below[cell] = int(numbers[0]) if numbers else -1
                found.above[cell] = int(numbers[1]) if numbers else -1
                for name, mark in marks.items():
                    mark[cell] = name == MEANS.get(command, command)
        return found


class _Cells:
    """Published cells by the codes of the table's own variables."""

    def __init__(self, publication: Publication) -> None:
        self._publication = publication
        self._names: list[dict[str, list[tuple[str, int]]]] = []
        for variable in publication.domain.variables:
            groupings = [g.variable for g in publication.groupings if g.of == variable.name]
            codes: dict[str, list[tuple[str, int]]] = {}
            for each in (variable, *groupings):
                for place, category in enumerate(each.categories):
                    codes.setdefault(category, []).append((each.name, place))
            self._names.append(codes)

    def find(self, codes: Sequence[str]) -> int:
        """The number of a published cell."""
        if len(codes) < len(self._names):
            raise InputError(message("the line names too few categories"))
        ways: list[dict[str, int]] = [{}]
        for code, known in zip(codes, self._names, strict=True):
            meant = known.get(code, [])
            if not meant and code.lower() not in TOTALS:
                raise InputError(message("there is no category {code}", repr(code)))
            ways = [way | {name: at} for way in ways for name, at in meant] if meant else ways
        margins = self._publication.margins
        for m, margin in enumerate(margins):
            for way in ways:
                if set(way) == set(margin):
                    shape = self._publication.domains[m].shape
                    index = tuple(way[name] for name in margin)
                    inside = int(np.ravel_multi_index(index, shape)) if shape else 0
                    return int(self._publication.starts[m]) + inside
        raise InputError(message("no published table has this cell"))


def cells_named(text: str, publication: Publication) -> list[int]:
    """The published cells that lines of categories name, as in a file of statuses without its commands.

    Raises
    ------
    InputError
        For a cell that is not published, naming the line.
    """
    cells, out = _Cells(publication), []
    for line, fields in command_lines(text):
        try:
            out.append(cells.find(fields))
        except (InputError, ValueError) as error:
            raise InputError(str(error), line=line) from None
    return out


def hidden_lines(publication: Publication, releases: Iterable[Release]) -> str:
    """Lines for the cells of a publication that releases of the same variables and categories hide."""
    cells, own = _Cells(publication), publication.domain
    names = own.names
    lines: dict[str, None] = {}
    for release in releases:
        if set(release.domain.names) != set(names) or not all(
            _hold(own[name].categories, release.domain[name].categories) for name in names
        ):
            continue
        for published in release.tables:
            domain = published.table.domain
            if not set(domain.names) <= set(names):
                # A table of groups of categories.
                continue
            for cell in np.argwhere(published.hidden).tolist():
                labels = dict(zip(domain.names, domain.labels(tuple(cell)), strict=True))
                codes = [labels.get(name, "") for name in names]
                with suppress(InputError):
                    cells.find(codes)
                    lines[_line(codes)] = None
    return "\n".join(lines)


def _hold(one: Sequence[str], other: Sequence[str]) -> bool:
    return set(one) <= set(other) or set(other) <= set(one)


def _line(codes: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(codes)
    return out.getvalue()


def command_lines(text: str) -> list[tuple[int, list[str]]]:
    rows = text.splitlines()
    separator = next((s for s in ("\t", ";") if any(s in row for row in rows)), ",")
    out = []
    for number, row in enumerate(rows, 1):
        if row.strip() and not row.lstrip().startswith("#"):
            fields = next(csv.reader([row], delimiter=separator))
            out.append((number, [field.strip() for field in fields]))
    return out


def with_those_of_the_file(own: str, text: str, publication: Publication) -> str:
    """The lines that a table's own file states of published cells, then those of a person, which count more."""
    cells, lines = _Cells(publication), []
    for _, fields in command_lines(own):
        try:
            cells.find(fields[: publication.domain.ndim])
        except InputError:
            continue
        lines.append(fields)
    lines += [fields for _, fields in command_lines(text)]
    return "".join(
        ";".join(f'"{field}"' if ";" in field else field for field in fields) + "\n" for fields in lines
    )


def unsafe_cells(text: str) -> list[str]:
    """The cells that a table's own file calls unsafe, or hidden to protect others: ``(north, Total)``."""
    named = (
        f"({', '.join(code or 'Total' for code in codes)})"
        for codes, letter in stated_letters(text)
        if letter in "UM"
    )
    return list(named)


def stated_letters(text: str) -> list[tuple[tuple[str, ...], str]]:
    """The cells of which a table's own file states the status, each with its letter; a total's code is empty."""
    return [(tuple(fields[:-1]), fields[-1].upper()) for _, fields in command_lines(text)]


def _commands(
    text: str, variables: int, find: Callable[[Sequence[str]], int | None], known: Mapping[str, int]
) -> Iterator[tuple[int, int, str, list[float]]]:
    """The line, the cell, the command and its numbers; lines of cells that are not there say nothing.

    Parameters
    ----------
    known
        How many numbers each command takes.
    """
    for line, fields in command_lines(text):
        try:
            cell = find(fields[:variables])
            command = fields[variables].lower() if len(fields) > variables else ""
            numbers = numbers_of(command, fields[variables + 1 :], known)
        except InputError as error:
            raise InputError(error.message, line=line, hint=error.hint or HINT) from None
        if cell is not None:
            yield line, cell, command, numbers


def numbers_of(command: str, rest: Sequence[str], known: Mapping[str, int]) -> list[float]:
    if command not in known:
        raise InputError(message("there is no command {command}", repr(command)))
    try:
        numbers = [float(field) for field in rest if field]
    except ValueError:
        raise InputError(message("{rest} is no number", ", ".join(rest))) from None
    if len(numbers) != known[command]:
        raise InputError(message("the command {command} takes {COMMANDS} numbers", command, known[command]))
    if any(not 0 <= number <= 1e9 for number in numbers):
        raise InputError(message("a cost or a level lies outside 0 to 1,000,000,000"))
    return numbers


def text_of(given: str) -> str:
    """The given lines, or the content of the file that is named.

    Raises
    ------
    InputError
        For a file that does not exist or is not text.
    """
    if "\n" in given or "," in given or ";" in given or not given.strip():
        return given
    text = read_text(Path(given), most=LONGEST)
    return text if text.endswith("\n") else f"{text}\n"


def given_sums(text: str, table: MagnitudeTable) -> Decided:
    """Make one from the lines of a file; those of cells without records say nothing.

    Raises
    ------
    InputError
        For an unknown category or command, and a known zero that is none, naming the line.
    """
    size = len(table.cells)
    marks = {name: np.zeros(size, dtype=bool) for name in ("u", "p", "m", "s")}
    cost, above = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    places = [_places(variable.written, variable.nodes) for variable in table.variables]
    known = {**COMMANDS, KNOWN_ZERO: 0}
    for line, cell, command, numbers in _commands(text, len(places), partial(_cell, table, places), known):
        if command == KNOWN_ZERO and table.cells.value[cell] != 0:
            raise InputError(message("a known zero is not 0"), line=line, hint=HINT)
        if command in ("c", "w"):
            cost[cell] = round(numbers[0])
            continue
        above[cell] = -1
        if numbers:
            up = Decimal(str(numbers[1])) * 10**table.decimals
            above[cell] = int(up.to_integral_value(rounding="ROUND_CEILING"))
        for name, mark in marks.items():
            mark[cell] = name == MEANS.get(command, command)
    from tabprotect.engine.magnitudes.patterns.decided import Decided

    return Decided(marks["u"], marks["p"], marks["m"], marks["s"], cost, above)


def _places(written: Sequence[str], nodes: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The node of each name, the finest where several have it."""
    found: dict[str, int] = {}
    for node, (name, (_, plain)) in enumerate(zip(written, nodes, strict=True)):
        found.setdefault(plain, node)
        found.setdefault(name, node)
    return found | dict.fromkeys(TOTALS, len(nodes) - 1)


def _cell(table: MagnitudeTable, places: Sequence[dict[str, int]], codes: Sequence[str]) -> int | None:
    """The cell that codes name; ``None`` for one without records."""
    if len(codes) < len(places):
        raise InputError(message("the line names too few categories"))
    key = 0
    for code, place, stride in zip(codes, places, table.strides.tolist(), strict=True):
        node = place.get(code, place.get(code.lower()) if code.lower() in TOTALS else None)
        if node is None:
            raise InputError(message("there is no category {code}", repr(code)))
        key += node * stride
    number = int(np.searchsorted(table.cells.key, key))
    there = number < len(table.cells) and table.cells.key[number] == key
    return number if there else None


def given_text(table: MagnitudeTable, unsafe: Bools, upper: Ints) -> str:
    """The cells that rules find unsafe, with the levels that they ask for, as an a priori file."""
    lines = []
    for number in np.flatnonzero(unsafe).tolist():
        nodes = zip(table.variables, table.cells.nodes[:, number], strict=True)
        codes = ";".join(f'"{variable.written[int(node)]}"' for variable, node in nodes)
        lines.append(f"{codes};pl;0;{table.shown(int(upper[number]))}\n")
    return "".join(lines)
