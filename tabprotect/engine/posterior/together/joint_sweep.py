"""The tables of one part of a joint model under one shift, during the sweeps of the elimination."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints, Signs
from tabprotect.engine.posterior.moves.elimination import LOWEST, divided_out, drawn_rows
from tabprotect.engine.posterior.moves.signature_model import FAR
from tabprotect.engine.posterior.together.joint_model import JointModel, JointPart, StepFactor, SumFactor


class JointSweep:
    """The tables of one part under one shift."""

    def __init__(self, model: JointModel, part: JointPart, values: dict[int, Signs]) -> None:
        self._model, self._part, self._values = model, part, values
        self._position = {c: k for k, c in enumerate(part.order)}
        self._tables: list[Floats] = []
        self._messages: list[Floats] = []
        self._children: list[list[int]] = [[] for _ in part.axes]
        counts = np.bincount(model.releases[0].sequence, minlength=model.cycles)
        # What each value of a cycle adds to the first release.
        self._total = {c: values[c][:, : int(counts[c])].astype(np.int64).sum(axis=1) for c in part.cycles}

    def _spread(self, array: npt.NDArray[np.generic], cycle: int, axes: Sequence[int]) -> Ints:
        shape = [1] * len(axes)
        shape[list(axes).index(cycle)] = len(array)
        return np.asarray(array).reshape(shape)

    def _step(self, one: StepFactor, axes: Sequence[int]) -> Floats:
        lows = []
        for side in one.sides:
            low: Ints = np.full([1] * len(axes), FAR, dtype=np.int32)
            for lowest, later in side:
                after: Ints = np.full([1] * len(axes), min(lowest, FAR), dtype=np.int32)
                for cycle, sign, columns in later:
                    added = self._values[cycle][:, list(columns)].sum(axis=1, dtype=np.int32)
                    after = after - sign * self._spread(added, cycle, axes)
                low = np.minimum(low, after)
            lows.append(np.clip(low, -1, 2) + 1)
        own = self._spread(self._values[one.cycle][:, one.column].astype(np.int64), one.cycle, axes)
        logs = self._model.releases[one.release].coin.logs
        return np.asarray(logs[own + 1, lows[0] * 4 + lows[1]])

    def _sum(self, one: SumFactor, axes: Sequence[int]) -> Floats:
        change: Ints = np.zeros([1] * len(axes), dtype=np.int64)
        for cycle, sign in zip(one.cycles, one.signs, strict=True):
            change = change - sign * self._spread(self._total[cycle], cycle, axes)
        at = change - one.first
        inside = (at >= 0) & (at < len(one.log))
        return np.where(inside, one.log[np.clip(at, 0, len(one.log) - 1)], -np.inf)

    def forward(self) -> float:
        """Take in every factor; the log of the whole weight, -inf if nothing is possible."""
        part, position = self._part, self._position
        if any(not len(self._values[c]) for c in part.cycles):
            return -np.inf
        steps: list[list[StepFactor]] = [[] for _ in part.axes]
        sums: list[list[SumFactor]] = [[] for _ in part.axes]
        for factor in part.factors:
            steps[min(position[c] for c in factor.scope)].append(factor)
        for sum_ in part.sums:
            sums[min(position[c] for c in sum_.cycles)].append(sum_)
        whole = 0.0
        for k, axes in enumerate(part.axes):
            table = np.zeros([len(self._values[c]) for c in axes])
            for factor in steps[k]:
                table += self._step(factor, axes)
            for sum_ in sums[k]:
                table += self._sum(sum_, axes)
            for child in self._children[k]:
                table += self._sent(self._messages[child], part.axes[child][1:], axes)
            peak = np.maximum(table.max(axis=0), LOWEST)
            with np.errstate(divide="ignore"):
                message = np.log(np.exp(table - peak).sum(axis=0)) + peak
            top = float(message.max())
            if top == -np.inf:
                return -np.inf
            whole += top
            self._tables.append(table)
            self._messages.append(message - top)
            if len(axes) > 1:
                self._children[position[axes[1]]].append(k)
        return whole

    def _sent(self, message: Floats, of: Sequence[int], axes: Sequence[int]) -> Floats:
        """A message over some axes, to be broadcast over all; both are in order of elimination."""
        own = set(of)
        sizes = iter(message.shape)
        return message.reshape([next(sizes) if c in own else 1 for c in axes])

    def laws(self, span: int) -> Floats:
        """The law of the change of each group, (groups of the part, 2 span + 1)."""
        part = self._part
        joint = self._marginals()
        out = np.zeros((len(part.groups), 2 * span + 1))
        for row, (group, owns) in enumerate(zip(part.groups, part.read, strict=True)):
            sign = dict(zip(*(x.tolist() for x in self._model.signatures.touching(group)), strict=True))
            law = np.zeros(2 * span + 1)
            law[span] = 1.0
            for own in owns:
                axes, weight = joint[own]
                change: Ints = np.zeros([1] * len(axes), dtype=np.int64)
                for cycle in own:
                    change = change - sign[cycle] * self._spread(self._total[cycle], cycle, axes)
                change = np.broadcast_to(change, weight.shape).reshape(-1)
                alone = np.bincount(change + span, weights=weight.reshape(-1), minlength=2 * span + 1)
                law = np.convolve(law, alone)[span : 3 * span + 1]
            out[row] = law / law.sum()
        return out

    def _marginals(self) -> dict[tuple[int, ...], tuple[tuple[int, ...], Floats]]:
        """The joint laws of the cycles that touch a group together."""
        part, position = self._part, self._position
        wanted: list[set[tuple[int, ...]]] = [set() for _ in part.axes]
        for owns in part.read:
            for own in owns:
                wanted[min(position[c] for c in own)].add(own)
        out: dict[tuple[int, ...], tuple[tuple[int, ...], Floats]] = {}
        rest: dict[int, Floats] = {}
        for k in range(len(part.axes) - 1, -1, -1):
            axes = part.axes[k]
            log = self._tables[k] + (rest.pop(k)[None] if k in rest else 0.0)
            weight = np.exp(log - log.max())
            weight /= weight.sum()
            for own in wanted[k]:
                kept = set(own)
                gone = tuple(a for a, c in enumerate(axes) if c not in kept)
                out[own] = tuple(c for c in axes if c in kept), weight.sum(axis=gone)
            for child in self._children[k]:
                scope = set(part.axes[child][1:])
                gone = tuple(a for a, c in enumerate(axes) if c not in scope)
                rest[child] = divided_out(weight.sum(axis=gone), self._messages[child])
        return out

    def draw(self, number: int, generator: np.random.Generator) -> Ints:
        """Changes drawn jointly, int64 (number, groups of the part)."""
        part = self._part
        chosen: dict[int, Ints] = {}
        for k in range(len(part.axes) - 1, -1, -1):
            axes = part.axes[k]
            table = self._tables[k]
            at = np.zeros(number, dtype=np.int64)
            for axis, cycle in enumerate(axes[1:], start=1):
                at = at * table.shape[axis] + chosen[cycle]
            chosen[axes[0]] = drawn_rows(table.reshape(table.shape[0], -1)[:, at], generator)
        out = np.zeros((number, len(part.groups)), dtype=np.int64)
        for column, group in enumerate(part.groups):
            cycles, signs = self._model.signatures.touching(group)
            for cycle, sign in zip(cycles.tolist(), signs.tolist(), strict=True):
                out[:, column] -= sign * self._total[cycle][chosen[cycle]]
        return out
