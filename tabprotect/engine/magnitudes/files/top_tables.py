"""tau-ARGUS's tables of sums, which name the largest contributions of each cell, read and written.

A line of a table (.tab) has the codes of a cell, its sum, how many contribute (``<FREQUENCY>``), the
largest contributions (``<MAXSCORE>``), what hiding it costs (``<COSTVAR>``), its status and its
protection levels. Statuses and levels are kept as the lines of an a priori file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.equal_rows import place_among
from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.formats.agencies.rda_metadata import TauMetadata, TauVariable, read_metadata
from tabprotect.engine.formats.kinds.tau_argus import lines_of, trails
from tabprotect.engine.formats.layouts.stated_trees import StatedTree, Trails
from tabprotect.engine.formats.statuses import PROTECTED, SECONDARY, UNSAFE
from tabprotect.engine.magnitudes.tables.contributions import Contributions
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly
from tabprotect.engine.magnitudes.tables.magnitude_table import WHOLE, MagnitudeTable
from tabprotect.engine.paths import check_file, is_file
from tabprotect.engine.release.published_magnitudes import PLACES
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.engine.tables.variable import TOTAL, Level, Variable, check_totals
from tabprotect.languages.messages import message

ROUNDED = 1_000
"""A total may differ from the sum of its parts by rounding: by one of so many, or a unit a contributor."""

DIGITS = 18
"""Powers of ten, up and down, that a number of a table has."""

DECIDED = {UNSAFE: "u", PROTECTED: "p", SECONDARY: "m"}
"""The command of an a priori file for each status that says something."""


def names_largest(path: Path) -> bool:
    """Return True for a table of sums: its description names largest contributions, or at least statuses."""
    beside = path.with_suffix(".rda")
    if path.suffix.lower() != ".tab" or not is_file(beside):
        return False
    options = {option for v in read_metadata(path, beside).variables for option in v.options}
    return bool({"MAXSCORE", "STATUS"} & options)


@dataclass(frozen=True)
class _Columns:
    """The columns of a line, by what stands there."""

    codes: Sequence[int]
    value: int
    n: int
    top: Sequence[int]
    cost: int | None
    status: int | None
    levels: tuple[int, int] | None
    shadow: int | None = None


@dataclass(frozen=True)
class _Line:
    """A cell as it is listed, numbers in the units of the table."""

    codes: tuple[str, ...]
    value: int
    n: int
    top: tuple[int, ...]
    cost: int
    status: str
    levels: tuple[Decimal, Decimal] | None
    at: int


def read_top_table(path: Path, measure: str | None = None) -> tuple[MagnitudeTable, list[str]]:
    """Read a table of sums with its largest contributions.

    Parameters
    ----------
    measure
        The variable that is summed; by default the first number.

    Returns
    -------
    MagnitudeTable
        And what is odd about it, for people.

    Raises
    ------
    InputError
        For another description, a hidden sum, sums that do not add up, and largest contributions
        that are larger than the sum, with the line.
    """
    beside = path.with_suffix(".rda")
    check_file(path)
    meta = read_metadata(path, beside)
    columns = _columns(meta, measure)
    with in_file(path):
        lines, decimals = _lines(path, meta, columns)
        classes = [meta.variables[at] for at in columns.codes]
        variables, places = [], []
        for axis, variable in enumerate(classes):
            codes = list(dict.fromkeys(line.codes[axis] for line in lines))
            made, place = _variable(variable, codes, trails(variable, codes, beside.parent))
            variables.append(made)
            places.append(place)
        return _table(tuple(variables), places, lines, (meta.variables[columns.value], decimals))


def _columns(meta: TauMetadata, measure: str | None) -> _Columns:
    def of(*options: str) -> list[int]:
        return [n for n, v in enumerate(meta.variables) if {*options} & set(v.options)]

    more = {"FREQUENCY", "SHADOW", "COST", "COSTVAR", "MAXSCORE", "STATUS", "LOWERPL", "UPPERPL"}
    plain = [n for n in of("NUMERIC") if not more & set(meta.variables[n].options)]
    names = {meta.variables[n].name: n for n in plain}
    if measure is not None and measure not in names:
        raise InputError(
            message("there is no variable {wanted}", repr(measure)),
            hint=message("there are {names}", ", ".join(names)),
        )
    n, top = of("FREQUENCY"), of("MAXSCORE")
    if not plain or not n:
        raise InputError(
            message("the description names no sum, or no number of contributors"),
            hint=message("NUMERIC and FREQUENCY are expected, and MAXSCORE where rules are to be worked out"),
        )
    low, high = of("LOWERPL"), of("UPPERPL")
    return _Columns(
        [at for at, v in enumerate(meta.variables) if v.classifies],
        plain[0] if measure is None else names[measure],
        n[0],
        top,
        next(iter(of("COST", "COSTVAR")), None),
        next(iter(of("STATUS")), None),
        (low[0], high[0]) if low and high else None,
        next(iter(of("SHADOW")), None),
    )


def _lines(path: Path, meta: TauMetadata, columns: _Columns) -> tuple[list[_Line], int]:
    """The cells, and how many decimals their numbers have."""
    source = lines_of(path, meta, meta.separator or ";", None)
    wanted = [columns.value, columns.n, *columns.top]
    wanted += [] if columns.cost is None else [columns.cost]
    read: list[tuple[list[str], list[Decimal], int]] = []
    for number, row in enumerate(source.rows()):
        if number:
            line = source.line(number) or number
            if len(row) < len(meta.variables):
                raise InputError(message("a field is missing"), line=line)
            read.append((row, [_number(row[at], line) for at in wanted], line))
            if columns.shadow is not None and _number(row[columns.shadow], line) != read[-1][1][0]:
                raise InputError(
                    message("the largest contributions are those of a shadow variable, not of the sums"),
                    line=line,
                    hint=message("tabulate the records themselves: --shadow COLUMN"),
                )
    exact = [x.normalize() for _, numbers, _ in read for k, x in enumerate(numbers) if k != 1]
    decimals = min(PLACES, max((-int(x.as_tuple().exponent) for x in exact), default=0))
    decimals = max(0, decimals)
    ends, lines = 2 + len(columns.top), []
    for row, numbers, at in read:
        whole = [int((x * 10**decimals).to_integral_value()) for x in numbers]
        if min(whole) < 0 or max(whole) > INT64_MAX // 1000:
            raise InputError(
                message("a sum or a contribution is negative, or too large"),
                line=at,
                hint=message("tabulate the records themselves"),
            )
        levels = None
        if columns.levels is not None:
            low, high = (_number(row[place], at) for place in columns.levels)
            levels = low, high
        lines.append(
            _Line(
                tuple(row[place] for place in columns.codes),
                whole[0],
                int(numbers[1]),
                tuple(whole[2:ends]),
                sum(whole[ends:]),
                "" if columns.status is None else row[columns.status].upper(),
                levels,
                at,
            )
        )
    return lines, decimals


def _number(text: str, line: int) -> Decimal:
    try:
        number = Decimal(text.replace(",", ".") or "0")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InputError(
            message("{text} is no number", repr(text[:40])),
            line=line,
            hint=message("a table with hidden sums cannot be protected again: take the one before"),
        )
    if number and not -DIGITS <= number.adjusted() <= DIGITS:
        raise InputError(
            message("a sum or a contribution is negative, or too large"),
            line=line,
            hint=message("tabulate the records themselves"),
        )
    return number


def _variable(
    variable: TauVariable, codes: Sequence[str], tree: Trails
) -> tuple[Variable, Mapping[str, int]]:
    """The variable of the finest codes, and the node of every code."""
    above = {code for own in tree.values() for code in own[:-1]}
    total = variable.total or TOTAL
    finest = [code for code in codes if code not in above and code != total]
    found = StatedTree(tree).levels(variable.name, finest)
    made = Variable(variable.name, tuple(finest), tuple(Level(k, tuple(g)) for k, g in found.items()))
    check_totals([made])
    nodes = {name: node for node, (_, name) in reversed(list(enumerate(made.nodes)))}
    return made, {**nodes, total: len(made.nodes) - 1}


def _table(
    variables: tuple[Variable, ...],
    places: Sequence[Mapping[str, int]],
    lines: Sequence[_Line],
    measured: tuple[TauVariable, int],
) -> tuple[MagnitudeTable, list[str]]:
    nodes = np.array([[place[c] for c, place in zip(line.codes, places, strict=True)] for line in lines]).T
    sizes = np.array([len(v.categories) for v in variables])
    finest = np.flatnonzero((nodes < sizes[:, None]).all(axis=0))
    sizes_of: list[int] = []
    units: list[int] = []
    costs: list[int] = []
    at: list[int] = []
    odd = 0
    for number in finest.tolist():
        parts, many, fits = _parts(lines[number])
        odd += not fits
        sizes_of += parts
        units += many
        costs += [lines[number].cost, *[0] * (len(parts) - 1)][: len(parts)]
        at += [number] * len(parts)
    own = np.array(sizes_of, dtype=np.int64)
    cost = np.array(costs, dtype=np.int64) if any(costs) else own
    no, every = np.zeros(len(own), dtype=bool), np.arange(len(own))
    weight = np.full(len(own), WHOLE, dtype=np.int64)
    many_units = np.array(units, dtype=np.int64)
    codes = nodes[:, np.array(at, dtype=np.int64)]
    rows = Contributions(codes, every, own, weight, own, many_units, no, no, own, cost)
    measure, decimals = measured[0].name, measured[1]
    names = [f"#{number}" for number in every.tolist()]
    plain = MagnitudeTable(variables, measure, decimals, rows, names)
    n, top = _sums_of_largest(plain, lines, nodes, finest)
    given: list[str] = []
    off_totals, whole = 0, 10**decimals
    for line, number in zip(lines, _numbers(plain, nodes), strict=True):
        if number < 0:
            continue
        off = abs(int(plain.cells.value[number]) - line.value)
        if off > max(whole * int(plain.cells.units[number]), line.value // ROUNDED):
            raise InputError(
                message("the sum {value} is not that of its parts", plain.shown(line.value)),
                line=line.at,
                hint=message("list every cell of the finest codes"),
            )
        off_totals += off > 0
        n[number], top[number] = line.n, line.top
        given += _decided(plain, number, line)
    largest = LargestOnly(plain.cells.key, n, top)
    notes = [
        message("{odd:,} cells have sums that their contributors, as far as they are named, do not make", odd)
    ]
    more = [message("{n:,} totals are not those of their parts, and were added up anew", off_totals)]
    remarks = [*(notes if odd else ()), *(more if off_totals else ())]
    return replace(plain, largest=largest, given="".join(given)), remarks


def _numbers(table: MagnitudeTable, nodes: Ints) -> Ints:
    """The number of the cell at each node, -1 for one without contributors."""
    key = (nodes * table.strides[:, None]).sum(axis=0)
    return place_among(table.cells.key, key)


def _parts(line: _Line) -> tuple[list[int], list[int], bool]:
    """The contributions to a cell as far as they are named, the others together, and whether they fit."""
    named = list(line.top[: line.n])
    rest, others = line.value - sum(named), line.n - len(named)
    if rest < 0 or any(a < b for a, b in pairwise(line.top)):
        raise InputError(
            message("the largest contributions are larger than the sum, or rise"),
            line=line.at,
            hint=message("tabulate the records themselves"),
        )
    fits = not line.top or (rest <= others * line.top[-1] and not any(line.top[line.n :]))
    if others or rest:
        return [*named, rest], [1] * len(named) + [others], fits
    return named, [1] * len(named), fits


def _sums_of_largest(
    table: MagnitudeTable, lines: Sequence[_Line], nodes: Ints, finest: Ints
) -> tuple[Ints, Ints]:
    """Sum for cells that are not listed: as if the largest of all parts were one, and so on."""
    cells, ranks = table.cells, len(lines[0].top)
    n, top = cells.units.copy(), np.zeros((len(cells), ranks), dtype=np.int64)
    sizes = np.array([lines[at].top for at in finest.tolist()], dtype=np.int64).reshape(len(finest), ranks)
    there = np.array([lines[at].n > 0 for at in finest.tolist()], dtype=bool)
    for key in table.row_keys(nodes[:, finest[there]]):
        np.add.at(top, np.searchsorted(cells.key, key), sizes[there])
    return n, top


def _decided(table: MagnitudeTable, number: int, line: _Line) -> Iterator[str]:
    """The lines of an a priori file that say what was decided of a cell."""
    command = DECIDED.get(line.status)
    if command is not None:
        codes = ";".join(f'"{code}"' for code in written_codes(table, number))
        if command == "u" and line.levels is not None:
            low, high = (f"{level.normalize():f}" for level in line.levels)
            yield f"{codes};pl;{low};{high}\n"
        else:
            yield f"{codes};{command}\n"


def written_codes(table: MagnitudeTable, number: int) -> list[str]:
    """A cell by its codes, as tables and a priori files name it."""
    return [
        variable.written[int(node)]
        for variable, node in zip(table.variables, table.cells.nodes[:, number], strict=True)
    ]
