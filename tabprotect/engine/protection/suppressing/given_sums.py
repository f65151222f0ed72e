"""What was decided of sums before: a tau-ARGUS *a priori* file, by the codes of the table.

As for counts, one cell a line: a category or a group of every variable, nothing or ``Total`` for a
total, then a command. ``u`` sensitive, ``pl,low,up`` sensitive with how far it must stay open, ``p`` never
to hide, ``m`` to hide, ``c,cost`` what hiding costs, ``s`` declared safe by somebody who answers for it, ``z``
a zero that everybody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.patterns.decided import Decided
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.suppressing.given_statuses import HINT, TOTALS, command_lines, numbers_of
from tabprotect.languages.messages import message

KNOWN_ZERO = "z"


def given_sums(text: str, table: MagnitudeTable) -> Decided:
    """From the lines of a file; those of cells without records say nothing.

    Raises
    ------
    InputError
        For an unknown category or command, and a known zero that is none, naming the line.
    """
    size = len(table.cells)
    marks = {name: np.zeros(size, dtype=bool) for name in ("u", "p", "m", "s")}
    cost, above = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    places = [_places(axis.written, axis.nodes) for axis in table.axes]
    for line, fields in command_lines(text):
        try:
            cell = _cell(table, places, fields[: len(places)])
            command, *rest = [*fields[len(places) :], ""]
            command, rest = command.lower(), rest[:-1]
            numbers = [] if command == KNOWN_ZERO else numbers_of(command, rest)
            if cell is None:
                continue
            if command == KNOWN_ZERO and table.cells.value[cell] != 0:
                raise InputError(message("a known zero is not 0"))
        except InputError as error:
            raise InputError(error.message, line=line, hint=error.hint or HINT) from None
        if command in ("c", "w"):
            cost[cell] = round(numbers[0])
            continue
        above[cell] = -1
        if numbers:
            up = Decimal(str(numbers[1])) * 10**table.decimals
            above[cell] = int(up.to_integral_value(rounding="ROUND_CEILING"))
        for name, mark in marks.items():
            mark[cell] = name == {"ml": "u", "pl": "u", KNOWN_ZERO: "s"}.get(command, command)
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
        nodes = zip(table.axes, table.cells.nodes[:, number], strict=True)
        codes = ";".join(f'"{axis.written[int(node)]}"' for axis, node in nodes)
        lines.append(f"{codes};pl;0;{table.shown(int(upper[number]))}\n")
    return "".join(lines)
