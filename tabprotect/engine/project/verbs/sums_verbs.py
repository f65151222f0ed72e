"""Commands on magnitude tables: their rules; and what opening, protecting and publishing do to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine import house
from tabprotect.engine.arrays import Ints
from tabprotect.engine.disclosure.protected_sums import ChosenSums, ProtectedSums
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, RefusedError
from tabprotect.engine.magnitudes.methods.sums_methods import (
    PUBLISH,
    SUMS_METHODS,
    published_beside,
    sums_method,
)
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.regrouping import by_others
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.asked import Drawing, MagnitudeTabulation, Publishing
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import magnitudes_tabulated
from tabprotect.engine.protection.suppressing.given_statuses import text_of
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict
    from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked

READINGS = ("sample", "replicate", "known")
"""How weights are read."""


def sums_document(table: MagnitudeTable, *, source: str) -> Project:
    """A new document about a magnitude table; the counts of the same records come along."""
    # Here, and not in the window's thread, every cell is counted.
    _ = table.cells
    counts = table.units
    return Project(
        source=source,
        table=counts,
        sums=ChosenSums(table),
        placement=Placement.of(counts.domain),
        method=next(iter(SUMS_METHODS)),
    )


def opened_sums(source: str) -> Project:
    """The document of a magnitude table in a file."""
    # Imported late: DuckDB takes a tenth of the program's start.
    from tabprotect.engine.magnitudes.files.table_files import read_magnitudes

    return sums_document(read_magnitudes(Path(source)), source=source)


def tabulated_sums(asked: MagnitudeTabulation, progress: Progress) -> Project:
    """The document of the sums of a measure over records."""
    # The file holds records, not the table: a command line with this source would not open it.
    return replace(sums_document(magnitudes_tabulated(asked, progress), source=asked.source), edited=True)


def chosen(project: Project) -> ChosenSums:
    """The magnitude table of a project, with what was chosen for it.

    Raises
    ------
    InputError
        When it has none.
    """
    if project.sums is None:
        raise InputError(
            message("the open table is none of sums"),
            hint=message("count records with a measure: tabulate RECORDS (--measure COLUMN)"),
        )
    return project.sums


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
    weights: str | None = None,
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
    sums = chosen(project)
    written = tuple(rule.written for rule in rules_of(rules)) if rules else ()
    if weights is not None and weights not in READINGS:
        raise InputError(
            message("weights are read in three ways, not {reading}", repr(weights)),
            hint=message("choose sample, replicate or known"),
        )
    sums = replace(
        sums.without_result(),
        rules=tuple(dict.fromkeys(written)),
        weights=sums.weights if weights is None else weights,
        like=sums.like if like is None else like,
    )
    return replace(project.without_result(), sums=sums)


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
) -> ChosenSums | None:
    """The magnitude table of a project by other variables; ``None`` where it has none.

    Parameters
    ----------
    origin
        For variables whose categories are others than before: the variable that they come from, and
        what each of its categories becomes, -1 where its records are left out. The others stand where
        they stood.
    """
    if project.sums is None:
        return None
    table, names = project.sums.table, project.domain.names
    codes = []
    for number, variable in enumerate(domain.variables):
        name, into = (origin or {}).get(variable.name, (None, None))
        at = names.index(name) if name is not None else number
        here = table.rows.codes[at]
        codes.append(here if into is None else into[here])
    changed = by_others(table, domain.variables, np.array(codes))
    return replace(project.sums.without_result(), table=changed)


def checked_parameters(method: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """Parameters of a method for sums, those that are set back to their defaults left out.

    Raises
    ------
    ParameterError
        Naming every one that is wrong.
    """
    said = sums_method(method)
    if values.get("statuses"):
        # As for counts, the content of the file is kept: a project does not hang on it.
        try:
            values = {**values, "statuses": text_of(str(values["statuses"]))}
        except InputError as error:
            raise ParameterError({"statuses": error.message}) from None
    said.of({name: value for name, value in values.items() if name != PUBLISH.name})
    try:
        PUBLISH.check(values.get(PUBLISH.name, PUBLISH.default))
    except ValueError as error:
        raise ParameterError({PUBLISH.name: str(error)}) from None
    defaults = {one.name: one.default for one in (*said.parameters, PUBLISH)}
    return MappingProxyType({n: v for n, v in values.items() if v is not None and v != defaults.get(n)})


def run_of(project: Project, seed: int | None) -> Asked:
    """What is asked of a run: the project's choices, with the rules of the house."""
    from tabprotect.engine.project.sums.magnitudes_in_one_go import Asked, with_house_rules

    sums = chosen(project)
    given = {name: str(value) for name, value in project.parameters.items()}
    publish = published_beside(given.pop(PUBLISH.name, None))
    asked = Asked(
        method=project.method,
        rules=rules_of(sums.rules) if sums.rules else (),
        weights=sums.weights,
        parameters=given,
        publish=publish,
        title=project.title,
        like=Path(sums.like) if sums.like else None,
        seed=seed,
    )
    return with_house_rules(asked, project.limits)


def protected_now(project: Project, context: Context, asked: Drawing) -> Project:
    """The project with its sums protected, and judged; whether it may leave is asked when it does."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.sums.magnitudes_in_one_go import protected_sums

    if asked.tune or asked.fresh:
        raise InputError(
            message("sums take neither fresh coins nor tuned parameters"),
            hint=message("their noise follows from the house's key, the same every year"),
        )
    sums = chosen(project)
    seed = project.seed if asked.seed is None else asked.seed
    if seed is not None:
        context.randomness(seed)
    done = protected_sums(sums.table, run_of(project, seed), project.limits, context.progress)
    hidden = done.release.hidden
    primary = np.zeros(len(hidden), dtype=bool) if done.pattern is None else done.pattern.primary
    result = ProtectedSums(done.release, done.verdict, primary, dict(done.figures))
    return replace(project, sums=replace(sums, protected=result), published=False)


def published_now(project: Project, context: Context, asked: Publishing) -> Project:
    """The project with its protected sums written, entered in the register, and sealed."""
    from tabprotect.engine.project.releasing.magnitude_release import LeavingSums
    from tabprotect.engine.project.sums.magnitudes_in_one_go import Done, published_sums

    sums, done = chosen(project), project.protected_sums
    if done is None:
        raise InfeasibleError(
            message("there is nothing to publish yet"), hint=message("protect the table as it stands first")
        )
    if asked.tables is not None:
        raise InputError(message("sums leave as one table"), hint=message("publish them without tables"))
    place, dossier = Path(asked.release), None if asked.dossier is None else Path(asked.dossier)
    if dossier == place:
        raise InputError(message("release and dossier would be one file"), file=place)
    taken = [path for path in (place, dossier) if path is not None and path.exists()]
    if taken and not asked.overwrite:
        raise InputError(message("there is a file of that name already"), file=taken[0])
    # What a recipe, or a run in one go, accepts when it protects, it accepts when it publishes.
    said = (str(entry.order.arguments.get("accept") or "").strip() for entry in context.trail)
    prepared = asked.prepared_by.strip()
    if project.limits.signatures == 1 and not (prepared or asked.approved_by.strip()):
        prepared = house.user_name()
    leaving = LeavingSums(
        out=place,
        dossier=dossier,
        policy=project.limits,
        register=context.register,
        accept=asked.accept.strip() or next(filter(None, said), ""),
        again=asked.again.strip(),
        prepared_by=prepared,
        approved_by=asked.approved_by.strip(),
        signing=tuple(Path(key) for key in (asked.sign, asked.sign_too) if key is not None),
        page=not asked.no_page,
    )
    before = Done(replace(done.release, title=project.title), done.verdict, done.figures, done.decisions)
    seed = next((entry.seed for entry in reversed(context.trail) if entry.command == "protect"), None)
    left = published_sums(sums.table, run_of(project, seed), before, leaving)
    result = replace(done, release=left.release, verdict=left.verdict, decisions=left.decisions)
    return replace(project, sums=replace(sums, protected=result), published=True)


def sums_words(project: Project, given: Mapping[str, object]) -> list[str]:
    """Words: protect the magnitude table as it stands and publish it."""
    sums = chosen(project)
    reason = given.get("accept")
    written = Publishing(
        release=str(given.get("release") or "release.zip"),
        dossier=str(given.get("dossier") or "release-CONFIDENTIAL-dossier.zip"),
    )
    return [
        *("protect", "table.parquet" if project.edited else project.source),
        *("--method", project.method),
        *(word for rule in sums.rules for word in ("--rule", rule)),
        *(() if sums.weights == READINGS[0] else ("--weights", sums.weights)),
        *(word for n, v in project.parameters.items() for word in _setting(n, v)),
        *(("--title", project.title) if project.title else ()),
        *(("--like", sums.like) if sums.like else ()),
        *(("--accept", str(reason)) if reason else ()),
        *("--out", written.release, *written.words()),
    ]


def _setting(name: str, value: object) -> tuple[str, ...]:
    if name == PUBLISH.name:
        return (f"--{name}", str(value))
    return ("--set", f"{name}={value}")


@dataclass(frozen=True)
class SumsTrial:
    """What a method would do to a magnitude table. Confidential.

    Attributes
    ----------
    method
    hidden, hidden_value
        Sums that would not be published, and what those are worth that protect others, in units.
    change
        By how much a published sum differs, on average, as a share of it.
    broken
        Sums in which somebody still comes too near.
    belief
        The largest probability that an outsider's best guess is near; ``None`` if not worked out.
    """

    method: str
    hidden: int
    hidden_value: int
    change: float
    broken: int
    belief: float | None


def tried_sums(project: Project, progress: Progress) -> Iterator[SumsTrial]:
    """Every method on the open table, the chosen one with its parameters; nothing is kept."""
    from tabprotect.engine.project.sums.magnitudes_in_one_go import protected_sums

    sums = chosen(project)
    value = sums.table.cells.value
    for name in SUMS_METHODS:
        given = project.parameters if name == project.method else MappingProxyType({})
        run = run_of(replace(project, method=name, parameters=given), project.seed)
        done = protected_sums(sums.table, run, project.limits, progress)
        hidden = done.release.hidden
        second = hidden if done.pattern is None else done.pattern.secondary
        open_now = ~hidden & (value != 0)
        moved = np.abs(done.release.value - value)[open_now] / np.abs(value[open_now])
        audit = done.verdict.audit
        yield SumsTrial(
            name,
            int(hidden.sum()),
            int(value[second].sum()),
            float(moved.mean()) if len(moved) else 0.0,
            0 if audit is None else audit.broken + audit.known,
            done.verdict.worst,
        )


def compare_sums(project: Project) -> list[str]:
    """Words: every way to protect the open sums, side by side."""
    sums = chosen(project)
    return [
        *("compare", "table.parquet" if project.edited else project.source),
        *(word for rule in sums.rules for word in ("--rule", rule)),
        *(() if sums.weights == READINGS[0] else ("--weights", sums.weights)),
    ]


def infer_sums(project: Project) -> list[str]:
    """Words: what an outsider can guess from the release."""
    release = project.source if project.kind == "reader" else "release.zip"
    return ["infer", release, "--as-contributor", "outsider", "--within", f"{project.limits.within:g}"]


def bundle_of_sums(project: Project) -> bytes:
    """The bundle of a release of sums, with the gate that its verdict states.

    Of one that was published, the file's bytes may have signatures besides.
    """
    from tabprotect.engine.bundle.sums.magnitude_bundle import public_bytes

    done, release = project.protected_sums, project.release_of_sums
    assert release is not None
    if done is not None and not project.published:
        release = replace(release, title=project.title, gate=done.verdict.gate)
    return public_bytes(release)


def judged_for_leaving(project: Project, register: str | None = None) -> MagnitudeVerdict:
    """The verdict on the protected sums, with what left before among what it leaves out."""
    from tabprotect.engine.project.sums.magnitudes_in_one_go import Done, with_earlier

    sums, done = chosen(project), project.protected_sums
    assert done is not None
    if project.published:
        return done.verdict
    return with_earlier(sums.table, Done(done.release, done.verdict, done.figures), register)


def gate_of_sums(project: Project, verdict: MagnitudeVerdict, reason: str) -> str:
    """Why the protected sums may not leave with a reason; empty if they may."""
    from tabprotect.engine.project.releasing.magnitude_release import decided
    from tabprotect.engine.project.sums.magnitudes_in_one_go import HINTS

    try:
        decided(verdict, project.limits, reason, HINTS[project.method])
    except RefusedError as error:
        return error.sentence
    return ""


def staff_record(project: Project) -> Mapping[str, object]:
    """What a staff report says of the protected sums beside the release. Confidential."""
    from tabprotect.engine.project.sums.magnitudes_in_one_go import Done, record_of

    done = project.protected_sums
    assert done is not None
    kept = Done(done.release, done.verdict, done.figures)
    record = record_of(run_of(project, project.seed), kept, done.verdict)
    return {**record, "decisions": list(done.decisions)}
