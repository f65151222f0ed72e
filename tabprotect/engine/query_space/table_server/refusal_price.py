"""The price of a refusal: what it tells by itself about people in the table. Confidential.

A criterion refuses by the original, so a refusal tells that the original is one of those it
refuses. If all tables with the released margins can be listed, both sides are counted, all taken as
equally likely beforehand; if they can only be drawn, they are counted among draws. Every earlier
decision counts as it was made: in the light of what was out then.

Source: Kenthapadi, Mishra and Nissim 2005 on refusals that tell; measured here, not avoided. With
the width over all cells (``cells=all``) a refusal tells about margins alone.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion import RiskCriterion
from tabprotect.engine.query_space.critical_widths.at_risk import AtRiskCells
from tabprotect.engine.query_space.drawn_originals import drawn_originals
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.possible_tables import margin_counts, possible_tables
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

TELLS = message("The refusal tells")
"""The start of a refusal's price in the log."""

ONE_BY_ONE = 500
"""Most originals that are judged each by itself, where all with the margins of then are too many."""

LISTS_HELD = 8
"""Lists of originals that are held for one table, of the margins that were out last."""

LEAST_DRAWN = 20
"""With fewer refused draws no price is stated."""


@dataclass(frozen=True)
class RefusalPrice(Encodable):
    """The price of one refusal.

    Attributes
    ----------
    bits
        -log2 of the share of the tables possible before that would be refused too.
    before, after
        P(the count of one cell is at risk) without and with the refusal, of the at-risk cell that
        it moves most.
    cell
        That cell's categories.
    originals, left
        Number of tables that were possible before, and of those that would be refused.
    drawn
        Whether these are draws, and the figures estimates.
    """

    bits: float
    before: float
    after: float
    cell: tuple[str, ...]
    originals: int
    left: int
    drawn: bool = False
    json_keys = "bits largest_move before after cell originals left drawn"

    @property
    def largest_move(self) -> float:
        """The change of the probability that an at-risk cell is at risk, 0..1."""
        return abs(self.after - self.before)

    @property
    def sentence(self) -> str:
        """Say it in words, for staff."""
        row = (TELLS, self.bits, self.left, self.originals, ", ".join(self.cell), self.before, self.after)
        return (
            message(
                "{TELLS} {bits:.2f} bits: {left:,} of {originals:,} drawn tables would be "
                "refused. It moves {cell} most: small with probability {before:.2f} before, "
                "{after:.2f} after.",
                *row,
            )
            if self.drawn
            else message(
                "{TELLS} {bits:.2f} bits: {left:,} of {originals:,} possible tables would be "
                "refused. It moves {cell} most: small with probability {before:.2f} before, "
                "{after:.2f} after.",
                *row,
            )
        )


@dataclass(frozen=True)
class Decision:
    """A decision on a query, in the light of what was out then. Confidential.

    Attributes
    ----------
    out
        The largest queries that were released before.
    allowed
        Whether the criterion allowed it: released, or put off by a rule.
    """

    query: Query
    out: tuple[Query, ...]
    allowed: bool


def refusal_price(
    releases: ReleaseSet,
    *asked: Query,
    history: Sequence[Decision] = (),
    draws: int = 0,
    progress: Progress = SILENT,
) -> RefusalPrice | None:
    """The price of refusing a query, or several at once, for somebody who has seen all answers.

    The originals that are possible are those with the released margins under which each earlier
    decision, in the light of what was out then, would have been the same.

    Parameters
    ----------
    releases
        The released set, with what judges it.
    asked
        Queries refused by the criterion, not by a rule; several if refused only together.
    history
        The decisions before; those by which something was released may be left out.
    draws
        Number of draws if the possible tables cannot be listed.

    Returns
    -------
    RefusalPrice or None
        ``None`` if the possible tables can neither be listed nor drawn, too few of them would be
        refused, the original itself is not judged among them as it was alone, or variables have
        levels: sums over groups are not listed. Neither are tables of sums.

    Raises
    ------
    InfeasibleError
        If there is nothing to draw from.
    Interrupted
        If cancelled.
    """
    cells, out = releases.evidence.cells, tuple(releases.released.members)
    if (
        releases.evidence.measure != "counts"
        or not releases.evidence.lattice.plain
        or (len(asked) == 1 and releases.allows(asked[0]))
    ):
        return None
    judge = _Judge(releases, draws, progress)
    tables = _followed(judge, out, tuple(history))
    drawn = tables is None
    if tables is None:
        if not draws:
            return None
        tables = _kept(judge, _drawn(releases, draws, progress), out, history)
    refused = None if tables is None else judge.refuses(tables, out, asked)
    if tables is None or refused is None:
        return None
    left = tables[refused]
    own = (left == cells.table.counts.reshape(-1)).all(axis=1)
    if len(left) < (LEAST_DRAWN if drawn else 1) or not (drawn or own.any()):
        return None
    return _price(cells, tables, left, drawn=drawn)


@dataclass(eq=False)
class _Judge:
    """Judges originals by margins that were out at some time."""

    releases: ReleaseSet
    draws: int
    progress: Progress

    def listed(self, out: tuple[Query, ...]) -> Ints | None:
        """All tables with the margins of the original; ``None`` if they are too many."""
        table = self.releases.evidence.cells.table
        known = _LISTED.setdefault(table, OrderedDict())
        if out not in known:
            known[out] = possible_tables(table, out, self.progress)
            if len(known) > LISTS_HELD:
                known.popitem(last=False)
        return known[out]

    def refuses(self, tables: Ints, out: tuple[Query, ...], asked: Sequence[Query] = ()) -> Bools | None:
        """Tell whether each table would be refused; ``None`` if that takes too long.

        Parameters
        ----------
        tables
            With the margins ``out``, as the original.
        """
        self.progress.report(message("pricing the refusal"), 0.5)
        criterion, evidence = self.releases.criterion, self.releases.evidence
        threshold, margins = self.releases.threshold, maximal_queries((*out, *asked))
        every = self.listed(out)
        if every is not None:
            # Within each class all tables are at hand: its extremes are the sharp bounds.
            found = criterion.refuses(evidence, every, margins, threshold)
            return np.asarray(found[_rows(tables, every)])
        if len(tables) > max(self.draws, ONE_BY_ONE):
            return None
        return RiskCriterion.refuses(criterion, evidence, tables, margins, threshold)


_LISTED: WeakKeyDictionary[Table, OrderedDict[tuple[Query, ...], Ints | None]] = WeakKeyDictionary()

_FOLLOWED: WeakKeyDictionary[Table, tuple[object, tuple[Decision, ...], Ints]] = WeakKeyDictionary()
"""For each original the tables that its history left last: the next price starts from them."""


def _followed(judge: _Judge, out: tuple[Query, ...], history: tuple[Decision, ...]) -> Ints | None:
    """All tables with the released margins and the same history; ``None`` if they are too many."""
    releases, cells = judge.releases, judge.releases.evidence.cells
    held_to = (releases.criterion.name, releases.threshold, str(cells.at_risk), cells.judged)
    known, before, left = _FOLLOWED.get(cells.table, (None, (), None))
    if left is None or known != held_to or history[: len(before)] != before:
        left, before = judge.listed(out), ()
    else:
        own, shape = cells.table.counts.reshape(1, -1), cells.table.domain.shape
        for query in out:
            mine = margin_counts(shape, own, query)
            left = left[(margin_counts(shape, left, query) == mine).all(axis=1)]
    found = None if left is None else _kept(judge, left, out, history[len(before) :])
    if found is not None:
        _FOLLOWED[cells.table] = held_to, history, found
    return found


def _kept(judge: _Judge, tables: Ints, out: tuple[Query, ...], history: Sequence[Decision]) -> Ints | None:
    """The tables under which all was decided as it was."""
    # Nobody could ask about a table in which no cell counts.
    tables = tables[judge.releases.evidence.cells.rule.mask(tables).any(axis=1)]
    if judge.releases.judgement.verdict == "safe":
        refused = judge.refuses(tables, out)
        if refused is None:
            return None
        tables = tables[~refused]
    for one in history:
        refused = judge.refuses(tables, one.out, (one.query,))
        if refused is None:
            return None
        tables = tables[refused != one.allowed]
    return tables


def _rows(tables: Ints, every: Ints) -> Ints:
    """The row of each table among all of them."""
    kind = np.dtype((np.void, every.dtype.itemsize * every.shape[1]))
    keys = np.ascontiguousarray(every).view(kind).reshape(-1)
    order = np.argsort(keys)
    wanted = np.ascontiguousarray(tables).view(kind).reshape(-1)
    return np.asarray(order[np.searchsorted(keys, wanted, sorter=order)], dtype=np.int64)


def _drawn(releases: ReleaseSet, draws: int, progress: Progress) -> Ints:
    """Tables with the released margins, int64 (draws, cells)."""
    cells = releases.evidence.cells
    found = drawn_originals(cells.table, cells.lattice, releases.released, draws, progress)
    return np.stack([each.counts.reshape(-1) for each in found])


def _price(cells: AtRiskCells, before: Ints, after: Ints, *, drawn: bool) -> RefusalPrice:
    """The price, from the tables left, int64 (tables, cells), and those possible before."""
    own = cells.at_risk.mask(cells.table.counts.reshape(-1))
    shares = [cells.at_risk.mask(tables).mean(axis=0) for tables in (before, after)]
    cell = int(np.where(own, np.abs(shares[1] - shares[0]), -1.0).argmax())
    domain = cells.table.domain
    return RefusalPrice(
        bits=math.log2(len(before) / len(after)),
        before=float(shares[0][cell]),
        after=float(shares[1][cell]),
        cell=domain.labels(domain.unflat(cell)),
        originals=len(before),
        left=len(after),
        drawn=drawn,
    )
