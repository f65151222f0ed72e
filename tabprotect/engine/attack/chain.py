"""The joint posterior of all inner cells and published sums by tempered chains.

Three chains start near the published numbers; the likelihood of hotter levels is taken to smaller
powers, and neighbouring levels exchange their tables. The chain is a function of the numbers alone:
seeds are SHA-256 of them, all steps are in whole numbers, and the work is counted. What did not
settle is said so.

The state is a table of inner counts at each level of tempering. A move takes a cell and up to six
axes, another category on each, and adds 1 or 2 to the corners of that box with alternating signs:
one cell, a pair on one axis, or a square, cube, ... that keeps margins. Where noise is wide the
steps are powers of two up to its width. Beyond the support of a law
the likelihood falls by a fixed step for each unit, so that every table can be reached; tables
recorded are those within all supports.

With noise that equal sets of records share, published sums over the same records are one
observation. The set of a sum is the exclusive or of a word for each of its cells that is not
empty; sums of one word form a group, with one factor. A salt keeps sums apart whose noise is not
the same though their records are.

A move that fills or empties a cell changes the records of many sums, takes long to weigh and is
seldom taken. So it is first judged by guessed odds that each cell holds somebody, and what passes by
what its weight has over the guess: two stages leave the law as it is, whatever the guess [1]_.

References
----------
.. [1] J. A. Christen and C. Fox, "Markov chain Monte Carlo using an approximation", Journal of
   Computational and Graphical Statistics 14 (2005) 795-810.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.attack import tempered_lattice
from tabprotect.engine.attack.listing import Listed, listed
from tabprotect.engine.equal_rows import by_number
from tabprotect.engine.posterior.agreement import SETTLED, r_hat, worth
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import UNBOUNDED
from tabprotect.engine.release.published_numbers import PublishedNumbers
from tabprotect.engine.workers.threads import side_by_side
from tabprotect.languages.messages import message

CHAINS = 3

UNIT = 2**20
"""Log likelihoods are whole numbers of 1 / UNIT."""

IMPOSSIBLE = -(2**63)
"""Stands for the log likelihood of what cannot be."""

LEVELS = (256, 200, 150, 108, 72)
"""Powers of the likelihood, of 256."""

SEGMENTS = 5
"""Parts of each chain whose shares are compared: 15 batches for standard errors."""

LEAST_FEASIBLE = 100
"""Fewest recorded tables of each chain."""

FALL = 3 * UNIT
"""At first, how much the log likelihood falls with each unit beyond a support."""

TUNED = 10
"""Sweeps between adjustments of the fall."""

GUESSED = 20
"""Sweeps before it is guessed which cells hold somebody."""

SUREST = int(np.rint(np.log(16) * UNIT))
"""The guess lets at least one in sixteen moves be weighed."""

MOST_CELLS = 2_000

MOST_KEPT = 2**22
"""Most counts of all tables that are kept, of all chains together."""

MOST_PLACES = 2**23
"""Most values of all cells and sums together that are told apart."""

WORK = 5_200_000_000
"""Most visits of a sum: some 30 seconds of the compiled steps."""

VISITS = 3.6
"""Cells of a move on average."""

SWEEPS = 420
"""Usual sweeps of each chain, a third of them to settle."""

FEWEST, MANY_VISITS = 210, 1_800_000_000
"""The least of them, where more would take more visits than that."""

USUAL_WORK = 40_000_000
"""Visits of sums up to which small tables get more sweeps."""

MOST_SWEEPS = 6_000

DOUBLINGS = 2
"""How often the sweeps are doubled where chains have not settled."""


class Arrays(NamedTuple):
    """The arrays that the compiled steps work on, in their order; all int64, the words of cells uint64.

    Attributes
    ----------
    x : (levels, cells)
        The counts, changed in place.
    state : (3 + levels,)
        State of the generator, fall beyond a support, tables kept, the table that stands at each
        level.
    hist : (places,)
        How often each cell and each sum had each value.
    kept : (most, cells)
        The first recorded tables.
    held : (levels, cells)
        After how many sweeps each cell held somebody.
    numbers
        Cells, sums, axes, levels, whether equal records share noise, sweeps, most tables kept,
        the power of two that is the widest step (0: steps of 1 and 2).
    shape, stride : (axes,)
        Of the axes with more than one category.
    cell_starts, sums_of : (cells + 1,), (entries,)
        The sums that each cell is part of.
    kind : (sums,)
        The law of each sum; -1 for none.
    low, high, log_starts, floor : (laws,)
        Support, place of its logs (-1: all alike), and the smallest of them.
    logs : (weights,)
    least, top : (cells,)
        Counts that a cell may have.
    own : (cells,)
        The law of each cell by itself; -1 for none.
    beta : (levels,)
    log_table : (4097,)
        log(1 + k / 4096).
    first, hist_starts : (cells + sums,), (cells + sums + 1,)
        The value and the place where the histogram of each begins.
    words, salt : (cells,), (sums,)
    odds : (levels, cells)
        The guessed log odds that a cell holds somebody.
    """

    x: Ints
    state: Ints
    hist: Ints
    kept: Ints
    held: Ints
    numbers: Ints
    shape: Ints
    stride: Ints
    cell_starts: Ints
    sums_of: Ints
    kind: Ints
    low: Ints
    high: Ints
    log_starts: Ints
    floor: Ints
    logs: Ints
    least: Ints
    top: Ints
    own: Ints
    beta: Ints
    log_table: Ints
    first: Ints
    hist_starts: Ints
    words: np.typing.NDArray[np.uint64]
    salt: np.typing.NDArray[np.uint64]
    odds: Ints


@dataclass(frozen=True, eq=False)
class JointShares:
    """Shares of recorded tables in which each cell and each sum had each value.

    Attributes
    ----------
    first : int64 (cells + sums,)
        The first value of each.
    starts : int64 (cells + sums + 1,)
    shares : float64 (places,)
    error : float64 (places,)
        Standard errors, from batches.
    r_hat
        The largest potential scale reduction of a mean.
    spread
        The largest difference of a share between chains.
    feasible
        The smallest share of a chain's tables that were within all supports.
    tables
        Recorded tables.
    effective
        What they are worth in independent ones, by the standard errors.
    work
        Visits of sums.
    settled
    kept : int64 (tables, cells)
        Recorded tables, in order, chain by chain.
    listed
        All tables with their chances, where they are so few; the shares are then exact.
    """

    first: Ints
    starts: Ints
    shares: Floats
    error: Floats
    r_hat: float
    spread: float
    feasible: float
    tables: int
    effective: float
    work: int
    settled: bool
    kept: Ints
    listed: Listed | None = None

    @classmethod
    def of_listed(cls, found: Listed, ends: tuple[Ints, Ints]) -> JointShares:
        """The shares of all tables."""
        first, number = ends[0].astype(np.int64), len(found.tables)
        starts = np.concatenate([[0], np.cumsum(ends[1] - first + 1)]).astype(np.int64)
        shares = found.shares(first, starts)
        return cls(
            *(first, starts, shares, np.zeros(len(shares)), 1.0, 0.0, 1.0, number),
            effective=float(number),
            work=0,
            settled=True,
            kept=found.tables,
            listed=found,
        )


def work_of(numbers: PublishedNumbers, sweeps_of_each: int) -> int:
    """Visits of sums that so many sweeps take."""
    return int(2 * VISITS * len(numbers.cells) * CHAINS * len(LEVELS) * sweeps_of_each)


def usual_plan(numbers: PublishedNumbers) -> tuple[int, ...]:
    """Sweeps of each chain, then more for those that have not settled."""
    few = min(USUAL_WORK // max(work_of(numbers, 1), 1), MOST_SWEEPS)
    most = MANY_VISITS // max(work_of(numbers, 1), 1)
    first = max(min(max(SWEEPS, int(few) // 30 * 30), int(most) // 30 * 30), FEWEST)
    return tuple(first << doubled for doubled in range(DOUBLINGS + 1))


def joint_shares(
    numbers: PublishedNumbers,
    start: Ints,
    ends: tuple[Ints, Ints],
    *,
    plan: Sequence[int],
    work: int = WORK,
    progress: Progress = SILENT,
) -> JointShares | None:
    """The joint posterior, the prior even over all counts from 0 up.

    Parameters
    ----------
    start : int64 (cells,)
        Where chains begin.
    ends : int64 (cells + sums,), (cells + sums,)
        Proved bounds of each cell and each sum.
    plan
        Sweeps of each chain; the next if they have not settled by the last.
    work
        Most visits of sums, of all plans together.

    Returns
    -------
    JointShares or None
        ``None`` where even the first plan is beyond the work. Those found last may not be settled.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    size, low, high = numbers.domain.size, *ends
    if size > MOST_CELLS or (high >= UNBOUNDED).any():
        return None
    if int((high - low + 1).sum()) > MOST_PLACES:
        return None
    if (few := listed(numbers, ends)) is not None:
        return JointShares.of_listed(few, ends)
    found, chains, left = None, list[_Chain](), work
    for count in plan:
        # Chains that have not settled go on from where they are: all before is their settling.
        left -= work_of(numbers, count - count // 3 if chains else count)
        if left < 0:
            break
        settling = count // 6 if chains else count // 3
        recorded = count - count // 3 - (settling if chains else 0)
        chains = chains or [_Chain(numbers, start, (low, high), str(k)) for k in range(CHAINS)]
        _run(chains, settling, recorded, progress)
        found = _together([one for one in chains if one.batches], work - left)
        if found.settled or not all(one.met for one in chains):
            # A chain that met no table within all supports finds none in a longer run either.
            break
    return found


def _run(chains: Sequence[_Chain], settling: int, recorded: int, progress: Progress) -> None:
    """Run all chains; those after one that met no table are as if they had not run."""
    without: list[int] = []

    def run(number: int, progress: Progress) -> None:
        one = chains[number]
        if without and min(without) < number:
            return
        one.settle(settling, progress)
        one.record(recorded, progress)
        if not one.met:
            without.append(number)

    side_by_side(run, range(len(chains)), progress)
    for one in chains[min(without) + 1 :] if without else ():
        one.batches = []


def digest(numbers: PublishedNumbers, what: str) -> int:
    """A seed that follows from the numbers: SHA-256 of all that is public."""
    found = hashlib.sha256(f"tabprotect chain {what} {numbers.shared}\n".encode())
    sources = (numbers.noise, numbers.believed) if numbers.compound else ()
    found.update(repr((numbers.domain.names, numbers.domain.shape)).encode())
    for array in (numbers.starts, numbers.cells, numbers.published, numbers.law, *sources):
        found.update(np.ascontiguousarray(array, dtype="<i8").tobytes() + b"\n")
    for low, high, logs in numbers.laws:
        found.update(f"{low} {high}\n".encode())
        if logs is not None:
            found.update(np.ascontiguousarray(_units(logs), dtype="<i8").tobytes())
    return int.from_bytes(found.digest()[:8], "little")


def _units(logs: Floats) -> Ints:
    """Log likelihoods as whole numbers of 2^-20."""
    possible = np.isfinite(logs)
    found = np.full(len(logs), IMPOSSIBLE, dtype=np.int64)
    found[possible] = np.rint(logs[possible] * UNIT).astype(np.int64)
    return found


class _Chain:
    """One chain, and what it recorded."""

    def __init__(self, numbers: PublishedNumbers, start: Ints, ends: tuple[Ints, Ints], what: str) -> None:
        low, high = ends
        size, levels = numbers.domain.size, len(LEVELS)
        # A generator of whole numbers for what does not take part in the steps.
        coins = np.random.Generator(np.random.PCG64(digest(numbers, what)))
        runs = [np.zeros(0, dtype=np.int64) if logs is None else _units(logs) for _, _, logs in numbers.laws]
        begins = np.cumsum([0, *map(len, runs)]).astype(np.int64)
        order, cell_starts = by_number(numbers.cells, size)
        top = np.full(size, 2**40, dtype=np.int64)
        top[np.diff(cell_starts) == 0] = 0
        if numbers.domain.structural:
            top[numbers.domain.structural_cells()] = 0
        least = np.zeros(size, dtype=np.int64)
        if (numbers.believed >= 0).any():
            # What is believed of cells beforehand leaves no walls to pass.
            least, top = np.maximum(low[:size], 0), np.minimum(top, high[:size])
        shape = np.array(numbers.domain.shape, dtype=np.int64)
        counts = size, numbers.numbers, int((shape > 1).sum())
        stride = np.concatenate([np.cumprod(shape[::-1])[::-1][1:], [1]]).astype(np.int64)
        jitter = coins.integers(0, 4, (levels, size))
        x = np.clip(start + (jitter == 3) - (jitter == 0), least, top).astype(np.int64)
        places = np.concatenate([[0], np.cumsum(high - low + 1)]).astype(np.int64)
        self.arrays = Arrays(
            x=np.ascontiguousarray(x),
            state=np.array([int(coins.integers(0, 2**62)), FALL, 0, *range(levels)], dtype=np.int64),
            hist=np.zeros(int(places[-1]), dtype=np.int64),
            kept=np.zeros((0, size), dtype=np.int64),
            numbers=np.array(
                [*counts, levels, numbers.shared, 0, 0, _widest(numbers.variance)], dtype=np.int64
            ),
            shape=shape[shape > 1],
            stride=stride[shape > 1],
            cell_starts=cell_starts,
            sums_of=numbers.of_entry[order],
            kind=numbers.law,
            low=np.array([low for low, _, _ in numbers.laws], dtype=np.int64),
            high=np.array([high for _, high, _ in numbers.laws], dtype=np.int64),
            log_starts=np.where(np.diff(begins) > 0, begins[:-1], -1),
            floor=np.array([run[run != IMPOSSIBLE].min(initial=0) for run in runs], dtype=np.int64),
            logs=np.concatenate([np.zeros(0, dtype=np.int64), *runs]),
            least=least,
            top=top,
            own=numbers.believed,
            beta=np.array(LEVELS, dtype=np.int64),
            log_table=_LOG_TABLE,
            first=low.astype(np.int64),
            hist_starts=places,
            words=coins.integers(1, 2**64, size, dtype=np.uint64),
            salt=_salt(numbers.noise, coins),
            held=np.zeros((levels, size), dtype=np.int64),
            odds=np.zeros((levels, size), dtype=np.int64),
        )
        self.batches: list[tuple[Ints, int]] = []
        self.sweeps = self.swept = 0

    def settle(self, count: int, progress: Progress) -> None:
        """Sweeps that are not recorded, in which the fall and the guess are adjusted."""
        for at in range(0, count, TUNED):
            progress.report(message("putting the tables together"), at / count / 3)
            inside = self._sweep(TUNED, False)
            # A fall that holds most tables within the supports and still lets them pass beyond.
            if inside < 0.4 * TUNED:
                self.arrays.state[1] = min(self.arrays.state[1] * 5 // 4, 100 * UNIT)
            elif inside > 0.9 * TUNED:
                self.arrays.state[1] = max(self.arrays.state[1] * 10 // 11, UNIT // 2)
            if self.swept >= GUESSED and self.arrays.numbers[4]:
                self._guess()

    def record(self, count: int, progress: Progress) -> None:
        """Sweeps whose tables are recorded; what was recorded earlier is dropped."""
        self.batches, self.sweeps = [], 0
        size, each = self.arrays.x.shape[1], count // SEGMENTS
        most = max(min(MOST_KEPT // size, count) // CHAINS, 1)
        self.arrays = self.arrays._replace(kept=np.zeros((most, size), dtype=np.int64))
        self.arrays.numbers[6], self.arrays.state[2] = most, 0
        for segment in range(SEGMENTS):
            self.arrays.hist[:] = 0
            recorded = 0
            for at in range(0, each, TUNED):
                share = (1 + 2 * (segment * each + at) / count) / 3
                progress.report(message("putting the tables together"), share)
                recorded += self._sweep(min(TUNED, each - at), True)
            self.batches.append((self.arrays.hist.copy(), recorded))
            self.sweeps += each

    @property
    def met(self) -> int:
        """The number of tables within all supports that were recorded last."""
        return sum(recorded for _, recorded in self.batches)

    def _guess(self) -> None:
        """Log odds that cells hold somebody, by how often they did."""
        number = np.arange(self.swept + 1)
        odds = np.rint(np.log((number + 1) / (number[::-1] + 1)) * UNIT).astype(np.int64)
        self.arrays.odds[:] = np.clip(odds, -SUREST, SUREST)[self.arrays.held]

    def _sweep(self, count: int, recording: bool) -> int:
        self.arrays.numbers[5] = count
        self.swept += count
        return tempered_lattice.sweeps(self.arrays, recording)


def _widest(variance: Floats) -> int:
    """The power of two up to which noise is stepped through; 0 for noise of a few counts."""
    known = variance[np.isfinite(variance)]
    width = float(np.sqrt(np.median(known))) if len(known) else 1.0
    return min(int(np.log2(width)), 7) if width >= 4 else 0


def _salt(noise: Ints, coins: np.random.Generator) -> np.typing.NDArray[np.uint64]:
    """Words that keep sums apart whose noise differs though their records do not, (sums,)."""
    salt = np.zeros(len(noise), dtype=np.uint64)
    for source in np.unique(noise[noise > 0]).tolist():
        salt[noise == source] = coins.integers(1, 2**64, dtype=np.uint64)
    alone = noise < 0
    if alone.any() and not alone.all():
        salt[alone] = coins.integers(1, 2**64, int(alone.sum()), dtype=np.uint64)
    return salt


_LOG_TABLE = np.rint(np.log1p(np.arange(4097) / 4096) * UNIT).astype(np.int64)


def _together(chains: Sequence[_Chain], work: int) -> JointShares:
    arrays = chains[0].arrays
    starts = arrays.hist_starts
    hists = [sum((hist for hist, _ in chain.batches), np.zeros_like(arrays.hist)) for chain in chains]
    tables = [sum(recorded for _, recorded in chain.batches) for chain in chains]
    enough = min(tables) >= LEAST_FEASIBLE
    of_chain = [hist / max(number, 1) for hist, number in zip(hists, tables, strict=True)]
    whole = np.sum(hists, axis=0) / max(sum(tables), 1)
    squares, batches = np.zeros(len(whole)), 0
    for chain in chains:
        for hist, recorded in chain.batches:
            if recorded:
                squares += (hist / recorded - whole) ** 2
                batches += 1
    error = np.sqrt(squares / max(batches * (batches - 1), 1))
    agreement = _r_hat(of_chain, starts) if enough else np.inf
    spread = float(np.max(np.ptp(of_chain, axis=0), initial=0.0)) if enough else 1.0
    return JointShares(
        first=arrays.first,
        starts=starts,
        shares=whole,
        error=error,
        r_hat=agreement,
        spread=spread,
        feasible=min(n / max(c.sweeps, 1) for n, c in zip(tables, chains, strict=True)),
        tables=sum(tables),
        effective=worth(whole, error**2, sum(tables)),
        work=work,
        settled=enough and agreement <= SETTLED,
        kept=np.concatenate([one.arrays.kept[: int(one.arrays.state[2])] for one in chains]),
    )


def _r_hat(of_chain: Sequence[Floats], starts: Ints) -> float:
    """The largest potential scale reduction of the mean of a cell or a sum."""
    value = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    means = np.array([np.add.reduceat(shares * value, starts[:-1]) for shares in of_chain])
    second = np.array([np.add.reduceat(shares * value**2, starts[:-1]) for shares in of_chain])
    within = (second - means**2).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    return r_hat(within, between, still=1e-9)
