"""The exact posterior of several releases by moves of one original.

The numbers by which the coefficients of two releases differ are known (:mod:`.differences`), so each
cycle has one variable: the coefficients of all its steps in all releases, of which few combinations
are left. The factors of all steps are those of the single releases, over the same cycles: the joint
posterior is no wider than that of one release. Where cycles are dependent, the sum runs over all
whole shifts, component by component.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints, Signs
from tabprotect.engine.cycles.graphs import MAX_WIDTH, components, eliminate
from tabprotect.engine.posterior.moves.elimination import LOWEST, divided_out, drawn_rows
from tabprotect.engine.posterior.moves.signature_model import FAR
from tabprotect.engine.posterior.together.differences import NoneFitError, differences
from tabprotect.engine.posterior.together.joint_model import JointModel, JointPart, StepFactor, SumFactor
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message


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
        return one.weight(change)

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


MOST_VALUES = 1_000
"""Most combinations of the coefficients of one cycle."""

MOST_SHIFTS = 2_000
"""Most shifts of one component."""

MOST_TRIED = 200_000
"""Most combinations of the free numbers of a component."""

MOST_ENTRIES = 2**27
"""Most entries of all tables, over all shifts: some ten seconds."""

MOST_HELD = 2**25
"""Most entries of the tables of one component that are held at once."""


@lru_cache(maxsize=4096)
def _values(steps: tuple[int, ...], shift: tuple[int, ...]) -> Signs:
    """All coefficients of a cycle's steps whose sums differ as they do, int8 (values, steps)."""
    by_sum: list[dict[int, list[tuple[int, ...]]]] = []
    for number in steps:
        sums: dict[int, list[tuple[int, ...]]] = {}
        for signs in itertools.product((-1, 0, 1), repeat=number):
            sums.setdefault(sum(signs), []).append(signs)
        by_sum.append(sums)
    rows = []
    for total, first in sorted(by_sum[0].items()):
        others = [sums.get(total - less, []) for sums, less in zip(by_sum[1:], shift, strict=True)]
        rows += [sum(parts, ()) for parts in itertools.product(first, *others)]
    return np.array(rows, dtype=np.int8).reshape(len(rows), sum(steps))


class JointElimination:
    """The joint posterior of a model; build with :meth:`of`.

    Raises
    ------
    NoneFitError
        From :meth:`of` and :meth:`changes`, if no original fits all releases.
    """

    def __init__(self, model: JointModel, parts: list[JointPart], span: int) -> None:
        self._model = model
        self._parts = parts
        self.span = span
        counts = [np.bincount(one.sequence, minlength=model.cycles) for one in model.releases]
        self._steps = np.stack(counts, axis=1)

    @classmethod
    def of(cls, model: JointModel, progress: Progress = SILENT) -> JointElimination | None:
        """Return ``None`` if it is too wide, or there are too many shifts."""
        progress.report(message("planning the posterior"), 0.0)
        blocking = model.blocking()
        parts = []
        planner = _Planner(model, blocking)
        span = int(model.touches()[0].max(initial=0))
        self = cls(model, [], span)
        entries = 0
        for part in planner.parts():
            if part is None:
                return None
            held = self._plan(part)
            if held is None:
                return None
            entries += held * len(part.shifts)
            if held > MOST_HELD or entries > MOST_ENTRIES:
                return None
            parts.append(part)
        self._parts = parts
        return self

    def _plan(self, part: JointPart) -> int | None:
        """Order the variables; the entries of all tables for one shift."""
        local = {c: k for k, c in enumerate(part.cycles)}
        scopes = [tuple(local[c] for c in one.scope) for one in part.factors]
        scopes += [tuple(local[c] for c in one.cycles) for one in part.sums]
        scopes += [tuple(local[c] for c in own) for owns in part.read for own in owns]
        found = eliminate(scopes, list(range(len(part.cycles))), limit=MAX_WIDTH)
        if found is None:
            return None
        part.order = tuple(part.cycles[v] for v in found.order)
        part.axes = [tuple(part.cycles[v] for v in axes) for axes in found.axes]
        sizes = self._sizes(part).max(axis=0, initial=1)
        size_of: dict[int, int] = dict(zip(part.cycles, sizes.tolist(), strict=True))
        if max(size_of.values(), default=1) > MOST_VALUES:
            return None
        return sum(math.prod(size_of[cycle] for cycle in axes) for axes in part.axes)

    def _sizes(self, part: JointPart) -> Ints:
        """Number of values of each cycle in each sector, int64 (sectors, cycles)."""
        out = np.ones(part.shifts.shape[:2], dtype=np.int64)
        for k, cycle in enumerate(part.cycles):
            steps = tuple(self._steps[cycle].tolist())
            if 3 ** max(steps) > 3 * MOST_VALUES:
                return np.full(out.shape, MOST_VALUES + 1, dtype=np.int64)
            which, at = np.unique(part.shifts[:, k], axis=0, return_inverse=True)
            sizes = np.array([len(_values(steps, tuple(one))) for one in which.tolist()])
            out[:, k] = sizes[at.reshape(-1)]
        return out

    def changes(self, progress: Progress = SILENT) -> Floats:
        """The law of the change (original - first release) of each group, (groups, 2 span + 1)."""
        out = np.zeros((len(self._model.signatures), 2 * self.span + 1))
        out[:, self.span] = 1.0
        for number, part in enumerate(self._parts):
            logs, laws = [], []
            for sector in range(len(part.shifts)):
                progress.report(message("eliminating"), number / len(self._parts))
                sweep = JointSweep(self._model, part, self._values(part, sector))
                log = sweep.forward()
                logs.append(log)
                laws.append(sweep.laws(self.span) if log > -np.inf else np.zeros((len(part.groups), 1)))
            peak = max(logs, default=-np.inf)
            if peak == -np.inf:
                raise NoneFitError
            part.chances = np.exp(np.array(logs) - peak)
            part.chances /= part.chances.sum()
            out[part.groups] = sum(
                chance * law for chance, law in zip(part.chances, laws, strict=True) if chance
            )
        return out

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Ints:
        """Independent joint draws of the changes, int64 (number, groups)."""
        out = np.zeros((number, len(self._model.signatures)), dtype=np.int64)
        for at, part in enumerate(self._parts):
            progress.report(message("drawing tables"), at / len(self._parts))
            each = generator.multinomial(number, part.chances)
            rows = generator.permutation(number)
            begin = 0
            for sector in np.flatnonzero(each).tolist():
                sweep = JointSweep(self._model, part, self._values(part, sector))
                sweep.forward()
                mine = rows[begin : begin + int(each[sector])]
                out[mine[:, None], np.array(part.groups)] = sweep.draw(len(mine), generator)
                begin += len(mine)
        return out

    def _values(self, part: JointPart, sector: int) -> dict[int, Signs]:
        return {
            cycle: _values(tuple(self._steps[cycle].tolist()), tuple(shift))
            for cycle, shift in zip(part.cycles, part.shifts[sector].tolist(), strict=True)
        }


class _Planner:
    """Cuts a model into parts that have nothing in common."""

    def __init__(self, model: JointModel, blocking: Bools) -> None:
        self._model, self._blocking = model, blocking
        sig = model.signatures
        self._touching = [
            list(zip(*(x.tolist() for x in sig.touching(g)), strict=True)) for g in range(len(sig))
        ]
        self._occurrences = [one.occurrences(model.cycles) for one in model.releases]
        # The columns of a release's coefficients among all those of a cycle.
        counts = np.array([[len(x) for x in one] for one in self._occurrences], dtype=np.int64)
        self._begin = np.cumsum(counts, axis=0) - counts
        self._counts = counts

    def parts(self) -> Iterator[JointPart | None]:
        """The parts; ``None`` for one with too many shifts."""
        model, sig = self._model, self._model.signatures
        if not model.cycles:
            return
        left = np.repeat(sig.cycles[sig.starts[:-1]], np.diff(sig.starts))
        further = [(one.cycles[0], c) for one in model.factors for c in one.cycles]
        left = np.concatenate([left, [a for a, _ in further]]).astype(np.int64)
        right = np.concatenate([sig.cycles, [b for _, b in further]]).astype(np.int64)
        label = components(left, right, model.cycles)
        factors = self._factors()
        tight = self._hanging(factors)
        by_label: dict[int, JointPart] = {}
        nothing = np.zeros((0, 0, 0), dtype=np.int64)
        for cycle, at in enumerate(label.tolist()):
            part = by_label.setdefault(at, JointPart([], [], [], [], [], nothing))
            part.cycles.append(cycle)
        for group, touching in enumerate(self._touching):
            part = by_label[int(label[touching[0][0]])]
            part.groups.append(group)
            owns: dict[int, list[int]] = {}
            for cycle, _ in touching:
                owns.setdefault(int(tight[cycle]), []).append(cycle)
            part.read.append([tuple(own) for own in owns.values()])
        for factor in factors:
            by_label[int(label[factor.cycle])].factors.append(factor)
        for sum_ in model.factors:
            by_label[int(label[sum_.cycles[0]])].sums.append(sum_)
        for part in by_label.values():
            shifts = self._shifts(part)
            if shifts is None:
                yield None
                return
            part.shifts = shifts
            yield part

    def _hanging(self, factors: Sequence[StepFactor]) -> Ints:
        """The component of each cycle by factors alone."""
        pairs = [(one.cycle, c) for one in factors for c in one.scope]
        pairs += [(one.cycles[0], c) for one in self._model.factors for c in one.cycles]
        left = np.array([a for a, _ in pairs], dtype=np.int64)
        right = np.array([b for _, b in pairs], dtype=np.int64)
        return components(left, right, self._model.cycles)

    def _factors(self) -> list[StepFactor]:
        model = self._model
        bounds, groups, signs = model.signatures.of_cycles
        out = []
        for r, release in enumerate(model.releases):
            occurrences, blocking = self._occurrences[r], self._blocking[r]
            for cycle in range(model.cycles):
                own = range(int(bounds[cycle]), int(bounds[cycle + 1]))
                mine = [(int(groups[k]), int(signs[k])) for k in own if blocking[groups[k]]]
                for at, step in enumerate(occurrences[cycle].tolist()):
                    sides = {1: {}, -1: {}}  # type: dict[int, dict[tuple[object, ...], int]]
                    scope = {cycle}
                    for group, sign in mine:
                        later = self._later(r, group, step)
                        scope.update(c for c, _, _ in later)
                        low = int(release.lowest[group])
                        known = sides[sign].get(later)
                        sides[sign][later] = low if known is None else min(known, low)
                    out.append(
                        StepFactor(
                            r,
                            cycle,
                            int(self._begin[r, cycle]) + at,
                            tuple(sorted(scope)),
                            tuple(
                                tuple((low, later) for later, low in sides[s].items())  # type: ignore[misc]
                                for s in (1, -1)
                            ),
                        )
                    )
        return out

    def _later(self, r: int, group: int, step: int) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        """The cycles that touch a group after a step, their signs and columns."""
        out = []
        for cycle, sign in self._touching[group]:
            steps, begin = self._occurrences[r][cycle], int(self._begin[r, cycle])
            columns = tuple(begin + k for k, other in enumerate(steps.tolist()) if other > step)
            if columns:
                out.append((cycle, int(sign), columns))
        return tuple(out)

    def _shifts(self, part: JointPart) -> Ints | None:
        """All differences of coefficients that lead from one release to the others."""
        model = self._model
        others = len(model.releases) - 1
        if not others:
            return np.zeros((1, len(part.cycles), 0), dtype=np.int64)
        column = {c: k for k, c in enumerate(part.cycles)}
        signs = np.zeros((len(part.groups), len(part.cycles)), dtype=np.int64)
        for row, group in enumerate(part.groups):
            for cycle, sign in self._touching[group]:
                signs[row, column[cycle]] = sign
        found = differences(signs, model.difference[part.groups])
        if found is None:
            return None
        # A difference is at most as large as both can do together.
        most = (self._counts[:1] + self._counts[1:])[:, part.cycles]
        each = []
        for r in range(others):
            own = _within(found.found[:, r], found.kernel, found.free, most[r])
            if own is None:
                return None
            each.append(own)
        if math.prod(map(len, each)) > MOST_SHIFTS:
            return None
        picked = [np.stack(one, axis=-1) for one in itertools.product(*each)]
        return np.stack(picked) if picked else np.zeros((0, len(part.cycles), others), dtype=np.int64)


def _within(found: Ints, kernel: Ints, free: Ints, most: Ints) -> Ints | None:
    """The solutions (n, cycles) with no number beyond its most; ``None`` if they are too many."""
    if not len(free):
        fits = (np.abs(found) <= most).all()
        return found[None] if fits else found[None][:0]
    ranges = [np.arange(-int(most[f]), int(most[f]) + 1) - found[f] for f in free]
    if math.prod(map(len, ranges)) > MOST_TRIED:
        return None
    shift = np.stack([x.reshape(-1) for x in np.meshgrid(*ranges, indexing="ij")], axis=1)
    solutions = found + shift @ kernel.T
    return np.asarray(solutions[(np.abs(solutions) <= most).all(axis=1)])
