"""Sums with their totals as one cube, so that every format holds them with its own marks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bundle.tables.cube import MOST_CELLS
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.tables.axis import Axis
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message


def cube_of_sums(release: ReleasedSums, total_code: str | None = None) -> Cube:
    """The published sums as a cube; those that are hidden hold 0.

    Parameters
    ----------
    total_code
        The category of totals; by default ``Total``.

    Raises
    ------
    InputError
        For too many cells.
    """
    hidden = release.hidden if release.hidden.any() else None
    return sums_as_cube(release, release.value, hidden, total_code)


def check_decimals(sums: ReleasedSums, *, held: bool) -> None:
    """Refuse sums with decimals where the format does not hold them.

    Raises
    ------
    InputError
    """
    if sums.decimals and not held:
        raise InputError(
            message("the sums have {n} decimals, which this format does not hold", sums.decimals),
            hint=message(
                "write CSV, PX, JSON-stat or SDMX, or sum the measure in smaller units, as whole numbers"
            ),
        )


def sums_as_cube(
    sums: ReleasedSums, value: Ints, hidden: Bools | None, total_code: str | None = None
) -> Cube:
    """The same of these values, and of these hidden cells, in the order of the keys."""
    axes = sums.axes
    shape = tuple(axis.size for axis in axes)
    if np.prod(shape, dtype=float) > MOST_CELLS:
        raise InputError(
            message("one cube would have more than {n:,} cells", MOST_CELLS), hint=message("write CSV")
        )
    places = np.unravel_index(sums.key, shape)
    counts, gone = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    counts[places] = value
    if hidden is not None:
        gone[places] = hidden
    codes = [_codes(axis, total_code) for axis in axes]
    domain = Domain(
        tuple(
            Variable(axis.variable.name, code, labels=_labels(axis, code))
            for axis, code in zip(axes, codes, strict=True)
        )
    )
    names = [axis.variable.name for axis in axes]
    return Cube(
        Table.dense(domain, np.where(gone, 0, counts)),
        None if hidden is None else gone,
        {name: code[-1] for name, code in zip(names, codes, strict=True)},
        {n: _parents(axis, code) for n, axis, code in zip(names, axes, codes, strict=True)},
        content=sums.measure,
        decimals=sums.decimals,
    )


def _codes(axis: Axis, total_code: str | None) -> tuple[str, ...]:
    """The nodes as codes, the total last."""
    codes = axis.written if total_code is None else (*axis.written[:-1], total_code)
    if codes[-1] in codes[:-1]:
        raise InputError(
            message("{name} has a category {total} of its own", axis.variable.name, repr(codes[-1])),
            hint=message("choose another code of totals: --total-code _T"),
        )
    return codes


def _labels(axis: Axis, codes: Sequence[str]) -> tuple[str, ...]:
    """What the nodes are called; empty where categories have no labels."""
    labels = axis.variable.labels
    return (*labels, *codes[len(labels) :]) if len(set(labels)) == len(labels) > 0 else ()


def _parents(axis: Axis, codes: Sequence[str]) -> dict[str, str]:
    """The code that each code is part of, along the tree of the variable."""
    parents: dict[str, str] = {}
    for step in axis.steps:
        for child in np.flatnonzero(step >= 0).tolist():
            parents.setdefault(codes[child], codes[int(step[child])])
    return parents
