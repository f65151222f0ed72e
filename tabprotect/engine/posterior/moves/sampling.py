"""Posterior draws at any size: the mechanism walked backwards from the published table.

At each step from table y the backward masses are: leave (1 if the cycle touches a zero of y, else
gamma, under any_zero), undo + (alpha if y - M is possible), undo - (beta if y + M is). A draw in
proportion carries the sum of the masses as weight; weights that have grown uneven are resampled.
Under ``negative`` with alpha = beta and a uniform prior every sum is 1: the draws are independent
and exact. Otherwise a guide (the prior, and a guess of the weight still to come) multiplies the
masses by its ratio, which keeps weights even; the weights correct for it.

Cycles that meet only in cells too large to block are independent: each component of the others is
weighted and resampled by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Shorts, SignedInts
from tabprotect.engine.budgets import SAMPLING_UPDATES
from tabprotect.engine.cycles import cycle_steps, graphs
from tabprotect.engine.cycles.layers import Layer, layers
from tabprotect.engine.equal_rows import spread, starts_of_runs
from tabprotect.engine.posterior.agreement import averaged, worth
from tabprotect.engine.posterior.moves.signature_model import FAR, GroupModel
from tabprotect.engine.posterior.populations import drawn, guide_of, resampled, separate, separate_sizes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.workers.threads import meanwhile


@dataclass(frozen=True, eq=False)
class WalkLayer:
    """Disjoint cycles of a pass, and the components they belong to.

    Cycles are sorted by component; those of ``components[k]`` begin at ``component_starts[k]``.
    """

    cycles: Ints
    starts: Ints
    groups: Ints
    signs: Shorts
    rows: Ints
    components: Ints
    component_starts: Ints


def by_component(layer: Layer, component: Ints) -> WalkLayer:
    """The layer with its cycles sorted by component."""
    cycles, ends, groups, signs = merged([layer], component)
    owner = component[cycles]
    first = starts_of_runs(owner)
    rows = np.repeat(np.arange(len(cycles)), np.diff(ends))
    return WalkLayer(cycles, ends[:-1], groups, signs, rows, owner[first], first)


def merged(given: Sequence[Layer], component: Ints) -> tuple[Ints, Ints, Ints, Shorts]:
    """All layers, the last one first, as one: numbers and starts of the cycles, groups and signs.

    One after the other their cycles are the same walk; with the random numbers in the same order, the
    same draws. The last start is the number of entries.
    """
    cycles = np.concatenate([one.cycles for one in given])
    layer = np.repeat(np.arange(len(given)), [len(one.cycles) for one in given])
    order = np.lexsort((component[cycles], -layer))
    lengths = np.concatenate([np.diff(one.starts, append=len(one.cells)) for one in given])
    before = np.cumsum(lengths) - lengths
    spans = lengths[order]
    take = spread(before[order], spans)
    groups = np.concatenate([one.cells for one in given])[take]
    signs = np.concatenate([one.signs for one in given])[take].astype(np.int16)
    return cycles[order], np.append(0, np.cumsum(spans)), groups, signs


MOST_ENTRIES = 2**23
"""Most entries (cycle or group, draw) of one population: bounds its memory."""

RESAMPLING_COST = 20
"""Cost of a weighted draw relative to an unweighted one: resampling copies whole populations."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Distributions of the changes, estimated from draws.

    Attributes
    ----------
    changes : float64 (groups, 2 span + 1)
    standard_errors : float64 (groups, 2 span + 1)
    draws
        Number of draws taken.
    effective_sample_size
        Independent draws that would have the same error.
    """

    changes: Floats
    standard_errors: Floats
    draws: int
    effective_sample_size: float


REPORTED = 32
"""Layers after which progress is told: a layer takes microseconds."""

AT_ONCE = 2**16
"""Random numbers of one call of the compiled walk, which stay in the processor's cache."""


class BackwardWalk:
    """Draws from the posterior of a model."""

    def __init__(self, model: GroupModel) -> None:
        self.model = model
        moves = model.moves
        watched = model.relevant[moves.cells]
        self._watched = np.flatnonzero(model.relevant)
        number = np.cumsum(model.relevant) - 1
        self._walked = np.unique(moves.rows[watched])
        local = np.searchsorted(self._walked, moves.rows[watched])
        groups = number[moves.cells[watched]]
        starts = np.searchsorted(local, np.arange(len(self._walked) + 1))
        sub = MoveSet(moves.domain, starts, groups, moves.signs[watched], ())
        nodes = len(self._walked) + len(self._watched)
        label = graphs.components(local, groups + len(self._walked), nodes)
        self._components, component = np.unique(label, return_inverse=True)
        self._component = component[: len(self._walked)]
        self._group_component = component[len(self._walked) :]
        self._given = layers(sub)
        # What happens to the other groups is not followed, but added up in the end.
        other = np.flatnonzero(~watched)
        other = other[np.argsort(moves.cells[other], kind="stable")]
        self._others, self._other_starts = np.unique(moves.cells[other], return_index=True)
        self._other_rows, self._other_signs = moves.rows[other], moves.signs[other]
        self._other_ends = np.append(self._other_starts, len(other)).astype(np.int64)
        guided = model.log_prior is not None and not model.symmetric
        self._guide = None
        if model.log_prior is not None and guided:
            self._guide = guide_of(model.log_prior)[self._watched]
        self._worth = None if model.worth is None else model.worth[self._watched]
        self._future = _future(model) if model.coin.rule == "any_zero" else None

    @cached_property
    def _layers(self) -> list[WalkLayer]:
        """The layers, the last one first."""
        return [by_component(layer, self._component) for layer in self._given][::-1]

    @cached_property
    def _whole(self) -> tuple[Ints, Ints, Ints, Shorts]:
        return merged(self._given, self._component)

    @property
    def updates(self) -> int:
        """Cost of one draw, in cell updates."""
        each = max(len(self.model.moves.cells) * self.model.passes, 1)
        return each if self.model.symmetric else each * RESAMPLING_COST

    def largest_population(self) -> int:
        """Number of draws that fit the memory bound side by side."""
        widest = max((len(layer.cells) for layer in self._given), default=1)
        size = max(len(self.model.moves), self.model.groups, 4 * widest)
        return int(np.clip(MOST_ENTRIES // size, 16, 2000))

    def population(
        self, size: int, generator: np.random.Generator, report: Callable[[float], None]
    ) -> Shorts:
        """Joint draws of equal weight: changes, int16 (groups, size).

        Draws of one population share ancestors where weights had to be resampled; populations
        are independent of each other.

        Raises
        ------
        InfeasibleError
            If no draw fits.
        """
        model = self.model
        total = np.zeros((len(model.moves), size), dtype=np.int16)
        free = np.ones(len(model.moves), dtype=np.bool_)
        free[self._walked] = False
        unwatched = np.flatnonzero(free)
        chances = [model.coin.beta, model.coin.gamma, model.coin.alpha]
        if len(unwatched):
            bounds = np.cumsum(chances)
            for _ in range(model.passes):
                u = generator.random((len(unwatched), size)) * bounds[-1]
                total[unwatched] += (u >= bounds[0]).astype(np.int16) + (u >= bounds[1]) - 1
        walk = np.zeros((len(self._walked), size), dtype=np.int16)
        counts = np.repeat(model.lowest[self._watched].astype(np.int16)[:, None], size, axis=1)
        log_weight = np.zeros((len(self._components), size))
        left = model.reach[self._watched].copy()
        if model.symmetric and self._worth is None:
            self._undo(walk, counts, generator, report)
        else:
            count = len(self._layers) * model.passes
            for step in range(count):
                if step % REPORTED == 0:
                    report(step / count)
                layer = self._layers[step % len(self._layers)]
                self._step(layer, walk, counts, left, log_weight, generator)
                if not model.symmetric:
                    self._resample(layer.components, walk, counts, log_weight, generator, 0.5)
        if self._guide is not None:
            self._correct(counts, log_weight)
        if not model.symmetric:
            every = np.arange(len(self._components))
            self._resample(every, walk, counts, log_weight, generator, 1.0)
        total[self._walked] = walk
        out = np.zeros((model.groups, size), dtype=np.int16)
        out[self._watched] = counts - model.lowest[self._watched, None].astype(np.int16)
        # The changes of groups that were not followed, from how often each cycle was taken.
        cycle_steps.added(
            *(len(self._others), size, self._others, self._other_ends),
            *(self._other_rows, self._other_signs, total, out),
        )
        return out

    def _step(
        self,
        layer: WalkLayer,
        walk: Shorts,
        counts: Shorts,
        left: Ints,
        log_weight: Floats,
        generator: np.random.Generator,
    ) -> None:
        model = self.model
        here = counts[layer.groups]
        undo_minus, leave, undo_plus = self._masses(layer, here)
        if self._guide is not None or self._future is not None:
            ratios = np.exp(np.minimum(self._ratios(layer, here, left[layer.groups]), 500.0))
            undo_minus, leave, undo_plus = (
                m * r for m, r in zip((undo_minus, leave, undo_plus), ratios, strict=True)
            )
        left[layer.groups] -= 1
        mass = undo_minus + leave + undo_plus
        u = generator.random(mass.shape) * mass
        taken_minus = u < undo_minus
        taken_plus = u >= undo_minus + leave
        taken_plus &= undo_plus > 0
        coefficient = taken_plus.astype(np.int16) - taken_minus.astype(np.int16)
        walk[layer.cycles] += coefficient
        counts[layer.groups] = here - layer.signs[:, None] * coefficient[layer.rows]
        if not model.symmetric:
            with np.errstate(divide="ignore"):
                gain = np.log(mass)
            log_weight[layer.components] += np.add.reduceat(gain, layer.component_starts, axis=0)

    def _undo(
        self, walk: Shorts, counts: Shorts, generator: np.random.Generator, report: Callable[[float], None]
    ) -> None:
        """All steps of a walk whose draws have no weights, compiled."""
        if not self._given:
            return
        cycles, starts, groups, signs = self._whole
        size = counts.shape[1]
        each = max(AT_ONCE // max(size, 1), 1)
        passes = self.model.passes
        numbers = np.empty((2, min(each, len(cycles)), size))

        def blocks() -> Iterator[tuple[int, Floats]]:
            begins = range(0, len(cycles), each)
            for step, (number, begin) in enumerate(product(range(passes), begins)):
                report((number + begin / len(cycles)) / passes)
                yield begin, generator.random(out=numbers[step % 2, : len(cycles) - begin])

        def undone(block: tuple[int, Floats]) -> None:
            begin, random = block
            mine = cycles[begin : begin + each]
            ends = starts[begin : begin + len(mine) + 1]
            span = slice(int(ends[0]), int(ends[-1]))
            cycle_steps.undo(
                len(mine),
                int(ends[-1] - ends[0]),
                size,
                *(mine, ends[:-1] - ends[0], groups[span], signs[span]),
                *(self.model.coin.by_lowest, random, walk, counts),
            )

        for _ in meanwhile(undone, blocks()):
            pass

    def _masses(self, layer: WalkLayer, here: Shorts) -> tuple[Floats, Floats, Floats]:
        """Backward masses of the coefficients -1, 0, +1, (cycles, draws) each."""
        coin = self.model.coin
        if self._worth is None:
            plus = (layer.signs > 0)[:, None]
            low_plus = np.minimum.reduceat(np.where(plus, here, FAR), layer.starts, axis=0)
            low_minus = np.minimum.reduceat(np.where(plus, FAR, here), layer.starts, axis=0)
            return coin.masses(low_plus, low_minus)
        group = layer.groups[:, None]
        first = self.model.lowest[self._watched][group].astype(np.int64)
        at = np.clip(here - first + self.model.span + 1, 1, 2 * self.model.span + 1)
        now = self._worth[group, at]
        ratios = []
        for way in (1, -1):
            change = self._worth[group, at + way * layer.signs[:, None]] - now
            ratios.append(np.add.reduceat(change, layer.starts, axis=0))
        return coin.ratio_masses(ratios[0], ratios[1], drawn=self.model.symmetric)

    def _ratios(self, layer: WalkLayer, here: Shorts, left: Ints) -> Floats:
        """Log ratios of the guide after to before, for the coefficients -1, 0, +1.

        float64 (3, cycles, draws).
        """
        change = here - self.model.lowest[self._watched][layer.groups, None].astype(np.int16)
        total = np.zeros((3, *here.shape))
        for k in range(3):
            move = (k - 1) * layer.signs[:, None]
            if self._guide is not None:
                at, last = layer.groups[:, None], 2 * self.model.span
                # A step beyond the reach of a group has no mass anyway.
                then = np.clip(change - move + self.model.span, 0, last)
                total[k] += self._guide[at, then] - self._guide[at, change + self.model.span]
            if self._future is not None:
                last = self._future.shape[1] - 1
                then = np.clip(here - move, 0, last)
                total[k] += self._future[left[:, None] - 1, then]
                total[k] -= self._future[left[:, None], np.minimum(here, last)]
        return np.add.reduceat(total, layer.starts, axis=1)

    def _correct(self, counts: Shorts, log_weight: Floats) -> None:
        """Replace the guide by the prior in the weights."""
        assert self._guide is not None and self.model.log_prior is not None
        change = counts - self.model.lowest[self._watched, None] + self.model.span
        at = np.arange(len(self._watched))[:, None]
        log = self.model.log_prior[self._watched][at, change] - self._guide[at, change]
        order = np.argsort(self._group_component, kind="stable")
        owner = self._group_component[order]
        first = starts_of_runs(owner)
        log_weight[owner[first]] += np.add.reduceat(log[order], first, axis=0)

    def _resample(
        self,
        components: Ints,
        walk: Shorts,
        counts: Shorts,
        log_weight: Floats,
        generator: np.random.Generator,
        below: float,
    ) -> None:
        """Systematic resampling of the components whose weights are too uneven."""
        uneven, ancestor = resampled(log_weight[components], generator, below)
        if not len(uneven):
            return
        chosen = components[uneven]
        slot = np.full(len(self._components), -1, dtype=np.int64)
        slot[chosen] = np.arange(len(chosen))
        for state, owner in ((walk, self._component), (counts, self._group_component)):
            rows = np.flatnonzero(slot[owner] >= 0)
            state[rows] = np.take_along_axis(state[rows], ancestor[slot[owner[rows]]], axis=1)
        log_weight[chosen] = 0.0


def _future(model: GroupModel) -> Floats:
    """Log of the weight a group with a count may still gain, (touches left + 1, counts).

    A guess that only makes weights more even: each group is taken by itself, with neighbours that
    block as often as on the published table. With no touches left it is 0, so no correction is due.
    """
    coin = model.coin
    zero = np.logical_or.reduceat(model.lowest[model.moves.cells] == 0, model.moves.starts[:-1])
    blocked, move = float(zero.mean()) if len(zero) else 0.0, (coin.alpha + coin.beta) / 2
    gain = np.ones((model.span + 1, model.span + 4))
    for left in range(1, len(gain)):
        then = np.append(gain[left - 1], gain[left - 1, -1])
        free = coin.gamma * then[:-1] + move * then[1:]
        free[2:] += move * then[1:-2]
        free[0] = then[0] + move * then[1]
        gain[left] = blocked * then[:-1] + (1 - blocked) * free
    return np.log(gain)


def estimate(
    walk: BackwardWalk,
    *,
    draws: int | None = None,
    generator: np.random.Generator,
    progress: Progress = SILENT,
) -> Estimate:
    """Estimate the distributions of the changes from independent populations of draws.

    Parameters
    ----------
    draws
        Number in all; by default 20,000, or fewer if that would take minutes.
    """
    model = walk.model
    size, number = separate_sizes(draws, SAMPLING_UPDATES // walk.updates, walk.largest_population())
    found = separate(walk.population, size, number, generator, progress)
    if model.symmetric:
        # All draws are as good as one population.
        seen = np.zeros((model.groups, 2 * model.span + 1), dtype=np.int64)
        for changes in found:
            tallied(changes, model.span, seen)
        mean = seen / (number * size)
        del seen
        variance = 1 - mean
        variance *= mean
        variance /= number * size
        effective = float(number * size)
    else:
        runs = (tallied(changes, model.span) / size for changes in found)
        mean, square, populations = averaged(runs)
        variance = square / (populations * (populations - 1))
        effective = worth(mean, variance, populations * size, size)
    return Estimate(mean, np.sqrt(variance, out=variance), number * size, effective)


def tallied(changes: Shorts, span: int, seen: Ints | None = None) -> Ints:
    """Return how often each group had each change, int64 (groups, 2 span + 1), in (groups, draws).

    Parameters
    ----------
    seen
        Tallies to be added to.
    """
    groups, draws = changes.shape
    found = np.zeros((groups, 2 * span + 1), dtype=np.int64) if seen is None else seen
    cycle_steps.tallied(groups, draws, span, changes, found)
    return found


def draw(
    walk: BackwardWalk, number: int, generator: np.random.Generator, progress: Progress = SILENT
) -> SignedInts:
    """Joint draws of the changes, (number, groups), of 8 bits where those hold them, else of 16."""
    most, model = walk.largest_population(), walk.model
    narrow = np.int8 if model.span < 2**7 else np.int16

    def population(size: int, generator: np.random.Generator, report: Callable[[float], None]) -> SignedInts:
        return walk.population(size, generator, report).astype(narrow)

    return drawn(population, most, (number, model.groups), generator, progress, independent=model.symmetric)
