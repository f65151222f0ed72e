"""Numbers in place of hidden ones: a table without small counts, made from a release with letters alone.

What is published stays as it is, wherever that is possible; what is hidden gets a count that is safe,
near the middle of what its letter says. As nothing but the release is looked at, a reader who has the
filled table, and what of it is filled, knows what the release told, and no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.suppressing.letters import LetterLaw
from tabprotect.engine.solver import NEAR, Entries, Limit, TableProgramme
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

KEPT = 10.0
"""Cost of moving a published number by 1, against 1 for a count that is far from its letter's middle."""

MOST = 2**24
"""The largest number beside which a programme tells whole numbers apart in reasonable time."""

OPEN = 0.05
"""The same of a large count, of which nobody knows a middle."""

QUESTIONS = 2_000
"""Questions of the solver whether to go on, after which the best table so far is taken."""

GAP = 0.02
"""A share of the cost within which a table is near enough."""


def fill(
    publication: Publication,
    shown: tuple[Ints, Bools],
    letters: Ints,
    law: LetterLaw,
    nodes: int,
    progress: Progress = SILENT,
) -> Ints:
    """Inner counts without small ones, int64 (inner cells,). Deterministic.

    Parameters
    ----------
    shown : int64 (size,), bool (size,)
        The published numbers, and which of them are hidden; what is hidden is not looked at.
    letters : int64 (inner cells,)
        Of the hidden cells, else -1.
    nodes
        Branch-and-bound nodes after which the best table found so far is taken.

    Raises
    ------
    InfeasibleError
        When the solver comes back without whole numbers, and for numbers above ``MOST``.
    """
    counts, hidden = shown
    if counts.max(initial=0) > MOST:
        raise InfeasibleError(
            message("nothing is filled beside numbers above {n:,}", MOST),
            hint=message("take the nearest table: choice=nearest"),
        )
    at = publication.domains.index(publication.domain)
    start = int(publication.starts[at])
    known = letters < 0
    base = np.where(known, counts[start : start + len(letters)], law.planned[letters])
    first = publication.distinct[0]
    incidence = publication.incidence[first].tocsr()
    kept = np.flatnonzero((np.diff(incidence.indptr) > 1) & ~hidden[first])
    sums = incidence[kept].astype(np.float64)
    safe = law.rule.high + 1
    small, others = np.flatnonzero(letters == 0), np.flatnonzero(letters > 0)
    base[small] = 0
    columns = _Columns(len(kept))
    # A small one is 0 or becomes safe; beyond that only with the step that makes it so.
    once = np.ones(len(small))
    columns.add(sums[:, small], safe, once * (safe - 2), once)
    columns.add(sums[:, small], 1, once)
    cost = np.where(letters[others] == law.open_letter, OPEN, 1.0)
    columns.add(sums[:, others], 1, cost)
    columns.add(sums[:, others], -1, cost, (base[others] - safe).astype(np.float64))
    for sign in (1, -1):
        columns.add(-np.eye(len(kept)), sign, np.full(len(kept), KEPT))
    right = counts[first[kept]] - np.asarray(sums @ base)
    point = columns.solve(right.astype(np.int64), len(small), (nodes, progress))
    number = len(small), len(others)
    ends = np.cumsum([number[0], number[0], number[1], number[1]])
    steps, beyond, up, down = np.split(point[: ends[-1]], ends[:-1])
    base[small] = safe * steps + beyond
    base[others] += up - down
    return base


class _Columns:
    """The columns of the programme, run by run."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._parts: list[csc_array[np.float64]] = []
        self._cost: list[Floats] = []
        self._high: list[Floats] = []

    def add(
        self, sums: csr_array[np.float64] | Floats, step: int, cost: Floats, high: Floats | None = None
    ) -> None:
        """Columns that enter the sums by a step each."""
        from scipy.sparse import csc_array

        self._parts.append(csc_array(sums, dtype=np.float64) * float(step))
        self._cost.append(cost)
        self._high.append(np.full(len(cost), np.inf) if high is None else high)

    def solve(self, right: Ints, small: int, how: tuple[int, Progress]) -> Ints:
        """The cheapest point found in whole numbers; of ``small`` pairs the second only with the first."""
        from scipy.sparse import csc_array, eye_array, hstack, vstack

        nodes, progress = how
        matrix = csc_array(hstack(self._parts))
        most = float(np.abs(right).max(initial=0)) + 1.0
        coupled = hstack(
            [most * eye_array(small), -eye_array(small), csc_array((small, matrix.shape[1] - 2 * small))]
        )
        cost, high = np.concatenate(self._cost), np.concatenate(self._high)
        low = np.concatenate([right.astype(np.float64), np.zeros(small)])
        up = np.concatenate([right.astype(np.float64), np.full(small, np.inf)])
        model = TableProgramme(
            Entries.of(csc_array(vstack([matrix, coupled]))),
            sums=(low, up),
            cells=(np.zeros(len(high)), high),
            integral=True,
        )
        # The middles themselves, and published numbers that make up for them.
        start = np.zeros(len(high), dtype=np.int64)
        start[len(high) - 2 * len(right) :] = np.concatenate([np.maximum(-right, 0), np.maximum(right, 0)])
        found = model.weighted(
            cost,
            start=start,
            limit=Limit(nodes, QUESTIONS, GAP),
            progress=progress,
            stage=message("filling what is hidden"),
        )
        point = np.rint(found.point)
        if not len(point) or np.abs(point - found.point).max() >= NEAR:
            raise InfeasibleError(
                message("no table without small counts was found within the stated work"),
                hint=message("let it search longer: nodes"),
            )
        return point.astype(np.int64)
