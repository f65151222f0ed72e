"""What somebody alone in a cell learns from a release, from the posterior of its inner cells.

By all originals where they can be listed. From drawn ones in two stages: among many pairs of cells
some always look dependent by chance, so that the pairs that the first draws propose are decided by
fresh ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints, SignedInts
from tabprotect.engine.belief.effort import LEAST_DRAWS
from tabprotect.engine.equal_rows import place_among, runs
from tabprotect.engine.posterior.posterior import NARROW_COUNTS, Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import CellFactors, ExchangeSteps, Likelihood, MoveSequence
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import Insiders
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import message

_Draw = Callable[[int, np.random.Generator, Progress], SignedInts]

NOBODY = 1e-9
"""Expected number of cells with one person below which nobody is alone."""

LISTED_CELLS = 32
"""Cells up to which originals are counted, to be listed: more are soon too many."""

LISTED_WORK = 10**9
"""The most originals times pairs of cells that are looked at."""

TOGETHER = 10_000
"""Originals looked at together: what is made of them stays in the processor's cache."""

ONE_THREAD = 2**17
"""Multiplications of a product of matrices that one thread does by itself."""

PROPOSING, DECIDING = 1_000, 4_000
"""Draws of the two stages."""

MANY_CELLS = 5_000
"""Cells beyond which half as many are drawn."""

SHARE_OF_DRAWS = 5
"""Where a posterior took few draws itself, the part of as many that is drawn for insiders."""

PART_CELLS = 5_000
"""Cells of the independent parts that are drawn of a larger table: what there is to learn from a cell
is in its own part."""

DRAWN_WORK = 2 * 10**9
"""The most draws times pairs of cells of the first stage; beyond, people are sampled."""

MOST_DRAWN, MOST_OF_FEW, FEW = 2**24, 2**26, 64
"""The most counts of the drawn originals, and of those of the second stage up to ``FEW``."""

LIKELY, LEAST_PROPOSING, LEAST_DECIDING = 0.9, 5, 20
"""A pair is proposed from that share on, by so many draws; and decided by so many."""

PAIRS_AT_ONCE = 20_000
"""Pairs of cells whose neighbours are compared at a time."""

NEAR_CELLS = 200
"""Cells beyond which only pairs are proposed that hang together: two sums or cycles apart."""


def insiders(
    posterior: Posterior,
    likelihood: Likelihood | None,
    limits: Gate,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> Insiders:
    """The chance that somebody alone in an inner cell learns another at-risk count.

    Parameters
    ----------
    posterior
        Of the inner cells, of a reader who knows none of them.
    likelihood
        What it comes from, which tells the cells that hang together; ``None`` if all may.
    generator
        For the draws: it follows from the release.
    """
    alone = posterior.probability(np.ones(posterior.domain.shape, dtype=np.int64)).reshape(-1)
    expected = float(alone.sum())
    if expected < NOBODY:
        return Insiders(0.0)
    factors = likelihood if isinstance(likelihood, CellFactors) and likelihood.rerun is None else None
    if factors is not None and int(np.diff(factors.starts).max(initial=0)) <= 1:
        # Every cell is independent of all others.
        return Insiders(expected, 0.0, 0.0)
    asked = _Asked(posterior, likelihood, limits, alone, progress)
    progress.report(message("judging what somebody alone in a cell learns"), 0.0)
    learns = asked.listed()
    if learns is not None:
        return asked.found(alone * learns, expected, exact=True)
    return asked.drawn_of_a_part(generator) or asked.drawn(generator)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A posterior, and the chance of each of its cells to hold one person, (cells,)."""

    posterior: Posterior
    likelihood: Likelihood | None
    limits: Gate
    alone: Floats
    progress: Progress
    cells: Ints | None = None
    """The cells that are looked at, where these are not all."""

    @property
    def values(self) -> range:
        return range(self.limits.at_risk.low, self.limits.at_risk.high + 1)

    def found(self, learning: Floats, expected: float, *, exact: bool) -> Insiders:
        return Insiders(expected, float(learning.sum()) / expected, float(learning.max(initial=0.0)), exact)

    def known(self, value: int) -> Bools:
        """The cells of which any reader knows that they hold a count, (cells,)."""
        same = np.full(self.posterior.domain.shape, value, dtype=np.int64)
        known = self.posterior.probability(same).reshape(-1) > self.limits.belief_limit
        return known if self.cells is None else known[self.cells]

    def listed(self) -> Bools | None:
        """Tell whether somebody alone in each cell learns, (cells,); ``None`` beyond the work."""
        size, posterior = len(self.alone), self.posterior
        if size > LISTED_CELLS or posterior.way != "exact":
            return None
        number = posterior.count_originals()
        if number is None or number * size**2 > LISTED_WORK:
            return None
        originals = posterior.list_originals()
        if originals is None:
            return None
        tables, weights = originals
        each, both = np.zeros(size), np.zeros((len(self.values), size, size))
        for begin in range(0, len(tables), TOGETHER):
            part = tables[begin : begin + TOGETHER]
            people = weights[begin : begin + TOGETHER, None] * (part == 1)
            each += people.sum(axis=0)
            for value, beliefs in zip(self.values, both, strict=True):
                beliefs += _products(people, (part == value).astype(np.float64))
        learns = np.zeros(size, dtype=np.bool_)
        for value, beliefs in zip(self.values, both, strict=True):
            beliefs /= np.maximum(each, NOBODY / size)[:, None]
            beliefs[:, self.known(value)] = 0.0
            np.fill_diagonal(beliefs, 0.0)
            learns |= (beliefs > self.limits.belief_limit).any(axis=1)
        return learns

    def stages(self) -> tuple[int, int]:
        """The number of draws of each stage; none where the posterior has too few."""
        size, posterior = len(self.alone), self.posterior
        first, second = PROPOSING, DECIDING
        if size > MANY_CELLS:
            first, second = first // 2, second // 2
        most = float(max(MOST_DRAWN // size, min(FEW, MOST_OF_FEW // size)))
        if posterior.way != "exact":
            effective = posterior.effective_sample_size
            if posterior.draws is not None and posterior.independent:
                most = min(most, posterior.draws / SHARE_OF_DRAWS)
            elif effective is not None:
                most = min(most, effective)
        second = min(second, int(most))
        return (min(first, second // 2), second) if second >= LEAST_DRAWS else (0, 0)

    def drawn(self, generator: np.random.Generator) -> Insiders:
        """The chance from draws in two stages."""
        size, expected = len(self.alone), float(self.alone.sum())
        first, second = self.stages()
        if not first:
            return Insiders(expected)
        cells = self.sampled(int(DRAWN_WORK // (first * size)), generator)
        learns = np.zeros(size, dtype=np.bool_)
        draw: _Draw = self.posterior.draw_originals
        if self.posterior.draw_narrow is not None and self.limits.at_risk.high < NARROW_COUNTS:
            draw = self.posterior.draw_narrow
        if self.posterior.way == "exact" or self.posterior.independent:
            # Independent draws are fresh wherever they are cut; one call prepares once.
            every = draw(first + second, generator, self.progress)
            proposing, deciding = every[:first], every[first:]
        else:
            proposing = draw(first, generator, self.progress)
            deciding = draw(second, generator, self.progress)
        pairs = self.proposed(proposing, cells)
        if len(pairs):
            learns[self.decided(deciding, pairs)] = True
        # Sampled in proportion to the chance to hold one person, each cell counts the same.
        times = np.bincount(cells, minlength=size) * (expected / len(cells))
        weight = self.alone if len(cells) >= size else times
        worst = float((self.alone * learns).max(initial=0.0))
        chance = float(weight[learns].sum()) / expected
        return Insiders(expected, min(chance, 1.0), worst, exact=False)

    def drawn_of_a_part(self, generator: np.random.Generator) -> Insiders | None:
        """The chance from draws of some independent parts; ``None`` if that is not the way."""
        posterior, likelihood = self.posterior, self.likelihood
        if (
            len(self.alone) <= PART_CELLS
            or posterior.some_parts is None
            or not isinstance(likelihood, MoveSequence | ExchangeSteps)
            or self.limits.at_risk.high >= NARROW_COUNTS
        ):
            return None
        part = posterior.some_parts(PART_CELLS, generator)
        if part is None:
            return None
        cells = part.cells
        asked = replace(self, alone=self.alone[cells], cells=cells)
        second = min(DECIDING // 2, MOST_DRAWN // len(cells))
        first = second // 4
        if asked.alone.sum() < NOBODY or first < LEAST_DRAWS:
            return None
        every = part.draw(first + second, generator, self.progress)
        learns, share = np.zeros(len(cells), dtype=np.bool_), 1.0
        if isinstance(likelihood, ExchangeSteps):
            people = asked.sampled(int(DRAWN_WORK // (first * len(cells))), generator)
            learns[asked.decided(every[first:], asked.proposed(every[:first], people))] = True
        else:
            asked.by_cycles(likelihood.moves, every.T, first, learns)
            # What no cycle touches is known to everybody: who is alone there learns nothing.
            moving = np.zeros(len(self.alone), dtype=np.bool_)
            moving[likelihood.moves.cells] = True
            share = float(self.alone[moving].sum() / self.alone.sum())
        chance = share * float(asked.alone[learns].sum() / asked.alone.sum())
        worst = float((asked.alone * learns).max(initial=0.0))
        return Insiders(float(self.alone.sum()), min(chance, 1.0), worst, exact=False)

    def by_cycles(self, moves: MoveSet, every: SignedInts, first: int, learns: Bools) -> None:
        """Mark who learns of cells near by, by draws (cells, draws), the first of them to propose."""
        cells = self.cells
        assert cells is not None
        local = np.full(moves.domain.size, -1, dtype=np.int64)
        local[cells] = np.arange(len(cells))
        inside = local[moves.cells] >= 0
        owner = np.repeat(np.arange(len(moves)), np.diff(moves.starts))
        pairs = _near_pairs(owner[inside], local[moves.cells[inside]], len(cells))
        for value in self.values:
            others = pairs[~self.known(value)[pairs[:, 1]]]
            likely = _often(every[:, :first], others, value, LIKELY, LEAST_PROPOSING)
            sure = self.limits.belief_limit
            sure_pairs = _often(every[:, first:], others[likely], value, sure, LEAST_DECIDING)
            learns[others[likely][sure_pairs, 0]] = True

    def sampled(self, most: int, generator: np.random.Generator) -> Ints:
        """The cells whose people are asked: all, or so many by their chance to hold one."""
        if most >= len(self.alone):
            return np.arange(len(self.alone))
        cumulative = np.cumsum(self.alone)
        at = (np.arange(most) + generator.random()) / most * cumulative[-1]
        places = np.searchsorted(cumulative, at, side="right")
        return np.asarray(np.minimum(places, len(self.alone) - 1), dtype=np.int64)

    def proposed(self, tables: SignedInts, cells: Ints) -> Ints:
        """Triples of a person's cell, another cell and its at-risk count, int64 (triples, 3)."""
        people = np.unique(cells)
        ones = (tables[:, people] == 1).astype(np.float32)
        often = ones.sum(axis=0)
        people, ones = people[often >= LEAST_PROPOSING], ones[:, often >= LEAST_PROPOSING]
        often = often[often >= LEAST_PROPOSING]
        out = []
        for value in self.values:
            both = ones.T @ (tables == value).astype(np.float32)
            likely = both >= LIKELY * often[:, None]
            likely[:, self.known(value)] = False
            person, cell = np.nonzero(likely)
            apart = people[person] != cell
            person, cell = people[person[apart]], cell[apart]
            out.append(np.stack([person, cell, np.full(len(cell), value)], axis=1).astype(np.int64))
        return self.near(np.concatenate(out))

    def near(self, triples: Ints) -> Ints:
        """Those whose cells hang together, in a table of many cells."""
        size = len(self.alone)
        if size <= NEAR_CELLS or self.likelihood is None or not len(triples):
            return triples
        if isinstance(self.likelihood, CellFactors):
            starts, cells = self.likelihood.starts, self.likelihood.cells
        elif isinstance(self.likelihood, MoveSequence):
            starts, cells = self.likelihood.moves.starts, self.likelihood.moves.cells
        else:
            return triples
        # A sum of a large part of the table says that everything hangs together.
        if int(np.diff(starts).max(initial=0)) > size // 4:
            return triples
        return triples[_share_a_neighbour((starts, cells), triples[:, :2], size)]

    def decided(self, tables: SignedInts, triples: Ints) -> Ints:
        """The cells of people who learn by these draws."""
        out = []
        for begin in range(0, len(triples), 1_000):
            person, cell, value = triples[begin : begin + 1_000].T
            ones = tables[:, person] == 1
            both = (ones & (tables[:, cell] == value)).sum(axis=0)
            often = ones.sum(axis=0)
            sure = (often >= LEAST_DECIDING) & (both > self.limits.belief_limit * often)
            out.append(person[sure])
        return np.concatenate(out)


def _near_pairs(cycles: Ints, cells: Ints, size: int) -> Ints:
    """Ordered pairs of cells that lie in cycles with one and the same cell, int64 (pairs, 2).

    Parameters
    ----------
    cycles, cells : int64 (entries,)
        The cells of the cycles, cycle after cycle.
    """
    begins = np.searchsorted(cycles, cycles)
    lengths = np.searchsorted(cycles, cycles, side="right") - begins
    owner, at = runs(begins, lengths)
    beside = np.unique(cells[owner] * size + cells[at])
    middle = beside % size
    begins = np.searchsorted(beside, middle * size)
    lengths = np.searchsorted(beside, (middle + 1) * size) - begins
    owner, at = runs(begins, lengths)
    both = np.unique(beside[owner] // size * size + beside[at] % size)
    pairs = np.stack([both // size, both % size], axis=1)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]], dtype=np.int64)


def _often(tables: SignedInts, pairs: Ints, value: int, share: float, least: int) -> Bools:
    """The pairs whose second cell holds a count in more than a share of the draws of ones.

    Parameters
    ----------
    tables : (cells, draws)
    least
        Draws in which the first cell holds one, below which nothing is said.
    """
    ones, small = _bits(tables == 1), _bits(tables == value)
    often = np.bitwise_count(ones).sum(axis=1, dtype=np.int64)[pairs[:, 0]]
    out: Bools = often >= least
    for begin in range(0, len(pairs), PAIRS_AT_ONCE):
        first, second = pairs[begin : begin + PAIRS_AT_ONCE].T
        both = np.bitwise_count(ones[first] & small[second]).sum(axis=1, dtype=np.int64)
        out[begin : begin + PAIRS_AT_ONCE] &= both > share * often[begin : begin + PAIRS_AT_ONCE]
    return out


def _bits(which: Bools) -> npt.NDArray[np.uint64]:
    """Rows of 64 draws a number."""
    packed = np.packbits(which, axis=1)
    out = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    out[:, : packed.shape[1]] = packed
    return out.view(np.uint64)


def _products(people: Floats, small: Floats) -> Floats:
    """``people.T @ small``, both (tables, cells), in parts too small for several threads.

    The threads of a product that takes microseconds wait for each other longer than it takes: on a
    machine with other work to do by a factor of hundreds.
    """
    number, size = people.shape
    step = max(ONE_THREAD // size**2, 1)
    whole = number - number % step
    stacked = (-1, step, size)
    first = people[:whole].reshape(stacked).transpose(0, 2, 1) @ small[:whole].reshape(stacked)
    rest: Floats = people[whole:].T @ small[whole:]
    return np.asarray(first.sum(axis=0) + rest)


def _share_a_neighbour(sums: tuple[Ints, Ints], pairs: Ints, size: int) -> Bools:
    """Tell whether some cell lies in a sum (or cycle) with each cell of a pair, bool (pairs,)."""
    starts, cells = sums
    lengths = np.diff(starts)
    asked = np.zeros(size, dtype=np.bool_)
    asked[pairs] = True
    entries = np.flatnonzero(asked[cells])
    mine = np.searchsorted(starts, entries, side="right") - 1
    owner, at = runs(starts[mine], lengths[mine])
    beside = np.unique(cells[entries][owner] * size + cells[at])
    ends = np.searchsorted(beside, np.stack([pairs[:, 0], pairs[:, 0] + 1]) * size)
    found = np.zeros(len(pairs), dtype=np.bool_)
    for begin in range(0, len(pairs), PAIRS_AT_ONCE):
        first, last = ends[:, begin : begin + PAIRS_AT_ONCE]
        pair, at = runs(first, last - first)
        wanted = pairs[begin + pair, 1] * size + beside[at] % size
        found[begin + pair[place_among(beside, wanted) >= 0]] = True
    return found
