"""What may be done where sums may not leave: other settings that were tried and pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.errors import Suggestion
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.magnitudes.protecting import chosen, problem_of, protected_sums, with_method
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import asked_once, beside_other_measures
from tabprotect.engine.protection.registered import methods
from tabprotect.languages.messages import at_most_in_100, message

OFFERED = 2
"""How many remedies are named."""


@dataclass(frozen=True)
class SumsRemedy(Suggestion):
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
            "Tried: passes. A best guess of one who is alone is near with at most {belief}; sums "
            "change by {change:.1f} % on average.",
            at_most_in_100(self.belief),
            100 * self.change,
        )


def remedies_for(
    project: Project, progress: Progress = SILENT, *, register: str | None = None
) -> tuple[SumsRemedy, ...]:
    """Other ways to protect a table whose verdict passes whole, the one that changes least first.

    What left before is weighed too. A pattern of hidden sums is none of them: what its choice tells is
    never judged.

    Parameters
    ----------
    register
        A file, a URL or ``none``; by default the house's own.
    """
    sums = chosen(project)
    value = sums.table.cells.value
    some, found = value != 0, list[SumsRemedy]()
    settings = [(method, given) for method in methods("magnitudes").values() for given in method.ladder]
    if sums.table.largest is not None:
        return ()
    project = replace(project, sums=replace(sums, like=""))
    looked = asked_once(replace(project.problem, magnitudes=problem_of(project)), register)
    for number, (method, given) in enumerate(settings):
        progress.report(message("trying what may help"), number / len(settings))
        done = protected_sums(with_method(project, method.name, given))
        if not beside_other_measures(done, project.limits, looked).verdict.passed:
            continue
        moved = np.abs(done.release.magnitude_table.value - value)[some] / np.abs(value[some])
        found.append(
            SumsRemedy(
                method.said(given),
                {"method": method.name, **given},
                done.verdict.worst or 0.0,
                float(moved.mean()) if len(moved) else 0.0,
            )
        )
        if len(found) == OFFERED:
            break
    return tuple(found)
