"""The likelihood of a release: shapes of likelihood, no method by name.

A method states one of these from its *disclosed* parameters alone; the posterior knows the
shapes and no method. Five shapes: a known sequence of moves, each taken by a coin; moves that
the current table chooses, unseen; records, or units of cells, that change places; and a product of
factors, one per published count, each a function of the true count there. A sixth chains two: records
that change places before any of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tabprotect.engine import arrays
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import equal_rows
from tabprotect.engine.errors import InputError
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.swaps.exchange_plan import ExchangePlan
from tabprotect.engine.swaps.swap_plan import SwapPlan
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

BlockingRule = Literal["any_zero", "negative", "reversible", "none", "exchange"]

BLOCKING_RULES: dict[BlockingRule, str] = {
    "any_zero": (
        message(
            "A cycle that touches a zero is not applied. A zero stays zero: a reader knows that "
            "every published positive count was positive."
        )
    ),
    "negative": (
        message(
            "A cycle is not applied in a direction that would make a cell negative. Zeros can rise; "
            "small counts drift up a little."
        )
    ),
    "reversible": (
        message(
            "A cycle is taken with the chance that its result is worth as much as what is there: the "
            "product of 1/x! over the counts, to the power theta. Zeros can rise. Serves where "
            "association is weak: chi-square stays honest; strong association is pulled towards none."
        )
    ),
    "exchange": (
        message(
            "No cycles: two cells that are not empty exchange a unit, step by step, by a rule that is "
            "reversible and never blocks. Zeros can rise. For any number of variables; what readers can "
            "believe are independent exact draws."
        )
    ),
    "none": (
        message(
            "Every cycle is applied. Cells can become negative: for analysis, not for release without a look."
        )
    ),
}


def _gamma(alpha: float, beta: float) -> float:
    gamma = 1.0 - (alpha + beta)
    return gamma if gamma > 1e-12 else 0.0


@dataclass(frozen=True)
class MoveSequence:
    """Each step adds one move with probability alpha, subtracts it with beta, unless blocked.

    Steps run through ``moves`` in order, ``passes`` times, each on the current table.

    Attributes
    ----------
    published
        The released table.
    moves
        The cycles in the order they are applied.
    alpha, beta
        Chances of adding and of subtracting; otherwise the table is left as it is.
    passes
        Rounds over the whole list.
    rule
        Decides when a step is blocked (``BLOCKING_RULES``).
    theta
        For the rule ``reversible``: a move from x to y is taken with probability
        min(1, prod (x!/y!)^theta), and never to a negative count. 0 is ``negative``.
    """

    published: Table
    moves: MoveSet
    alpha: float
    beta: float
    passes: int
    rule: BlockingRule
    theta: float = 0.0

    @property
    def domain(self) -> Domain:
        """The variables of the original, and of the posterior."""
        return self.published.domain

    @property
    def drawn_exactly(self) -> bool:
        """True if independent exact draws can be had under a uniform prior."""
        return self.rule == "negative" and self.alpha == self.beta

    @property
    def gamma(self) -> float:
        """The chance that a coin leaves the table.

        Exactly 0 if alpha and beta add up to 1 up to rounding: 1 - 0.7 - 0.3 is 5.6e-17, which
        would make impossible originals possible.
        """
        return _gamma(self.alpha, self.beta)


@dataclass(frozen=True)
class AdaptiveSequence:
    """Each step takes one of the cycles through positive cells of the current table.

    The cycle is drawn with equal chances among those of ``moves`` that touch no zero at that time,
    and added with probability alpha, subtracted with beta, else left; a table without such a
    cycle stays as it is. The drawn cycles are not disclosed.

    Attributes
    ----------
    published
        The released table.
    moves
        The cycles to draw from; their order does not matter.
    alpha, beta
        Chances of adding and of subtracting.
    steps
        Number of cycles drawn.
    """

    published: Table
    moves: MoveSet
    alpha: float
    beta: float
    steps: int

    @property
    def domain(self) -> Domain:
        """The variables of the original, and of the posterior."""
        return self.published.domain

    @property
    def gamma(self) -> float:
        """Return it as for a :class:`MoveSequence`."""
        return _gamma(self.alpha, self.beta)


@dataclass(frozen=True, eq=False)
class RecordSwaps:
    """Records change places by chance, within classes: the chain is reversible.

    With every assignment of places to the records of a class equally likely beforehand, the law of the
    original given the published table is that of the plan run once more from what is published, its
    levels in the reverse order.

    Attributes
    ----------
    published
        The released table.
    plan
        Who may take whose place.
    kept
        The margins that no run changes; the last is that by places.
    """

    published: Table
    plan: SwapPlan
    kept: Publication

    @property
    def domain(self) -> Domain:
        """The variables of the original, and of the posterior."""
        return self.published.domain

    @property
    def kept_by_place(self) -> Ints:
        """The counts by places that are published as they are, int64 (sums,)."""
        alone = Publication(self.domain, self.kept.margins[-1:], self.kept.groupings)
        return alone.added_up(self.published)


@dataclass(frozen=True, eq=False)
class SwappedFirst:
    """Records changed places, and a further method protected the table that came of it.

    Where the swapped tables are weighed beforehand as the swap keeps them, the law of the original is that
    of the swapped table given what is published, swapped once more.

    Attributes
    ----------
    published
        The released table.
    plan
        Who may take whose place.
    kept
        The margins that no swap changes; they are published as the further method leaves them.
    then
        What is published as a function of the swapped table.
    """

    published: Table
    plan: SwapPlan
    kept: Publication
    then: Likelihood

    @property
    def domain(self) -> Domain:
        """The variables of the original, and of the posterior."""
        return self.published.domain


@dataclass(frozen=True, eq=False)
class ExchangeSteps:
    """Units of cells change place step by step: the chain is reversible.

    With tables weighed beforehand as the plan keeps them, the law of the original given the published
    table is that of the plan run once more from what is published.

    Attributes
    ----------
    published
        The released table.
    plan
        Which cells exchange units, and how often.
    kept
        The margins that no run changes.
    beside
        Further releases of the original whose plans differ in rate and theta alone.
    """

    published: Table
    plan: ExchangePlan
    kept: Publication
    beside: tuple[ExchangeSteps, ...] = ()

    @property
    def domain(self) -> Domain:
        """The variables of the original, and of the posterior."""
        return self.published.domain


UNBOUNDED = arrays.UNBOUNDED
"""The upper end of a factor without one."""


@dataclass(frozen=True, eq=False)
class Rerun:
    """The information of the whole mechanism about a candidate original, beyond the factors.

    Attributes
    ----------
    estimate
        ``(original, generator) -> P(this very release | original)``, up to a constant that does
        not depend on the original: exactly, or as an unbiased estimate from simulated runs.
    exact
        Whether it is not an estimate (a deterministic choice gives 1 or 0).
    cost
        Microseconds of one call on an ordinary core, roughly. Stated, never timed: it decides how a
        posterior is found, and the same release has to give the same one. ``None``: taken from the
        number of cells. Programmes solved on the way are counted separately.
    programmes
        Whether programmes are solved on the way: one call can take seconds.
    many
        The same for many originals at once where that is cheaper, ``(int64 (originals, inner
        cells), generator) -> float64 (originals,)``; ``cost`` is then that of one among many.
    known_weights
        What is known of many originals without a call: ``estimate``'s answer, or NaN where only a
        call tells, ``int64 (originals, inner cells) -> float64 (originals,)``. It saves time alone:
        what is told counts as a call.
    walk
        Where originals are too many to be weighed one by one: an endless walk through them, int64
        (inner cells,) at each step, that leaves the posterior of a uniform prior as it is; it ends
        at once where no first original is found.
    walk_cost
        Microseconds of one step, roughly.
    """

    estimate: Callable[[Table, np.random.Generator], float]
    exact: bool
    cost: float | None = None
    programmes: bool = False
    many: Callable[[Ints, np.random.Generator], Floats] | None = None
    known_weights: Callable[[Ints], Floats] | None = None
    walk: Callable[[np.random.Generator], Iterator[Ints]] | None = None
    walk_cost: float = 0.0

    def cost_over(self, cells: int) -> float:
        """The stated cost, or the usual cost for a candidate original with so many cells."""
        return 500.0 + 50.0 * cells if self.cost is None else self.cost


@dataclass(frozen=True, eq=False)
class CellFactors:
    """P(release | original) as a product of factors, each of one sum of true counts.

    Factor ``f`` depends on the true sum over the flat cells ``cells[starts[f]:starts[f + 1]]``.
    Factors of equal form share a *kind*: kind ``k`` allows sums in ``low[k]..high[k]``
    (closed) and weighs ``low[k], low[k] + 1, ...`` by
    ``exp(logs[log_starts[k]:log_starts[k + 1]])``; an empty run weighs all of them equally.

    A cell that no factor touches is free. True counts are never negative.

    Attributes
    ----------
    domain
        The variables of the original, and of the posterior.
    tables
        The published tables.
    starts : int64 (factors + 1,)
    cells : int64 (entries,)
        Flat cells of the original.
    kind : int64 (factors,)
    low, high : int64 (kinds,)
        ``high`` may be ``UNBOUNDED`` if the run of weights is empty.
    log_starts : int64 (kinds + 1,)
    logs : float64 (weights,)
    rerun
        All else that the mechanism says, for each candidate original; ``None`` if there is nothing.
    note
        What the factors leave out or assume, in words: reported wherever ``rerun`` is not (or
        cannot be) used.
    left_out
        The kinds of what they leave out; none for an assumption that readers share.
    approximate
        Whether the factors by themselves are only close to the mechanism's own law.
    own_chance
        Names the chance that belongs to each cell, where weights come of it: what it gave in one release
        of a table it gives in the next one.
    """

    domain: Domain
    tables: tuple[PublishedTable, ...]
    starts: Ints
    cells: Ints
    kind: Ints
    low: Ints
    high: Ints
    log_starts: Ints
    logs: Floats
    rerun: Rerun | None = None
    note: str = ""
    approximate: bool = False
    left_out: tuple[Omission, ...] = ()
    own_chance: str = ""

    def __post_init__(self) -> None:
        if (self.low > self.high).any() or (self.low < 0).any():
            raise ValueError(message("a factor allows no count"))
        runs = np.diff(self.log_starts)
        if ((runs > 0) & (runs != self.high - self.low + 1)).any():
            raise ValueError(message("a factor weighs other counts than it allows"))

    @classmethod
    def of(
        cls,
        domain: Domain,
        tables: tuple[PublishedTable, ...],
        sums: tuple[Ints, Ints],
        kind: Ints,
        kinds: list[tuple[int, int, Floats | None]],
    ) -> CellFactors:
        """Build from ``(starts, cells)`` and one ``(low, high, log weights or None)`` per kind."""
        if any(not 0 <= low <= high <= UNBOUNDED for low, high, _ in kinds):
            raise InputError(message("the mechanism leaves no count possible, or one beyond all numbers"))
        runs = [np.zeros(0) if logs is None else logs for _, _, logs in kinds]
        return cls(
            domain=domain,
            tables=tables,
            starts=sums[0],
            cells=sums[1],
            kind=kind,
            low=np.array([low for low, _, _ in kinds], dtype=np.int64),
            high=np.array([high for _, high, _ in kinds], dtype=np.int64),
            log_starts=np.concatenate([[0], np.cumsum([len(r) for r in runs])]).astype(np.int64),
            logs=np.concatenate([*runs, np.zeros(0)]),
        )

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """The lowest and the highest sum that each factor allows."""
        return self.low[self.kind], self.high[self.kind]

    @property
    def factors(self) -> int:
        """Number of factors."""
        return len(self.kind)


def product(factors: Sequence[CellFactors]) -> CellFactors:
    """P(all these releases | original): the product of all their factors.

    The published tables are those of the first. Reruns of the whole mechanisms multiply, too.
    """
    first = factors[0]
    if len(factors) == 1:
        return first
    factors = _drawn_once(factors)
    reruns = [one.rerun for one in factors if one.rerun is not None]
    return replace(
        first,
        starts=_appended([one.starts for one in factors]),
        cells=np.concatenate([one.cells for one in factors]),
        kind=np.concatenate(
            [one.kind + sum(len(f.low) for f in factors[:k]) for k, one in enumerate(factors)]
        ),
        low=np.concatenate([one.low for one in factors]),
        high=np.concatenate([one.high for one in factors]),
        log_starts=_appended([one.log_starts for one in factors]),
        logs=np.concatenate([one.logs for one in factors]),
        rerun=_product_of_reruns(reruns, first.domain) if reruns else None,
        note=joined(dict.fromkeys(one.note for one in factors if one.note), " "),
        approximate=any(one.approximate for one in factors),
        left_out=kinds(*(one.left_out for one in factors)),
    )


def _drawn_once(factors: Sequence[CellFactors]) -> list[CellFactors]:
    """The same, what one chance of a cell has given in several releases counted in the first alone.

    Where any cell was given something else, other draws were made.
    """
    known: dict[str, dict[int, tuple[int, bytes]]] = {}
    out = []
    for one in factors:
        before = known.setdefault(one.own_chance, {}) if one.own_chance else {}
        mine = _weighed(one) if one.own_chance else {}
        told = [f for f, (cell, _) in mine.items() if cell in before]
        if told and all(before[mine[f][0]] == mine[f][1] for f in told):
            kind, logs = one.kind.copy(), len(one.low)
            # Nothing more is weighed there, but for where it can be.
            kind[told] = logs + np.arange(len(told))
            ends = [(end[one.kind[told]]) for end in (one.low, one.high)]
            one = replace(
                one,
                kind=kind,
                low=np.concatenate([one.low, ends[0]]),
                high=np.concatenate([one.high, ends[1]]),
                log_starts=np.concatenate([one.log_starts, np.full(len(told), one.log_starts[-1])]),
            )
        before.update({cell: told_of for cell, told_of in mine.values() if cell not in before})
        out.append(one)
    return out


def _weighed(one: CellFactors) -> dict[int, tuple[int, tuple[int, bytes]]]:
    """For each factor of one cell that weighs it: the cell, and how."""
    alone = np.flatnonzero((np.diff(one.starts) == 1) & (np.diff(one.log_starts)[one.kind] > 0))
    found = {}
    for f in alone.tolist():
        kind = int(one.kind[f])
        logs = one.logs[one.log_starts[kind] : one.log_starts[kind + 1]]
        found[f] = int(one.cells[one.starts[f]]), (int(one.low[kind]), logs.tobytes())
    return found


def _appended(starts: Sequence[Ints]) -> Ints:
    """The starts of several lists of runs, concatenated."""
    lengths = np.concatenate([np.diff(one) for one in starts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _product_of_reruns(reruns: Sequence[Rerun], domain: Domain) -> Rerun:
    def estimate(original: Table, generator: np.random.Generator) -> float:
        chance = 1.0
        for rerun in reruns:
            chance *= rerun.estimate(original, generator)
            if not chance:
                break
        return chance

    def many(originals: Ints, generator: np.random.Generator) -> Floats:
        chances = np.ones(len(originals))
        # The cheapest first: it leaves fewest to the others.
        for rerun in sorted(reruns, key=lambda one: one.cost_over(domain.size)):
            left = np.flatnonzero(chances)
            if rerun.many is not None:
                chances[left] *= rerun.many(originals[left], generator)
                continue
            for k in left.tolist():
                table = Table.dense(domain, originals[k].reshape(domain.shape))
                chances[k] *= rerun.estimate(table, generator)
        return chances

    return replace(
        reruns[0],
        estimate=estimate,
        exact=all(rerun.exact for rerun in reruns),
        cost=sum(rerun.cost_over(domain.size) for rerun in reruns),
        programmes=any(rerun.programmes for rerun in reruns),
        many=many if any(rerun.many is not None for rerun in reruns) else None,
        known_weights=_known_by_first(reruns),
        walk=None,
    )


def _known_by_first(reruns: Sequence[Rerun]) -> Callable[[Ints], Floats] | None:
    first = reruns[0].known_weights
    if first is None or len(reruns) == 1:
        return first

    def known_weights(originals: Ints) -> Floats:
        # What the first rules out the others are not asked about.
        found = first(originals)
        return np.where(found == 0, found, np.nan)

    return known_weights


def log_weight(values: Ints, low: int, high: int, logs: Floats | None) -> Floats:
    """The log weights of values under a law from ``low`` to ``high``; all alike where it has no logs."""
    inside = (values >= low) & (values <= high)
    if logs is None or not len(logs):
        return np.where(inside, 0.0, -np.inf)
    return np.where(inside, logs[np.clip(values - low, 0, len(logs) - 1)], -np.inf)


def open_ends(high: Ints) -> Floats:
    """Upper bounds for a programme: infinite for none."""
    return np.where(high >= UNBOUNDED, np.inf, high.astype(np.float64))


def each_cell(domain: Domain) -> tuple[Ints, Ints]:
    """The sums for :class:`CellFactors` if every factor is one inner cell, in order."""
    return np.arange(domain.size + 1, dtype=np.int64), np.arange(domain.size, dtype=np.int64)


def independent(
    published: PublishedTable,
    weigh: Callable[[int], tuple[int, int, Floats | None]],
    *,
    hidden: tuple[int, int, Floats | None] = (0, UNBOUNDED, None),
    rerun: Rerun | None = None,
    note: str = "",
    left_out: tuple[Omission, ...] = (),
) -> CellFactors:
    """Every inner cell by itself, its factor a function of its published count.

    Parameters
    ----------
    weigh
        Published count -> (lowest, highest true count, log weights of the counts between).
    hidden
        The same for a suppressed cell.
    """
    counts = published.table.counts.reshape(-1)
    at, kind = equal_rows([counts])
    kinds = [weigh(int(value)) for value in counts[at]]
    if published.suppressed is not None:
        kind[published.suppressed.reshape(-1)] = len(kinds)
        kinds.append(hidden)
    domain = published.table.domain
    factors = CellFactors.of(domain, (published,), each_cell(domain), kind, kinds)
    return replace(factors, rerun=rerun, note=note, left_out=left_out)


Likelihood = MoveSequence | AdaptiveSequence | RecordSwaps | SwappedFirst | ExchangeSteps | CellFactors
