"""Magnitudes protected once and judged: how near readers come to what one contributor put in.

The figures of the outsider follow from the release alone, and anybody gets the same. What contributors
know is not in it: who has the contributions adds the audit that was made with them.

*Why factors are judged whole.* With a prior of 1/x for the target, and whatever a reader knows of the
other contributions and their factors, what is left of the sum is x times a factor of the published law.
The best guess is then near with the probability that it has for one who is alone in the cell; not
knowing the others as well averages such guesses, which is no better than the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.belief.effort import VERDICT, Effort
from tabprotect.engine.disclosure.counts_verdict import counts_verdict
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import MagnitudeMethod
from tabprotect.engine.protection.problem import (
    PRIMARY,
    ContributorsAudit,
    MagnitudeProblem,
    Problem,
    Protected,
    RunEvidence,
    StaffVerdict,
)
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import TableVerdict
from tabprotect.languages.messages import message, plural

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.patterns.pattern import Pattern


def magnitude_verdict(
    release: Release,
    limits: Gate | None = None,
    *,
    audit: ContributorsAudit | None = None,
    unsafe: Bools | None = None,
    more: tuple[Omission, ...] = (),
    effort: Effort = VERDICT,
    progress: Progress = SILENT,
) -> StaffVerdict:
    """Judge a release of magnitudes as its readers see it, and the counts among its measures.

    That readers know how many contribute is part of how magnitudes are judged, and magnitudes tell
    nothing further of counts: of each measure what is judged holds beside the other.

    Parameters
    ----------
    limits
        By default those that the release states, else those of the program.
    audit
        What was tried with the contributions; its ``known`` is filled in here.
    unsafe : bool (cells,)
        The sums that have to be protected, for who has the contributions.
    more
        Kinds of what else was not judged.
    """
    table, gate = release.magnitude_table, release.mechanism.gate
    limits = limits or gate or AgencyPolicy().of_release(release)
    method = methods("magnitudes")[release.mechanism.method]
    found = method.outsider(release, limits.near)
    near = found is not None and found > limits.belief_limit + ROUNDING
    worst = None if found is None else float(found.max(initial=0.0))
    if audit is not None and unsafe is not None and found is not None and not table.hidden.any():
        known = int((near & unsafe).sum())
        audit = replace(audit, items=len(table.key), within=known, known=known)
    names = tuple(variable.name for variable in table.variables)
    outsider = TableVerdict(
        "outsider",
        names,
        True,
        len(table.key),
        0.0,
        int(np.sum(near)),
        0,
        "none" if worst is None else "exact",
        worst=worst,
        hidden=int(table.hidden.sum()),
        numbers=int(np.equal(*table.numbers).sum()),
    )
    tables: tuple[TableVerdict, ...] = (outsider,)
    if audit is not None:
        known = audit.broken + audit.known
        tables = (outsider, TableVerdict("contributor", names, True, audit.unsafe, 0.0, known, 0, "exact"))
    beside = StaffVerdict((), limits, 1)
    try:
        # It brings in methods and solvers, which no first paint waits for.
        from tabprotect.engine.belief.counts_among import counts_among

        if (counts := counts_among(release)) is not None:
            beside = counts_verdict(counts, limits, effort=effort, progress=progress)
    except InfeasibleError as error:
        unknown = TableVerdict("user", names, True, 0, 0.0, 0, 0, "none")
        beside = replace(beside, tables=(unknown,), note=error.sentence, left_out=("simulation",))
    left_out = method.left_out(release), more, () if gate is None else gate.left_out
    return replace(
        beside,
        tables=(*tables, *beside.tables),
        left_out=kinds(beside.left_out, *left_out),
        reason=gate is not None and gate.reason,
        stated=audit is None,
        audit=audit,
    )


def sentences(done: Protected) -> list[str]:
    """Return what is hidden, the verdict, and what the audit leaves open, for staff."""
    said, open_ends = [], done.record.findings.get("not_proved")
    hidden, primary = done.release.magnitude_table.hidden, done.record.primary
    if hidden.any():
        said = [
            plural(
                int(primary.sum()),
                "{primary:,} sum is hidden as unsafe, {secondary:,} more to protect it, of {cells:,}.",
                "{primary:,} sums are hidden as unsafe, {secondary:,} more to protect them, of {cells:,}.",
                int(primary.sum()),
                int((hidden & ~primary).sum()),
                len(hidden),
            )
        ]
    more = [str(one) for one in open_ends] if isinstance(open_ends, list) else []
    return [*said, done.verdict.staff_sentence, *more]


def protect_magnitudes(
    method: MagnitudeMethod,
    problem: Problem,
    values: Values,
    policy: AgencyPolicy,
    progress: Progress = SILENT,
) -> Protected:
    """Protect a table once, and judge what comes of it; nothing is refused.

    Raises
    ------
    InputError, ParameterError
        As :meth:`~tabprotect.engine.protection.method.Method.draw`.
    Interrupted
    """
    given = problem.contributions
    table = given.table
    for number in count(1):
        drawn = replace(problem, magnitudes=replace(given, draw=number))
        release, draft = method.perform(drawn, values, Randomness.seeded(given.seed).generator(), progress)
        limits, pattern = policy.of_release(release, problem.at_risk, problem.roles), draft.pattern
        tried = None if pattern is None else _tried(method, given, pattern, release, limits)
        most = method.most_draws(values, release)
        if tried is None or not (tried.broken or tried.narrow) or number >= most:
            break
    letters = np.full(len(table.cells), "S")
    if pattern is None:
        audit = ContributorsAudit(1, 0, 0, 0, 0, int(given.unsafe.sum()) if given.rules else 0)
        found = magnitude_verdict(release, limits, audit=audit, unsafe=given.unsafe, progress=progress)
        assert found.audit is not None
        figures: Mapping[str, object] = {
            "primary": found.audit.unsafe,
            "secondary": 0,
            "hidden_value": 0,
            "broken": found.audit.known,
            "audit": found.audit.as_json(),
            "belief": found.as_json()["belief"] or 0.0,
            "within": limits.within,
            "parameters": dict(release.mechanism.parameters),
        }
    else:
        assert tried is not None
        audit = tried
        more: tuple[Omission, ...] = () if pattern.everybody else ("contributors",)
        found = magnitude_verdict(release, limits, audit=audit, more=more, progress=progress)
        letters[pattern.secondary], letters[pattern.primary] = "M", PRIMARY
        figures = {
            "primary": audit.unsafe,
            "secondary": int(pattern.secondary.sum()),
            "hidden_value": table.shown(int(table.cells.value[pattern.secondary].sum())),
            "broken": audit.broken,
            "audit": audit.as_json(),
            "declared_safe": pattern.declared,
            "not_proved": _not_proved(table, pattern.declared),
        }
    record = RunEvidence(
        problem=problem,
        # Without a seed noise follows from the key of the house, contribution by contribution.
        seed=given.seed or 0,
        seed_given=given.seed is not None,
        coins="house" if given.seed is None else "given",
        parameters=values,
        statuses=(letters,),
        findings=figures,
        verdict=found,
    )
    return Protected(replace(release, mechanism=replace(release.mechanism, gate=found.gate)), record)


def _tried(
    method: MagnitudeMethod, given: MagnitudeProblem, pattern: Pattern, release: Release, limits: Gate
) -> ContributorsAudit:
    """What was tried on a pattern by those who contribute."""
    tally = pattern.tally
    near = next((f"{float(rule.numbers[0]):g}" for rule in given.rules if rule.name == "p"), "")
    return ContributorsAudit(
        tally.readers,
        tally.items,
        tally.exactly,
        tally.within,
        len(pattern.broken),
        int(pattern.primary.sum()),
        audited=tally.audited,
        to_audit=tally.unsafe,
        share=near,
        narrow=method.narrow(given, pattern.primary, release, (limits.near, limits.belief_limit)),
    )


def _not_proved(table: MagnitudeTable, declared: int) -> list[str]:
    """Return what the audit of a pattern leaves open, in words."""
    said = []
    if table.largest is not None:
        said.append(
            message(
                "not proved: the table names the {n} largest contributions of each sum, and not who they "
                "are; what somebody knows who contributes to several sums was not tried",
                table.largest.ranks,
            )
        )
    if declared:
        said.append(
            plural(
                declared,
                "not proved: {n:,} unsafe sum was declared safe",
                "not proved: {n:,} unsafe sums were declared safe",
                declared,
            )
        )
    return said
