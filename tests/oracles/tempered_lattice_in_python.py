"""Sweeps of the tempered chain in Python: the numbers of ``tempered_lattice.c``, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.attack.chain import IMPOSSIBLE, Arrays

FARTHEST = 4096
"""Distances beyond a support count as at most this many units."""

WORST_SPREAD = 64
"""So do differences between the numbers of one group."""

BETA = 256
"""The likelihood of the coldest level is taken to the power 1 = BETA / BETA."""

_LN2 = 726817
_WORD = 2**64 - 1


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


def sweeps(arrays: Arrays, recording: bool) -> int:
    """Run all sweeps of a call.

    Returns
    -------
    int
        The number of sweeps whose coldest table is within all supports.
    """
    return _Chain(arrays).run(recording)
