"""``protect`` and ``run``: from a table to a release."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from tabprotect.cli.arguments import (
    add_options,
    add_reading,
    asked_for,
    keep_apart,
    once,
    open_source,
    setting,
)
from tabprotect.cli.breaking_off import BreakingOff
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError, Verbs
from tabprotect.engine.atomic import leftovers
from tabprotect.engine.bundle.archive import load, sha256
from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import is_folder
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import Protecting, Publishing
from tabprotect.engine.project.project import DEFAULT_METHOD, Project
from tabprotect.engine.project.releasing.judgement import judge_release
from tabprotect.engine.project.workflow import protected, published
from tabprotect.engine.protection.descriptions.run_summary import RunSummary, remarks_on_run, summarise
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.register_entry import warnings_of
from tabprotect.languages.messages import joined, message


def add(verbs: Verbs) -> None:
    """Declare the commands."""
    run_it = verbs.add("protect", run_protect)
    run_it.add_argument("table", metavar="TABLE", help=message("a table file, a project, or example:NAME"))
    add_protecting(run_it, out="release.zip", but=("tables",))
    add_reading(run_it)
    run = verbs.add("run", run_recipe)
    run.add_argument("recipe", type=Path, metavar="recipe.toml")
    run.add_argument("--out", type=Path, required=True, metavar="DIR")
    run.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a variable of the recipe, which stands in it as ${NAME}",
    )
    run.add_argument(
        "--map",
        "--rename",
        type=setting,
        action="append",
        default=[],
        metavar="VARIABLE:FOUND=EXPECTED",
        dest="renames",
        help=message(
            "what a category of the file is in the recipe or its code list: one of theirs, itself for "
            "a category of its own, or nothing where its records are left out; may be repeated"
        ),
    )
    run.add_argument(
        "--categories",
        choices=("check", "accept"),
        default="check",
        help=message("whether categories that are new or missing are refused (default) or taken"),
    )


def add_protecting(parser: argparse.ArgumentParser, *, out: str, but: Collection[str] = ()) -> None:
    """The options of every command that protects and publishes."""
    said = message("{methods} (default {DEFAULT_METHOD})", joined(methods().names, ", "), DEFAULT_METHOD)
    add_options(parser, Protecting, help={"method": said})
    parser.add_argument(
        "--keep", metavar="FORMULA", help=message("margins to publish exactly: the parameter keep")
    )
    parser.add_argument(
        "--groupings", metavar="TEXT|FILE", help=message("of categories, for formulas: the parameter")
    )
    # What is accepted is said once, for the run.
    add_options(parser, Publishing, but=("accept", *but))
    parser.add_argument("--out", type=Path, required=True, metavar=out)


def protecting_of(args: argparse.Namespace) -> Protecting:
    """Return how the table is protected, by the options of :func:`add_protecting`."""
    if args.fresh and args.seed is not None:
        raise UsageError("--fresh and --seed exclude each other")
    beside = [(name, getattr(args, name)) for name in ("keep", "groupings")]
    named = [(name, value) for name, value in beside if value is not None]
    parameters: dict[str, object] = once([*args.parameters, *named], "--set")
    cycles = parameters.pop("cycles", None)
    return asked_for(Protecting, args, parameters=parameters, cycles=cycles)


def publishing_of(args: argparse.Namespace) -> Publishing:
    """Return what is written and who answers for it, by the options of :func:`add_protecting`."""
    again = args.again or args.accept or ""
    return asked_for(Publishing, args, release=str(args.out), overwrite=True, accept="", again=again)


def run_protect(args: argparse.Namespace, console: Console) -> int:
    """The same commands as the window's, in order."""
    asked, publishing = protecting_of(args), publishing_of(args)
    cycles = asked.cycles if isinstance(asked.cycles, str) else None
    if args.dossier is not None and args.dossier.absolute() == args.out.absolute():
        raise UsageError("--out and --dossier name one file")
    keep_apart([args.table, cycles, args.like, *args.sign], [args.out, args.dossier])
    history = open_source(args, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    for path in (args.out, args.dossier):
        if path is not None and not is_folder(path.absolute().parent):
            raise InputError(message("cannot be written: there is no such folder"), file=path)

    def written(project: Project) -> ExtraOutput:
        fingerprint = sha256(load(args.out))
        lines = [
            message("Release bundle (public): {out}", args.out),
            message("Fingerprint: {fingerprint}", fingerprint),
        ]
        return {"fingerprint": fingerprint, "expected": expected}, lines

    if history.project.measure == "magnitudes":
        with BreakingOff(console) as watched:
            history = protected(history, asked, watched)
        _publish_magnitudes(history, publishing, asked.register, console)
        return 0
    history = protected(history, asked, console)
    expected = _expected(history.project) if console.as_json else None
    publish_and_say(history, publishing, asked.register, console, written)
    return 0


def _publish_magnitudes(
    history: History, publishing: Publishing, register: str | None, console: Console
) -> None:
    """Publish protected magnitudes, and say what became of them."""
    # Late: tables of counts, which are most, do not wait for it.
    from tabprotect.engine.project.releasing.magnitude_release import magnitudes_before

    before, notes = history.project, len(history.project.notes)
    assert before.sums is not None and before.sums.protected is not None
    earlier = magnitudes_before(before.sums.table, before.sums.protected.release, register).earlier
    project = published(history, publishing, register=register, progress=console).project
    done, fingerprint = project.protected_sums, sha256(load(Path(publishing.release)))
    assert done is not None
    warnings = warnings_of([e for e in earlier if e.entry.publication.bundle != fingerprint])
    for note in project.notes[notes:]:
        console.say(message("note: {note}", note))
    _say_leftovers([Path(p) for p in (publishing.release, publishing.dossier) if p], console)
    data: dict[str, object] = {
        "method": project.method,
        "title": project.title,
        **done.figures,
        "verdict": done.verdict.as_json(),
        "warnings": list(warnings),
        "decisions": list(done.decisions),
        "out": publishing.release,
        "dossier": publishing.dossier,
        "fingerprint": fingerprint,
        "confidential": True,
    }
    lines = [
        *done.sentences,
        *(message("Warning: {warning}", warning["message"]) for warning in warnings),
        message("Release bundle (public): {out}", publishing.release),
        message("Fingerprint: {fingerprint}", fingerprint),
        message("Dossier (CONFIDENTIAL): {value}", publishing.dossier or message("none written")),
        *(message("Decision: {decision}", decision) for decision in done.decisions),
        message("These figures depend on the original: keep them in the house."),
    ]
    console.result(data, lines)


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
        console.say(message("warning: {message}", damage.message))
    _say_leftovers([Path(p) for p in (publishing.release, publishing.dossier) if p], console)
    result = project.protected
    assert result is not None and result.record.verdict is not None
    found, summary = result.record.verdict, summarise(result)
    warnings = [
        *_warnings(result),
        *(remark.as_json() for remark in remarks_on_run(result.record)),
        *before.warnings,
    ]
    entries, lines = written(project)
    tuned = result.release.mechanism.tuned
    if tuned is not None:
        console.say(message("note: {note}", tuned.sentence))
    data: dict[str, object] = {
        "method": project.method,
        "title": project.title,
        **summary.as_json(),
        "verdict": found.as_json(),
        "tuned": None if tuned is None else tuned.as_json(),
        "together": before.as_json(),
        "warnings": warnings,
        **_of_cycles(project),
        "parameters": {n: v for n, v in project.resolved.items() if n != "cycles"},
        "findings": dict(result.record.findings),
        "decisions": list(result.record.decisions),
        "out": publishing.release,
        "dossier": publishing.dossier,
        "confidential": True,
        **entries,
    }
    lines = [
        summary.sentence,
        message("Verdict: {sentence}", found.sentence),
        *([found.staff.finding.text] if found.staff is not None else []),
        *(message("Warning: {warning}", warning["message"]) for warning in warnings),
        *(line.text for line in before.beside),
        *lines,
        message("Dossier (CONFIDENTIAL): {value}", publishing.dossier or message("none written")),
        *(message("Decision: {decision}", decision) for decision in result.record.decisions),
        message("These figures depend on the original: keep them in the house."),
    ]
    console.result(data, lines)


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
    gate = protected.release.mechanism.gate
    if gate is None or gate.passed is not None or protected.record.overruled:
        return []
    text = message("the release could not be judged; by the policy that takes no reason")
    return [{"kind": "unjudged", "message": text}]


def _of_cycles(project: Project) -> dict[str, object]:
    if not project.takes_cycles:
        return {}
    return {
        "cycles": len(project.cycles),
        "cycles_from": project.cycles_from or message("chosen so that the kept sums stay exact"),
    }


def run_recipe(args: argparse.Namespace, console: Console) -> int:
    """Run a recipe file and write what it publishes into a folder."""
    # Late: to protect a table takes no recipe.
    from tabprotect.engine.project.recipes.replay import last_and_now, run_file

    settings = once(args.settings, "--set")
    renames: dict[tuple[str, str], str] = {}
    for name, to in args.renames:
        variable, colon, category = name.partition(":")
        if not colon:
            raise UsageError(f"--map takes VARIABLE:FOUND=EXPECTED, not {name}={to}")
        renames[variable, category] = to
    history, written = run_file(
        args.recipe,
        args.out,
        settings=settings,
        renames=renames,
        accept=args.categories == "accept",
        progress=console,
    )
    since = last_and_now(args.recipe, settings, history, console)
    for note in history.project.notes:
        console.say(message("note: {note}", note))
    labels = [step.label for step in history.steps]
    told = [] if since is None else [message("since last year (CONFIDENTIAL):"), *since.lines()]
    console.result(
        {
            "steps": labels,
            "written": [str(path) for path in written],
            "since_last_year": None if since is None else since.as_json(),
        },
        [*labels, *told, *(message("wrote {path}", path) for path in written)],
    )
    return 0
