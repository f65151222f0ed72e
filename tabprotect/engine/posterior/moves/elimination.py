"""The exact posterior: variable elimination over effective coefficients.

The posterior over the coefficients of all steps is a product of one backward factor per step and
one prior factor per signature group. One sweep along an elimination order and one back give the
joint distribution of the coefficients touching every group at once (a bucket tree); the change of
a group is a sum of those. All in logarithms, each message scaled to a largest entry of 1, so that
nothing underflows however many steps there are. Components of equal structure go through as one
batch, on the last axis of every table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints, Shorts
from tabprotect.engine.cycles.graphs import (
    MAX_HELD,
    MAX_VARIABLES,
    MAX_WIDTH,
    MAX_WORK,
    eliminate,
    surely_wider,
)
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.moves.backward_factors import (
    BackwardStep,
    StepStructure,
    backward_steps,
    laid_out,
    scopes_of,
    shifts,
    step_factor,
    step_structures,
    worth_factor,
)
from tabprotect.engine.posterior.moves.signature_model import Coin, GroupModel
from tabprotect.engine.posterior.moves.strips import StripPlan, StripSweeps
from tabprotect.engine.posterior.moves.thinning import Thinned
from tabprotect.engine.posterior.moves.trains import TrainSweeps
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

KEPT_VARIABLES = 500
"""Most steps of a component whose elimination order is cached (some kilobytes each), and number of
cached orders.
"""

KEPT_PLANS = 128

BATCH_HELD = 2**24
"""Most entries that components side by side may hold together."""


LOWEST = float(np.finfo(np.float64).min)


@dataclass(frozen=True)
class EliminationPlan:
    """The elimination order of one structure, and where its factors are taken in.

    Attributes
    ----------
    axes
        For each variable in order of elimination: itself, then those joined to it, in that order.
    children
        For each position, the positions whose messages arrive there.
    factors
        For each position, the steps whose factor is taken in there, with their axes.
    read
        For each position, the local groups read off there, with their variables and signs.
    held
        Entries of all tables of one component.
    levels
        Number of values of each coefficient.
    """

    structure: StepStructure
    axes: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]
    factors: tuple[tuple[tuple[BackwardStep, tuple[int, ...]], ...], ...]
    read: tuple[tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...], ...]
    held: int
    levels: int

    @property
    def batch(self) -> int:
        """Number of components."""
        return int(self.structure.members.shape[1])

    @property
    def width(self) -> int:
        """The largest number of coefficients joined to an eliminated one."""
        return max((len(axes) - 1 for axes in self.axes), default=0)


Plan = EliminationPlan | StripPlan
"""Strips have a way of their own."""


def elimination_plan(
    structure: StepStructure, passes: int, levels: int, progress: Progress = SILENT
) -> EliminationPlan | None:
    """An elimination order for one structure; ``None`` if it is too wide or too long.

    It depends on the pattern of overlaps alone, not on what is published: small ones are cached.
    """
    count = structure.cycles * passes
    if count > MAX_VARIABLES:
        return None
    if count > KEPT_VARIABLES:
        return _planned(structure, passes, levels, progress)
    pattern = structure.cycles, structure.lengths.tobytes(), structure.codes.tobytes()
    found = _kept(*pattern, passes, levels)
    return None if found is None else replace(found, structure=structure)


@lru_cache(maxsize=KEPT_PLANS)
def _kept(cycles: int, lengths: bytes, codes: bytes, passes: int, levels: int) -> EliminationPlan | None:
    """The plan of a pattern, without components."""
    nothing = np.zeros((0, 0), dtype=np.int64)
    touches, codes_of_touches = (np.frombuffer(one, dtype=np.int64) for one in (lengths, codes))
    structure = StepStructure(cycles, touches, codes_of_touches, nothing, nothing)
    return _planned(structure, passes, levels, SILENT)


def _planned(
    structure: StepStructure, passes: int, levels: int, progress: Progress
) -> EliminationPlan | None:
    cycles = structure.cycles
    scopes = scopes_of(structure, passes)
    nodes = list(range(cycles * passes))
    found = eliminate(scopes, nodes, limit=MAX_WIDTH, levels=levels, progress=progress)
    if found is None or found.held > MAX_HELD:
        return None
    axes = found.axes
    position = {v: k for k, v in enumerate(found.order)}
    children: list[list[int]] = [[] for _ in axes]
    for k, own in enumerate(axes):
        if len(own) > 1:
            children[position[own[1]]].append(k)
    factors: list[list[tuple[BackwardStep, tuple[int, ...]]]] = [[] for _ in axes]
    for step, scope in zip(backward_steps(structure, passes, progress), scopes, strict=True):
        ordered = tuple(sorted(scope, key=position.__getitem__))
        factors[position[ordered[0]]].append((step, ordered))
    read: list[list[tuple[int, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in axes]
    for g, (touching, signs) in enumerate(structure.groups):
        sign = {i * passes + p: s for i, s in zip(touching, signs, strict=True) for p in range(passes)}
        ordered = tuple(sorted(sign, key=position.__getitem__))
        read[position[ordered[0]]].append((g, ordered, tuple(sign[v] for v in ordered)))
    return EliminationPlan(
        structure,
        axes,
        tuple(map(tuple, children)),
        tuple(map(tuple, factors)),
        tuple(map(tuple, read)),
        found.held,
        levels,
    )


@lru_cache(maxsize=1024)
def _one_hot(signs: tuple[int, ...], span: int, levels: int) -> Floats:
    """(2 span + 1, levels^n): which assignments of the coefficients give which change."""
    change = span - shifts(signs, levels).reshape(-1)
    return np.asarray(np.arange(2 * span + 1)[:, None] == change, dtype=np.float64)


def _log_sum(table: Floats, axis: tuple[int, ...]) -> Floats:
    """log-sum-exp over some axes; all -inf stays -inf."""
    # If nothing is possible there is no peak; any number will do, as -inf minus it stays -inf.
    peak = np.maximum(table.max(axis=axis, keepdims=True), LOWEST)
    with np.errstate(divide="ignore"):
        power = table - peak
        total = np.log(np.exp(power, out=power).sum(axis=axis))
    return np.asarray(total + peak.reshape(total.shape), dtype=np.float64)


def _plans(model: GroupModel, progress: Progress) -> list[Plan] | None:
    plans: list[Plan] = []
    work = 0
    if surely_wider(model.signatures, len(model.moves), model.passes, limit=MAX_WIDTH):
        return None
    found = step_structures(model)
    for number, structure in enumerate(found):
        progress.report(message("planning the posterior"), number / len(found))
        one: Plan | None = StripPlan.of(structure, model)
        if one is None:
            one = elimination_plan(structure, model.passes, model.levels, progress)
        if one is None:
            return None
        work += one.held * one.batch
        if work > MAX_WORK:
            return None
        plans.append(one)
    return plans


class Elimination:
    """The exact posterior of a model.

    Build with :meth:`of`, which decides from sizes alone whether it is affordable.
    """

    def __init__(self, model: GroupModel, plans: Sequence[Plan], thinned: Thinned | None = None) -> None:
        self.model = model
        self.plans = tuple(plans)
        self.thinned = thinned
        self._trees: dict[StripPlan, EliminationPlan | None] = {}
        self._trains: dict[StripPlan, TrainSweeps] = {}

    @property
    def tall(self) -> bool:
        """Whether strips are trains, with an error that is stated."""
        return any(isinstance(one, StripPlan) and one.tall for one in self.plans)

    @property
    def error(self) -> float:
        """What is stated for the laws that were found: 0 where only numbers were rounded."""
        return max((one.error for one in self._trains.values()), default=0.0)

    def _sweeps(
        self, plan: StripPlan, members: Ints, before: float, progress: Progress
    ) -> StripSweeps | TrainSweeps:
        if not plan.tall:
            return StripSweeps(self.model, plan, members, before, progress)
        if plan not in self._trains:
            self._trains[plan] = TrainSweeps(self.model, plan, members, before, progress)
        return self._trains[plan]

    @classmethod
    def of(cls, model: GroupModel, progress: Progress = SILENT) -> Elimination | None:
        """Return ``None`` if the posterior is too wide to be computed exactly.

        If it is too wide in general, the groups that cannot block in this published table are taken
        out first.
        """
        model = model.compact()
        plans = _plans(model, progress)
        if plans is not None:
            return cls(model, plans)
        thinned = Thinned.of(model)
        if thinned is None:
            return None
        plans = _plans(thinned.model, progress)
        return None if plans is None else cls(thinned.model, plans, thinned)

    @property
    def width(self) -> int:
        """The largest number of coefficients joined to an eliminated one."""
        return max((one.width for one in self.plans), default=0)

    def tree(self, plan: Plan) -> EliminationPlan | None:
        """The plan in general, of strips too; ``None`` if that is too wide."""
        if isinstance(plan, EliminationPlan):
            return plan
        if plan.tall:
            return None
        if plan not in self._trees:
            passes, levels = self.model.passes, self.model.levels
            self._trees[plan] = elimination_plan(plan.structure, passes, levels)
        return self._trees[plan]

    def _parts(self) -> Iterator[tuple[Plan, Ints, float]]:
        """(plan, group numbers (groups, batch), share of the work done before it)."""
        total = sum(one.held * one.batch + 2000 * one.structure.cycles for one in self.plans) or 1
        done = 0.0
        for one in self.plans:
            size = max(1, BATCH_HELD // one.held)
            if isinstance(one, StripPlan):
                size = one.batch
            for a in range(0, one.batch, size):
                part = one.structure.members[:, a : a + size]
                before = done
                done += (one.held * part.shape[1]) / total
                done += 2000 * one.structure.cycles * part.shape[1] / one.batch / total
                yield one, part, before

    def changes(self, progress: Progress = SILENT) -> Floats:
        """Distribution of the change (original - published) of each group.

        Returns
        -------
        float64 (groups, 2 span + 1)
            Column ``change + span``.

        Raises
        ------
        InfeasibleError
            If no original fits the published table, the mechanism and the prior.
        """
        span = self.model.span
        out = np.zeros((self.model.groups, 2 * span + 1))
        for one, members, before in self._parts():
            if isinstance(one, StripPlan):
                self._sweeps(one, members, before, progress).changes(out)
                continue
            sweep = EliminationSweep(self.model, one, members, before, progress)
            sweep.forward()
            for group, distribution in sweep.backward():
                out[members[group]] = distribution.T
        return out if self.thinned is None else self.thinned.changes(out)

    def draw(self, number: int, generator: np.random.Generator, progress: Progress = SILENT) -> Shorts:
        """Independent joint draws of the changes, int16 (number, groups), group by group."""
        out = np.zeros((self.model.groups, number), dtype=np.int16).T
        for one, members, before in self._parts():
            if isinstance(one, StripPlan):
                self._sweeps(one, members, before, progress).draw(out, generator)
                continue
            sweep = EliminationSweep(self.model, one, members, before, progress)
            sweep.forward()
            effective = sweep.draw(number, generator)
            for group, (cycles, signs) in enumerate(one.structure.groups):
                change = np.zeros((number, members.shape[1]), dtype=np.int16)
                for i, sign in zip(cycles, signs, strict=True):
                    for p in range(self.model.passes):
                        change -= sign * effective[i * self.model.passes + p]
                out[:, members[group]] = change
        return out if self.thinned is None else self.thinned.draws(out)


class EliminationSweep:
    """The tables of one batch of components during the sweeps through the bucket tree."""

    def __init__(
        self, model: GroupModel, one: EliminationPlan, members: Ints, before: float, progress: Progress
    ) -> None:
        self._plan = one
        self._span = model.span
        self._coin: Coin = model.coin
        self._lowest = model.lowest[members].astype(np.int32)
        self._log_prior = None if model.log_prior is None else model.log_prior[members]
        self._worth = None if model.worth is None else model.worth[members]
        self._before = before
        self._progress = progress
        self._tables: list[Floats] = []
        self._messages: list[Floats] = []
        self._peaks: list[Floats] = []

    def _report(self, stage: str, position: int) -> None:
        if position % 16 == 0 or self._plan.held * self._lowest.shape[1] > 2**20:
            self._progress.report(stage, self._before)

    def factors(self, k: int) -> Floats:
        """The log factors taken in at a position: its axes, then the batch."""
        axes = self._plan.axes[k]
        levels = self._plan.levels
        table = np.zeros([levels] * len(axes) + [self._lowest.shape[1]])
        for step, scope in self._plan.factors[k]:
            if self._worth is None:
                factor = step_factor(step, scope, self._lowest, self._coin, levels)
            else:
                factor = worth_factor(step, scope, self._worth, self._coin, levels)
            table += laid_out(factor, scope, axes)
        if self._log_prior is not None:
            for group, variables, signs in self._plan.read[k]:
                column = self._span - shifts(signs, levels)
                weight = np.moveaxis(self._log_prior[group][:, column], 0, -1)
                table += laid_out(weight, variables, axes)
        return table

    def forward(self) -> None:
        """Take in every factor and pass the messages along the order."""
        for k, axes in enumerate(self._plan.axes):
            self._report("eliminating", k)
            table = self.factors(k)
            for child in self._plan.children[k]:
                table += laid_out(self._messages[child], self._plan.axes[child][1:], axes)
            upward = _log_sum(table, (0,))
            peak = upward.max(axis=tuple(range(len(axes) - 1)))
            if (peak == -np.inf).any():
                raise InfeasibleError(
                    message("no original table fits this published table, mechanism and prior"),
                    hint=message("check that table and mechanism belong together, or choose a wider prior"),
                )
            self._tables.append(table)
            self._messages.append(upward - peak)
            self._peaks.append(peak)

    def backward(self) -> Iterator[tuple[int, Floats]]:
        """Pass the messages back; yield (local group, distribution (2 span + 1, batch)).

        Tables are released on the way.
        """
        rest: dict[int, Floats] = {}
        for k in range(len(self._plan.axes) - 1, -1, -1):
            self._report(message("reading off the cells"), k)
            axes = self._plan.axes[k]
            # Minus the peak of the upward message, all of it adds up to 1, as above it.
            weight = self._tables.pop() + (rest.pop(k) if k in rest else -self._peaks[k])
            np.exp(weight, out=weight)
            joint: dict[tuple[int, ...], Floats] = {}
            for group, variables, signs in self._plan.read[k]:
                if variables not in joint:
                    own = set(variables)
                    gone = tuple(a for a, v in enumerate(axes) if v not in own)
                    values = self._plan.levels ** len(own)
                    sums = weight.sum(axis=gone).reshape(values, -1)
                    joint[variables] = sums / sums.sum(axis=0)
                yield group, _one_hot(signs, self._span, self._plan.levels) @ joint[variables]
            for child in self._plan.children[k]:
                scope = set(self._plan.axes[child][1:])
                gone = tuple(a for a, v in enumerate(axes) if v not in scope)
                back = divided_out(weight.sum(axis=gone), self._messages[child])
                rest[child] = (back - self._peaks[child])[None]

    def draw(self, number: int, generator: np.random.Generator) -> npt.NDArray[np.int8]:
        """Coefficients drawn jointly, int8 (variables, number, batch)."""
        batch, levels = self._lowest.shape[1], self._plan.levels
        out = np.zeros((len(self._plan.axes), number, batch), dtype=np.int8)
        column = np.arange(batch)
        for k in range(len(self._plan.axes) - 1, -1, -1):
            self._report(message("drawing tables"), k)
            axes = self._plan.axes[k]
            at = np.zeros((number, batch), dtype=np.int64)
            for v in axes[1:]:
                at = at * levels + (out[v] + levels // 2)
            chosen = drawn_rows(self._tables[k].reshape(levels, -1, batch)[:, at, column], generator)
            out[axes[0]] = (chosen - levels // 2).astype(np.int8)
        return out


def divided_out(sums: Floats, sent: Floats) -> Floats:
    """The log of what came back, without the message that was sent; 0/0 is 0.

    Everything was taken in, so what underflows is as good as impossible.
    """
    silent = sent == -np.inf
    with np.errstate(divide="ignore"):
        back = np.log(sums) - np.where(silent, 0.0, sent)
    back[silent] = -np.inf
    return np.asarray(back)


def drawn_rows(log: Floats, generator: np.random.Generator) -> Ints:
    """A row for each place of the others, drawn by the logs of their weights."""
    below = np.cumsum(np.exp(log - log.max(axis=0)), axis=0)
    threshold = generator.random(log.shape[1:]) * below[-1]
    return np.asarray((threshold >= below[:-1]).sum(axis=0), dtype=np.int64)
