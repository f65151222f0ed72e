"""Ways to protect a project's magnitude table: one of them done, all side by side, and what helps. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.magnitude_verdict import protect_magnitudes
from tabprotect.engine.errors import InputError, Suggestion
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.method import PUBLISH, published_beside
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, rules_of
from tabprotect.languages.messages import at_most_in_100, message


def chosen(project: Project) -> ChosenMagnitudes:
    """The magnitude table of a project, with what was chosen for it.

    Raises
    ------
    InputError
        When it has none.
    """
    if project.magnitudes is None:
        raise InputError(
            message("the open table is none of sums"),
            hint=message("count records with a measure: tabulate RECORDS (--measure COLUMN)"),
        )
    return project.magnitudes


def problem_of(project: Project, seed: int | None = None) -> MagnitudeProblem:
    """Return what is to be protected: the project's choices, with the rules of the house.

    Raises
    ------
    InputError, BundleError
        When last year's bundle cannot be read.
    """
    magnitudes, policy = chosen(project), project.limits
    rules = (*magnitudes.rules, *policy.rules)
    return MagnitudeProblem(
        table=magnitudes.table,
        rules=tuple(dict.fromkeys(rules_of(rules))) if rules else (),
        weights=magnitudes.weights,
        publish=published_beside(project.parameters.get(PUBLISH.name), magnitudes.table),
        before=public.read(Path(magnitudes.like)).magnitude_table if magnitudes.like else None,
        seed=seed,
    )


def protected_magnitudes(project: Project, seed: int | None = None, progress: Progress = SILENT) -> Protected:
    """The project's magnitude table protected by its method, and judged; nothing is refused.

    Parameters
    ----------
    seed
        In place of the key of the house, to repeat noise.

    Raises
    ------
    ParameterError, InputError
        When it cannot be protected with these parameters.
    Interrupted
    """
    method = methods("magnitudes")[project.method]
    given = {name: value for name, value in project.parameters.items() if name != PUBLISH.name}
    values = method.resolve(project.domain, given)
    problem = Problem.of_magnitudes(
        *(problem_of(project, seed), project.title, project.at_risk, project.people), metadata=project.said
    )
    return protect_magnitudes(method, problem, values, project.limits, progress)


def with_method(project: Project, method: str, parameters: Mapping[str, object]) -> Project:
    """The project with another method for its sums; what is published beside them stays."""
    beside = {name: value for name, value in project.parameters.items() if name == PUBLISH.name}
    return replace(project, method=method, parameters={**parameters, **beside})


BESIDE = {"rules": message("The rules alone"), "rounding": message("Rounding")}
"""What methods are compared with: the first before them, the last behind them."""


@dataclass(frozen=True)
class TriedMagnitudes:
    """The figures of one way to protect magnitudes, tried on a table. Confidential.

    Attributes
    ----------
    method
        Its name, or one of :data:`BESIDE`.
    hidden
        Number of sums that are not published.
    mean_deviation
        By how much a published sum differs on average, as a share of it.
    loss
        The same over all sums; one that is hidden is lost whole.
    worst, mean_belief
        The largest and the average probability of an outsider's best guess; ``None`` where that was not
        worked out.
    unsafe_worst
        The largest probability about a sum that the rules find unsafe: what ways are compared by.
    hidden_value
        What the sums are worth that are hidden to protect others, in units.
    broken
        Sums in which somebody comes too near; ``None`` where nobody was tried.
    left_out
        The kinds of what was not judged.
    base
        Of rounding: its base in units.
    """

    method: str
    hidden: int
    mean_deviation: float
    loss: float
    worst: float | None = None
    mean_belief: float | None = None
    unsafe_worst: float = 0.0
    hidden_value: int = 0
    broken: int | None = None
    left_out: tuple[str, ...] = ()
    base: int | None = None

    @property
    def label(self) -> str:
        """The way's name for people."""
        return BESIDE.get(self.method) or methods("magnitudes")[self.method].label

    def as_json(self, table: MagnitudeTable) -> dict[str, object]:
        """Return it for programs."""
        found = {n: round(v, 6) if isinstance(v, float) else v for n, v in vars(self).items()}
        found |= {"hidden_value": table.shown(self.hidden_value), "left_out": list(self.left_out)}
        if self.base is None:
            del found["base"]
        else:
            found["base"] = table.shown(self.base)
        return found

    @classmethod
    def of(cls, method: str, true: Ints, value: Ints, hidden: Bools) -> TriedMagnitudes:
        """What a way publishes of the true values, and what it changes, int64 and bool (cells,)."""
        some = true != 0
        moved, shown = np.abs(value - true) / np.maximum(np.abs(true), 1), some & ~hidden
        return cls(
            method,
            int(hidden.sum()),
            float(moved[shown].mean()) if shown.any() else 0.0,
            float(np.where(hidden, 1.0, moved)[some].mean()) if some.any() else 0.0,
        )

    def believed(self, found: Floats, unsafe: Bools) -> TriedMagnitudes:
        """With an outsider's beliefs, NaN for what is published as it is, float64 and bool (cells,)."""
        held = ~np.isnan(found)
        return replace(
            self,
            worst=float(found[held].max(initial=0.0)),
            mean_belief=float(found[held].mean()) if held.any() else 0.0,
            unsafe_worst=float(found[held & unsafe].max(initial=0.0)),
        )


def within_of(rules: Sequence[MagnitudeRule]) -> float:
    """Return how near a guess counts, in percent: as the p rule says."""
    return next((float(rule.numbers[0]) for rule in rules if rule.name == "p"), 10.0)


def tried_magnitudes(
    project: Project, progress: Progress = SILENT
) -> Iterator[tuple[TriedMagnitudes, Release]]:
    """Every method on the open table, with its release; nothing is kept.

    The project's method is tried with its parameters, the others as they come.
    """
    value = chosen(project).table.cells.value
    for method in methods("magnitudes"):
        one = project if method == project.method else with_method(project, method, {})
        done = protected_magnitudes(one, project.seed, progress)
        published, audit = done.release.magnitude_table, done.verdict.audit
        way = TriedMagnitudes.of(method, value, published.value, published.hidden)
        yield (
            replace(
                way,
                worst=done.verdict.worst,
                hidden_value=int(value[published.hidden & ~done.record.primary].sum()),
                broken=0 if audit is None else audit.broken + audit.known,
                left_out=done.verdict.left_out,
            ),
            done.release,
        )


def compared_magnitudes(project: Project, progress: Progress = SILENT) -> Iterator[TriedMagnitudes]:
    """The figures of every way, one after the other, with what an outsider believes."""
    problem = problem_of(project)
    table, unsafe, within = problem.table, problem.unsafe, within_of(problem.rules) / 100
    yield _by_rules(table, unsafe, within)
    for way, release in tried_magnitudes(project, progress):
        yield way.believed(_beliefs(release, within), unsafe)
    yield _rounded(table, unsafe, within, project.limits.belief_limit)


def _beliefs(release: Release, within: float) -> Floats:
    """An outsider's beliefs about every cell, NaN for those that are published as they are."""
    from tabprotect.engine.magnitudes.readers.beliefs import ContributorView

    out = np.full(len(release.magnitude_table.key), np.nan)
    for one in methods("magnitudes")[release.mechanism.method].beliefs(release, ContributorView(), within):
        out[one.cell] = one.belief
    return out


def _by_rules(table: MagnitudeTable, hidden: Bools, within: float) -> TriedMagnitudes:
    """Hide only what the rules name, and nothing to protect it."""
    value = table.cells.value
    published = PublishedMagnitudes(
        table.variables, table.measure, table.decimals, table.cells.key, np.where(hidden, 0, value), hidden
    )
    release = Release.of_magnitudes(published, "suppression")
    way = TriedMagnitudes.of("rules", value, value, hidden).believed(_beliefs(release, within), hidden)
    return replace(way, left_out=("contributors",))


def _rounded(table: MagnitudeTable, unsafe: Bools, within: float, limit: float) -> TriedMagnitudes:
    """Every sum rounded to the least base with which no unsafe sum is known with more than the limit."""
    from tabprotect.engine.magnitudes.readers.rounded_totals import least_base, rounded, rounding_beliefs

    value = table.cells.value
    base = least_base(value, unsafe, within, limit) or 1
    published = rounded(value, base)
    found = rounding_beliefs(published, base, within)
    way = TriedMagnitudes.of("rounding", value, published, np.zeros(len(value), dtype=bool))
    return replace(
        way.believed(found, unsafe),
        broken=int(((found > limit) & unsafe).sum()),
        left_out=("joint_noise", "contributors"),
        base=base,
    )


OFFERED = 2
"""How many remedies are named."""


@dataclass(frozen=True)
class MagnitudeRemedy(Suggestion):
    """Another way to protect sums that passes: its method and parameters, and what came of it.

    Attributes
    ----------
    belief
        The largest probability that an outsider's best guess is near.
    change
        By how much a sum differs on average, as a share of it.
    """

    belief: float = 0.0
    change: float = 0.0

    @property
    def reached(self) -> str:
        return message(
            "Tried: passes. A guess at an amount is near with a chance of at most {belief}; sums change by "
            "{change:.1f} in 100 on average.",
            at_most_in_100(self.belief),
            100 * self.change,
        )


def remedies_for(
    project: Project, progress: Progress = SILENT, *, register: str | None = None, reason: str = ""
) -> tuple[MagnitudeRemedy, ...]:
    """Other ways to protect a table whose verdict passes whole, the one that changes least first.

    What left before is weighed too. A pattern of hidden sums is none of them: what its choice tells is
    never judged.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    reason
        Why it is published again; empty for none.
    """
    # Late: what is opened and tabulated asks no register.
    from tabprotect.engine.project.releasing.judgement import asked_once, may_leave

    magnitudes = chosen(project)
    value = magnitudes.table.cells.value
    found: list[MagnitudeRemedy] = []
    settings = [(method, given) for method in methods("magnitudes").values() for given in method.ladder]
    if magnitudes.table.largest is not None:
        return ()
    project = replace(project, magnitudes=replace(magnitudes, like=""))
    looked_up = asked_once(replace(project.problem, magnitudes=problem_of(project)), register)
    for number, (method, given) in enumerate(settings):
        progress.report(message("trying what may help"), number / len(settings))
        done = protected_magnitudes(with_method(project, method.name, given))
        if not may_leave(done, register, project.limits, looked_up, reason):
            continue
        published = done.release.magnitude_table
        change = TriedMagnitudes.of(method.name, value, published.value, published.hidden).loss
        parameters = {"method": method.name, **given}
        found.append(MagnitudeRemedy(method.said(given), parameters, done.verdict.worst or 0.0, change))
        if len(found) == OFFERED:
            break
    return tuple(found)
