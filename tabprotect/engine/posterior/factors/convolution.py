"""Cells joined by one sum (merged categories, a lone total): exact by convolution.

The weights are tilted by ``exp(theta x)``, which changes nothing given the sum and keeps far tails
from underflowing: theta is chosen so that the expected sum is a possible one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.factors.components import FactorComponent
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

MOST_WORK = 2 * 10**9
"""Most multiplications."""

MOST_HELD = 2 * 10**7
"""Most numbers held."""

MOST_ADDED = 3 * 10**7
"""Most additions of integers of any size: some seconds."""

AT_ONCE = 2**20
"""Cumulated chances held at once while drawing."""

EXACT_FLOAT = 2.0**52
"""Integers below this are exact as floats."""


UNDERFLOW = 1e-100
"""A chance below this (relative to the largest) may have lost digits."""


class Convolution:
    """The posterior of a component with one sum."""

    def __init__(self, component: FactorComponent) -> None:
        self.component = component
        (one,) = component.sums
        base = int(component.low.sum())
        self._least, self._most = one.low - base, one.high - base
        self._set(0.0)
        if self._after[0][0] < UNDERFLOW:
            self._set(_tilt(component, self._least, self._most))

    def _set(self, theta: float) -> None:
        """Tilt the cells' weights and pass what follows back along the chain."""
        one = self.component.sums[0]
        self._weights = [_tilted(log[: self._most + 1], theta) for log in self.component.logs]
        allowed = np.arange(self._least, self._most + 1)
        end = np.full(self._most + 1, -np.inf)
        end[self._least :] = (0.0 if one.logs is None else one.logs) - theta * allowed
        after = [np.exp(end - end.max())]
        for weight in self._weights[::-1]:
            then = np.convolve(after[-1], weight[::-1])[len(weight) - 1 :]
            after.append(then / (then.max() or 1.0))
        # For each place in the chain, the weight of what follows, by the sum so far.
        self._after = after[::-1]

    @classmethod
    def of(cls, component: FactorComponent) -> Convolution | None:
        """Return ``None`` if there is more than one sum, or beyond the limits."""
        if len(component.sums) != 1:
            return None
        total = component.sums[0].high - int(component.low.sum()) + 1
        widths = np.minimum(component.high - component.low + 1, total)
        if int((widths * total).sum()) > MOST_WORK or len(component) * total > MOST_HELD:
            return None
        return cls(component)

    @property
    def possible(self) -> bool:
        """True if any original fits."""
        return bool(self._after[0][0] > 0)

    def marginals(self, progress: Progress = SILENT) -> list[Floats]:
        """Probabilities of each cell's counts from its ``low`` on."""
        before = np.ones(1)
        out: list[Floats] = []
        known: dict[tuple[int, int], Floats] = {}
        for k, weight in enumerate(self._weights):
            if k % 64 == 0:
                progress.report(message("adding up the cells"), k / len(self._weights))
            # Cells under one law in one sum have the same posterior.
            key = (id(self.component.logs[k]), int(self.component.low[k]))
            if key not in known:
                follows = np.correlate(self._after[k + 1], before, "full")[len(before) - 1 :]
                mass = weight[: len(follows)] * follows[: len(weight)]
                known[key] = mass / mass.sum()
            out.append(known[key])
            before = np.convolve(before, weight)[: self._most + 1]
            before /= before.max()
        return out

    def total(self) -> tuple[int, Floats]:
        """The law of the sum of all cells: the first possible sum, and the chances from it on."""
        before = np.ones(1)
        for weight in self._weights:
            before = np.convolve(before, weight)[: self._most + 1]
            before /= before.max()
        end = self._after[-1][: len(before)]
        mass = before[: len(end)] * end
        return int(self.component.low.sum()), mass / mass.sum()

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Independent joint draws, int64 (number, cells)."""
        out = np.zeros((number, len(self._weights)), dtype=np.int64)
        so_far = np.zeros(number, dtype=np.int64)
        for k, weight in enumerate(self._weights):
            progress.report(message("drawing tables"), k / len(self._weights))
            u = generator.random(number)
            # What follows cannot go beyond the largest sum.
            padded = np.concatenate([self._after[k + 1], np.zeros(len(weight))])
            follows = np.lib.stride_tricks.sliding_window_view(padded, len(weight))
            step = max(1, AT_ONCE // len(weight))
            for begin in range(0, number, step):
                some = slice(begin, begin + step)
                sums, mine = np.unique(so_far[some], return_inverse=True)
                cumulative = np.cumsum(follows[sums] * weight, axis=1)
                last = cumulative[:, -1:]
                at = (cumulative[mine] <= u[some, None] * last[mine]).sum(axis=1)
                out[some, k] = np.minimum(at, np.argmax(cumulative >= last, axis=1)[mine])
            so_far += out[:, k]
        return out + self.component.low

    def count(self, progress: Progress = SILENT) -> int | None:
        """The number of originals; ``None`` if adding up such numbers would take too long."""
        cans = [log[: self._most + 1] > -np.inf for log in self.component.logs]
        # A window of possible counts has two ends: two differences of running sums.
        steps = [np.diff(can.astype(np.int64), prepend=0, append=0) for can in cans]
        if sum(np.count_nonzero(step) for step in steps) * (self._most + 1) > MOST_ADDED:
            return None
        ways: npt.NDArray[Any] = np.zeros(self._most + 1)
        ways[0] = 1.0
        for k, step in enumerate(steps):
            progress.report(message("counting originals"), k / len(steps))
            if ways.dtype != np.object_ and float(ways.sum()) >= EXACT_FLOAT:
                ways = ways.astype(np.int64).astype(np.object_)
            running, ways = np.cumsum(ways), np.zeros_like(ways)
            for at in np.flatnonzero(step).tolist():
                if at <= self._most:
                    ways[at:] += int(step[at]) * running[: len(running) - at]
        logs = self.component.sums[0].logs
        allowed = np.arange(self._least, self._most + 1)
        if logs is not None:
            allowed = allowed[logs > -np.inf]
        return sum(int(ways[s]) for s in allowed.tolist())


def _tilted(logs: Floats, theta: float) -> Floats:
    tilted = logs + theta * np.arange(len(logs)) if theta else logs
    return np.asarray(np.exp(tilted - tilted.max()), dtype=np.float64)


def _tilt(component: FactorComponent, least: int, most: int) -> float:
    """The theta that brings the expected sum (above the lowest) into least..most."""
    times = Counter(map(id, component.logs))
    distinct = [(times[key], log) for key, log in {id(x): x for x in component.logs}.items()]

    def mean(theta: float) -> float:
        total = 0.0
        for number, log in distinct:
            weight = _tilted(log, theta)
            total += number * float(weight @ np.arange(len(log))) / float(weight.sum())
        return total

    now = mean(0.0)
    if least <= now <= most:
        return 0.0
    target = float(least if now < least else most)
    low, high = (0.0, 64.0) if now < least else (-64.0, 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        found = mean(middle)
        # A rough theta will do: it only has to prevent underflow.
        if abs(found - target) < 0.1 * target + 1:
            return middle
        if found < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2
