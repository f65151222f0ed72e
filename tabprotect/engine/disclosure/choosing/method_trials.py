"""Trials of every method on one table: what readers would know, how counts change, what stays true.

For staff only; confidential. A trial looks briefly at the inner cells of a few draws, within counted
work; the verdict on a release looks at everything published, and for longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from tabprotect.engine.budgets import MOST_REMEDIES
from tabprotect.engine.disclosure.choosing.acceptance_probability import within_budget
from tabprotect.engine.errors import InfeasibleError, ParameterError, Suggestion, TabprotectError, attempted
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import Promised
from tabprotect.engine.protection.simulate import Runs, simulate, trial_coins
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.languages.messages import joined, message

RUNS = 3
"""The number of draws of a method with randomness."""

SLIGHT = 2.0
"""A mean change that is never too much, however small the counts are."""

NOT_TRIED = message("not tried: too large for a trial; choose it to see")
"""The fault of a method whose trial would take too much work. Its promises are shown all the same."""


@dataclass(frozen=True)
class MethodTrial:
    """The trial of one method with one set of parameters on a table. Confidential.

    Attributes
    ----------
    method, change
        Registered name, and the parameters that differ from its defaults.
    idea
        The change in words; empty for the method's defaults.
    kept
        What it promises; ``None`` if its parameters do not fit the table.
    known
        Mean share of the at-risk cells whose true count a reader would know.
    at_least
        True if readers may know more, because only what is proved was counted.
    at_risk
        Number of at-risk cells.
    moved
        Mean change of a published inner count; ``None`` if inner cells are not published.
    loss
        The same, with missing counts taken as lost entirely.
    hidden, cells
        The number of inner cells published without a count, and of all inner cells.
    fault, hint
        Why it failed, and what to do; empty if it was done.
    suggestions
        The other settings that the refusal suggests.
    left_out
        The kinds of what a trial leaves out, apart from its being short; it is never safe then.
    mean
        The mean true count of an inner cell.
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
    left_out: tuple[Omission, ...] = ()
    mean: float = float("inf")

    @property
    def useless(self) -> bool:
        """True if counts change by more than they are on average: nobody has a use for such a table."""
        return self.done and self.moved is not None and self.loss > max(self.mean, SLIGHT)

    @property
    def done(self) -> bool:
        """True if there is a result to judge."""
        return not self.fault and not self.waits

    @property
    def waits(self) -> bool:
        """True as long as nothing is known of it: its turn is still to come."""
        return not self.fault and self.loss == float("inf")

    @property
    def untried(self) -> bool:
        """True if it may well be possible, but was too much work for a trial."""
        return self.fault == NOT_TRIED

    def lost(self, asked: Sequence[str], sums: MarginSet) -> tuple[str, ...]:
        """The wishes asked for that are not granted; ``sums`` are those to be exact."""
        if self.kept is None:
            return tuple(asked)
        return tuple(name for name in self.kept.lost(sums) if name in asked)

    def safe(self, share: float) -> bool:
        """Return True if a reader would know no larger share, and nothing was left out."""
        return self.done and self.known is not None and self.known <= share and not self.left_out


@dataclass(frozen=True)
class Ranked:
    """A ranked method, with its best trial for the wishes.

    Attributes
    ----------
    lost
        The wishes asked for that it does not grant.
    others
        The method's other trials, best first.
    """

    trial: MethodTrial
    lost: tuple[str, ...]
    others: tuple[MethodTrial, ...] = ()


def tried_methods(problem: Problem, limits: Gate, progress: Progress = SILENT) -> tuple[MethodTrial, ...]:
    """Try every method on a table.

    Each is tried with its defaults and, if readers would know more than the limits allow, with its
    other settings, as far as the budget of a method goes. Cheap ones come first. The progress gets all
    trials so far as a partial result after each one.

    Raises
    ------
    Interrupted
        When cancelled.
    """
    order = in_order()
    watched = _Watched(progress, len(order))
    for name in order:
        for trial in _of_method(methods()[name], problem, limits, watched):
            watched.add(trial)
        watched.methods += 1
    return watched.found


def in_order() -> tuple[str, ...]:
    """The names of all methods, in the order in which they are tried."""
    return tuple(sorted(methods(), key=lambda name: methods()[name].trial_work))


def untried(method: str) -> Ranked:
    """The place of a method of which nothing is known yet."""
    return Ranked(MethodTrial(method), (), ())


class _Watched:
    """Progress that carries all trials so far in every report, so that no missed report loses one."""

    def __init__(self, progress: Progress, methods: int) -> None:
        self._progress, self._of = progress, methods
        self.methods = 0
        self.found: tuple[MethodTrial, ...] = ()

    def add(self, trial: MethodTrial) -> None:
        """Add a trial and report it at once."""
        self.found = (*self.found, trial)
        self.report("", 0.0)

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        done = (self.methods + min(max(fraction, 0.0), 1.0)) / self._of
        self._progress.report(message("trying every method"), done, self.found)


def ranked(
    trials: Sequence[MethodTrial], asked: Sequence[str], sums: MarginSet, share: float
) -> tuple[Ranked, ...]:
    """Rank methods for a table from best to worst.

    Methods whose table is of no use come behind all others that were tried. Before them those that grant
    more of the wishes come first, then those that leave at most ``share`` of the at-risk cells known, then
    those that change counts least; other ways to do the same come after them. After them come untried
    methods, and last those that failed.

    Parameters
    ----------
    asked
        Names of ``WISHES``.
    sums
        The sums to be exact, if that is a wish.
    """

    def key(trial: MethodTrial) -> tuple[bool, bool, bool, int, tuple[bool, bool, bool], float, float]:
        known = 1.0 if trial.known is None else trial.known
        missing = len(trial.lost(asked, sums))
        return (
            not trial.done,
            not trial.untried,
            trial.useless,
            missing,
            (known > share, not trial.safe(share), methods()[trial.method].other_way),
            trial.loss,
            known,
        )

    of: dict[str, list[MethodTrial]] = {}
    for trial in trials:
        of.setdefault(trial.method, []).append(trial)
    best = [sorted(group, key=key) for group in of.values()]
    best.sort(key=lambda group: key(group[0]))
    return tuple(Ranked(first, first.lost(asked, sums), tuple(others)) for first, *others in best)


def _of_method(method: Method, problem: Problem, limits: Gate, progress: Progress) -> Iterator[MethodTrial]:
    domain = problem.table.domain
    given = method.trial_parameters(domain)
    first = _trial(method, problem, MethodTrial(method.name, MappingProxyType(given)), limits, progress)
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
        less = (other.known or 0.0) < (1.0 if first.known is None else first.known)
        if other.done and (less or (other.safe(limits.share) and not first.safe(limits.share))):
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
    # Parameters that follow from this table may take the longest part of a trial.
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
    method: Method, problem: Problem, what: tuple[MethodTrial, Values], limits: Gate, progress: Progress
) -> MethodTrial:
    """The figures of a few draws, each examined for about a second at most."""
    # Inference is imported with the first trial, not with every project that is opened.
    from tabprotect.engine.disclosure.cell_beliefs import at_a_glance

    start, values = what
    known, moved, losses, hidden, at_least = [], [], [], 0, False
    at_risk, left_out = 0, kinds()
    for trial in simulate(
        method,
        problem,
        values,
        Runs(RUNS),
        generator=trial_coins(problem.table.domain),
        progress=PartialProgress(progress, 0, 1, "trying"),
    ):
        belief = at_a_glance(trial.release, progress)
        truth = true_table(problem.table, belief.domain, ()).counts.reshape(-1)
        cells = belief.among(limits.at_risk.mask(truth))
        chance = belief.probability(truth[cells], cells)
        at_risk = len(cells)
        known.append(float((chance > limits.belief_limit).mean()) if at_risk else 0.0)
        at_least |= belief.way == "bounds"
        left_out = kinds(left_out, (kind for kind in belief.left_out if kind != "simulation"))
        change, loss, hidden = _changed(method, problem, values, trial.release)
        moved.append(change)
        losses.append(loss)
        # A drawn posterior takes longest, and says nearly the same each time.
        if belief.way not in ("exact", "bounds"):
            break
    shown = [change for change in moved if change is not None]
    return replace(
        start,
        known=float(np.mean(known)),
        at_least=at_least,
        left_out=left_out,
        at_risk=at_risk,
        moved=float(np.mean(shown)) if shown else None,
        loss=float(np.mean(losses)),
        hidden=hidden,
        cells=problem.table.domain.size,
        mean=float(problem.table.counts.mean()),
    )


def _changed(
    method: Method, problem: Problem, values: Values, release: Release
) -> tuple[float | None, float, int]:
    """The mean change of a shown inner count, the same with missing counts as lost, and the number missing."""
    domain = problem.table.domain
    truth = problem.table.counts
    inner = next((p for p in release.tables if p.table.domain == domain), None)
    if inner is None or method.weighted(values):
        return None, float(truth.mean()), domain.size
    moves = np.abs(inner.table.counts - truth)[~inner.hidden]
    lost = float(truth[inner.hidden].sum() + moves.sum()) / domain.size
    return (float(moves.mean()) if moves.size else None), lost, int(inner.hidden.sum())
