"""Originals weighed one by one by what a mechanism says beyond its factors.

Counted work decides if all originals are weighed, or drawn ones, or none: the stated cost of a
call, and what the programmes in it count. No clock is read, so that a release and a seed give one
posterior however busy the machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import REWEIGHING_WORK
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors.solved_parts import DrawBlocks, SolvedPart, no_original
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.solver import solver_work as solver_work
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True, eq=False)
class Weighed:
    """Originals with their weights.

    Attributes
    ----------
    tables : int64 (originals, unknown cells)
    weights : float64 (batches, originals)
        One row where they are exact.
    listed
        Whether these are all originals (or drawn ones).
    tried
        How many were weighed: all listed ones, or the drawn ones with those of weight 0.
    """

    tables: Ints
    weights: Floats
    listed: bool
    tried: int

    @property
    def effective(self) -> float:
        """Return what drawn originals are worth as independent draws: the number kept of weights 0 and 1."""
        total, square = float(self.weights.sum()), float((self.weights**2).sum())
        return total**2 / square if square else 0.0

    @property
    def alike(self) -> bool:
        """True if all that were kept have one weight."""
        return bool((self.weights == self.weights.reshape(-1)[0]).all())

    @property
    def basis(self) -> str:
        """Say what was weighed, in words."""
        left = int((self.weights > 0).any(axis=0).sum())
        if self.listed:
            return message(
                "Judged with what the choice of hidden numbers gives away: of {tried:,} tables that fit "
                "{left:,} are left.",
                self.tried,
                left,
            )
        return message(
            "Judged with what the choice of hidden numbers gives away: of {tried:,} tables drawn {left:,} give them.",
            self.tried,
            left,
        )


def width(tables: Ints) -> int:
    """The widest range of counts of any cell."""
    return int((tables.max(axis=0) - tables.min(axis=0)).max(initial=0)) + 1


def _laws(weighed: Weighed, mean: Floats) -> tuple[Floats, Floats]:
    """The laws of the unknown cells and of a known one (cells + 1, counts), and their errors.

    Parameters
    ----------
    mean : float64 (originals,)
        The probability of each original.
    """
    tables, weights, first = weighed.tables, weighed.weights, weighed.tables.min(axis=0)
    exact = weighed.listed and len(weights) == 1
    chances = np.zeros((tables.shape[1] + 1, width(tables)))
    chances[-1, 0] = 1.0
    errors = np.zeros_like(chances)
    batches = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    for k in range(tables.shape[1]):
        column = tables[:, k] - first[k]
        chances[k] = np.bincount(column, weights=mean, minlength=chances.shape[1])
        if exact:
            continue
        if weighed.listed:
            each = [np.bincount(column, weights=b, minlength=chances.shape[1]) for b in batches]
            errors[k] = np.std(each, axis=0, ddof=1) / math.sqrt(len(each))
        else:
            # Error of a ratio of means: the spread of weight times (indicator - share).
            square = np.bincount(column, weights=mean**2, minlength=chances.shape[1])
            share = chances[k]
            spread = square * (1 - 2 * share) + share**2 * float((mean**2).sum())
            # Rounding can leave slightly negative values where nothing varies.
            errors[k] = np.sqrt(np.maximum(spread, 0.0))
    return chances, errors


def over_weighed(found: Posterior, weighed: Weighed, unknown: Ints) -> Posterior:
    """The posterior over weighed originals."""
    tables, weights = weighed.tables, weighed.weights
    mean = weights.mean(axis=0)
    if not mean.sum() > 0:
        raise no_original()
    mean = mean / mean.sum()
    first = tables.min(axis=0)
    exact = weighed.listed and len(weights) == 1
    chances, errors = _laws(weighed, mean)
    group = np.full(len(found.group_of_cell), len(unknown), dtype=np.int64)
    group[unknown] = np.arange(len(unknown))
    start = found.first + np.argmax(found.chances > 0, axis=1)[found.group_of_cell]
    start[unknown] = first
    base = start.copy()

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        progress.report(message("drawing tables"), 0.0)
        out = np.tile(base, (number, 1))
        out[:, unknown] = tables[generator.choice(len(tables), number, p=mean)]
        return out

    def whole(cells: Ints, shares: Floats) -> tuple[Ints, Floats]:
        possible = shares > 0
        out = np.tile(base, (int(possible.sum()), 1))
        out[:, unknown] = cells[possible]
        return out, shares[possible]

    spread, noise = float((chances * (1 - chances)).sum()), float((errors**2).sum())
    return replace(
        found,
        way="exact" if exact else "monte_carlo",
        reason=(
            message("every original that fits was weighed by the whole mechanism")
            if weighed.listed
            else message("drawn originals were weighed by the whole mechanism")
        ),
        group_of_cell=group,
        first=start,
        chances=chances,
        draw_originals=draw,
        count_originals=(lambda: int((mean > 0).sum())) if exact else (lambda: None),
        list_originals=(lambda: whole(tables, mean)) if exact else (lambda: None),
        exact_sums=None,
        draw_in_order=None,
        standard_errors=None if exact else errors,
        error=None if exact else float(errors.max(initial=0.0)),
        effective_sample_size=None if exact else spread / noise if noise else float(len(tables)),
        draws=None if exact else len(weights) * weighed.tried,
        # What is kept by weights of 0 and 1 are draws from the posterior itself.
        independent=not weighed.listed and found.way == "exact" and weighed.alike,
        basis=weighed.basis,
        note="",
        approximate=False,
        left_out=(),
    )


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
        self._parts = parts if rerun.exact and rerun.known_weights is not None else ()

    def weight(self, original: Ints, known_weights: float = math.nan) -> float:
        """The weight of one original, by one call or as it is told."""
        before, chance = solver_work(), known_weights
        if math.isnan(known_weights):
            domain = self._found.domain
            table = Table.dense(domain, original.reshape(domain.shape))
            chance = self._rerun.estimate(table, self._generator)
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
        for drawn, known_weights in self._blocks(base, unknown, most):
            own = self.weights(base, (drawn, unknown), 1, limited=asked is None, known_weights=known_weights)
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
                known_weights = self._known_weights(base, (drawn, unknown))
                for begin in range(0, len(drawn), block):
                    yield drawn[begin : begin + block], known_weights[begin : begin + block]
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
        known_weights: list[float] | None = None,
    ) -> Floats | None:
        """Weights of the originals, float64 (batches or 1, originals); ``None`` if too expensive.

        Parameters
        ----------
        what
            Originals (originals, unknown cells), and those cells; the others are as in ``base``.
        limited
            Whether to give up when the work is far beyond the budget.
        known_weights
            What is known of them without a call, if that is known already.
        """
        tables, unknown = what
        if self._rerun.many is not None:
            return self._at_once(self._rerun.many, base, what, repeats)
        batches = BATCHES if repeats > 1 else 1
        out = np.zeros((batches, len(tables)))
        original = base.copy()
        stage, each = message("weighing originals by the whole mechanism"), max(1, repeats // batches)
        for k, known in enumerate(
            self._known_weights(base, what) if known_weights is None else known_weights
        ):
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

    def _known_weights(self, base: Ints, what: tuple[Ints, Ints]) -> list[float]:
        """Return what is known of originals without a call, as ``Rerun.known_weights``."""
        known_weights = self._rerun.known_weights
        if known_weights is None:
            return [math.nan] * len(what[0])
        return [one for _, some in _filled(base, what) for one in known_weights(some).tolist()]

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
