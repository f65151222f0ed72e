"""Beyond a frozen frontier: one perturbed table, by cycles that keep exactly what is released."""

from __future__ import annotations

from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.coins import house_randomness
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.server.service import Service

METHOD = "cyclic_perturbation"


def perturbed_release(
    service: Service, table: Table, kept: MarginSet, progress: Progress = SILENT
) -> Release:
    """The whole table, perturbed with the house's own coins, as a release that passed the gate.

    Parameters
    ----------
    kept
        The released frontier: these margins, and what follows from them, stay as they are.

    Raises
    ------
    RefusedError
        When readers would know too much of every perturbed table that was drawn.
    InfeasibleError, ParameterError, InputError
        When none can be made, for example because the released margins leave nothing to move.
    """
    method = methods()[METHOD]
    problem = Problem(table, at_risk=SmallCount.parse(service.table.at_risk))
    given: dict[str, object] = {
        "keep": " + ".join(":".join(f"`{name}`" for name in margin) for margin in kept) or "1",
        "alpha": service.beyond.alpha,
        "beta": service.beyond.alpha,
        "passes": service.beyond.passes,
        "blocking": service.beyond.blocking,
    }
    values = method.resolve_for(problem, given)
    coins = house_randomness(problem, METHOD, values)
    return protect(method, problem, given, coins, policy=in_force(), progress=progress).release
