"""The gate: draw, judge the release alone, draw again up to a stated cap, publish or refuse.

P(original | release, let through) is proportional to prior(original) P(release | original) A(release):
a refusal that looks at nothing but the release cancels. How many draws it took is part of what the
house keeps and of nothing else; every shell publishes through :func:`protect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabprotect.engine.disclosure.before import remedies
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import OVERRULED, Problem, Protected
from tabprotect.engine.protection.remedy import OTHERWISE
from tabprotect.engine.protection.staff_verdict import StaffVerdict
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.gate import Gate
from tabprotect.engine.release.release import Release

UNSTATED = "no reason was given"


def protect(
    method: Method,
    problem: Problem,
    given: Mapping[str, object],
    randomness: Randomness,
    *,
    policy: HousePolicy | None = None,
    accept: str = "",
    earlier: Sequence[Release] = (),
    changed: bool = False,
    progress: Progress = SILENT,
) -> Protected:
    """Protect a table by a draw that passes the gate.

    Parameters
    ----------
    randomness
        What yields the attempts, one after the other.
    policy
        The house's limits.
    accept
        The reason for publishing whatever the gate says; one draw is made then, and that is
        stated. Empty for none.
    earlier
        Other releases of the same original, read together with this one.
    changed
        Whether something else was refused for the table before: the release says so.

    Raises
    ------
    RefusedError
        When no draw passed, with what to do instead.
    ParameterError, InputError, InfeasibleError
        As ``Method.run``.
    """
    policy = HousePolicy() if policy is None else policy
    values = method.resolve_for(problem, given)
    if "cycles" in values:
        # Designed once for all attempts.
        given = {**given, "cycles": values["cycles"]}
    limits = policy.limits(problem.at_risk, random=method.is_random(values))
    limits = replace(limits, changed=changed)
    done: Protected | None = None
    for attempt in range(1, (1 if accept else limits.attempts_at_most) + 1):
        before = done
        done = method.run(problem, given, randomness, attempt=attempt, progress=progress)
        objection = method.objection(done.record.findings)
        if objection and not accept:
            raise RefusedError(
                objection,
                hint="publish less, or merge categories",
                detail="to go on all the same takes an explicit, recorded decision",
            )
        if before is not None and before.release.tables == done.release.tables:
            # Without chance of its own a further draw is the one that was refused.
            done = before
            continue
        found = verdict(done.release, limits, earlier, problem.table, progress=progress)
        done = _stated(done, limits, found)
        if found.accepted or (found.passed is None and policy.unjudged == "warn"):
            return _decided(done, objection, accept)
        if accept:
            alone = replace(limits, attempts_at_most=1)
            found = replace(found, attempts_at_most=1)
            return _decided(_stated(done, alone, found), found.sentence, accept)
    assert done is not None and done.record.verdict is not None
    raise _refusal(method, problem, (values, limits), done.record.verdict, progress)


def _stated(done: Protected, limits: Gate, found: StaffVerdict) -> Protected:
    """The same with the gate in its mechanism, and the verdict in what the house keeps."""
    mechanism = replace(done.release.mechanism, gate=replace(limits, passed=found.passed))
    return Protected(
        replace(done.release, mechanism=mechanism), replace(done.record, verdict=found)
    )


def _decided(done: Protected, against: str, accept: str) -> Protected:
    """The decision in what the house keeps, where there was one."""
    if not accept or not against:
        return done
    decision = f"{OVERRULED}: {accept}. {against}"
    return Protected(done.release, replace(done.record, decisions=(decision,)))


def _refusal(
    method: Method,
    problem: Problem,
    how: tuple[Values, Gate],
    found: StaffVerdict,
    progress: Progress,
) -> RefusedError:
    values, limits = how
    ideas = remedies(method, problem, values, limits, progress)
    attempts = limits.attempts_at_most
    drawn = "" if attempts == 1 else f"None of {attempts} draws passed. "
    refused = RefusedError(
        f"{drawn}{found.sentence}".rstrip("."),
        hint="; ".join(map(str, ideas)) or OTHERWISE,
        detail="to go on all the same takes an explicit, recorded decision with a reason",
    )
    refused.suggestions = ideas
    return refused
