"""Originals weighed one by one by what a mechanism says beyond its factors.

Counted work decides if all originals are weighed, or drawn ones, or none: the stated cost of a
call, and what the programmes in it count. No clock is read, so that a release and a seed give one
posterior however busy the machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import REWEIGHING_WORK
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors.solved_parts import DrawBlocks, SolvedPart
from tabprotect.engine.posterior.factors.weighed_originals import Weighed, over_weighed, width
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.solver import solver_work as solver_work
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

REWEIGHING_CELLS = 20_000
"""Most unknown cells of an original that is weighed."""

REWEIGHING_HELD = 2**24
"""Most counts in all weighed originals, and most entries of their distributions."""

MOST_ORIGINALS = 200_000
"""Most originals that are listed one by one."""

WANTED = 400.0
"""Effective draws at which no further originals are drawn, if they cannot be listed."""

MOST_DRAWS = 1_000_000
"""Most originals drawn, however cheap weighing is."""

BLOCK, LEAST_BLOCK = 2_000, 20
"""Originals drawn and weighed at a time: most where many are weighed at once, and one by one."""

AHEAD = 20
"""Blocks drawn at once where something is told of their originals without a call."""

BLOCK_WORK = 3e5
"""Nominal microseconds of a block whose originals are weighed at once."""

OVERRUN = 3
"""Multiple of the budget at which weighing is given up when calls turn out dearer than stated."""

REPEATS, FEWEST_REPEATS = 200, 50
"""Most estimates of one listed original's weight, and fewest unless the exact way is asked for."""

BATCHES = 10
"""Independent sets of estimates: the spread between them is the error."""

LEAST_EFFECTIVE = 100.0
"""With fewer effective draws the weights say too little and are left out; the note says so."""

DRAWING = (5.0, 0.5)
"""Nominal microseconds of drawing an original, and more for each cell."""


def reweighed(
    found: Posterior,
    likelihood: CellFactors,
    parts: Sequence[SolvedPart] | None,
    approach: Approach,
    generator: np.random.Generator,
    progress: Progress,
) -> Posterior:
    """The posterior of the factors, weighed by ``likelihood.rerun`` if that is affordable.

    Otherwise the posterior unchanged, with the likelihood's note.
    """
    rerun = likelihood.rerun
    assert rerun is not None
    unknown = np.flatnonzero((found.chances > 0).sum(axis=1)[found.group_of_cell] > 1)
    if parts is None or len(unknown) > REWEIGHING_CELLS:
        return _left_out(found, likelihood)
    budget = REWEIGHING_WORK if approach.weighing is None else approach.weighing
    weigher = _Weigher(found, rerun, parts, generator, progress, budget)
    number = number_of(parts)
    least = LEAST_EFFECTIVE if number is None else min(LEAST_EFFECTIVE, number)
    # Calls take what is stated, or longer: what these are too many for is not begun.
    if approach.way == "auto" and approach.draws is None and budget < least * weigher.cost:
        return _left_out(found, likelihood)
    trial = found.draw_originals(2, generator, progress)
    # If even one call is beyond the budget, none is made.
    if weigher.cost <= budget and rerun.many is None:
        for table in trial:
            weigher.weight(table)
    calls = int(budget * max(weigher.calls, 1) / max(weigher.work, weigher.cost))
    base = trial[0].copy()
    most = REWEIGHING_HELD // max(len(unknown), 1)
    if approach.way != "monte_carlo" and number is not None and number <= min(calls, most):
        repeats = 1 if rerun.exact else min(REPEATS, calls // number) // BATCHES * BATCHES
        if repeats >= FEWEST_REPEATS or (repeats and (rerun.exact or approach.way == "exact")):
            tables, chances = listed_originals(parts, unknown)
            weights = weigher.weights(base, (tables, unknown), repeats)
            if weights is not None:
                weighed = Weighed(tables, weights * chances, True, len(tables))
                return over_weighed(found, weighed, unknown)
    if approach.way == "exact":
        raise InfeasibleError(
            message("too many originals fit the published counts to weigh each by the whole mechanism"),
            hint=message("take Monte Carlo, or a prior that knows more"),
        )
    drawn = weigher.drawn(base, unknown, calls, approach.draws)
    if drawn is None:
        return _left_out(found, likelihood)
    effective = drawn.effective
    if found.effective_sample_size is not None:
        effective *= min(1.0, found.effective_sample_size / drawn.tried)
    if effective < LEAST_EFFECTIVE or (len(unknown) + 1) * width(drawn.tables) > REWEIGHING_HELD:
        return _left_out(found, likelihood, drawn)
    return replace(over_weighed(found, drawn, unknown), effective_sample_size=effective)


def _left_out(found: Posterior, likelihood: CellFactors, drawn: Weighed | None = None) -> Posterior:
    """The posterior of the factors alone, with what it leaves out and how far it was followed."""
    tried = ""
    if drawn is not None:
        kept = drawn.weights.shape[1]
        tried = message(
            "How much was not worked out ({kept:,} of {tried:,} tables tried give what was published).",
            kept,
            drawn.tried,
        )
    return replace(
        found,
        note=joined(filter(None, [likelihood.note, tried]), " "),
        approximate=likelihood.approximate,
        left_out=likelihood.left_out or ("pattern_choice",),
    )


def _table(found: Posterior, cells: Ints) -> Table:
    return Table.dense(found.domain, cells.reshape(found.domain.shape))


def number_of(parts: Sequence[SolvedPart]) -> int | None:
    """The number of originals; ``None`` if they cannot be listed."""
    total = 1
    for part in parts:
        if part.listed is None:
            return None
        here = part.count()
        if here is None:
            return None
        total *= here
        if total > MOST_ORIGINALS:
            return None
    return total


def listed_originals(parts: Sequence[SolvedPart], unknown: Ints) -> tuple[Ints, Floats]:
    """All originals (originals, unknown cells) and their probabilities under the factors."""
    tables, chances = np.zeros((1, 0), dtype=np.int64), np.ones(1)
    cells: list[Ints] = []
    for part in parts:
        assert part.listed is not None
        mine, own = part.listed()
        tables, chances = (
            np.concatenate([np.repeat(tables, len(mine), axis=0), np.tile(mine, (len(tables), 1))], axis=1),
            np.repeat(chances, len(mine)) * np.tile(own, len(chances)),
        )
        cells.append(part.cells)
    every = np.concatenate(cells) if cells else np.zeros(0, dtype=np.int64)
    place = np.argsort(every)
    return tables[:, place[np.searchsorted(every[place], unknown)]], chances


class _Weigher:
    """Calls of the mechanism, with their work counted.

    Attributes
    ----------
    cost
        The stated cost of one call.
    calls, work
        Calls made so far, and their cost.
    """

    def __init__(
        self,
        found: Posterior,
        rerun: Rerun,
        parts: Sequence[SolvedPart],
        generator: np.random.Generator,
        progress: Progress,
        budget: float,
    ) -> None:
        self._found, self._rerun, self._budget = found, rerun, budget
        self._generator, self._progress = generator, progress
        self.cost = rerun.cost_over(found.domain.size)
        if rerun.many is not None:
            self.cost += DRAWING[0] + DRAWING[1] * found.domain.size
        self.calls, self.work = 0, 0.0
        # What is exact needs no coins: then those of later draws can be tossed first.
        self._parts = parts if rerun.exact and rerun.told is not None else ()

    def weight(self, original: Ints, told: float = math.nan) -> float:
        """The weight of one original, by one call or as it is told."""
        before, chance = solver_work(), told
        if math.isnan(told):
            chance = self._rerun.estimate(_table(self._found, original), self._generator)
        self.calls += 1
        self.work += max(self.cost, solver_work() - before)
        return chance

    def drawn(self, base: Ints, unknown: Ints, calls: int, asked: int | None) -> Weighed | None:
        """Drawn originals with a weight above 0; ``None`` where too few can be tried.

        As many are drawn as are asked for; else until they are worth ``WANTED`` independent draws,
        the budget is spent, or no hope is left that they will be worth enough. Where weights are 0
        or 1 those kept are exact draws.
        """
        most = min(calls, MOST_DRAWS) if asked is None else asked
        if not calls or most < LEAST_EFFECTIVE:
            return None
        kept: list[Ints] = []
        weights: list[Floats] = []
        tried, total, square = 0, 0.0, 0.0
        for drawn, told in self._blocks(base, unknown, most):
            own = self.weights(base, (drawn, unknown), 1, limited=asked is None, told=told)
            if own is None:
                break
            tried += len(drawn)
            kept.append(drawn[own[0] > 0])
            weights.append(own[0][own[0] > 0])
            total += float(own.sum())
            square += float((own**2).sum())
            worth = total**2 / square if square else 0.0
            held = sum(map(len, weights)) * max(len(unknown), 1) > REWEIGHING_HELD
            if held or (asked is None and (worth >= WANTED or _hopeless(worth, tried, most))):
                break
            if asked is None and self.work > self._budget:
                break
        if not tried:
            return None
        tables = np.concatenate(kept)
        return Weighed(tables, np.concatenate(weights)[None, :], False, tried)

    def _blocks(self, base: Ints, unknown: Ints, most: int) -> Iterator[tuple[Ints, list[float] | None]]:
        """Draws block by block, and what is told of them, of many blocks at once where that goes."""
        block = LEAST_BLOCK
        if self._rerun.many is not None:
            block = int(min(BLOCK, max(LEAST_BLOCK, BLOCK_WORK / self.cost)))
        draw_blocks, tried = _draw_blocks(self._parts, unknown), 0
        while tried < most:
            ahead = min(AHEAD, (most - tried) // block)
            if draw_blocks is not None and ahead:
                drawn = draw_blocks(ahead, block, self._generator, self._progress)
                told = self._told(base, (drawn, unknown))
                for begin in range(0, len(drawn), block):
                    yield drawn[begin : begin + block], told[begin : begin + block]
            else:
                number = min(block, most - tried)
                drawn = self._found.draw_originals(number, self._generator, self._progress)
                drawn = drawn[:, unknown]
                yield drawn, None
            tried += len(drawn)

    def weights(
        self,
        base: Ints,
        what: tuple[Ints, Ints],
        repeats: int,
        *,
        limited: bool = True,
        told: list[float] | None = None,
    ) -> Floats | None:
        """Weights of the originals, float64 (batches or 1, originals); ``None`` if too expensive.

        Parameters
        ----------
        what
            Originals (originals, unknown cells), and those cells; the others are as in ``base``.
        limited
            Whether to give up when the work is far beyond the budget.
        told
            What is known of them without a call, if that is known already.
        """
        tables, unknown = what
        if self._rerun.many is not None:
            return self._at_once(self._rerun.many, base, what, repeats)
        batches = BATCHES if repeats > 1 else 1
        out = np.zeros((batches, len(tables)))
        original = base.copy()
        stage, each = message("weighing originals by the whole mechanism"), max(1, repeats // batches)
        for k, known in enumerate(self._told(base, what) if told is None else told):
            if math.isnan(known):
                # Expensive calls end at the limit of the work, before the last original.
                spent = self.work / (OVERRUN * self._budget) if limited else 0.0
                self._progress.report(stage, min(max(k / len(tables), spent), 1.0))
                original[unknown] = tables[k]
            for batch in range(batches):
                if limited and self.work > OVERRUN * self._budget:
                    return None
                out[batch, k] = sum(self.weight(original, known) for _ in range(each)) / each
        return out

    def _told(self, base: Ints, what: tuple[Ints, Ints]) -> list[float]:
        """Return what is known of originals without a call, as ``Rerun.told``."""
        told = self._rerun.told
        if told is None:
            return [math.nan] * len(what[0])
        return [one for _, some in _filled(base, what) for one in told(some).tolist()]

    def _at_once(
        self,
        many: Callable[[Ints, np.random.Generator], Floats],
        base: Ints,
        what: tuple[Ints, Ints],
        repeats: int,
    ) -> Floats:
        """Weights of originals that the mechanism follows many at a time, as ``weights``."""
        number = len(what[0])
        batches = BATCHES if repeats > 1 else 1
        each = max(1, repeats // batches)
        out = np.zeros((batches, number))
        for begin, some in _filled(base, what):
            self._progress.report(message("weighing originals by the whole mechanism"), begin / number)
            for batch in range(batches):
                sums = sum(many(some, self._generator) for _ in range(each))
                out[batch, begin : begin + len(some)] = sums / each
            self.calls += len(some) * batches * each
            self.work += self.cost * len(some) * batches * each
        return out


def _draw_blocks(parts: Sequence[SolvedPart], unknown: Ints) -> DrawBlocks | None:
    """Return how blocks of unknown cells are drawn at once, where all are of one part that has a way to."""
    parts = [part for part in parts if len(part.cells)]
    draw = parts[0].draw_blocks if len(parts) == 1 else None
    if draw is None:
        return None
    order = np.argsort(parts[0].cells)
    place = order[np.searchsorted(parts[0].cells[order], unknown)]
    return lambda *what: draw(*what)[:, place]


def _filled(base: Ints, what: tuple[Ints, Ints]) -> Iterator[tuple[int, Ints]]:
    """Whole originals, some at a time, and the number of the first of them."""
    tables, unknown = what
    for begin in range(0, len(tables), BLOCK):
        some = np.tile(base, (min(BLOCK, len(tables) - begin), 1))
        some[:, unknown] = tables[begin : begin + BLOCK]
        yield begin, some


def _hopeless(worth: float, tried: int, most: int) -> bool:
    """True if even a lucky rest would not make drawn originals worth enough to judge by."""
    return (worth + 3.0 * math.sqrt(worth + 1.0) + 3.0) * most / tried < LEAST_EFFECTIVE
