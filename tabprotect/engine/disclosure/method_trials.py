"""Every method tried on one table: what readers would know, what becomes of a count, what stays true.

Staff's own and confidential. A trial glances at the inner cells of a few draws, all in counted work;
the verdict on a release looks at everything that is published, and for longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from tabprotect.engine.budgets import MOST_REMEDIES
from tabprotect.engine.disclosure.gate_chance import within_budget
from tabprotect.engine.errors import (
    InfeasibleError,
    ParameterError,
    Suggestion,
    TabprotectError,
    attempted,
)
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.simulate import Runs, simulate, trial_coins
from tabprotect.engine.protection.wishes import Promised
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.stated_gate import Gate
from tabprotect.engine.tables.groupings.true_table import true_table
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.languages.said import joined, say

RUNS = 3
"""Draws of a method with chance."""

NOT_TRIED = say("not tried: too large for a trial; choose it to see")
"""Of a method whose trial would take too much work. What it promises is told all the same."""


@dataclass(frozen=True)
class MethodTrial:
    """What one method with one set of parameters does to a table. Confidential.

    Attributes
    ----------
    method, change
        Registered name, and the parameters that differ from its defaults.
    idea
        What these are, in words; empty for the method as it comes.
    kept
        What it promises; ``None`` where its parameters do not fit the table.
    known
        Mean share of the at-risk cells whose true count a reader would know.
    at_least
        Whether readers may know more: only what is proved was counted.
    at_risk
        Number of at-risk cells.
    moved
        Mean change of a published inner count; ``None`` where inner cells are not published.
    loss
        The same where a count that is missing counts as lost whole.
    hidden, cells
        Inner cells without a count, and how many there are.
    fault, hint
        Why it cannot be done, and what to do; empty where it was done.
    suggestions
        Other settings that the refusal names.
    """

    method: str
    change: Mapping[str, object] = field(default_factory=dict)
    idea: str = ""
    kept: Promised | None = None
    known: float | None = None
    at_least: bool = False
    at_risk: int = 0
    moved: float | None = None
    loss: float = float("inf")
    hidden: int = 0
    cells: int = 0
    fault: str = ""
    hint: str = ""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def done(self) -> bool:
        """Whether there is something to judge."""
        return not self.fault

    @property
    def untried(self) -> bool:
        """Whether it may well be done, but was too much work for a trial."""
        return self.fault == NOT_TRIED

    def lost(self, asked: Sequence[str], sums: MarginSet) -> tuple[str, ...]:
        """The asked wishes that are not granted; ``sums`` those to be exact."""
        if self.kept is None:
            return tuple(asked)
        return tuple(name for name in self.kept.lost(sums) if name in asked)

    def safe(self, share: float) -> bool:
        """Whether a reader would know no larger share."""
        return self.done and self.known is not None and self.known <= share


@dataclass(frozen=True)
class Ranked:
    """A method at its place: its best trial for what is asked.

    Attributes
    ----------
    lost
        The asked wishes that it does not grant.
    others
        The method's other trials, best first.
    """

    trial: MethodTrial
    lost: tuple[str, ...]
    others: tuple[MethodTrial, ...] = ()


def tried_methods(
    problem: Problem, limits: Gate, progress: Progress = SILENT
) -> tuple[MethodTrial, ...]:
    """Try every method on a table.

    As it comes, and where readers would know more than the limits allow in its other settings, too,
    as far as the budget of a method goes. The cheap ones come first. Whoever watches gets the
    trials so far as partial result, one more as soon as it is there.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    order = sorted(methods().values(), key=lambda method: method.trial_work)
    watched = _Watched(progress, len(order))
    for method in order:
        for trial in _of_method(method, problem, limits, watched):
            watched.add(trial)
        watched.methods += 1
    return watched.found


class _Watched:
    """Progress that carries the trials so far in every report: one that nobody took is not lost."""

    def __init__(self, progress: Progress, methods: int) -> None:
        self._progress, self._of = progress, methods
        self.methods = 0
        self.found: tuple[MethodTrial, ...] = ()

    def add(self, trial: MethodTrial) -> None:
        """One more, to be seen at once."""
        self.found = (*self.found, trial)
        self.report("", 0.0)

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        done = (self.methods + min(max(fraction, 0.0), 1.0)) / self._of
        self._progress.report(say("trying every method"), done, self.found)


def ranked(
    trials: Sequence[MethodTrial], asked: Sequence[str], sums: MarginSet, share: float
) -> tuple[Ranked, ...]:
    """Methods from the best to the worst for a table.

    First those that grant more of what is asked, among them those that leave no more than ``share``
    of the at-risk cells known, among them those that change counts least. Then those that were not
    tried, and last those that cannot be done.

    Parameters
    ----------
    asked
        Names of ``WISHES``.
    sums
        What is to be exact, where that is asked.
    """

    def key(trial: MethodTrial) -> tuple[bool, bool, int, bool, float, float]:
        known = 1.0 if trial.known is None else trial.known
        missing = len(trial.lost(asked, sums))
        return not trial.done, not trial.untried, missing, not trial.safe(share), trial.loss, known

    of: dict[str, list[MethodTrial]] = {}
    for trial in trials:
        of.setdefault(trial.method, []).append(trial)
    best = [sorted(group, key=key) for group in of.values()]
    best.sort(key=lambda group: key(group[0]))
    return tuple(Ranked(first, first.lost(asked, sums), tuple(others)) for first, *others in best)


def _of_method(
    method: Method, problem: Problem, limits: Gate, progress: Progress
) -> Iterator[MethodTrial]:
    domain = problem.table.domain
    given = method.trial_parameters(domain)
    first = _trial(
        method, problem, MethodTrial(method.name, MappingProxyType(given)), limits, progress
    )
    yield first
    if first.safe(limits.share) or (first.fault and not first.kept) or first.untried:
        return
    values = method.resolve_for(problem, given, progress)
    helped = 0
    affordable = within_budget(method, domain) - 1
    ideas = [(one.text, one.parameters) for one in first.suggestions]
    for idea, change in (*ideas, *method.alternatives(domain, values))[:affordable]:
        start = MethodTrial(method.name, MappingProxyType({**given, **change}), idea)
        other = _trial(method, problem, start, limits, progress)
        if other.done and (other.known or 0.0) < (1.0 if first.known is None else first.known):
            yield other
            helped += other.safe(limits.share)
        if helped >= MOST_REMEDIES:
            return


def _trial(
    method: Method, problem: Problem, start: MethodTrial, limits: Gate, progress: Progress
) -> MethodTrial:
    def refused(error: TabprotectError) -> MethodTrial:
        unmet = joined(method.unmet(problem).values(), "; ")
        ideas = tuple(error.suggestions) if isinstance(error, InfeasibleError) else ()
        hint = "" if unmet else error.hint
        return replace(start, fault=unmet or error.message, hint=hint, suggestions=ideas)

    domain = problem.table.domain
    large = not within_budget(method, domain)
    # What follows from the table in hand may be the longest part of a trial.
    values = attempted(
        partial(method.resolve, domain, start.change)
        if large
        else partial(method.resolve_for, problem, start.change, progress)
    )
    if isinstance(values, TabprotectError):
        return refused(values)
    start = replace(start, kept=Promised.of(method, domain, values))
    if unmet := method.unmet(problem):
        return refused(ParameterError(unmet))
    if large:
        return replace(start, fault=NOT_TRIED)
    found = attempted(partial(_drawn, method, problem, (start, values), limits, progress))
    return refused(found) if isinstance(found, TabprotectError) else found


def _drawn(
    method: Method,
    problem: Problem,
    what: tuple[MethodTrial, Values],
    limits: Gate,
    progress: Progress,
) -> MethodTrial:
    """The figures of a few draws, each looked at for about a second at most."""
    # Inference is imported with the first trial, not with every project that is opened.
    from tabprotect.engine.disclosure.cell_beliefs import at_a_glance

    start, values = what
    known, moved, losses, hidden, at_least = [], [], [], 0, False
    at_risk = 0
    for trial in simulate(
        method,
        problem,
        values,
        Runs(RUNS),
        generator=trial_coins(problem.table.domain),
        progress=progress,
        stage="trying",
    ):
        belief = at_a_glance(trial.release, progress)
        truth = true_table(problem.table, belief.domain, ()).counts.reshape(-1)
        cells = belief.among(limits.at_risk.mask(truth))
        chance = belief.probability(truth[cells], cells)
        at_risk = len(cells)
        known.append(float((chance > limits.belief_limit).mean()) if at_risk else 0.0)
        at_least |= belief.way == "bounds"
        change, loss, hidden = _changed(method, problem, values, trial.release)
        moved.append(change)
        losses.append(loss)
        # What is drawn takes longest, and says nearly the same each time.
        if belief.way not in ("exact", "bounds"):
            break
    shown = [change for change in moved if change is not None]
    return replace(
        start,
        known=float(np.mean(known)),
        at_least=at_least,
        at_risk=at_risk,
        moved=float(np.mean(shown)) if shown else None,
        loss=float(np.mean(losses)),
        hidden=hidden,
        cells=problem.table.domain.size,
    )


def _changed(
    method: Method, problem: Problem, values: Values, release: Release
) -> tuple[float | None, float, int]:
    """Mean change of a shown inner count, the same with missing counts lost, and the missing."""
    domain = problem.table.domain
    truth = problem.table.counts
    inner = next((p for p in release.tables if p.table.domain == domain), None)
    if inner is None or method.weighted(values):
        return None, float(truth.mean()), domain.size
    moves = np.abs(inner.table.counts - truth)[~inner.hidden]
    lost = float(truth[inner.hidden].sum() + moves.sum()) / domain.size
    return (float(moves.mean()) if moves.size else None), lost, int(inner.hidden.sum())
