"""``protect`` and ``run``: from a table to a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.arguments import TableReading, keep_apart, open_source
from tabprotect.cli.breaking_off import BreakingOff
from tabprotect.cli.declaring import command, once
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.atomic import leftovers, written_at
from tabprotect.engine.bundle.archive import load, sha256
from tabprotect.engine.disclosure.magnitude_verdict import sentences
from tabprotect.engine.errors import InputError
from tabprotect.engine.options import Naming, Options, option_field, part, position
from tabprotect.engine.paths import is_folder
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import METHOD, OUTPUT, Protecting, Publishing
from tabprotect.engine.project.project import DEFAULT_METHOD, Project
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.workflow import protected, published
from tabprotect.engine.protection.descriptions.run_summary import RunSummary, remarks_on_run, summarise
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.languages.messages import joined, message

BESIDE = {
    "method": message("{methods} (default {DEFAULT_METHOD})", joined(methods().names, ", "), DEFAULT_METHOD)
}


@dataclass(frozen=True, kw_only=True)
class ProtectingAndPublishing(Options):
    """How a table is protected and what is written."""

    protecting: Protecting = part(Protecting, group=METHOD, help=BESIDE)
    keep: str | None = option_field(
        None, group=METHOD, metavar="FORMULA", help=message("margins to publish exactly: the parameter keep")
    )
    groupings: str | None = option_field(
        None, group=METHOD, metavar="TEXT|FILE", help=message("of categories, for formulas: the parameter")
    )

    @property
    def protected(self) -> Protecting:
        """How the table is protected."""
        asked = self.protecting
        if asked.fresh and asked.seed is not None:
            raise UsageError("--fresh and --seed exclude each other")
        beside = [(name, getattr(self, name)) for name in ("keep", "groupings")]
        named = [(name, value) for name, value in beside if value is not None]
        parameters = once([*(asked.parameters or {}).items(), *named], "--set")
        cycles = parameters.pop("cycles", None)
        return replace(asked, parameters=parameters, cycles=cycles)

    def published(self, publishing: Publishing) -> Publishing:
        """What is written and who answers for it: what is accepted is said once, for the run."""
        again = publishing.again or self.protecting.accept or ""
        return replace(publishing, overwrite=True, accept="", again=again)


@dataclass(frozen=True, kw_only=True)
class Protect(ProtectingAndPublishing):
    """Arguments of ``protect``."""

    table: str = position(metavar="TABLE", help=message("a table file, a project, or example:NAME"))
    publishing: Publishing = part(Publishing, group=OUTPUT, but=("tables",))
    reading: TableReading = part(TableReading)


@dataclass(frozen=True, kw_only=True)
class Run(Options):
    """Arguments of ``run``."""

    recipe: Path = position(metavar="recipe.toml")
    out: Path = option_field(metavar="DIR")
    settings: Mapping[str, str] | None = option_field(
        None,
        shell="--set",
        metavar="NAME=VALUE",
        help="a variable of the recipe, which stands in it as ${NAME}",
        naming=Naming(),
    )
    renames: Mapping[str, str] | None = option_field(
        None,
        shell="--map --rename",
        metavar="VARIABLE:FOUND=EXPECTED",
        help=message(
            "what a category of the file is in the recipe or its code list: one of theirs, itself for "
            "a category of its own, or nothing where its records are left out; may be repeated"
        ),
        naming=Naming(),
    )
    categories: str = option_field(
        "check",
        choices=("check", "accept"),
        help=message("whether categories that are new or missing are refused (default) or taken"),
    )


@command(
    "protect",
    example="tabprotect protect example:duncan-roehrig-4x4 --method cyclic_perturbation --out release.zip",
)
def run_protect(asked: Protect, console: Console) -> None:
    """The same commands as the window's, in order."""
    out, dossier = Path(asked.publishing.release), None
    if asked.publishing.dossier:
        dossier = Path(asked.publishing.dossier)
    protecting, publishing = asked.protected, asked.published(asked.publishing)
    cycles = protecting.cycles if isinstance(protecting.cycles, str) else None
    if dossier is not None and dossier.absolute() == out.absolute():
        raise UsageError("--out and --dossier name one file")
    keep_apart([asked.table, cycles, protecting.like, publishing.sign, publishing.sign_too], [out, dossier])
    history = open_source(asked.table, asked.reading, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    for path in (out, dossier):
        if path is not None and not is_folder(path.absolute().parent):
            raise InputError(message("cannot be written: there is no such folder"), file=path)

    def written(project: Project) -> ExtraOutput:
        fingerprint = sha256(load(written_at(out)))
        lines = [
            message("Release bundle (public): {out}", out),
            message("Fingerprint: {fingerprint}", fingerprint),
        ]
        return {"fingerprint": fingerprint, "expected": expected}, lines

    if history.project.sums is not None:
        with BreakingOff(console) as watched:
            history = protected(history, protecting, watched)
        expected = None
    else:
        history = protected(history, protecting, console)
        expected = _expected(history.project) if console.as_json else None
    publish_and_say(history, publishing, protecting.register, console, written)


MANY_CELLS = 20_000
"""Cells beyond which one run says what a method does: trials of cycles are quick at any size."""

ExtraOutput = tuple[Mapping[str, object], Sequence[str]]
"""Entries of the printed object, and lines."""


def publish_and_say(
    history: History,
    publishing: Publishing,
    register: str | None,
    console: Console,
    written: Callable[[Project], ExtraOutput],
) -> None:
    """Publish a protected table, and say what became of it.

    Parameters
    ----------
    written
        What is said of the bundles, once they are there.
    """
    notes = len(history.project.notes)
    reason = publishing.again.strip() or publishing.accept.strip()
    before = judge_release(history.project, register, reason=reason, progress=console).before
    history = published(history, publishing, register=register, before=before, progress=console)
    project = history.project
    for note in project.notes[notes:]:
        console.say(message("note: {note}", note))
    for damage in before.damaged:
        console.warn(message("warning: {message}", damage.message))
    _say_leftovers([Path(p) for p in (publishing.release, publishing.dossier) if p], console)
    result = project.protected
    assert result is not None
    found, figures, said = result.verdict, *_what_it_did(project, result)
    warnings = [*_warnings(result), *before.warnings]
    entries, lines = written(project)
    tuned = result.release.mechanism.tuned
    if tuned is not None:
        console.say(message("note: {note}", tuned.sentence))
    data: dict[str, object] = {
        "method": project.method,
        "title": project.title,
        **figures,
        "verdict": found,
        "tuned": tuned,
        "together": before,
        "warnings": warnings,
        "decisions": result.record.decisions,
        "out": publishing.release,
        "dossier": publishing.dossier,
        "confidential": True,
        **entries,
    }
    lines = [
        *said,
        *(message("Warning: {warning}", warning["message"]) for warning in warnings),
        *(line.text for line in before.beside),
        *lines,
        message("Dossier (CONFIDENTIAL): {value}", publishing.dossier or message("none written")),
        *(message("Decision: {decision}", decision) for decision in result.record.decisions),
        message("These figures depend on the original: keep them in the house."),
    ]
    console.result(data, lines)


def _what_it_did(project: Project, result: Protected) -> tuple[dict[str, object], list[str]]:
    """The figures of a run and its verdict, as JSON values and in words."""
    found, record = result.verdict, result.record
    if record.problem.magnitudes is not None:
        return dict(record.findings), sentences(result)
    summary = summarise(result)
    figures = {
        **summary.as_json(),
        **_of_cycles(project),
        "parameters": {n: v for n, v in project.resolved.items() if n != "cycles"},
        "findings": record.findings,
    }
    staff = [] if found.staff is None else [found.staff.finding.text]
    return figures, [summary.sentence, message("Verdict: {sentence}", found.sentence), *staff]


def _say_leftovers(written: list[Path], console: Console) -> None:
    for folder in {path.absolute().parent for path in written}:
        for left in leftovers(folder):
            console.say(
                message(
                    "note: {name} in {folder} is left of a program that was killed while it "
                    "wrote. It may be confidential: look at it, then remove it.",
                    left.name,
                    folder,
                )
            )


def _expected(project: Project) -> dict[str, object]:
    """Return what trial runs of the mechanism do to this table; without chance or of many cells, what it did.

    Of so many counts one run tells as much as several, and takes seconds.
    """
    method = project.protection
    assert project.protected is not None
    preview: RunSummary | Preview
    many = project.problem.table.domain.size > MANY_CELLS and not project.takes_cycles
    if many or not method.is_random(project.values):
        preview = summarise(project.protected)
    else:
        preview = method.preview(project.problem, project.given)
    return {
        "unchanged_share": preview.unchanged_share,
        "blocked_share": preview.blocked_share if project.takes_cycles else None,
        "mean_absolute_deviation": preview.mean_absolute_deviation,
    }


def _warnings(protected: Protected) -> list[dict[str, str]]:
    """Return what went out with a warning only."""
    if protected.record.problem.magnitudes is not None:
        return []
    remarks = [remark.as_json() for remark in remarks_on_run(protected.record)]
    gate = protected.release.mechanism.gate
    if gate is None or gate.passed is not None or protected.record.overruled:
        return remarks
    text = message("the release could not be judged; by the policy that takes no reason")
    return [{"kind": "unjudged", "message": text}, *remarks]


def _of_cycles(project: Project) -> dict[str, object]:
    if not project.takes_cycles:
        return {}
    return {
        "cycles": len(project.cycles),
        "cycles_from": project.cycles_from or message("chosen so that the kept sums stay exact"),
    }


@command("run", example="tabprotect run recipe.toml --out results")
def run_recipe(asked: Run, console: Console) -> None:
    """Run a recipe file and write what it publishes into a folder."""
    # Late: to protect a table takes no recipe.
    from tabprotect.engine.project.recipes.replay import last_and_now, run_file

    settings = dict(asked.settings or {})
    renames: dict[tuple[str, str], str] = {}
    for name, to in (asked.renames or {}).items():
        variable, colon, category = name.partition(":")
        if not colon:
            raise UsageError(f"--map takes VARIABLE:FOUND=EXPECTED, not {name}={to}")
        renames[variable, category] = to
    history, written = run_file(
        asked.recipe,
        asked.out,
        settings=settings,
        renames=renames,
        accept=asked.categories == "accept",
        progress=console,
    )
    since = last_and_now(asked.recipe, settings, history, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    labels = [step.label for step in history.steps]
    told = [] if since is None else [message("since last year (CONFIDENTIAL):"), *since.lines()]
    console.result(
        {"steps": labels, "written": [str(path) for path in written], "since_last_year": since},
        [*labels, *told, *(message("wrote {path}", path) for path in written)],
    )
