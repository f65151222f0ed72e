"""Sweeps of the tempered chain in Python: the same numbers as the compiled ones, bit for bit.

The compiled form is ``tempered_lattice.c``; where it could not be built this one does the same
work, a hundred times slower. Both count in whole numbers alone, so that every machine gets the
same chain.

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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints

UNIT = 2**20
"""Log likelihoods are whole numbers of 1 / UNIT."""

IMPOSSIBLE = -(2**63)
"""Stands for the log likelihood of what cannot be."""

FARTHEST = 4096
"""Distances beyond a support count as at most this many units."""

WORST_SPREAD = 64
"""So do differences between the numbers of one group."""

BETA = 256
"""The likelihood of the coldest level is taken to the power 1 = BETA / BETA."""

_LN2 = 726817
_WORD = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Arrays:
    """What both forms work on; all int64, the words of cells uint64.

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

    def in_order(self) -> tuple[object, ...]:
        """As the compiled form takes them."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


class _Stream:
    """SplitMix64."""

    def __init__(self, state: int) -> None:
        self.state = state & _WORD

    def draw(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return ((self.draw() >> 32) * n) >> 32

    def exponential(self, log_table: Sequence[int]) -> int:
        r = self.draw() | 1
        k = 65 - r.bit_length()
        r = (r << k) & _WORD
        at, part = r >> 52, ((r << 12) & _WORD) >> 48
        return k * _LN2 - log_table[at] - (((log_table[at + 1] - log_table[at]) * part) >> 16)


class _Level:
    """One table, its sums and what they weigh."""

    def __init__(self, chain: _Chain, x: list[int]) -> None:
        self.x = x
        self.t = [0] * chain.sums
        self.key = [0] * chain.sums
        for cell, count in enumerate(x):
            if count:
                for s in chain.sums_of[cell]:
                    self.t[s] += count
                    self.key[s] ^= chain.words[cell]
        self.groups: dict[int, list[int]] = {}
        total = [0, 0, 0]
        for count, own in zip(x, chain.own, strict=True):
            if own >= 0:
                chain.weigh(own, count, 1, total)
        for s, kind in enumerate(chain.kind):
            if kind < 0:
                continue
            if chain.shared and self.key[s]:
                group = self.groups.setdefault(self.key[s] ^ chain.salt[s], [0, 0, 0, self.t[s]])
                group[0] += 1
                group[1] += kind
                group[2] += kind * kind
            else:
                chain.weigh(kind, self.t[s], 1, total)
        for group in self.groups.values():
            chain.weigh_group(group, 1, total)
        self.weight, self.walls, self.bad = total


class _Chain:
    """The lists of one call."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        numbers = arrays.numbers.tolist()
        self.cells, self.sums, self.axes, self.levels, shared, *others = numbers
        self.shared = bool(shared)
        self.sweeps, self.most, self.wide = others
        self.shape, self.stride = arrays.shape.tolist(), arrays.stride.tolist()
        starts, entries = arrays.cell_starts.tolist(), arrays.sums_of.tolist()
        self.sums_of = [entries[starts[c] : starts[c + 1]] for c in range(self.cells)]
        self.kind, self.own = arrays.kind.tolist(), arrays.own.tolist()
        self.words, self.salt = arrays.words.tolist(), arrays.salt.tolist()
        self.low, self.high = arrays.low.tolist(), arrays.high.tolist()
        self.log_starts, self.floor = arrays.log_starts.tolist(), arrays.floor.tolist()
        self.logs, self.log_table = arrays.logs.tolist(), arrays.log_table.tolist()
        self.least, self.top = arrays.least.tolist(), arrays.top.tolist()
        self.beta, self.odds = arrays.beta.tolist(), arrays.odds.tolist()
        state = arrays.state.tolist()
        self.stream, self.place = _Stream(state[0]), state[3:]
        self.fall, self.kept = state[1], state[2]
        self.tables = [_Level(self, arrays.x[b].tolist()) for b in range(self.levels)]

    def weigh(self, kind: int, t: int, sign: int, total: list[int]) -> None:
        low, high, start = self.low[kind], self.high[kind], self.log_starts[kind]
        if t < low or t > high:
            total[0] += sign * self.floor[kind]
            total[1] += sign * min(low - t if t < low else t - high, FARTHEST)
            total[2] += sign
        elif start >= 0:
            value = self.logs[start + t - low]
            if value == IMPOSSIBLE:
                total[0] += sign * self.floor[kind]
                total[1] += sign
                total[2] += sign
            else:
                total[0] += sign * value

    def weigh_group(self, group: list[int], sign: int, total: list[int]) -> None:
        size, first, second, t = group
        if not size:
            return
        self.weigh(first // size, t, sign, total)
        spread = size * second - first * first
        if spread:
            total[1] += sign * (1 + min(spread // size, WORST_SPREAD))
            total[2] += sign

    def corners(self, x: list[int]) -> list[tuple[int, int]]:
        """Cells and their changes; none where the move is not possible."""
        stream = self.stream
        cell = stream.below(self.cells)
        r = stream.draw()
        eighth = (r >> 1) & 7
        size = 1 << eighth % (self.wide + 1) if self.wide else 1 if eighth else 2
        sign = size if r & 1 else -size
        if (r >> 4) & 0xFFFF < 6554:
            other = stream.below(self.cells)
            if other == cell:
                return []
            found = [(cell, sign), (other, -sign)]
        else:
            j, most, bits = 0, min(self.axes, 6), r >> 20
            while j < most and bits & 1:
                j += 1
                bits >>= 1
            order = list(range(self.axes))
            found = [(cell, sign)]
            offsets = []
            for k in range(j):
                p = k + stream.below(self.axes - k)
                order[k], order[p] = order[p], order[k]
                axis = order[k]
                at = cell // self.stride[axis] % self.shape[axis]
                other = stream.below(self.shape[axis] - 1)
                other += other >= at
                offsets.append((other - at) * self.stride[axis])
            for offset in offsets:
                found += [(corner + offset, -change) for corner, change in found]
        for corner, change in found:
            if not self.least[corner] <= x[corner] + change <= self.top[corner]:
                return []
        return found

    def guess(self, x: list[int], corners: list[tuple[int, int]], odds: list[int]) -> int:
        """The log odds of what a move fills and empties."""
        return sum(
            odds[corner] if x[corner] + change else -odds[corner]
            for corner, change in corners
            if (not x[corner]) != (not x[corner] + change)
        )

    def propose(self, level: _Level, b: int) -> None:
        corners = self.corners(level.x)
        if not corners:
            return
        guess = self.guess(level.x, corners, self.odds[b])
        if guess < 0 and guess + self.stream.exponential(self.log_table) < 0:
            return
        moved: dict[int, list[int]] = {}
        for corner, change in corners:
            had = level.x[corner]
            word = self.words[corner] if (not had) != (not had + change) else 0
            for s in self.sums_of[corner]:
                one = moved.setdefault(s, [0, 0])
                one[0] += change
                one[1] ^= word
        total = [0, 0, 0]
        for corner, change in corners:
            if (own := self.own[corner]) >= 0:
                self.weigh(own, level.x[corner], -1, total)
                self.weigh(own, level.x[corner] + change, 1, total)
        before: dict[int, list[int]] = {}
        if self.shared:
            self._regroup(level, moved, before, total)
        else:
            for s, (change, _) in moved.items():
                if change and self.kind[s] >= 0:
                    self.weigh(self.kind[s], level.t[s], -1, total)
                    self.weigh(self.kind[s], level.t[s] + change, 1, total)
        gain = (total[0] - self.fall * total[1]) * self.beta[b] - BETA * guess
        if gain < 0 and gain + BETA * self.stream.exponential(self.log_table) < 0:
            for key, group in before.items():
                if group[0]:
                    level.groups[key] = group
                else:
                    del level.groups[key]
            return
        level.weight += total[0]
        level.walls += total[1]
        level.bad += total[2]
        for corner, change in corners:
            level.x[corner] += change
        for s, (change, word) in moved.items():
            level.t[s] += change
            level.key[s] ^= word
        for key in before:
            if not level.groups[key][0]:
                del level.groups[key]

    def _regroup(
        self, level: _Level, moved: dict[int, list[int]], before: dict[int, list[int]], total: list[int]
    ) -> None:
        def group_of(key: int) -> list[int]:
            group = level.groups.setdefault(key, [0, 0, 0, 0])
            if key not in before:
                before[key] = list(group)
                self.weigh_group(group, -1, total)
            return group

        for s, (change, word) in moved.items():
            kind, key, salt = self.kind[s], level.key[s], self.salt[s]
            if kind < 0 or not (change or word):
                continue
            if not key:
                self.weigh(kind, 0, -1, total)
            else:
                group = group_of(key ^ salt)
                if word:
                    group[0] -= 1
                    group[1] -= kind
                    group[2] -= kind * kind
                else:
                    group[3] = level.t[s] + change
            if not word:
                continue
            if not key ^ word:
                self.weigh(kind, 0, 1, total)
                continue
            group = group_of(key ^ word ^ salt)
            group[0] += 1
            group[1] += kind
            group[2] += kind * kind
            group[3] = level.t[s] + change
        for key in before:
            self.weigh_group(level.groups[key], 1, total)

    def swap(self) -> None:
        """Exchange the tables of neighbouring levels, from the hottest down."""
        for b in range(self.levels - 1, 0, -1):
            hot, cold = self.tables[self.place[b]], self.tables[self.place[b - 1]]
            gain = hot.weight - self.fall * hot.walls - (cold.weight - self.fall * cold.walls)
            gain *= self.beta[b - 1] - self.beta[b]
            if gain >= 0 or gain + BETA * self.stream.exponential(self.log_table) >= 0:
                self.place[b], self.place[b - 1] = self.place[b - 1], self.place[b]

    def record(self) -> None:
        coldest, arrays = self.tables[self.place[0]], self.arrays
        values = np.array(coldest.x + coldest.t, dtype=np.int64)
        at = arrays.hist_starts[:-1] + values - arrays.first
        inside = (values >= arrays.first) & (at < arrays.hist_starts[1:])
        arrays.hist[at[inside]] += 1
        if self.kept < self.most:
            arrays.kept[self.kept] = coldest.x
            self.kept += 1

    def run(self, recording: bool) -> int:
        feasible = 0
        for _ in range(self.sweeps):
            for b in range(self.levels):
                level = self.tables[self.place[b]]
                for _ in range(2 * self.cells):
                    self.propose(level, b)
            self.swap()
            for b in range(self.levels):
                self.arrays.held[b] += np.array(self.tables[self.place[b]].x) > 0
            if not self.tables[self.place[0]].bad:
                feasible += 1
                if recording:
                    self.record()
        for b, level in enumerate(self.tables):
            self.arrays.x[b] = level.x
        self.arrays.state[0] = self.stream.state - (2**64 if self.stream.state >= 2**63 else 0)
        self.arrays.state[2:] = [self.kept, *self.place]
        return feasible


def sweeps_in_python(arrays: Arrays, recording: bool) -> int:
    """Run all sweeps of a call.

    Returns
    -------
    int
        The number of sweeps whose coldest table is within all supports.
    """
    return _Chain(arrays).run(recording)


def sweeps(arrays: Arrays, recording: bool) -> int:
    """As :func:`sweeps_in_python`, by the compiled form where it was built."""
    try:
        from tabprotect.engine.attack import tempered_lattice
    except ImportError:
        return sweeps_in_python(arrays, recording)
    return tempered_lattice.sweeps(arrays.in_order(), recording)
