"""A magnitude table with what was chosen for it, and what a run gave, as a project keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.disclosure.magnitude_verdict import (
    ContributorsAudit,
    MagnitudeVerdict,
    limits_of,
    magnitude_verdict,
)
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.magnitude_method import MagnitudeMethod, MagnitudeProblem
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message, plural


@dataclass(frozen=True, eq=False)
class ProtectedSums:
    """A release of sums with what only the house knows of it. Confidential.

    Attributes
    ----------
    release
        What readers get.
    verdict
        With what was tried with the contributions.
    primary : bool (cells,)
        The sums that are hidden because they are unsafe; the other hidden ones protect these.
    figures
        For programs, and for the dossier.
    decisions
        Taken against the program's advice.
    """

    release: Release
    verdict: MagnitudeVerdict
    primary: Bools = field(repr=False)
    figures: Mapping[str, object] = field(repr=False)
    decisions: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Return what is hidden, the verdict, and what the audit leaves open, for staff."""
        said, open_ends = [], self.figures.get("not_proved")
        hidden = self.release.magnitude_table.hidden
        if hidden.any():
            primary = int(self.primary.sum())
            said = [
                plural(
                    primary,
                    "{primary:,} sum is hidden as unsafe, {secondary:,} more to protect it, of {cells:,}.",
                    "{primary:,} sums are hidden as unsafe, {secondary:,} more to protect them, of {cells:,}.",
                    primary,
                    int((hidden & ~self.primary).sum()),
                    self.verdict.cells,
                )
            ]
        more = [str(one) for one in open_ends] if isinstance(open_ends, list) else []
        return [*said, self.verdict.staff_sentence, *more]


def protect_magnitudes(
    method: MagnitudeMethod,
    problem: MagnitudeProblem,
    values: Values,
    policy: HousePolicy,
    progress: Progress = SILENT,
) -> ProtectedSums:
    """Protect a table once, and judge what comes of it; nothing is refused.

    Raises
    ------
    InputError, ParameterError
        As :meth:`~tabprotect.engine.protection.magnitude_method.MagnitudeMethod.draw`.
    Interrupted
    """
    limits, draft = limits_of(policy), method.draw(problem, values, progress)
    release, pattern, unsafe = draft.release(problem, method.name), draft.pattern, draft.unsafe
    if pattern is None:
        audit = ContributorsAudit(1, 0, 0, 0, 0, int(unsafe.sum()) if problem.rules else 0)
        found = magnitude_verdict(release, limits, audit=audit, unsafe=unsafe)
        assert found.audit is not None
        figures: dict[str, object] = {
            "primary": found.audit.unsafe,
            "secondary": 0,
            "hidden_value": 0,
            "broken": found.audit.known,
            "audit": found.audit.as_json(),
            "belief": round(found.worst or 0.0, 6),
            "within": limits.within,
            "parameters": dict(release.mechanism.parameters),
        }
        return ProtectedSums(release, found, np.zeros(len(unsafe), dtype=bool), figures)
    tally, table = pattern.tally, problem.table
    near = next((f"{float(rule.numbers[0]):g}" for rule in problem.rules if rule.name == "p"), "")
    audit = ContributorsAudit(
        tally.readers,
        tally.items,
        tally.exactly,
        tally.within,
        len(pattern.broken),
        int(pattern.primary.sum()),
        audited=tally.audited,
        to_audit=tally.unsafe,
        share=near,
        narrow=method.narrow(problem, pattern.primary, release, (limits.near, limits.belief_limit)),
    )
    found = magnitude_verdict(
        release, limits, audit=audit, more=() if pattern.everybody else ("contributors",)
    )
    figures = {
        "primary": audit.unsafe,
        "secondary": int(pattern.secondary.sum()),
        "hidden_value": table.shown(int(table.cells.value[pattern.secondary].sum())),
        "broken": audit.broken,
        "audit": audit.as_json(),
        "declared_safe": pattern.declared,
        "not_proved": _not_proved(table, pattern.declared),
    }
    return ProtectedSums(release, found, pattern.primary, figures)


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


@dataclass(frozen=True, eq=False)
class ChosenSums:
    """A magnitude table, the rules that judge it, and the result of the last run. Confidential.

    Attributes
    ----------
    table
    rules
        As they are written: ``p=10``.
    weights
        How weights are read.
    like
        Last year's bundle; empty for none.
    protected
        ``None`` before a run, and after a change.
    """

    table: MagnitudeTable = field(repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)
    weights: str = "sample"
    like: str = ""
    protected: ProtectedSums | None = None

    def without_result(self) -> ChosenSums:
        """Without the result, which does not belong to changed choices."""
        return self if self.protected is None else replace(self, protected=None)
