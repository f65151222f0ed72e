"""Commands on magnitude tables: their rules; and what opening, protecting and publishing do to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine import house
from tabprotect.engine.arrays import Ints
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.disclosure.protected_magnitudes import ChosenSums
from tabprotect.engine.disclosure.together import checked
from tabprotect.engine.errors import ParameterError, RefusedError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.magnitudes.tables.regrouping import by_others
from tabprotect.engine.progress import Progress
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.command import Context, Declared
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.magnitudes.protecting import chosen, published_beside, with_method
from tabprotect.engine.project.options import Drawing, MagnitudeTabulation, Protecting, Publishing
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.coins import admit_key, admit_seed
from tabprotect.engine.project.releasing.entering import Outgoing, told_of_register, who_answers
from tabprotect.engine.project.sources import magnitudes_tabulated
from tabprotect.engine.protection.magnitude_method import PUBLISH
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.counts_and_magnitudes import marks_of_sums
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.disclosure.magnitude_verdict import MagnitudeVerdict

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
        method=next(iter(magnitude_methods())),
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
        raise ParameterError(
            {"weights": message("are read in three ways, not {reading}", repr(weights))},
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


def checked_parameters(project: Project, values: Mapping[str, object]) -> Mapping[str, object]:
    """Parameters of a method for sums, those that are set back to their defaults left out.

    Raises
    ------
    ParameterError
        Naming every one that is wrong.
    """
    method = magnitude_methods()[project.method]
    given = {name: value for name, value in values.items() if value is not None}
    beside = given.pop(PUBLISH.name, PUBLISH.default)
    named = checked(published_beside(beside), chosen(project).table)
    found = {name: value for name, value in method.resolve(given).items() if name in given}
    found[PUBLISH.name] = ",".join(named) or PUBLISH.default
    defaults = {one.name: one.default for one in (*method.parameters, PUBLISH)}
    return MappingProxyType({name: value for name, value in found.items() if value != defaults[name]})


def protected_now(project: Project, context: Context, asked: Drawing) -> Project:
    """The project with its sums protected, and judged; whether it may leave is asked when it does."""
    # Imported late: the first paint does not wait for what solves programmes.
    from tabprotect.engine.project.magnitudes.protecting import protected_sums

    seed = project.seed if asked.seed is None else asked.seed
    if seed is not None:
        if not magnitude_methods()[project.method].is_random:
            raise ParameterError({"seed": message("{method} takes no chance", project.method)})
        context.randomness(seed)
    done = protected_sums(project, seed, context.progress)
    return replace(project, sums=replace(chosen(project), protected=done), published=False)


def published_now(
    project: Project, context: Context, asked: Publishing, accepted: str, signed: tuple[str, str]
) -> Project:
    """The project with its protected sums written, entered in the register, and sealed.

    Parameters
    ----------
    accepted
        Why it leaves whatever the gate says; empty for no reason.
    signed
        Who prepared it, and who approved it.
    """
    from tabprotect.engine.project.magnitudes.magnitude_remedies import remedies_for
    from tabprotect.engine.project.magnitudes.protecting import record_of
    from tabprotect.engine.project.releasing.magnitude_release import decided, magnitudes_before

    sums, done, policy = chosen(project), project.protected_sums, project.limits
    assert done is not None
    method, seeded = magnitude_methods()[project.method], tuple[str, ...]()
    if method.is_random:
        seed = next((entry.seed for entry in reversed(context.trail) if entry.command == "protect"), None)
        seeded = (
            admit_key(accepted, context.register)
            if seed is None
            else admit_seed(Randomness.seeded(seed), policy, accepted, ())
        )
    before = magnitudes_before(sums.table, done.release, context.register)
    verdict, again = before.beside(done.verdict), asked.again.strip()
    # Why it leaves once more answers for what left before, and for nothing else.
    beside = done.verdict.passed is True and verdict.passed is None
    try:
        verdict, decisions = decided(verdict, policy, accepted or (again if beside else ""), method.hint)
    except RefusedError as error:
        error.figures = {**done.figures, "verdict": verdict.as_json(), "confidential": True}
        error.suggestions = remedies_for(project, context.progress, register=context.register)
        error.commands = tuple(line(_remedied(project, one.parameters, asked)) for one in error.suggestions)
        raise
    decisions = (*seeded, *decisions)
    mechanism = replace(done.release.mechanism, gate=verdict.gate)
    release = replace(done.release, title=project.title, mechanism=mechanism)
    keys = [Path(key) for key in (asked.sign, asked.sign_too) if key is not None]
    data = public.to_bytes(release, signing=keys, page=not asked.no_page)
    decisions = told_of_register(decisions, (), context.register, again if before.earlier else "")
    result, kept = replace(done, release=release, verdict=verdict, decisions=decisions), dict[str, bytes]()
    if asked.dossier is not None:
        record = {
            **record_of(project, done, verdict),
            "decisions": list(decisions),
            "prepared_by": signed[0] or who_answers(*signed),
            "approved_by": signed[1],
            "release": archive.sha256(data),
        }
        kept = confidential.magnitude_contents(result, sums.table, record, release=data, **steps_of(context))
    table = sums.table
    notes = Outgoing(
        release=release,
        marks=lambda: marks_of_sums(table, house.key()),
        files={Path(asked.release): data},
        sealed=data,
        whole=data,
        kept=kept,
        decisions=decisions,
        who=who_answers(*signed),
    ).leave(asked, policy, context.register, again or accepted)
    sums = replace(sums, protected=result)
    return replace(project, sums=sums, published=True, notes=(*project.notes, *notes))


def steps_of(context: Context) -> dict[str, Any]:
    """The steps so far as a dossier keeps them."""
    return {
        "trail": [entry.as_json() for entry in context.trail],
        "recipe": recipe_text.to_text(context.trail, seeds=True),
    }


def _remedied(project: Project, changed: Mapping[str, object], asked: Publishing) -> list[str]:
    """Words: protect the sums by another method, as a remedy has it."""
    method, given = str(changed["method"]), {n: v for n, v in changed.items() if n != "method"}
    return sums_words(
        with_method(project, method, given), {"release": asked.release, "dossier": asked.dossier or ""}
    )


def sums_words(project: Project, given: Mapping[str, object]) -> list[str]:
    """Words: protect the magnitude table as it stands and publish it."""
    sums, parameters = chosen(project), dict(project.parameters)
    beside, reason = parameters.pop(PUBLISH.name, None), given.get("accept")
    asked = Protecting(
        method=project.method,
        parameters=parameters,
        rule=sums.rules,
        weights=None if sums.weights == READINGS[0] else sums.weights,
        like=sums.like or None,
        publish=None if beside is None else str(beside),
        title=project.title or None,
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


@dataclass(frozen=True)
class SumsTrial:
    """The trial of a method on a magnitude table. Confidential.

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
    from tabprotect.engine.project.magnitudes.protecting import protected_sums

    value = chosen(project).table.cells.value
    for name in magnitude_methods():
        one = project if name == project.method else with_method(project, name, {})
        done = protected_sums(one, project.seed, progress)
        published = done.release.magnitude_table
        hidden = published.hidden
        open_now = ~hidden & (value != 0)
        moved = np.abs(published.value - value)[open_now] / np.abs(value[open_now])
        audit = done.verdict.audit
        yield SumsTrial(
            name,
            int(hidden.sum()),
            int(value[hidden & ~done.primary].sum()),
            float(moved.mean()) if len(moved) else 0.0,
            0 if audit is None else audit.broken + audit.known,
            done.verdict.worst,
        )


def compare_sums(project: Project) -> list[str]:
    """Words: every way to protect the open sums, side by side."""
    sums = chosen(project)
    return [
        *("compare", table_of(project)),
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
    done, release = project.protected_sums, project.release_of_sums
    assert release is not None
    if done is not None and not project.published:
        mechanism = replace(release.mechanism, gate=done.verdict.gate)
        release = replace(release, title=project.title, mechanism=mechanism)
    return public.to_bytes(release)


def judged_for_leaving(project: Project, register: str | None = None) -> MagnitudeVerdict:
    """The verdict on the protected sums, with what left before among what it leaves out."""
    from tabprotect.engine.project.releasing.magnitude_release import magnitudes_before

    done = project.protected_sums
    assert done is not None
    if project.published:
        return done.verdict
    return magnitudes_before(chosen(project).table, done.release, register).beside(done.verdict)


def gate_of_sums(project: Project, verdict: MagnitudeVerdict, reason: str) -> str:
    """Say why the protected sums may not leave with a reason; empty if they may."""
    from tabprotect.engine.project.releasing.magnitude_release import decided

    try:
        decided(verdict, project.limits, reason, magnitude_methods()[project.method].hint)
    except RefusedError as error:
        return error.sentence
    return ""


def staff_record(project: Project) -> Mapping[str, object]:
    """Return what a staff report says of the protected sums beside the release. Confidential."""
    from tabprotect.engine.project.magnitudes.protecting import record_of

    done = project.protected_sums
    assert done is not None
    return {**record_of(project, done, done.verdict), "decisions": list(done.decisions)}
