"""The parameters of a method that change a table least and still pass the gate.

They are chosen on synthetic tables with the margins that every release states exactly (of a method
that keeps none: on sparse tables of the same shape) and by public limits: whoever has the release
can choose them again, and every original with these margins gets the same. Choosing them tells
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.effort import GLANCE
from tabprotect.engine.disclosure.choosing.acceptance_probability import (
    Setting,
    judged_trials,
    problems_of_shape,
    synthetic_problems,
)
from tabprotect.engine.errors import InfeasibleError, TabprotectError, attempted
from tabprotect.engine.fitting.synthetic_tables import expected_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.published_margins import main_first, sum_factors
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.simulate import Runs, trial_coins, trial_seed
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.tuned import Tuned, Use
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message, percent

ACCEPTED = 0.95
"""The share of synthetic tables whose release has to pass at the first draw."""

TABLES, LEAST_TABLES = 12, 8
"""Synthetic tables on which each setting is tried: most and least."""

TUNING_WORK = 20_000
"""The most cells of the synthetic tables of one setting, beyond the least number."""

SAME_MARGINS_CELLS = 200
"""Cells up to which synthetic tables have the very margins that are kept."""

LEAST_MEAN = 1e-9
"""The least expected count of a cell, so that every table with the margins is possible."""

EFFORT = replace(GLANCE, chains=True)
"""The work for drawing such tables: a second or two."""

CONFIRMING = 3
"""How many times as many fresh tables confirm the setting that is taken."""


def tuned(
    method: Method,
    problem: Problem,
    given: Mapping[str, object],
    limits: Gate,
    use: Use = "changes",
    progress: Progress = SILENT,
) -> Tuned:
    """Choose the parameters of least expected loss that pass the gate often enough.

    Parameters
    ----------
    problem
        The table, of which only the kept margins are looked at, and its shape.
    given
        The parameters so far; those that the method tunes are chosen anew.

    Raises
    ------
    InfeasibleError
        Where the method has nothing to tune, the table is too large for that, or nothing passes.
    """
    domain = problem.table.domain
    ladders = method.ladders(domain, method.resolve_for(problem, given, progress))
    # What is tuned begins at its defaults: those that there were before need not be public.
    own = {name: value for name, value in given.items() if name not in _climbed(ladders)}
    values = method.resolve_for(problem, own, progress)
    ladders = method.ladders(domain, values)
    # Without kept margins the shape alone is public, and of a large table of it nothing is judged.
    public = method.kept(domain, values) is not None or problems_of_shape(
        problem, 1, trial_coins(domain, "shape")
    )
    if not ladders or not public:
        raise InfeasibleError(
            message("{label} cannot be tuned: nothing public says what would pass", method.label),
            hint=message("take a method that keeps margins exactly, or choose the parameters"),
        )
    search = _Search(method, problem, own, limits, use, progress, values)
    best: tuple[float, float, Mapping[str, object]] | None = None
    for ladder in ladders:
        found = search.least(ladder)
        if found is not None and (best is None or found[:2] < best[:2]):
            best = found
    if best is None:
        raise InfeasibleError(
            message("no parameters were found by which {accepted} of releases pass", percent(ACCEPTED)),
            hint=message("keep fewer margins, or merge categories so that fewer cells are small"),
        )
    accepted, loss = search.confirmed(best[2])
    before = search.tried({}).loss
    return Tuned(use, best[2], accepted, search.confirming, loss, before)


def _climbed(ladders: Sequence[Sequence[Mapping[str, object]]]) -> frozenset[str]:
    """The names of the parameters that differ between the steps of the ladders."""
    steps = [step for ladder in ladders for step in ladder]
    return frozenset(name for step in steps for name in step if any(one[name] != step[name] for one in steps))


RETUNED_CELLS = 2_000
"""Cells up to which a reader has the parameters chosen again."""


def tuned_again(release: Release, progress: Progress = SILENT) -> Tuned | None:
    """Choose the stated parameters of a release again, from public facts alone.

    ``None`` where nothing was tuned, no limits are stated, or it would take too long: the table is
    large, or several tables have noise of their own, which takes seconds to judge each time.
    """
    mechanism = release.mechanism
    stated, gate, domain = mechanism.tuned, mechanism.gate, release.domain
    if stated is None or gate is None or domain.size > RETUNED_CELLS:
        return None
    method = methods()[mechanism.method]
    if method.kept(domain, mechanism.values) is None and len(release.tables) > 1:
        return None
    limits = replace(
        gate, attempts_at_most=1, passed=True, left_out=(), reason=False, changed=False, refused=()
    )
    inner = release.inner
    # Only kept margins are looked at, which the release has as the original did.
    table = Table.dense(domain, np.zeros(domain.shape)) if inner is None else inner.table
    problem = Problem(table, gate.at_risk)
    return tuned(method, problem, dict(mechanism.values), limits, stated.use, progress)


@dataclass(frozen=True)
class _Tried:
    """The share of synthetic tables that passed, and the mean losses: of the use, and of changes."""

    accepted: float
    loss: float
    change: float


REFUSED = _Tried(0.0, float("inf"), float("inf"))
"""A setting that too many synthetic tables cannot be released by."""


@dataclass(frozen=True, eq=False)
class _Search:
    """Trials of settings on the same synthetic tables, with the same coins."""

    method: Method
    problem: Problem
    given: Mapping[str, object]
    limits: Gate
    use: Use
    progress: Progress
    values: Values

    @cached_property
    def number(self) -> int:
        """The number of synthetic tables for each setting."""
        return Runs(TABLES, LEAST_TABLES, TUNING_WORK).of_cost(self.problem.table.domain.size)

    @property
    def confirming(self) -> int:
        """The number of fresh ones that confirm a setting."""
        return CONFIRMING * self.number

    @cached_property
    def fitting(self) -> Posterior | None:
        """Tables with the kept margins: Poisson counts around their fit, given the margins.

        ``None`` where the table is too large for that.
        """
        domain = self.problem.table.domain
        publication = self.method.kept(domain, self.values)
        if publication is None or domain.size > SAME_MARGINS_CELLS:
            return None
        kept = KeptMargins.of(publication, self.problem.table)
        tables = main_first(kept.publication.tables(kept.counts), domain)
        margins = Release(tables, Mechanism(self.method.name, domain, {}))
        exact = sum_factors(margins, (kept.publication, kept.counts), lambda count, _: (count, count, None))
        seed = Randomness.seeded(trial_seed("margins", *domain.names))
        expected = attempted(partial(expected_counts, kept))
        if isinstance(expected, TabprotectError):
            return None
        around = Poisson(np.maximum(expected, LEAST_MEAN))
        found = attempted(partial(infer, exact, around, EFFORT, seed, self.progress))
        return None if isinstance(found, TabprotectError) else found

    def synthetic(self, values: Values, number: int, generator: np.random.Generator) -> list[Problem]:
        """Tables with the same kept margins; counts around their fit for a large table."""
        domain, at_risk = self.problem.table.domain, self.problem.at_risk
        kept = self.method.kept(domain, values)
        if kept is None:
            return problems_of_shape(self.problem, number, generator)
        if self.fitting is None:
            return synthetic_problems(kept, self.problem, number, generator)
        tables = self.fitting.sample(number, generator, self.progress)
        return [Problem(Table.dense(domain, counts), at_risk) for counts in tables]

    def least(
        self, ladder: Sequence[Mapping[str, object]]
    ) -> tuple[float, float, Mapping[str, object]] | None:
        """The first setting of a ladder that passes and is confirmed, by bisection."""
        low, high = 0, len(ladder)
        while low < high:
            middle = (low + high) // 2
            if self.tried(ladder[middle]).accepted >= ACCEPTED:
                high = middle
            else:
                low = middle + 1
        for change in ladder[high:]:
            accepted, _ = self.confirmed(change)
            if accepted >= ACCEPTED:
                found = self.tried(change)
                return found.loss, found.change, change
        return None

    def tried(self, change: Mapping[str, object]) -> _Tried:
        """A setting on the synthetic tables on which all are compared."""
        return self._on(change, "tuning", self.number, whole=not change)

    def confirmed(self, change: Mapping[str, object]) -> tuple[float, float]:
        """The share that passes and the loss of a setting on fresh tables."""
        found = self._on(change, "confirming", self.confirming)
        return found.accepted, found.loss

    def _on(self, change: Mapping[str, object], stage: str, number: int, *, whole: bool = False) -> _Tried:
        """The trials of a setting; ``whole``: even where too many are refused to be taken."""
        method, domain = self.method, self.problem.table.domain
        found = attempted(partial(method.resolve_for, self.problem, {**self.given, **change}, self.progress))
        if isinstance(found, TabprotectError):
            return REFUSED
        tables = self.synthetic(found, number, trial_coins(domain, stage, method.name))
        # Within the budget of one draw each: the tables of the next setting are the same.
        coins = trial_coins(domain, stage, "coins", method.name)
        most = number if whole else int((1 - ACCEPTED) * number + ROUNDING)
        refused, losses, changes = 0, [], []
        part = PartialProgress(self.progress, 0, 1, message("trying parameters"))
        setting = Setting(method, found, self.limits)
        for trial, judged in judged_trials(setting, tables, coins=coins, progress=part):
            refused += isinstance(judged, TabprotectError) or judged.passed is not True
            if refused > most:
                return REFUSED
            if isinstance(trial.outcome, TabprotectError):
                continue
            before, after = trial.problem.table.counts, trial.release.table.counts
            if before.shape != after.shape:
                # Without the inner cells there is no count whose change is to be least.
                return REFUSED
            losses.append(LOSSES[self.use](before, after))
            changes.append(_changes(before, after))
        if not losses:
            return REFUSED
        share = 1 - refused / len(tables)
        return _Tried(share, float(np.mean(losses)), float(np.mean(changes)))


def _changes(before: Ints, after: Ints) -> float:
    return float(np.abs(after - before).mean())


def _sums(before: Ints, after: Ints) -> float:
    """The mean over the sums of two neighbouring categories of each variable."""
    moved, found = after - before, []
    for axis in range(moved.ndim):
        of = np.moveaxis(moved, axis, 0)
        if len(of) > 2:
            found.append(np.abs(of[1:] + of[:-1]).mean())
    return float(np.mean(found)) if found else _changes(before, after)


def _rates(before: Ints, after: Ints) -> float:
    """The mean over shares within the categories of the first variable."""

    def shares(counts: Ints) -> Floats:
        rows = counts.reshape(len(counts), -1).astype(np.float64)
        return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0))

    return float(np.abs(shares(after) - shares(before)).mean())


def _association(before: Ints, after: Ints) -> float:
    """The mean over Cramér's V of every two variables, within the categories of all others."""
    found = []
    for one in range(before.ndim):
        for two in range(one + 1, before.ndim):
            pairs = [
                np.moveaxis(of, (one, two), (-2, -1)).reshape(-1, of.shape[one], of.shape[two])
                for of in (before, after)
            ]
            found.append(np.abs(_cramer(pairs[1]) - _cramer(pairs[0])).mean())
    return float(np.mean(found)) if found else _changes(before, after)


def _cramer(tables: Ints) -> Floats:
    """Cramér's V of each two-way table, (tables,); 0 for an empty one."""
    counts = tables.astype(np.float64)
    total = np.maximum(counts.sum(axis=(1, 2)), 1.0)
    mean = counts.sum(axis=2)[:, :, None] * counts.sum(axis=1)[:, None, :] / total[:, None, None]
    square = np.divide((counts - mean) ** 2, mean, out=np.zeros_like(mean), where=mean > 0)
    least = max(min(counts.shape[1:]) - 1, 1)
    return np.asarray(np.sqrt(square.sum(axis=(1, 2)) / (total * least)))


LOSSES: Mapping[Use, Callable[[Ints, Ints], float]] = {
    "changes": _changes,
    "sums": _sums,
    "rates": _rates,
    "association": _association,
}
