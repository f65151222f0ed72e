"""The chance that a release passes the gate, estimated before any coin is drawn.

It is estimated on synthetic tables, half of them with negative binomial counts, as sparse tables have
them, and half with Poisson ones, around the proportional fit of the margins that every release states exactly. These are public, so that choosing a mechanism by it reveals
nothing. For staff alone it is also estimated on the table itself: choosing by that reveals a little.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.belief.effort import TRIAL
from tabprotect.engine.budgets import MOST_REMEDIES, TRIAL_WORK
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, Suggestion, TabprotectError, attempted
from tabprotect.engine.fitting.synthetic_tables import expected_counts, synthetic_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem, StaffVerdict
from tabprotect.engine.protection.remedy import Mending, Remedy
from tabprotect.engine.protection.simulate import ONCE, Runs, Trial, simulate, trial_coins
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message, percent, uncapital

GATE_CHANCE_WORK = 10_000
"""The most cells of all tables tried for one estimate, beyond the least number of tables."""


FEW = 4
"""The number of synthetic tables on which each remedy is tried."""

LARGE, MOST_TRIED = 2_000, 3
"""The cells from which on a trial takes seconds, and the most trials of such a table."""

SYNTHETIC = 12
"""The number of synthetic tables, and of trial runs on the table itself."""

LEAST = 2
"""The least number of tables; no more are tried if the posterior of one has to be drawn.

A single one if weighing protects whole originals again, which takes seconds each.
"""

ON_THE_TABLE = 8
"""The trial runs on a small table itself that a setting has to pass to be offered: by so many a setting of
which all attempts may be refused seldom comes through."""

SURE = 0.99
"""Above this share of passing releases, averages over them stand for all."""

LIKELY = 0.5
"""Below this share of passing releases, a refusal is likely."""


HELPS = 0.8
"""Other settings are offered if a release passes with this chance, within all attempts."""


Alternative = tuple[str, Mapping[str, object]]
"""Other settings: a description, and the parameters they change."""

_RECENT: deque[tuple[weakref.ref[Table], tuple[object, ...], Chance]] = deque(maxlen=32)
"""Recent estimates with their keys, used by refusals and after undo."""


@dataclass(frozen=True)
class Chance:
    """The share of trial releases that passed.

    Attributes
    ----------
    synthetic
        The share of synthetic tables that pass; ``None`` if no margin is stated exactly.
    here
        The share of trial runs on the table itself that pass. Confidential.
    runs
        The most trials of each kind.
    known
        The mean share of expected at-risk cells that a reader of a synthetic table would know.
    open
        True if trial runs broke no limit, and some could not be judged whole: what the gate will say
        is open.
    """

    synthetic: float | None
    here: float | None
    runs: int
    known: float = 0.0
    open: bool = False

    @property
    def unlikely(self) -> bool:
        """True if most draws would be refused."""
        return bool(self._shares) and max(self._shares) < LIKELY

    @property
    def _shares(self) -> list[float]:
        return [share for share in (self.synthetic, self.here) if share is not None]

    @property
    def sentence(self) -> str:
        """The estimate in words, for staff."""
        if self.open and self.unlikely:
            return message("Not all is worked out by trials: the gate does it, or takes a reason.")
        if self.synthetic is not None and self.here is not None:
            said = message(
                "{synthetic} of synthetic tables with the same margins and "
                "{here} of trial runs on this table (CONFIDENTIAL)",
                percent(self.synthetic),
                percent(self.here),
            )
        elif self.synthetic is not None:
            said = message("{synthetic} of synthetic tables with the same margins", percent(self.synthetic))
        elif self.here is not None:
            said = message("{here} of trial runs on this table (CONFIDENTIAL)", percent(self.here))
        else:
            return ""
        leaning = message(" Right on average before the gate; tables that pass lean a little.")
        sure = min(self._shares) >= SURE
        return message("The gate lets through {said}.{value}", said, "" if sure else leaning)


@dataclass(frozen=True, eq=False)
class Setting:
    """A method with its parameters, as ``Method.resolve`` gives them, and the limits of the gate."""

    method: Method
    values: Values
    limits: Gate


def chance(
    setting: Setting,
    problem: Problem,
    *,
    on_this_table: bool = True,
    most: int = SYNTHETIC,
    progress: Progress = SILENT,
) -> Chance:
    """Estimate the chance that one draw passes."""
    table, keys = problem.table, (problem.at_risk, problem.record_keys, problem.weights)
    asked = (setting.method, keys, dict(setting.values), setting.limits, on_this_table, most)
    for whose, what, known in tuple(_RECENT):
        if whose() is table and what == asked:
            return known
    found = _estimated(setting, problem, (on_this_table, most, progress))
    _RECENT.append((weakref.ref(table), asked, found))
    return found


def _estimated(setting: Setting, problem: Problem, how: tuple[bool, int, Progress]) -> Chance:
    on_this_table, most, progress = how
    domain, method, values = problem.table.domain, setting.method, setting.values
    once = domain.size > LARGE or not method.is_random(values)
    runs = min(1 if once else Runs(SYNTHETIC, LEAST, GATE_CHANCE_WORK).of_cost(domain.size), most)
    generator = trial_coins(domain, "chance", method.name)
    means = {"coins": generator, "progress": PartialProgress(progress, 0, 1, message("trying the gate"))}
    synthetic, known, undecided = None, 0.0, []
    if method.shape_alone and not on_this_table:
        tables = problems_of_shape(problem, runs, generator)
    else:
        tables = _like(setting, problem, runs, generator)
    if tables:
        synthetic, known, left = _tried(setting, tables, **means)
        undecided.append(left)
    here = None
    if on_this_table:
        here, _, left = _tried(setting, [problem] * runs, **means)
        undecided.append(left)
    return Chance(synthetic, here, runs, known, bool(undecided) and all(undecided))


def may_pass(setting: Setting, problem: Problem, progress: Progress = SILENT) -> bool:
    """Whether any of the synthetic tables passes, or is not judged whole; public."""
    method, domain = setting.method, problem.table.domain
    coins = trial_coins(domain, "may pass", method.name)
    runs = Runs(SYNTHETIC, FEW, GATE_CHANCE_WORK).of_cost(domain.size)
    tables = _like(setting, problem, runs, coins)
    trials = judged_trials(setting, tables, coins=coins, progress=progress)
    return not all(isinstance(judged, TabprotectError) or judged.passed is False for _, judged in trials)


def judged_trials(
    setting: Setting,
    problems: Problem | list[Problem],
    runs: Runs = ONCE,
    *,
    coins: np.random.Generator,
    progress: Progress = SILENT,
) -> Iterator[tuple[Trial, StaffVerdict | TabprotectError]]:
    """Draw on each table, and judge what is drawn as briefly as trials are.

    The error stands in place of the verdict where there is no release, where its findings fail a
    criterion of the method's own, or where what its readers know cannot be computed.
    """
    method = setting.method
    judge = partial(verdict, policy=setting.limits, effort=TRIAL, progress=progress)
    for trial in simulate(method, problems, setting.values, runs, generator=coins, progress=progress):
        failure = "" if trial.refusal is not None else method.acceptance_failure(trial.draft.findings)
        yield trial, InfeasibleError(failure) if failure else trial.judged(judge)


def _tried(setting: Setting, problems: list[Problem], **means: Any) -> tuple[float, float, bool]:
    """Draw once on each table.

    Returns
    -------
    float, float, bool
        The share that passes, the mean share known, and whether all others were not judged whole.
    """
    # Imported late: methods import solvers, which the first paint must not wait for.
    from tabprotect.engine.protection.registered import likelihood_of

    passed: list[bool] = []
    known: list[float] = []
    refused, enough = 0, len(problems)
    for trial, found in judged_trials(setting, problems, **means):
        judged = not isinstance(found, TabprotectError) and found.passed is not None
        if isinstance(found, TabprotectError) or not judged:
            refused += isinstance(found, TabprotectError) or not found.left_out
            known.append(1.0)
        else:
            refused += not found.accepted
            known.append(found.known / found.at_risk if found.at_risk else 0.0)
            likelihood = likelihood_of(trial.release)
            if isinstance(likelihood, CellFactors) and likelihood.rerun is not None:
                enough = 1
            elif found.way != "exact":
                enough = min(enough, LEAST)
        passed.append(not isinstance(found, TabprotectError) and judged and found.accepted)
        if len(passed) >= enough:
            break
    undecided = not refused and not all(passed)
    return sum(passed) / len(passed), sum(known) / len(known), undecided


def what_helps(
    method: Method,
    problem: Problem,
    values: Values,
    limits: Gate,
    *,
    objected: bool = False,
    progress: Progress = SILENT,
) -> tuple[Suggestion, ...]:
    """Settings of the method whose releases pass more often, best first; other methods where none do.

    Where nothing public says what would pass, they are tried on the table itself.

    Parameters
    ----------
    objected
        Whether the method's own criterion objects to the result: then settings that meet it.
    """
    public = method.shape_alone or method.kept(problem.table.domain, values) is not None
    # Settings are tried by themselves, without what was refused before.
    alone = replace(limits, changed=False, refused=())
    ways = remedies_here if public and not objected else mendings
    found: tuple[Suggestion, ...] = ways(method, problem, values, alone, progress)
    if all(one.takes_reason for one in found):
        found = (*found, *other_methods(method, problem, alone, progress))
    return found


def remedies(
    method: Method, problem: Problem, values: Values, limits: Gate, progress: Progress = SILENT
) -> tuple[Remedy, ...]:
    """Other settings whose releases pass more often on synthetic tables, best first.

    Only settings under which a release is all but sure to pass are offered. Nothing but the kept margins
    is looked at.

    Their rates on synthetic tables and on the table itself may differ much, but their order hardly
    does. On a large table each is tried once, in the method's own order, up to the first that passes
    and within the budget of trials: see :func:`untried`.
    """
    return _few(problem, (one for one, _ in _ranked(method, problem, values, limits, progress)))


def remedies_here(
    method: Method,
    problem: Problem,
    values: Values,
    limits: Gate,
    progress: Progress = SILENT,
    *,
    where: Callable[[Values], bool] | None = None,
) -> tuple[Remedy, ...]:
    """Those of :func:`remedies` that pass on the table itself, asked for as they are offered. Confidential.

    Given what settings are asked for, ``where``: those of them that pass at all.
    """
    found = _ranked(method, problem, values, limits, progress, where=where)
    passing = (
        remedy
        for remedy, other in found
        if _passes_here(Setting(method, other, limits), problem, "remedies", progress)
    )
    return _few(problem, passing)


def _few(problem: Problem, found: Iterator[Remedy]) -> tuple[Remedy, ...]:
    """The first ones; of a large table up to the first that is as good as sure."""
    out: list[Remedy] = []
    for remedy in itertools.islice(found, MOST_REMEDIES):
        out.append(remedy)
        if problem.table.domain.size > LARGE and remedy.chance == 1.0:
            break
    return tuple(sorted(out, key=lambda one: (1.0 - one.chance, one.known)))


def _ranked(
    method: Method,
    problem: Problem,
    values: Values,
    limits: Gate,
    progress: Progress,
    *,
    where: Callable[[Values], bool] | None = None,
) -> Iterator[tuple[Remedy, Values]]:
    """All of :func:`remedies` with what they resolve to; of a large table as they are found."""
    domain, large = problem.table.domain, problem.table.domain.size > LARGE
    told = method.told(problem.table, values)

    def tried(chosen: Values) -> tuple[float, float]:
        """The sort key, smaller being better: refusals, then what is known."""
        setting, most = Setting(method, chosen, limits), 1 if large else FEW if told is None else SYNTHETIC
        seen = chance(setting, problem, on_this_table=False, most=most, progress=progress)
        return 1.0 - (seen.synthetic or 0.0), seen.known

    ideas = _affordable(method, domain, values)
    public = method.shape_alone or method.kept(domain, values) is not None
    public = public or told is not None
    # On a large table the current settings were just refused, which needs no trial.
    worst = large or where is not None
    now = (0.0, 0.0) if not ideas or not public else (1.0, 1.0) if worst else tried(values)
    found = []
    for text, change, other in _fitting(method, problem, values, ideas):
        if where is not None and not where(other):
            continue
        score = tried(other)
        # Settings that may well be refused too, in all attempts, are no help.
        if score < now and score[0] ** limits.attempts_at_most <= 1.0 - HELPS:
            one = Remedy(text, change, 1.0 - score[0], score[1]), other
            if large:
                yield one
            else:
                found.append((score, one))
    yield from (one for _, one in sorted(found, key=lambda one: one[0]))


def mendings(
    method: Method, problem: Problem, values: Values, limits: Gate, progress: Progress = SILENT
) -> tuple[Mending, ...]:
    """Other settings to which the method itself has no objection, and that break no limit.

    They are tried on the table itself, as the objection arose there. Confidential.
    """
    domain, found = problem.table.domain, []
    coins = trial_coins(domain, "mendings", method.name)
    ideas = _affordable(method, domain, values)
    for number, (text, change, other) in enumerate(_fitting(method, problem, values, ideas)):
        part = PartialProgress(progress, number, len(ideas), message("trying what helps"))
        setting = Setting(method, other, limits)
        ((_, judged),) = judged_trials(setting, problem, coins=coins, progress=part)
        if not isinstance(judged, TabprotectError) and judged.judged and not judged.failing:
            found.append(Mending(text, change, judged.complete))
        if len(found) == MOST_REMEDIES:
            break
    return tuple(found)


def other_methods(
    method: Method, problem: Problem, limits: Gate, progress: Progress = SILENT
) -> tuple[Mending, ...]:
    """The methods that may take a method's place, as they are by default, whose trial releases pass.

    What a pattern of hidden cells tells is not worked out for every table; a method whose law is stated
    cell by cell is judged whole at any size. Each is tried on the table itself: confidential. Every draw
    must pass, judged whole.
    """
    # Imported late: methods import solvers, which the first paint must not wait for.
    from tabprotect.engine.protection.registered import methods

    domain, found = problem.table.domain, []
    for number, name in enumerate(method.instead):
        part, other = (
            PartialProgress(progress, number, len(method.instead), message("trying what helps")),
            methods()[name],
        )
        if other is method or other.unmet(problem) or not within_budget(other, domain):
            continue
        values = attempted(partial(other.resolve_for, problem, {}, part))
        if isinstance(values, TabprotectError):
            continue
        if _passes_here(Setting(other, values, limits), problem, "instead", part):
            found.append(Mending(message("Take {label} instead", uncapital(other.label)), {"method": name}))
    return tuple(found)


def _passes_here(setting: Setting, problem: Problem, what: str, progress: Progress) -> bool:
    """Return True if every draw on the table itself passes, judged whole: one of a large table."""
    domain = problem.table.domain
    coins = trial_coins(domain, what, setting.method.name)
    runs = Runs(1 if domain.size > LARGE else ON_THE_TABLE)
    trials = judged_trials(setting, problem, runs, coins=coins, progress=progress)
    return all(not isinstance(judged, TabprotectError) and bool(judged.passed) for _, judged in trials)


def passes_here(
    idea: Suggestion,
    refused: tuple[Method, Values],
    problem: Problem,
    limits: Gate,
    progress: Progress = SILENT,
) -> bool:
    """Whether a draw of what is suggested passes on the table itself beside the refusal that it follows.

    Parameters
    ----------
    refused
        The method with the settings that were refused.
    limits
        With what was refused. Confidential, as all that is tried on the table itself.
    """
    # Imported late: methods import solvers, which the first paint must not wait for.
    from tabprotect.engine.protection.registered import methods

    method, values = refused
    change = dict(idea.parameters)
    if (name := change.pop("method", None)) is not None:
        method, values = methods()[str(name)], Values({})
    other = attempted(partial(method.resolve_for, problem, {**values.asked, **change}, progress))
    if isinstance(other, TabprotectError):
        return False
    coins = trial_coins(problem.table.domain, "after a refusal", method.name)
    ((_, judged),) = judged_trials(Setting(method, other, limits), problem, coins=coins, progress=progress)
    return not isinstance(judged, TabprotectError) and judged.passed is True


def _fitting(
    method: Method, problem: Problem, values: Values, ideas: tuple[Alternative, ...]
) -> Iterator[tuple[str, Mapping[str, object], Values]]:
    """The settings that fit the table, with all parameters resolved."""
    for text, change in ideas:
        other = attempted(partial(method.resolve_for, problem, {**values.asked, **change}))
        # Not those that were just refused, under another name.
        if not isinstance(other, TabprotectError) and _plain(values) != _plain(other):
            yield text, change, other


def _plain(values: Values) -> dict[str, object]:
    """Settings to be compared: cycles by what they are, whatever they are called."""
    return {
        name: (one.domain.shape, one.starts.tobytes(), one.cells.tobytes(), one.signs.tobytes())
        if isinstance(one, MoveSet)
        else one
        for name, one in values.items()
    }


def untried(method: Method, domain: Domain, values: Values) -> str:
    """The settings that cost too much to be tried on a table of this size, in words; may be empty."""
    if method.kept(domain, values) is None:
        return ""
    dear = method.alternatives(domain, values)[:MOST_TRIED]
    dear = dear[len(_affordable(method, domain, values)) :]
    named = ", ".join(text for text, _ in dear)
    return message("not tried here, where a trial would take too long: {named}", named) if named else ""


def judged_elsewhere(method: Method, domain: Domain, ideas: tuple[Suggestion, ...]) -> str:
    """The nearest setting that is judged whole in tables of this size, where none was tried; may be empty."""
    # Imported late: methods import solvers, which the first paint must not wait for.
    from tabprotect.engine.protection.registered import judged_further

    most, other = method.judged_up_to or 0, judged_further(method, domain.size)
    if any("method" in one.parameters for one in ideas) or domain.size <= most:
        return ""
    if other is None or within_budget(other, domain):
        return message(
            "merge categories: tables of two variables are judged whole up to {cells:,} cells", most
        )
    return message(
        "not tried here, and judged whole in tables of two variables up to {cells:,} cells: --method {name}",
        other.judged_up_to or 0,
        other.name,
    )


def within_budget(method: Method, domain: Domain) -> int:
    """The number of settings of a method that can be tried on a table of this size."""
    return int(TRIAL_WORK / (method.trial_work * domain.size))


def _affordable(method: Method, domain: Domain, values: Values) -> tuple[Alternative, ...]:
    ideas = method.alternatives(domain, values)
    if domain.size <= LARGE:
        return ideas
    return ideas[: min(MOST_TRIED, within_budget(method, domain))]


def _like(setting: Setting, problem: Problem, runs: int, generator: np.random.Generator) -> list[Problem]:
    """Tables like the one at hand by what every release of the setting states exactly."""
    table, method, values = problem.table, setting.method, setting.values
    if (told := method.told(table, values)) is None:
        return synthetic_problems(method.kept(table.domain, values), problem, runs, generator)
    every = generator.integers(told[0], told[1] + 1, (runs, table.domain.size))
    every[:, table.domain.structural_cells()] = 0
    shaped = every.reshape(runs, *table.domain.shape)
    return [Problem(Table.dense(table.domain, one), problem.at_risk) for one in shaped]


def synthetic_problems(
    kept: Publication | None, problem: Problem, runs: int, generator: np.random.Generator
) -> list[Problem]:
    """Tables around the counts expected from the exact margins, zero where these are."""
    if kept is None:
        return []
    domain = problem.table.domain
    expected = attempted(partial(expected_counts, KeptMargins.of(kept, problem.table)))
    if isinstance(expected, TabprotectError):
        return []
    return problems_around(expected, domain, problem.at_risk, runs, generator)


def problems_around(
    expected: Floats, domain: Domain, at_risk: SmallCount, runs: int, generator: np.random.Generator
) -> list[Problem]:
    """Tables around expected counts, (cells,).

    Every other one has negative binomial counts, as sparse tables have them; the others Poisson ones.
    """
    # The sparser ones first: of a large table there is one.
    wide, even = runs - runs // 2, runs // 2
    sparse = synthetic_counts(expected, wide, generator, shape=1.0).T.reshape(wide, *domain.shape)
    plain = synthetic_counts(expected, even, generator).T.reshape(even, *domain.shape)
    both = [one for pair in itertools.zip_longest(sparse, plain) for one in pair if one is not None]
    return [Problem(Table.dense(domain, one), at_risk) for one in both]


SPARSE_MEAN, SPARSE_SHAPE = 2.0, 0.8
"""Mean count, and shape of the gamma law of means, of tables of which the shape alone is known."""


def problems_of_shape(problem: Problem, runs: int, generator: np.random.Generator) -> list[Problem]:
    """Tables of Poisson counts around gamma means: small counts and zeros are frequent.

    Of the problem only the shape and the rule are looked at; none for a large table.
    """
    domain = problem.table.domain
    if domain.size > LARGE:
        return []
    means = generator.gamma(SPARSE_SHAPE, SPARSE_MEAN / SPARSE_SHAPE, (runs, *domain.shape))
    counts = generator.poisson(means)
    if domain.structural:
        counts.reshape(runs, -1)[:, domain.structural_cells()] = 0
    return [Problem(Table.dense(domain, one), problem.at_risk) for one in counts]
