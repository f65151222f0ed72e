"""The second opinion of a verdict where what several tables say together could not be worked out.

Least squares over all published numbers may still show that too much is known. What it does not
show is no pass: what was not judged stays named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.belief.evidence import all_numbers
from tabprotect.engine.disclosure.cell_beliefs import TableBelief, TablesBelieved
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.attack.attack import Attacked

LEAST_SQUARES = message("By least squares over all published tables.")


def least_squares_check(
    release: Release, believed: TablesBelieved, fails: Callable[[TableBelief], bool]
) -> TablesBelieved:
    """The beliefs that least squares leads to, where they alone are beyond the limits.

    A function of the release and the limits alone.

    Parameters
    ----------
    believed
        The beliefs of somebody who starts with even beliefs, table by table, all within the limits.
    fails
        Whether beliefs about a table are beyond the limits.

    Returns
    -------
    TablesBelieved
        The same where no more can be said.
    """
    numbers = all_numbers(release)
    if numbers is None or not np.isfinite(numbers.variance).any():
        return believed
    # Late: releases by moves, most of all, have no such numbers.
    from tabprotect.engine.attack.attack import attack

    shown = replace(believed, beliefs=_beliefs(believed.beliefs, attack(numbers, plan=())))
    return shown if any(fails(belief) for belief in shown.beliefs) else believed


def _beliefs(before: Sequence[TableBelief], found: Attacked) -> tuple[TableBelief, ...]:
    """The beliefs of an attack about all judged tables."""
    numbers = found.numbers
    tables = {table.domain.names: table for table in numbers.tables}
    out = []
    for belief in before:
        if belief.domain == numbers.domain:
            rows = found.cells.laid_out(slice(0, numbers.domain.size))
        else:
            rows = found.sums.laid_out(tables[belief.domain.names].rows)
        out.append(
            replace(belief, rows=rows, way="simulation", error=found.error, note=LEAST_SQUARES, draws=None)
        )
    return tuple(out)
