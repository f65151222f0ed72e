"""The second opinion of a verdict: all published numbers put together.

Where several tables carry noise of their own, beliefs table by table understate a reader. The joint
posterior takes their place where it settles within the work; else least squares may still show that
too much is known, and what was not judged stays named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.attack.attack import Attacked, attack
from tabprotect.engine.attack.chain import SWEEPS, WORK
from tabprotect.engine.belief.effort import Effort
from tabprotect.engine.disclosure.cell_beliefs import TableBelief, TablesBelieved
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.left_out import Kind
from tabprotect.engine.release.release import Release
from tabprotect.languages.said import say

TRIED = 0.03
"""The share of the work that a trial may take."""

MOST_ENTRIES = 20_000_000
"""Most inner cells times published tables that are put together."""

LEAST_SQUARES = say("By least squares over all published tables.")


def second_opinion(
    release: Release,
    believed: TablesBelieved,
    fails: Callable[[TableBelief], bool],
    *,
    effort: Effort,
    progress: Progress = SILENT,
) -> TablesBelieved:
    """The beliefs with what all published numbers say together.

    A function of the release and the limits alone.

    Parameters
    ----------
    believed
        The beliefs of somebody who starts with even beliefs, table by table.
    fails
        Whether beliefs about a table are beyond the limits.

    Returns
    -------
    TablesBelieved
        The same where nothing of the kind is left out, or no more can be said.
    """
    if not any("joint_noise" in belief.left_out for belief in believed.beliefs):
        return believed
    if any(fails(belief) for belief in believed.beliefs):
        return believed
    if release.domain.size * len(release.tables) > MOST_ENTRIES:
        return believed
    numbers = methods()[release.mechanism.method].numbers(release)
    if numbers is None:
        return believed
    if np.isfinite(numbers.variance).any():
        quick = attack(numbers, plan=())
        shown = replace(believed, beliefs=_beliefs(believed.beliefs, quick))
        if any(fails(belief) for belief in shown.beliefs):
            return shown
    if effort.name == "trial":
        work, plan = int(WORK * TRIED), (SWEEPS, 2 * SWEEPS)
        found = attack(numbers, plan=plan, work=work, progress=progress)
    else:
        found = attack(numbers, progress=progress)
    if found.way != "joint":
        return believed
    return replace(believed, beliefs=_beliefs(believed.beliefs, found))


def _beliefs(before: Sequence[TableBelief], found: Attacked) -> tuple[TableBelief, ...]:
    """The beliefs of an attack about all judged tables, and about the inner cells."""
    numbers, joint = found.numbers, found.joint
    whole = found.way == "joint"
    tables = {table.domain.names: table for table in numbers.tables}
    out = []
    for belief in before:
        if belief.domain == numbers.domain:
            rows = found.cells.laid_out(slice(0, numbers.domain.size))
        else:
            rows = found.sums.laid_out(tables[belief.domain.names].rows)
        out.append(
            replace(
                belief,
                rows=rows,
                way="simulation",
                error=found.error,
                note="" if whole else LEAST_SQUARES,
                left_out=_rest(belief.left_out) if whole else belief.left_out,
                draws=joint.effective if whole and joint is not None else None,
            )
        )
    if whole and not any(belief.domain == numbers.domain for belief in before):
        inner = replace(
            *out[:1],
            domain=numbers.domain,
            inner=True,
            judged=None,
            rows=found.cells.laid_out(slice(0, numbers.domain.size)),
        )
        out.insert(0, inner)
    return tuple(out)


def _rest(left_out: Sequence[Kind]) -> tuple[Kind, ...]:
    return tuple(kind for kind in left_out if kind != "joint_noise")
