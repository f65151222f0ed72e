"""Cycle sets as JSON: files for people and programs, 4ti2 matrix files, and what a mechanism states.

A mechanism states the design that its cycles follow from, or a list as arrays. A design is stated
by its name, its parameters and a hash of its cycles, so that everybody who builds it again can tell
that it is the same. Individual cycles are ``starts``, ``cells`` (flat numbers, the last variable
fastest) and ``signs``; cycle i owns the entries ``starts[i]`` to ``starts[i + 1]``.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.budgets import MAX_CYCLE_CELLS
from tabprotect.engine.cycles.designs import TRIANGULAR, design, redesigned
from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.formats.grouping_files import stated_groupings
from tabprotect.engine.paths import read_text
from tabprotect.engine.plain_values.decoding import Between, decoded, natural, parsed_json, shown
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, check_groupings
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import MarginSet, all_margins, maximal_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

_ARRAYS = ("starts", "cells", "signs")

MARGINS = "margins"
"""What a design follows from beside its parameters: the kept margins of the published table."""


def digest(moves: MoveSet) -> str:
    """SHA-256 of starts, cells (64 bits each) and signs (8 bits), little-endian, concatenated."""
    found = hashlib.sha256()
    for array, kind in ((moves.starts, "<i8"), (moves.cells, "<i8"), (moves.signs, "<i1")):
        found.update(np.ascontiguousarray(array, dtype=kind).data)
    return found.hexdigest()


def state(moves: MoveSet) -> dict[str, object]:
    """``{"cycles": ..., "margins": ...}``; margins only if not all (k-1)-way ones are kept."""
    cycles: dict[str, object]
    if moves.design is None:
        cycles = {name: getattr(moves, name).tolist() for name in _ARRAYS}
    else:
        cycles = {
            "design": moves.design.kind,
            "parameters": dict(moves.design.parameters),
            **({"of": MARGINS} if moves.design.of_margins else {}),
            "sha256": digest(moves),
        }
    out: dict[str, object] = {"cycles": cycles}
    if set(moves.margins) != set(all_margins(moves.domain)):
        out["margins"] = [list(m) for m in moves.margins]
    return out


def build(
    stated: Mapping[str, object], domain: Domain, kept: Callable[[], KeptMargins] | None = None
) -> MoveSet:
    """The cycles that :func:`state` states, for a table.

    Parameters
    ----------
    kept
        The margins that a design may follow from.

    Raises
    ------
    InputError, ParameterError
        If they are stated otherwise, or the design gives other cycles than those of the hash.
    """
    if "design" not in stated:
        return _listed(stated, domain)
    kind, parameters = stated["design"], stated.get("parameters")
    if set(stated) - {"of"} != {"design", "parameters", "sha256"} or not isinstance(kind, str):
        raise InputError(message('a design of cycles has "design", "parameters" and "sha256"'))
    if not isinstance(parameters, Mapping):
        raise InputError(message('the "parameters" of the design are no JSON object'))
    given = {str(name): value for name, value in parameters.items()}
    if "of" not in stated:
        moves = design(domain, kind, given)
    elif (kind, stated["of"]) != (TRIANGULAR, MARGINS):
        raise InputError(message("{kind} is no design for margins", repr(kind)))
    elif kept is None:
        raise InputError(
            message("the cycles follow from the margins of the table, which is not at hand"),
            hint=message("take the mechanism with the table that it came with"),
        )
    else:
        moves = redesigned(kept(), given)
    if digest(moves) != stated["sha256"]:
        raise InputError(
            message("the cycles are not those of the design {kind}: their SHA-256 differs", repr(kind)),
            hint=message("take the mechanism that came with the table"),
        )
    return moves


def _listed(stated: Mapping[str, object], domain: Domain) -> MoveSet:
    if set(stated) != set(_ARRAYS):
        raise InputError(message("cycles are a design, or the arrays {ARRAYS}", ", ".join(_ARRAYS)))
    starts, cells, signs = (_whole(stated, name) for name in _ARRAYS)
    if not len(starts) >= 2 or starts[0] != 0 or starts[-1] != len(cells):
        raise InputError(message('the "starts" of the cycles do not fit their "cells"'))
    if (np.diff(starts) < 1).any() or len(signs) != len(cells):
        raise InputError(message('a cycle is empty, or "cells" and "signs" are not as many'))
    if (np.abs(signs) != 1).any():
        raise InputError(message("an entry of a cycle is neither 1 nor -1"))
    return MoveSet.of(domain, starts, cells, signs)


def _whole(stated: Mapping[str, object], name: str) -> Ints:
    given = stated[name]
    # Not isinstance of int alone: true and false are instances, but not numbers in JSON.
    if not isinstance(given, list) or not set(map(type, given)) <= {int}:
        raise InputError(message('the "{name}" of the cycles are no list of whole numbers', name))
    if len(given) > MAX_CYCLE_CELLS:
        raise InputError(message("the cycle set is absurdly large"))
    try:
        return np.array(given, dtype=np.int64)
    except OverflowError:
        raise InputError(message('the "{name}" of the cycles are absurdly large', name)) from None


def to_json(moves: MoveSet, zeros: Bools | None = None) -> dict[str, object]:
    """``{"variables", "shape", "cycles": [{"plus": [...], "minus": [...]}], "margins", "zeros"}``.

    ``margins`` is left out if all (k-1)-way margins are kept, the usual case. If they name
    groupings, ``groupings`` lists ``{"name", "of", "groups"}``, a group for each category.
    ``zeros`` are the cells that were known to be empty when the cycles were designed, if any.
    """
    out: dict[str, object] = {
        "variables": list(moves.domain.names),
        "shape": list(moves.domain.shape),
        "cycles": [
            {"plus": [list(c) for c in plus], "minus": [list(c) for c in minus]}
            for plus, minus in moves.as_cells()
        ],
    }
    if set(moves.margins) != set(all_margins(moves.domain)):
        out["margins"] = [list(m) for m in moves.margins]
    if moves.groupings:
        out["groupings"] = [{"name": g.name, "of": g.of, "groups": list(g.groups)} for g in moves.groupings]
    if zeros is not None and zeros.any():
        out["zeros"] = np.argwhere(zeros.reshape(moves.domain.shape)).tolist()
    return out


Cell = tuple[int, ...]


@dataclass(frozen=True)
class _Cycle:
    """A cycle by its cells."""

    plus: tuple[Cell, ...]
    minus: tuple[Cell, ...]


@dataclass(frozen=True)
class _Stated:
    """A cycle set as stated; ``cycles`` are examined one by one only to find faults."""

    shape: tuple[Annotated[int, Between(1)], ...]
    cycles: object
    variables: tuple[str | int, ...] | None = None
    margins: tuple[tuple[str, ...], ...] | None = None
    groupings: tuple[Grouping, ...] | str | None = None
    zeros: tuple[Cell, ...] | None = None


def _stated(data: object) -> _Stated:
    if not isinstance(data, Mapping):
        raise InputError(
            message("a cycle set is a JSON object"), hint=message('see "tabprotect cycles design"')
        )
    return decoded(data, _Stated, among_others=True)


def _domain(stated: _Stated, domain: Domain | None) -> Domain:
    if domain is not None:
        if stated.shape != domain.shape:
            raise InputError(
                message(
                    "the cycles are for a {str} table, this one is {str2}",
                    " x ".join(map(str, stated.shape)),
                    " x ".join(map(str, domain.shape)),
                ),
                hint=message("design cycles for this table's shape"),
            )
        return domain
    if stated.variables is None:
        return Domain.of_shape(stated.shape)
    if len(stated.variables) != len(stated.shape):
        raise InputError(message('"variables" must name {shape} variables', len(stated.shape)))
    return Domain.of_shape(stated.shape, [str(n) for n in stated.variables])


def _claim(stated: _Stated, domain: Domain) -> tuple[MarginSet, tuple[Grouping, ...]]:
    """The margins that the cycles claim to keep, and the groupings that these name."""
    if stated.margins is None:
        return all_margins(domain), ()
    renamed = dict(zip(map(str, stated.variables or ()), domain.names, strict=False))
    groupings = _groupings(stated.groupings or (), domain, renamed)
    margins = [[renamed.get(n, n) for n in m] for m in stated.margins]
    if all(name in domain.names for margin in margins for name in margin):
        return maximal_margins(domain, margins), ()
    kept = Publication.of(domain, margins, groupings).maximal()
    return kept.margins, kept.groupings


def _groupings(
    given: tuple[Grouping, ...] | str, domain: Domain, renamed: Mapping[str, str]
) -> tuple[Grouping, ...]:
    """Groupings from a file's list; a mechanism has them as text, as a person writes them."""
    if isinstance(given, str):
        return stated_groupings(given, domain)
    if not all(one.name and all(one.groups) for one in given):
        raise InputError(message('a grouping in "groupings" has no name, or a group has none'))
    found = tuple(replace(one, of=renamed.get(one.of, one.of)) for one in given)
    check_groupings(domain, found)
    return found


def _in_one_go(cycles: list[Any], domain: Domain) -> tuple[Ints, Ints, Ints] | None:
    """Starts, cells and signs of cycles without a fault, about ten times as fast.

    ``None`` for anything else: :func:`_one_by_one` finds the fault.
    """
    if set(map(type, cycles)) != {dict}:
        return None
    sides = [cycle.get(side) for cycle in cycles for side in ("plus", "minus")]
    if set(map(type, sides)) != {list}:
        return None
    cells = list(itertools.chain.from_iterable(sides))
    if len(cells) > MAX_CYCLE_CELLS or set(map(type, cells)) != {list}:
        return None
    if set(map(len, cells)) != {domain.ndim}:
        return None
    numbers = list(itertools.chain.from_iterable(cells))
    # Not isinstance of int alone: true and false are instances, but not numbers in JSON.
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= max(domain.shape):
        return None
    index = np.array(numbers, dtype=np.int64).reshape(-1, domain.ndim)
    if (index >= domain.shape).any():
        return None
    keys = np.zeros(len(index), dtype=np.int64)
    for axis, size in enumerate(domain.shape):
        keys = keys * size + index[:, axis]
    lengths = np.fromiter(map(len, sides), dtype=np.int64, count=len(sides))
    starts = np.concatenate([[0], np.cumsum(lengths.reshape(-1, 2).sum(axis=1))])
    signs = np.repeat(np.tile(np.array([1, -1]), len(cycles)), lengths)
    return starts, keys, signs


def from_json(data: object, *, domain: Domain | None = None, table: Table | None = None) -> MoveSet:
    """Read a cycle set (or the cycles of a mechanism), naming every fault.

    Parameters
    ----------
    domain
        The table of the cycles; its names and labels are used. Without it the file's variables are
        used, with generic labels.
    table
        A table with the margins that the cycles keep, for designs that follow from these.

    Raises
    ------
    InputError
        Names the cycle and the cell.
    """
    return _moves(_stated(data), domain, table)


def _moves(stated: _Stated, domain: Domain | None, table: Table | None = None) -> MoveSet:
    over, cycles = _domain(stated, domain), stated.cycles
    if isinstance(cycles, Mapping):

        def kept(source: Table) -> KeptMargins:
            return KeptMargins.of(Publication(over, *_claim(stated, over)), source.on(over))

        found = build(cycles, over, None if table is None else partial(kept, table))
        return found if stated.margins is None else found.keeping(*_claim(stated, over))
    if not isinstance(cycles, list) or not cycles:
        raise InputError(message('"cycles" is missing or empty'))
    starts, cells, signs = _in_one_go(cycles, over) or _one_by_one(cycles, over)
    margins, groupings = _claim(stated, over)
    return MoveSet.of(over, starts, cells, signs, margins=margins, groupings=groupings)


def _one_by_one(cycles: list[object], domain: Domain) -> tuple[list[int], list[int], list[int]]:
    """Starts, cells and signs of cycles, with the first fault named."""
    starts, cells, signs = [0], [], []
    for number, cycle in enumerate(cycles, 1):
        one = decoded(cycle, _Cycle, message("cycle {number}", number))
        for sign, side in ((1, one.plus), (-1, one.minus)):
            cells += [_flat(cell, domain, message("cycle {number}", number)) for cell in side]
            signs += [sign] * len(side)
        starts.append(len(cells))
        if len(cells) > MAX_CYCLE_CELLS:
            raise InputError(message("the cycle set is absurdly large"))
    return starts, cells, signs


def _flat(cell: Cell, domain: Domain, where: str) -> int:
    if len(cell) != domain.ndim:
        raise InputError(
            message("{where}: {cell} is not a cell of {ndim} numbers", where, shown(cell), domain.ndim)
        )
    try:
        return domain.flat(cell)
    except InputError:
        raise InputError(
            message(
                "{where}: the cell {cell} lies outside the {str} table",
                where,
                list(cell),
                " x ".join(map(str, domain.shape)),
            ),
            hint=message("cell numbers begin at 0"),
        ) from None


def _zeros(given: Sequence[Cell] | None, domain: Domain) -> Bools | None:
    """The cells stated to be known as empty, bool (cells,)."""
    if given is None:
        return None
    zeros = np.zeros(domain.size, dtype=np.bool_)
    for cell in given:
        zeros[_flat(cell, domain, "zeros")] = True
    return zeros


def write(moves: MoveSet, path: Path, zeros: Bools | None = None) -> None:
    """Write a cycle set as :func:`as_bytes` makes it."""
    write_bytes(path, as_bytes(moves, path.suffix, zeros))


def as_bytes(moves: MoveSet, suffix: str, zeros: Bools | None = None) -> bytes:
    """A cycle set as a file: JSON, or a 4ti2 matrix for ``.mat``, ``.mar`` and ``.gra``.

    Parameters
    ----------
    zeros : bool (cells,)
        Cells known to be empty; a 4ti2 matrix cannot hold them.
    """
    if suffix in (".mat", ".mar", ".gra"):
        text = to_4ti2(moves)
    else:
        text = json.dumps(to_json(moves, zeros), separators=(",", ":")) + "\n"
    return text.encode()


def read(path: Path, *, domain: Domain | None = None) -> MoveSet:
    """Read a cycle set: :func:`read_designed` without the zeros."""
    return read_designed(path, domain=domain)[0]


def read_designed(path: Path, *, domain: Domain | None = None) -> tuple[MoveSet, Bools | None]:
    """Read a cycle set; a 4ti2 file needs the table's domain.

    Returns
    -------
    moves
    zeros : bool (cells,)
        Cells that were known to be empty when the cycles were designed, if the file has them.

    Raises
    ------
    InputError
        Names the file, and the cycle or line.
    """
    text = read_text(path)
    with in_file(path):
        if path.suffix in (".mat", ".mar", ".gra"):
            if domain is None:
                raise InputError(
                    message("a 4ti2 file has no shape"), hint=message("say which table it is for")
                )
            return from_4ti2(text, domain), None
        stated = _stated(parsed_json(text))
        moves = _moves(stated, domain)
        return moves, _zeros(stated.zeros, moves.domain)


def to_4ti2(moves: MoveSet) -> str:
    """A 4ti2 matrix: ``rows columns``, then one line per cycle over the flat cells."""
    lines = [f"{len(moves)} {moves.domain.size}"]
    for i in range(len(moves)):
        lines.append(" ".join(map(str, moves.array(i).reshape(-1).tolist())))
    return joined(lines, "\n") + "\n"


def from_4ti2(text: str, domain: Domain) -> MoveSet:
    """Read a 4ti2 matrix of moves with entries -1, 0, +1.

    Raises
    ------
    InputError
        If the size is wrong, an entry is another number, or something is not a whole number.
    """
    words = text.split()
    try:
        numbers = np.array([int(w) for w in words], dtype=np.int64)
    except (ValueError, OverflowError):
        bad = next((w for w in words if natural(w.lstrip("+-")) is None), message("a number"))
        raise InputError(message("{bad} is not a whole number in a 4ti2 matrix", repr(bad))) from None
    if len(numbers) < 2 or numbers[0] < 1:
        raise InputError(message("a 4ti2 matrix begins with its number of rows and columns"))
    rows, columns = int(numbers[0]), int(numbers[1])
    if columns != domain.size:
        raise InputError(
            message("the matrix has {columns} columns, the table {size} cells", columns, domain.size)
        )
    if len(numbers) - 2 != rows * columns:
        raise InputError(
            message(
                "the matrix should have {rows} entries, it has {numbers}", rows * columns, len(numbers) - 2
            )
        )
    arrays = numbers[2:].reshape(rows, *domain.shape)
    return MoveSet.from_arrays(domain, list(arrays))
