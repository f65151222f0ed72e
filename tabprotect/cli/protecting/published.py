"""A table protected and published: what a command says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tabprotect.cli.breaking_off import BreakingOff
from tabprotect.cli.output import Console
from tabprotect.engine.atomic import leftovers, written_at
from tabprotect.engine.bundle.archive import load, sha256
from tabprotect.engine.disclosure.magnitude_verdict import sentences
from tabprotect.engine.project.history import History
from tabprotect.engine.project.options import Protecting, Publishing
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.judgement import asked_once, judge_release
from tabprotect.engine.project.workflow import protected, published
from tabprotect.engine.protection.descriptions.run_summary import RunSummary, remarks_on_run, summarise
from tabprotect.engine.protection.problem import Preview, Protected
from tabprotect.languages.messages import message

MANY_CELLS = 20_000
"""Cells beyond which one run says what a method does: trials of cycles are quick at any size."""

DEAR = 50_000.0
"""Nominal microseconds of a run from which on that of the release is not followed by others."""

ExtraOutput = tuple[Mapping[str, object], Sequence[str]]
"""Entries of the printed object, and lines."""


def protect_and_publish(
    history: History,
    protecting: Protecting,
    publishing: Publishing,
    console: Console,
    written: Callable[[Project], ExtraOutput] | None = None,
) -> None:
    """Protect an open table, publish it, and say what became of it.

    Parameters
    ----------
    written
        What is said of the bundles of a set, once they are there.
    """
    register, looked_up, expected = protecting.register, None, None
    publishing = replace(publishing, kept_small=protecting.kept_small)
    if history.project.magnitudes is not None:
        with BreakingOff(console) as watched:
            history = protected(history, protecting, watched)
    else:
        looked_up = asked_once(history.project.problem, register)
        history = protected(history, protecting, console, looked_up)
        expected = _expected(history.project) if console.as_json and written is None else None
    notes = len(history.project.notes)
    reason = publishing.again.strip() or publishing.accept.strip()
    assert history.project.protected is not None
    looked_up = looked_up or asked_once(history.project.protected.record.problem, register)
    before = judge_release(
        history.project, register, reason=reason, looked_up=looked_up, progress=console
    ).before
    history = published(history, publishing, register=register, looked_up=looked_up, progress=console)
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
    entries, lines = _of_bundle(publishing, expected) if written is None else written(project)
    tuned = result.release.mechanism.tuned
    if tuned is not None:
        console.say(message("note: {note}", tuned.sentence))
    data: dict[str, object] = {
        "method": project.method,
        "title": project.title,
        **figures,
        "verdict": found.as_json(),
        "tuned": None if tuned is None else tuned.as_json(),
        "together": before.as_json(),
        "warnings": warnings,
        "decisions": list(result.record.decisions),
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


def _of_bundle(publishing: Publishing, expected: object) -> ExtraOutput:
    """Return what is said of a bundle."""
    fingerprint = sha256(load(written_at(Path(publishing.release))))
    lines = [
        message("Release bundle (public): {out}", publishing.release),
        message("Check number: {fingerprint}", fingerprint),
    ]
    entries: dict[str, object] = {"fingerprint": fingerprint, "expected": expected}
    if publishing.replicates:
        # Late: it computes posteriors.
        from tabprotect.engine.bundle.tables.replicates import replicate_paths

        file, described = replicate_paths(Path(publishing.release))
        entries["replicates"] = str(file)
        lines.append(message("Replicates (public): {file}, described in {described}", file, described.name))
    return entries, lines


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
        "findings": dict(record.findings),
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
    size = project.problem.table.domain.size
    many = size > MANY_CELLS and not project.takes_cycles
    many |= size * method.trial_work > DEAR
    if many or not method.is_random(project.values):
        preview = summarise(project.protected)
    else:
        preview = method.preview(project.problem, project.taken)
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
