"""Commands on magnitude tables: their rules; and what opening, protecting and publishing do to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.regrouping import by_others
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.magnitude_ways import chosen, with_method
from tabprotect.engine.project.options import (
    Drawing,
    MagnitudeTabulation,
    Protecting,
    Publishing,
    WeightsReading,
)
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.coins import admit_key
from tabprotect.engine.project.sources import magnitudes_tabulated
from tabprotect.engine.protection.method import PUBLISH, published_beside
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.microdata.record_files import GivenRecords

USUAL = "suppression"
"""The method that a magnitude table begins with."""


def magnitude_document(table: MagnitudeTable, *, source: str) -> Project:
    """A new document about a magnitude table; the counts of the same records come along."""
    # Here, and not in the window's thread, every cell is counted.
    _ = table.cells
    counts = table.units
    return Project(source=source, table=counts, magnitudes=ChosenMagnitudes(table), method=USUAL)


def opened_magnitudes(source: str) -> Project:
    """The document of a magnitude table in a file."""
    # Imported late: DuckDB takes a tenth of the program's start.
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes

    return magnitude_document(read_magnitudes(Path(source)), source=source)


def tabulated_magnitudes(
    records: GivenRecords | None, asked: MagnitudeTabulation, progress: Progress
) -> Project:
    """The document of the sums of a measure over records in memory, or in ``asked.source``."""
    table = magnitudes_tabulated(asked, progress, records)
    # The file holds records, not the table: a command line with this source would not open it.
    return replace(magnitude_document(table, source=asked.source), edited=True)


@Declared(
    lambda project, given: message(
        "judge sums by {rules}", joined(map(str, _listed(given["rules"])), ", ") or message("no rule")
    )
)
def set_rules(
    project: Project,
    context: Context,
    *,
    rules: Sequence[str],
    weights: WeightsReading | None = None,
    like: str | None = None,
) -> Project:
    """Set the rules that say which sums tell too much, such as ``p=10``; several hold together.

    Parameters
    ----------
    weights
        How weights are read: ``sample``, ``replicate`` or ``known``.
    like
        Last year's bundle: what was published then is published again unless unsafe.

    Raises
    ------
    ParameterError
        For a rule that there is not, or that never hides anything.
    """
    magnitudes = chosen(project)
    written = tuple(rule.written for rule in rules_of(rules)) if rules else ()
    magnitudes = replace(
        magnitudes,
        rules=tuple(dict.fromkeys(written)),
        weights=magnitudes.weights if weights is None else weights,
        like=magnitudes.like if like is None else like,
    )
    return replace(project.without_result(), magnitudes=magnitudes)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) else ()


def of_parts(size: int, parts: Sequence[Sequence[int]]) -> Ints:
    """The number of the part that each of ``size`` categories is in; -1 for none."""
    found = np.full(size, -1, dtype=np.int64)
    for number, part in enumerate(parts):
        found[list(part)] = number
    return found


def regrouped(
    project: Project, domain: Domain, origin: Mapping[str, tuple[str, Ints]] | None = None
) -> ChosenMagnitudes | None:
    """The magnitude table of a project by other variables; ``None`` where it has none.

    Parameters
    ----------
    origin
        For variables whose categories are others than before: the variable that they come from, and
        what each of its categories becomes, -1 where its records are left out. The others stand where
        they stood.
    """
    if project.magnitudes is None:
        return None
    table, names = project.magnitudes.table, project.domain.names
    codes = []
    for number, variable in enumerate(domain.variables):
        name, into = (origin or {}).get(variable.name, (None, None))
        at = names.index(name) if name is not None else number
        here = table.rows.codes[at]
        codes.append(here if into is None else into[here])
    changed = by_others(table, domain.variables, np.array(codes))
    return replace(project.magnitudes, table=changed)


def checked_parameters(project: Project, values: Mapping[str, object]) -> Mapping[str, object]:
    """Parameters of a method for sums, those that are set back to their defaults left out.

    Raises
    ------
    ParameterError
        Naming every one that is wrong.
    """
    method = methods("magnitudes")[project.method]
    given = {name: value for name, value in values.items() if value is not None}
    named = published_beside(given.pop(PUBLISH.name, None), chosen(project).table)
    found = {name: value for name, value in method.resolve(project.domain, given).items() if name in given}
    found[PUBLISH.name] = ",".join(named) or PUBLISH.default
    defaults = {one.name: one.default for one in method.every_parameter}
    return MappingProxyType({name: value for name, value in found.items() if value != defaults[name]})


def protected_now(project: Project, context: Context, asked: Drawing, accepted: str) -> Project:
    """The project with its sums protected, and judged; whether it may leave is asked when it does."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitude_ways import protected_magnitudes

    seed, decisions = project.seed if asked.seed is None else asked.seed, tuple[str, ...]()
    random = methods("magnitudes")[project.method].is_random(Values(project.parameters))
    if seed is not None:
        if not random:
            raise ParameterError({"seed": message("{method} takes no chance", project.method)})
        context.randomness(seed)
    elif random:
        decisions = admit_key(accepted, context.register)
    done = protected_magnitudes(project, seed, context.progress)
    done = replace(done, record=replace(done.record, decisions=decisions))
    return replace(project, protected=done, published=False)


def remedied_words(project: Project, changed: Mapping[str, object], asked: Publishing) -> list[str]:
    """Words: protect the sums by another method, as a remedy has it."""
    method, given = str(changed["method"]), {n: v for n, v in changed.items() if n != "method"}
    return magnitude_words(
        with_method(project, method, given), {"release": asked.release, "dossier": asked.dossier or ""}
    )


def magnitude_words(project: Project, given: Mapping[str, object]) -> list[str]:
    """Words: protect the magnitude table as it stands and publish it."""
    magnitudes, parameters = chosen(project), dict(project.parameters)
    beside, reason = parameters.pop(PUBLISH.name, None), given.get("accept")
    asked = Protecting(
        method=project.method,
        parameters=parameters,
        rule=magnitudes.rules,
        weights=None if magnitudes.weights == "sample" or not magnitudes.rules else magnitudes.weights,
        like=magnitudes.like or None,
        publish=None if beside is None else str(beside),
        at_risk=None if beside is None or project.at_risk == SmallCount() else str(project.at_risk),
        people=str(project.people) or None,
        title=project.title or None,
        about=project.metadata or None,
        accept=str(reason) if reason else None,
        accept_weak=bool(given.get("accept_weak")) and not reason,
    )
    dossier = given.get("dossier", "release-CONFIDENTIAL-dossier.zip")
    written = Publishing(
        release=str(given.get("release") or "release.zip"), dossier=str(dossier or "") or None
    )
    return ["protect", table_of(project), *asked.words(), *written.words()]


def table_of(project: Project) -> str:
    """The word for a magnitude table on the command line."""
    return "table.parquet" if project.edited or not project.source else project.source


def compare_magnitudes(project: Project) -> list[str]:
    """Words: every way to protect the open sums, side by side."""
    magnitudes = chosen(project)
    return [
        *("compare", table_of(project)),
        *(word for rule in magnitudes.rules for word in ("--rule", rule)),
        *(() if magnitudes.weights == "sample" else ("--weights", magnitudes.weights)),
    ]


def infer_magnitudes(project: Project) -> list[str]:
    """Words: what an outsider can guess from the release."""
    release = project.source if project.kind == "reader" else "release.zip"
    return ["infer", release, "--as-contributor", "outsider", "--within", f"{project.limits.within:g}"]
