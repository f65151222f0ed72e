"""The verdict on a release of sums: how near readers come to what one contributor put in.

The figures of the outsider follow from the release alone, and anybody gets the same. What contributors
know is not in it: who has the contributions adds the audit that was made with them.

*Why factors are judged whole.* With a prior of 1/x for the target, and whatever a reader knows of the
other contributions and their factors, what is left of the sum is x times a factor of the published law.
The best guess is then near with the probability that it has for one who is alone in the cell; not
knowing the others as well averages such guesses, which is no better than the best.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.together import numbers_known
from tabprotect.engine.protection.problem import ContributorsAudit, StaffVerdict
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.left_out import Omission, kinds
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import TableVerdict


def magnitude_verdict(
    release: Release,
    limits: Gate | None = None,
    *,
    audit: ContributorsAudit | None = None,
    unsafe: Bools | None = None,
    more: tuple[Omission, ...] = (),
) -> StaffVerdict:
    """Judge a release of sums as its readers see it.

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
    limits = limits or gate or HousePolicy().of_magnitudes
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
        numbers=int(numbers_known(table).sum()),
    )
    tables: tuple[TableVerdict, ...] = (outsider,)
    if audit is not None:
        known = audit.broken + audit.known
        tables = (outsider, TableVerdict("contributor", names, True, audit.unsafe, 0.0, known, 0, "exact"))
    return StaffVerdict(
        tables,
        limits,
        1,
        left_out=kinds(method.left_out(release), more, () if gate is None else gate.left_out),
        reason=gate is not None and gate.reason,
        stated=audit is None,
        audit=audit,
    )
