"""Cells joined by several sums: exact by a dynamic programme over partial sums.

Cells are taken one by one. All that matters of the earlier ones is how much each sum that is still
open holds already: equal vectors are one *state*. In a two-way table taken row by row these are
the column residuals and that of the current row. One pass forward over the states and one back
give every cell's distribution, joint draws, the number of originals, and the originals themselves.
All in logarithms, so that nothing underflows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.equal_rows import equal_rows, runs, starts_of_runs
from tabprotect.engine.posterior.factors.components import FactorComponent, by_cell
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_STEPS = 4_000_000
"""Most transitions between states kept; about 100 bytes each at the peak."""

MOST_HELD = 2**25
"""Most numbers held by the open sums of one layer's transitions: 256 MiB."""


HOPELESS = 45.0
"""An estimated number of states (in logs) above which the programme is not started."""


TELLING, MARGIN = 20_000, 2.0
"""States from which their growth so far tells how many there will be in all, and how many times as
many as allowed that must be."""

GREEDY = 400
"""Most cells of a component for which a good order is sought."""

SAFE = 2.0**62
"""Counts below this fit int64."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """The transitions of one cell: ``source`` (ascending) and ``target`` states, and the count."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    count: Ints
    log: Floats
    states: int


@dataclass(frozen=True, eq=False)
class _Ways:
    """The shares of a layer's transitions added up, and where each state's begin, in sum and number.

    Attributes
    ----------
    cumulative : float64 (transitions + 1,)
    low, share : float64 (states,)
        What all before a state's transitions sum up to, and what these do.
    first, last : int64 (states,)
        Its first transition, and its last possible one.
    """

    cumulative: Floats
    low: Floats
    share: Floats
    first: Ints
    last: Ints

    @classmethod
    def of(cls, layer: _Layer, here: Floats, after: Floats) -> _Ways:
        back = here[layer.source]
        with np.errstate(invalid="ignore"):
            log = layer.log + after[layer.target] - back
        share = np.where(back > -np.inf, np.exp(log), 0.0)
        cumulative = np.concatenate([[0.0], np.cumsum(share)])
        bounds = np.searchsorted(layer.source, np.arange(layer.states + 1))
        low, high = cumulative[bounds[:-1]], cumulative[bounds[1:]]
        last = np.searchsorted(cumulative, high, side="left") - 1
        return cls(cumulative, low, high - low, bounds[:-1], last)


class ResidualSums:
    """The posterior of a component, by its states.

    Built by :meth:`of`, which gives up as soon as there are too many.
    """

    def __init__(self, component: FactorComponent, order: Ints, layers: list[_Layer]) -> None:
        self.component = component
        self.order = order
        self._layers = layers
        self._back = self._backward()

    @classmethod
    def of(
        cls, component: FactorComponent, *, most: int = MOST_STEPS, progress: Progress = SILENT
    ) -> ResidualSums | None:
        """Return ``None`` beyond ``most`` transitions."""
        # Every count of a cell is at least one transition.
        if int((component.high - component.low + 1).sum()) > most:
            return None
        order = _order(component)
        if _estimate(component, order) > HOPELESS:
            return None
        walk = SumWalk(component, order)
        layers: list[_Layer] = []
        steps, expected = 0, _estimates(component, order)
        for k in range(len(order)):
            progress.report(message("walking through the sums"), k / len(order))
            layer = walk.step(most - steps)
            if layer is None or _beyond(layer.states, expected[k:], most):
                return None
            steps += len(layer.source)
            layers.append(layer)
        return cls(component, order, layers)

    @property
    def possible(self) -> bool:
        """True if any original fits."""
        return bool(len(self._back[0]) and self._back[0][0] > -np.inf)

    def _backward(self) -> list[Floats]:
        """Log weight of what can follow each state, for every layer and the end."""
        back = [np.zeros(1)]
        for layer in self._layers[::-1]:
            back.append(_log_add(layer.source, layer.log + back[-1][layer.target], layer.states))
        return back[::-1]

    def marginals(self, progress: Progress = SILENT) -> list[Floats]:
        """Probabilities of each cell's counts from its ``low`` on."""
        out: list[Floats] = [np.zeros(0)] * len(self.order)
        ahead = np.zeros(1)
        for k, layer in enumerate(self._layers):
            progress.report(message("reading off the cells"), k / len(self._layers))
            cell = int(self.order[k])
            joint = ahead[layer.source] + layer.log
            weight = np.exp(joint + self._back[k + 1][layer.target] - self._back[0][0])
            width = int(self.component.high[cell] - self.component.low[cell]) + 1
            mass = np.bincount(layer.count - self.component.low[cell], weights=weight, minlength=width)
            out[cell] = mass / mass.sum()
            by_target = np.argsort(layer.target, kind="stable")
            ahead = _log_add(layer.target[by_target], joint[by_target], len(self._back[k + 1]))
        return out

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Independent joint draws, int64 (number, cells)."""
        coins = (generator.random(number) for _ in self._layers)
        return self._followed(number, coins, progress)

    def draw_blocks(
        self, blocks: int, number: int, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Ints:
        """Return what so many calls of ``draw`` would return, one after the other, in one array."""
        coins = generator.random((blocks, len(self._layers), number))
        by_layer = coins.transpose(1, 0, 2).reshape(len(self._layers), -1)
        return self._followed(blocks * number, by_layer, progress)

    def _followed(self, number: int, coins: Iterable[Floats], progress: Progress) -> Ints:
        out = np.empty((number, len(self.order)), dtype=np.int64)
        state, stage = np.zeros(number, dtype=np.int32), message("drawing tables")
        for k, (layer, way, coin) in enumerate(zip(self._layers, self._ways, coins, strict=True)):
            progress.report(stage, k / len(self._layers))
            wanted = way.low[state] + coin * way.share[state]
            at = way.cumulative.searchsorted(wanted, side="right") - 1
            # Neither before the state's first transition nor beyond its last possible one.
            at = np.minimum(np.maximum(at, way.first[state]), way.last[state])
            out[:, self.order[k]] = layer.count[at]
            state = layer.target[at]
        return out

    @cached_property
    def _ways(self) -> list[_Ways]:
        return [
            _Ways.of(layer, here, after)
            for layer, here, after in zip(self._layers, self._back, self._back[1:], strict=False)
        ]

    def count(self, progress: Progress = SILENT) -> int:
        """The number of originals."""
        ways: npt.NDArray[np.int64 | np.object_] = np.ones(1, dtype=np.int64)
        sizes = np.ones(1)
        for k, layer in enumerate(self._layers):
            progress.report(message("counting originals"), k / len(self._layers))
            ways, sizes = added_ways(ways, sizes, layer, len(self._back[k + 1]))
        return int(ways[0])

    def originals(self, progress: Progress = SILENT) -> tuple[Ints, Floats]:
        """Every original, int64 (originals, cells), and its probability.

        Holds them all in memory: ask for :meth:`count` first.
        """
        path = np.zeros((1, 0), dtype=np.int64)
        state, log = np.zeros(1, dtype=np.int64), np.zeros(1)
        for k, layer in enumerate(self._layers):
            progress.report(message("listing originals"), k / len(self._layers))
            alive = np.flatnonzero(self._back[k + 1][layer.target] > -np.inf)
            bounds = np.searchsorted(layer.source[alive], np.arange(layer.states + 1))
            lengths = (bounds[1:] - bounds[:-1])[state]
            parent, at = runs(bounds[state], lengths)
            at = alive[at]
            path = np.concatenate([path[parent], layer.count[at, None].astype(np.int64)], axis=1)
            state, log = layer.target[at].astype(np.int64), log[parent] + layer.log[at]
        tables = np.empty_like(path)
        tables[:, self.order] = path
        return tables, np.exp(log - self._back[0][0])


class SumWalk:
    """The pass forward over the states, layer by layer."""

    def __init__(self, component: FactorComponent, order: Ints) -> None:
        self._component, self._order = component, order
        self._sums = by_cell(component.sums, len(order))
        self._left_low = [int(component.low[one.cells].sum()) for one in component.sums]
        self._left_high = [int(component.high[one.cells].sum()) for one in component.sums]
        self._left = [len(one.cells) for one in component.sums]
        self._open: list[int] = []
        # What each open sum holds, (states,).
        self._held: list[Ints] = []
        self._states, self._at = 1, 0

    def step(self, most: int) -> _Layer | None:
        """Take in the next cell; return ``None`` if that takes more than ``most`` transitions."""
        c, cell = self._component, int(self._order[self._at])
        self._at += 1
        states = self._states
        low = np.full(states, c.low[cell])
        high = np.full(states, c.high[cell])
        for f in self._sums[cell]:
            if f not in self._open:
                self._open.append(f)
                self._held.append(np.zeros(states, dtype=np.int64))
            self._left[f] -= 1
            self._left_low[f] -= int(c.low[cell])
            self._left_high[f] -= int(c.high[cell])
            held = self._held[self._open.index(f)]
            np.maximum(low, c.sums[f].low - self._left_high[f] - held, out=low)
            np.minimum(high, c.sums[f].high - self._left_low[f] - held, out=high)
        lengths = np.maximum(high - low + 1, 0)
        if int(lengths.sum()) > min(most, MOST_HELD // (len(self._open) + 1)):
            return None
        source, count = runs(low, lengths)
        log = c.logs[cell][count - c.low[cell]]
        for f in self._sums[cell]:
            if self._left[f]:
                continue
            place, one = self._open.index(f), c.sums[f]
            if one.logs is not None:
                log = log + one.logs[self._held[place][source] + count - one.low]
            self._held.pop(place)
            self._open.pop(place)
        possible = log > -np.inf
        if not possible.all():
            source, count, log = (a[possible] for a in (source, count, log))
        after = [column[source] for column in self._held]
        for f in self._sums[cell]:
            if self._left[f]:
                after[self._open.index(f)] += count
        first, target = equal_rows(after) if after else (np.arange(len(source))[:1], 0 * source)
        self._held, self._states = [column[first] for column in after], len(first)
        return _Layer(source.astype(np.int32), target.astype(np.int32), count.astype(np.int64), log, states)


def _log_add(owner: npt.NDArray[np.int32], logs: Floats, size: int) -> Floats:
    """log-sum-exp over the entries of each owner (ascending); -inf for owners without any."""
    out = np.full(size, -np.inf)
    if not len(owner):
        return out
    first = starts_of_runs(owner)
    peak = np.maximum.reduceat(logs, first)
    safe = np.where(peak > -np.inf, peak, 0.0)
    lengths = np.diff(np.append(first, len(owner)))
    total = np.add.reduceat(np.exp(logs - np.repeat(safe, lengths)), first)
    with np.errstate(divide="ignore"):
        out[owner[first]] = np.log(total) + safe
    return out


def added_ways(
    ways: npt.NDArray[np.int64 | np.object_], sizes: Floats, layer: _Layer, states: int
) -> tuple[npt.NDArray[np.int64 | np.object_], Floats]:
    """Number of ways to reach each state of the next layer, exactly and as floats.

    Python integers once int64 might overflow.
    """
    after = np.asarray(
        np.bincount(layer.target, weights=sizes[layer.source], minlength=states), dtype=np.float64
    )
    if after.max(initial=0.0) >= SAFE / 2 and ways.dtype != np.object_:
        ways = ways.astype(np.object_)
    out = np.zeros(states, dtype=ways.dtype)
    np.add.at(out, layer.target, ways[layer.source])
    return out, after


def _order(component: FactorComponent) -> Ints:
    """The order of the cells, natural or greedy, with fewer estimated states."""
    natural = np.arange(len(component))
    if len(component) > GREEDY:
        return natural
    greedy = _greedy(component)
    return min((natural, greedy), key=lambda order: _estimate(component, order))


@dataclass(frozen=True)
class _Room:
    """The room in which the cells of one sum can vary: on average, and in all above their lower bounds."""

    cells: int
    mean: float
    span: int
    most: int

    @classmethod
    def of(cls, component: FactorComponent, f: int) -> _Room:
        one = component.sums[f]
        low = component.low[one.cells]
        mean = float((component.high[one.cells] - low).mean())
        return cls(len(one.cells), mean, one.high - one.low, one.high - int(low.sum()))

    def bits(self, taken: int) -> float:
        """Logarithm of the number of partial sums, roughly, when so many of its cells are taken."""
        if taken in (0, self.cells):
            return 0.0
        before = self.mean * taken
        after = self.mean * (self.cells - taken) + self.span
        return math.log(min(before, after, self.most) + 1)


def _rooms(component: FactorComponent) -> list[_Room]:
    return [_Room.of(component, f) for f in range(len(component.sums))]


def _greedy(component: FactorComponent) -> Ints:
    """Always take the cell after which the fewest states are open."""
    sums, rooms = by_cell(component.sums, len(component)), _rooms(component)
    widest = max((room.cells for room in rooms), default=0)
    # By sum and by how many of its cells are taken; one sum more, of nothing.
    opens = np.zeros((len(rooms) + 1, widest + 1))
    for f, room in enumerate(rooms):
        opens[f, : room.cells] = np.diff([room.bits(t) for t in range(room.cells + 1)])
    most = max(map(len, sums), default=0)
    of_cell = np.array([(*mine, *[-1] * (most - len(mine))) for mine in sums], dtype=np.int64)
    taken = np.zeros(len(rooms) + 1, dtype=np.int64)
    every, order = np.arange(len(opens)), np.zeros(len(sums), dtype=np.int64)
    done = np.zeros(len(sums))
    for k in range(len(order)):
        more = opens[every, taken]
        states = done.copy()
        for column in of_cell.T:
            states += more[column]
        best = int(states.argmin())
        order[k], done[best] = best, np.inf
        taken[sums[best]] += 1
    return order


def _beyond(states: int, expected: list[float], most: int) -> bool:
    """Return True if there will be far too many states, if they go on growing as estimates do from here
    on."""
    if states < TELLING or expected[0] <= 0:
        return False
    ratio = math.log(states) / expected[0]
    return sum(math.exp(min(ratio * one, HOPELESS)) for one in expected) > MARGIN * most


def _estimate(component: FactorComponent, order: Ints) -> float:
    """Largest number of states (in logs) along an order, roughly; stops once it is hopeless."""
    return max(_estimates(component, order), default=0.0)


def _estimates(component: FactorComponent, order: Ints) -> list[float]:
    """States (in logs) before each cell of an order, roughly; stops once it is hopeless."""
    sums, rooms = by_cell(component.sums, len(component)), _rooms(component)
    taken = [0] * len(rooms)
    now, found = 0.0, [0.0]
    for cell in order.tolist():
        for f in sums[cell]:
            now -= rooms[f].bits(taken[f])
            taken[f] += 1
            now += rooms[f].bits(taken[f])
        found.append(now)
        if now > HOPELESS:
            break
    return found
