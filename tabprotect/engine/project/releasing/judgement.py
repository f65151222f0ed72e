"""The verdict on a project's release, alone and together with earlier releases. Confidential."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

from tabprotect.engine.disclosure.choosing import acceptance_probability
from tabprotect.engine.disclosure.choosing.acceptance_probability import Chance, Setting, chance
from tabprotect.engine.disclosure.gate import UNSTATED, against, beside_unweighed, decided
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InputError, ParameterError, RefusedError, Suggestion, TabprotectError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem, Protected, StaffVerdict
from tabprotect.engine.register.earlier_refusals import remember_beside
from tabprotect.engine.register.left_before import LeftBefore, left_before
from tabprotect.engine.register.people.counts_and_magnitudes import other_measures
from tabprotect.engine.register.people.reading_together import LookedUp, look_up
from tabprotect.engine.release.mechanism import Gate


def foreseen(project: Project, progress: Progress = SILENT) -> tuple[Chance, tuple[Suggestion, ...]]:
    """The chance that a draw passes, on synthetic tables and on this one; if it is unlikely, what to
    do instead.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    method, problem, values, limits = _judged_by(project)
    found = chance(Setting(method, values, limits), problem, progress=progress)
    return found, what_helps(project, progress) if found.unlikely else ()


def what_helps(project: Project, progress: Progress = SILENT) -> tuple[Suggestion, ...]:
    """Settings of the method, or another method, that would pass: see :func:`acceptance_probability.what_helps`.

    Raises
    ------
    TabprotectError
        When the parameters do not fit the table.
    """
    return acceptance_probability.what_helps(
        *_judged_by(project), objected=bool(project.acceptance_failure), progress=progress
    )


def _judged_by(project: Project) -> tuple[Method, Problem, Values, Gate]:
    method, problem = project.protection, project.problem
    values = method.resolve_for(problem, project.taken)
    again = method.draws_again(problem.table.domain, values)
    limits = project.limits.limits_for(problem, again=again)
    return method, problem, Values(values, project.taken), limits


@dataclass(frozen=True)
class ReleaseJudgement:
    """The judgement of a release before it leaves.

    Attributes
    ----------
    alone
        The verdict on the release by itself.
    against
        What stands against publishing it, in words; empty if nothing does.
    before
        The earlier releases, and what readers of those and of this one learn.
    """

    alone: StaffVerdict
    against: str = ""
    before: LeftBefore = field(default_factory=LeftBefore)


def judge_release(
    project: Project,
    register: str | None = None,
    *,
    reason: str = "",
    looked_up: LookedUp | None = None,
    progress: Progress = SILENT,
) -> ReleaseJudgement:
    """Judge the release of a project, and look up earlier releases.

    That it may not leave beside these is recorded: what is drawn later for the table was chosen.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    reason
        Why it is to be published whatever it tells together with earlier ones; empty for none.
    looked_up
        What the register holds, if it was asked a moment ago.

    Raises
    ------
    InputError, ParameterError
        When the release cannot come from its mechanism.
    Interrupted
        When cancelled.
    """
    release, done = project.release, project.protected
    assert release is not None
    if done is None:
        return ReleaseJudgement(verdict(release, progress=progress))
    problem, policy = done.record.problem, project.limits
    looked_up = looked_up or asked_once(problem, register)
    done = beside_other_measures(done, policy, looked_up)
    release = done.release
    found = done.record.verdict
    if found is None:
        found = verdict(release, policy, original=problem.table, progress=progress)
    before = left_before(
        problem, register, release=release, policy=policy, looked_up=looked_up, progress=progress
    )
    if before.refused(policy, reason or (UNSTATED if done.record.accepted else "")):
        with suppress(TabprotectError):
            refused_beside(project, register)
    return ReleaseJudgement(found, against(done, policy), replace(before, alone=found))


def refused_beside(project: Project, register: str | None) -> None:
    """Record that the draw of a project may not leave beside earlier releases.

    Raises
    ------
    InputError
        If the register cannot be written.
    """
    done = project.protected
    assert done is not None
    method, problem = project.protection, done.record.problem
    how = method, method.resolve_for(problem, project.taken), project.limits
    remember_beside(problem, how, done.record.randomness, register)


def beside_unjudged(done: Protected, before: LeftBefore, policy: AgencyPolicy, reason: str) -> Protected:
    """A result as it may leave beside earlier releases, where what all tell is not worked out.

    Parameters
    ----------
    reason
        Why it leaves all the same; empty where the policy has one.
    """
    if not before.unjudged or policy.together == "warn":
        return done
    found = beside_unweighed(done, policy, before.left_out)
    return done if found is done else decided(found, policy, reason)


def may_leave(
    done: Protected, register: str | None, policy: AgencyPolicy, looked_up: LookedUp | None, reason: str
) -> bool:
    """Whether a result passes by itself and together with what left before."""
    done = beside_other_measures(done, policy, looked_up)
    if not done.verdict.passed:
        return False
    before = left_before(
        done.record.problem, register, release=done.release, policy=policy, looked_up=looked_up
    )
    try:
        before.admit(policy, reason)
    except RefusedError:
        return False
    return True


def asked_once(problem: Problem, register: str | None) -> LookedUp | None:
    """Return what the register holds that bears on a table; ``None`` where it cannot be read."""
    with suppress(InputError, ParameterError):
        return look_up(problem, register)
    return None


def beside_other_measures(done: Protected, policy: AgencyPolicy, looked_up: LookedUp | None) -> Protected:
    """A result as it may leave after releases of other measures of the same records.

    A register that cannot be read (``None``) is said where earlier releases are looked up.
    """
    if looked_up is None or not looked_up.earlier:
        return done
    found, record = other_measures(done.record.problem, done.release, looked_up), done.record
    if found.counted:
        tables = tuple(
            replace(one, numbers=one.cells if one.who == "outsider" else 0) for one in done.verdict.tables
        )
        done = replace(done, record=replace(record, verdict=replace(done.verdict, tables=tables)))
    return beside_unweighed(done, policy) if found.unweighed else done
