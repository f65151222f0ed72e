"""The posterior of a component by Markov chains, which run until they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.bounds.counting import TableCount, count_tables
from tabprotect.engine.budgets import CHAIN_WORK
from tabprotect.engine.errors import InfeasibleError, TooLargeError
from tabprotect.engine.posterior.agreement import SETTLED, averaged, mixing, worth
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors.chains import Chains, SwapSweeps, is_tangled, too_large
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.posterior.factors.loose_chains import LooseChains
from tabprotect.engine.posterior.factors.solved_parts import SolvedPart
from tabprotect.engine.posterior.factors.sum_circuits import SumCircuits
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Rerun
from tabprotect.languages.messages import message

MOST_HELD = 2**25
"""Most counts held in all: 256 MiB, and figures of them take a few times that."""

MOST_ENTRIES = 3 * 2**23
"""Most entries (cell, count) of the distributions; adding them up takes several of their size."""

MOST_CELLS = 20_000
"""Most connected cells that lie in two sums each (a two-way table): some ten seconds."""

MOST_UPDATES = 3 * 10**8
"""Most cell updates by sweeps over the table in one run."""


CHAINS, TOGETHER = 64, 8
"""Chains side by side, and those of which shares are counted together."""

RECORDS = 100
"""Tables recorded from each chain."""

DIRECTIONS, BY_CELLS, MOST_DIRECTIONS = 12_000, 8.0, 1_000_000
"""Directions of the shortest run; times the cells to the power 3/2, where it takes longer until
chains agree (120 cells: 12,000, 600 cells: 120,000); and the most of a first run, if not four for
each move of the basis."""

SWEEPS = 1500

ROUNDS, FEW_ROUNDS = 8, 3
"""Most runs, each twice as long as the one before, until the chains agree; and those that are made whatever
they cost, where the work is not limited."""

AGREED = 1.05
"""Largest R-hat at which chains agree."""

DEARER = 4.0
"""Times the work given to them that chains would take to agree, from which they do not go on: each run
halves the square of what R-hat exceeds 1 by, or does a little better, and takes twice the work."""

DIRECTION_COST, RING_COST, SWEEP_COST, START_COST = 4.0, 4.0, 0.015, 0.4
"""Microseconds on an ordinary core: of a direction, of one among rings of sums alone, of a sweep per count, and of the start per pair of cells."""


BOXED, BOXES_EACH = 16, 1_000
"""Chains side by side of many cells in three ways, and directions for each cell of the first run."""

BOX_COST, BOX_START, BOX_WORK = 2.4, 1_700.0, 3e7
"""Microseconds of such a direction, of the start for each cell, and of all at most."""

LOOSE_HELD, LOOSE_FEWEST = 2**23, 8
"""Counts that chains over loose sums record, and the fewest chains."""

WALK_HELD = 2**21
"""Counts that walks of a mechanism's own record, where they are few."""

LOOSE_SWEEPS = 6
"""Steps for each cell between two records of chains over loose sums, in the first run."""

FEWEST_WALKS, WALK_ROUNDS = 8, 7
"""Walks of a mechanism's own, and runs at most, each with twice the steps of the one before."""

WALK_WORK = 2.5e7
"""Most nominal microseconds of such walks."""

LOOSE_COST, LOOSE_WORK = 0.06, 1.6e7
"""Microseconds of such a step on an ordinary core, and of all of them at most, where work is limited."""

LEAST_TIMES, MOST_TIMES, MORE = 1.5, 4.0, 1.25
"""How many times as many steps the next run takes, and of those that should do: R-hat is an estimate."""


def _times(agreement: float, most: float = np.inf) -> float:
    """How many times as many steps are to be taken: what R-hat squared exceeds 1 by falls as they grow."""
    enough = MORE * (agreement**2 - 1) / (AGREED**2 - 1)
    return min(float(np.clip(enough, LEAST_TIMES, MOST_TIMES)), most)


def by_chain(
    component: FactorComponent,
    shape: Sequence[int],
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> SolvedPart:
    """The posterior of a component by simulation.

    Parameters
    ----------
    shape
        Shape of the original.
    approach
        By default 6,400 tables are recorded in all, fewer of large tables. Where the work is
        limited, chains stop at ``CHAIN_WORK``, counted and never timed, and after a run in which
        they stand still in different places.

    Raises
    ------
    InfeasibleError
        If no feasible original is found.
    TooLargeError
        If so many cells are connected that it would take minutes or gigabytes.
    """
    found_loose = _by_loose_chain(component, shape, approach, generator, progress)
    if found_loose is not None:
        return found_loose
    cells, draws, limited = len(component), approach.draws, approach.weighing is not None
    if cells > MOST_CELLS:
        raise too_large(cells, MOST_CELLS)
    circuits = SumCircuits.of(component)
    tangled = is_tangled(component, circuits)
    chains = int(np.clip(MOST_HELD // (cells * RECORDS), 8, BOXED if tangled else CHAINS))
    records = RECORDS if draws is None else max(8, -(-draws // chains))
    records = int(np.clip(MOST_HELD // (cells * chains), 8, records))
    sweeping = SwapSweeps.of(component, shape) is not None
    # Without sweeps, chains of more cells agree later.
    wanted = 0 if sweeping else min(int(BY_CELLS * cells**1.5), MOST_DIRECTIONS)
    directions = max(DIRECTIONS, wanted)
    each = RING_COST if circuits is not None and not circuits.rest else DIRECTION_COST
    start, most = START_COST * cells**2, CHAIN_WORK
    if tangled:
        directions, each, start, most = BOXES_EACH * cells, BOX_COST, BOX_START * cells, BOX_WORK
    spent = start + 1.25 * each * directions if tangled else start + each * directions
    if limited:
        _check_within(cells, spent, most)
    found = Chains(component, shape, generator, chains=chains, progress=progress)
    directions = directions if tangled else max(directions, 4 * found.moves)
    sweeps = 0
    if found.sweeps is not None:
        sweeps = int(np.clip(MOST_UPDATES // (cells * chains), 2 * RECORDS, SWEEPS))
        # The swaps do most of the work; single directions reach what swaps cannot.
        directions = DIRECTIONS // 4
    between = (-(-directions // records), -(-sweeps // records))
    found.run(max(records // 4, 2), between, progress, message("warming up"))
    for attempt in range(ROUNDS):
        stage = message("drawing originals, run {attempt}", attempt + 1)
        tables, counts = found.run(records, between, progress, stage)
        agreement, _ = mixing(tables, counts)
        cost = records * (each * between[0] + SWEEP_COST * between[1] * cells * chains)
        spent += cost
        ahead = 2 * cost * (agreement**2 - 1) / (AGREED**2 - 1)
        bounded = limited or attempt + 1 >= FEW_ROUNDS
        times = _times(agreement, (most - spent) / cost if bounded else np.inf)
        lost = times < LEAST_TIMES or (limited and ahead > DEARER * most)
        if agreement <= AGREED or lost:
            break
        between = (int(times * between[0]), int(times * between[1]))
    return _part(component, tables, counts, agreement, generator)


def _by_loose_chain(
    component: FactorComponent,
    shape: Sequence[int],
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress,
) -> SolvedPart | None:
    """The posterior where no sum is known exactly; ``None`` where such chains do not suit or settle."""
    cells = len(component)
    chains = int(np.clip(LOOSE_HELD // (cells * RECORDS), LOOSE_FEWEST, CHAINS))
    records = RECORDS if approach.draws is None else max(8, -(-approach.draws // chains))
    records = int(np.clip(MOST_HELD // (cells * chains), 8, records))
    sweeps = LOOSE_SWEEPS
    cost = LOOSE_COST * chains * records * cells
    spent = 1.25 * sweeps * cost
    if spent > LOOSE_WORK and approach.weighing is not None:
        return None
    found = LooseChains.of(component, shape, generator, chains=chains, progress=progress)
    if found is None:
        return None
    found.run(max(records // 4, 2), sweeps, progress, message("warming up"))
    for attempt in range(FEW_ROUNDS):
        stage = message("drawing originals, run {attempt}", attempt + 1)
        tables, counts = found.run(records, sweeps, progress, stage)
        agreement, _ = mixing(tables, counts)
        left = np.inf if approach.weighing is None else (LOOSE_WORK - spent) / (sweeps * cost)
        times = _times(agreement, left)
        if agreement <= AGREED or times < LEAST_TIMES:
            break
        sweeps = int(sweeps * times)
        spent += sweeps * cost
    return _part(component, tables, counts, agreement, generator) if agreement <= SETTLED else None


def by_walk(
    rerun: Rerun, cells: int, approach: Approach, generator: np.random.Generator, progress: Progress = SILENT
) -> SolvedPart | None:
    """The posterior of all cells under a uniform prior by walks of a mechanism's own.

    ``None`` where walks do not begin, or do not settle within the work.
    """
    assert rerun.walk is not None
    number = int(np.clip(WALK_HELD // (cells * RECORDS), FEWEST_WALKS, CHAINS))
    records = RECORDS if approach.draws is None else max(8, -(-approach.draws // number))
    records = int(np.clip(MOST_HELD // (cells * number), 8, records))
    walks = [rerun.walk(one) for one in generator.spawn(number)]
    tables = np.empty((records, cells, number), dtype=np.int64)
    cost = records * number * rerun.walk_cost
    spent, between = 0.5 * cost, 1
    for attempt in range(WALK_ROUNDS):
        stage = message("drawing originals, run {attempt}", attempt + 1)
        # The first run warms up, too: half as many steps before what is recorded.
        for record in range(-(records // 2) if not attempt else 0, records):
            progress.report(stage, max(record, 0) / records)
            for place, walk in enumerate(walks):
                for _ in range(between):
                    here = next(walk, None)
                if here is None:
                    return None
                tables[record, :, place] = here
        agreement, _ = mixing(tables, counts := np.ones((records, number), dtype=np.bool_))
        spent += between * cost
        times = _times(agreement, (WALK_WORK - spent) / (between * cost))
        if agreement <= AGREED or times < LEAST_TIMES:
            break
        between = round(times * between)
    if agreement > SETTLED:
        return None
    nothing = np.zeros(cells, dtype=np.int64)
    every = FactorComponent(np.arange(cells), nothing, nothing, (), ())
    return _part(every, tables, counts, agreement, generator)


def _check_within(cells: int, spent: float, most: float) -> None:
    """Check that the first run of chains over so many cells is within limited work."""
    if spent > most:
        raise TooLargeError(
            message(
                "{cells:,} unpublished counts hang together by published sums: drawing them would take "
                "longer than is given to it here",
                cells,
            ),
            hint=message("take `infer`, which has no such limit"),
        )


def _held(tables: Ints) -> int:
    """Width of the widest row of the distributions of these tables (records, cells, chains).

    Raises
    ------
    TooLargeError
        If the distributions would be too large.
    """
    width = int((tables.max(axis=(0, 2)) - tables.min(axis=(0, 2))).max()) + 1
    if width * tables.shape[1] > MOST_ENTRIES:
        raise TooLargeError(
            message(
                "the distributions of {shape:,} cells over {width:,} counts are too large",
                tables.shape[1],
                width,
            ),
            hint=message(
                "take a prior that knows more about the counts, or ask for bounds instead (tabprotect bounds)"
            ),
        )
    return width


def _part(
    component: FactorComponent, tables: Ints, counts: Bools, agreement: float, generator: np.random.Generator
) -> SolvedPart:
    used = np.flatnonzero(counts.any(axis=0))
    if len(used) < 2:
        raise InfeasibleError(
            message("no original was found that fits the published sums and the prior"),
            hint=message("choose a wider prior"),
        )
    first = tables.min(axis=(0, 2))
    width = _held(tables)
    # Each cell has as many places as it had counts: most rows are much shorter than the widest.
    ends = np.cumsum(tables.max(axis=(0, 2)) - first + 1)
    base = np.concatenate([[0], ends[:-1]]) - first
    mean, square, _ = averaged(_shares(tables, counts, base))
    row = np.repeat(np.arange(len(first)), np.diff(ends, prepend=0))
    chances, variance = np.zeros((len(first), width)), np.zeros((len(first), width))
    chances[row, np.arange(len(row)) - (base + first)[row]] = mean
    variance[row, np.arange(len(row)) - (base + first)[row]] = square
    variance /= len(used) * (len(used) - 1)
    taken = int(counts.sum())
    counting = Counting(component, Randomness.seeded(int(generator.integers(2**63))))
    kept_chain, kept_record = np.nonzero(counts.T)

    def taken_at(at: Ints) -> Ints:
        # As narrow as they are held: who puts parts together widens them.
        return tables[kept_record[at], :, kept_chain[at]]

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        progress.report(message("drawing tables"), 0.0)
        return taken_at(generator.choice(taken, number, replace=number > taken))

    return SolvedPart(
        component.cells,
        first,
        list(chances),
        draw,
        counting.exact,
        errors=list(np.sqrt(variance)),
        effective_sample_size=worth(chances, variance, taken),
        draws=taken,
        r_hat=agreement,
        in_order=taken_at,
        estimate=counting.estimate,
    )


def _shares(tables: Ints, counts: Bools, base: Ints) -> Iterator[Floats]:
    """Return for each chain that is used the share of its tables with each count of each cell."""
    places = int((tables.max(axis=(0, 2)) + base).max()) + 1
    for begin in range(0, counts.shape[1], TOGETHER):
        some = slice(begin, begin + TOGETHER)
        kept = counts[:, some]
        at = tables[:, :, some] + (base[:, None] + np.arange(kept.shape[1]) * places)
        if not kept.all():
            at = at.transpose(0, 2, 1)[kept]
        found = np.bincount(at.reshape(-1), minlength=kept.shape[1] * places)
        number = kept.sum(axis=0)
        yield from found.reshape(-1, places)[number > 0] / number[number > 0, None]


def two_way_totals(component: FactorComponent) -> tuple[list[int], list[int]] | None:
    """Row and column totals of a two-way table if nothing else limits the cells, else ``None``."""
    cells = len(component)
    if any(np.isneginf(log).any() for log in component.logs):
        return None
    margins: list[list[int]] = []
    sides: list[np.ndarray] = []
    left = [one for one in component.sums if len(one.cells) < cells]
    if any(one.low != one.high for one in left):
        return None
    while left and len(margins) < 3:
        # The sums disjoint from the first one lie on its side of the table.
        side = np.full(cells, -1)
        totals_: list[int] = []
        rest = []
        for one in left:
            if (side[one.cells] < 0).all():
                side[one.cells] = len(totals_)
                totals_.append(one.low)
            else:
                rest.append(one)
        if (side < 0).any():
            return None
        margins.append(totals_)
        sides.append(side)
        left = rest
    if len(margins) != 2 or left:
        return None
    rows, columns = margins
    code = sides[0] * len(columns) + sides[1]
    if len(np.unique(code)) != cells or len(rows) * len(columns) != cells:
        return None
    of_row, of_column = np.array(rows)[sides[0]], np.array(columns)[sides[1]]
    implied_high = np.minimum(of_row, of_column)
    implied_low = np.maximum(of_row + of_column - sum(rows), 0)
    if (component.low != implied_low).any() or (component.high != implied_high).any():
        return None
    return rows, columns


@dataclass(frozen=True, eq=False)
class Counting:
    """The number of originals of a component: a two-way table with both margins published."""

    component: FactorComponent
    randomness: Randomness

    @cached_property
    def _counted(self) -> TableCount | None:
        found = two_way_totals(self.component)
        return None if found is None else count_tables(*found, randomness=self.randomness)

    def exact(self) -> int | None:
        """The number, where it is known."""
        found = self._counted
        return found.count if found is not None and found.exact else None

    def estimate(self) -> TableCount | None:
        """An estimate of it."""
        return self._counted
