"""The bundle as the release page shows it: every public byte, what was checked, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabprotect.engine.bundle import archive, confidential, public
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.cycle_runs.sequence import ORDERS
from tabprotect.engine.protection.descriptions.run_summary import RunSummary, summarise
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.likelihood import (
    BLOCKING_RULES,
    AdaptiveSequence,
    CellFactors,
    MoveSequence,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.look.theme import chance_text, count_text
from tabprotect.languages.said import joined, plural, say
from tabprotect.languages.speaking import told

MEANINGS = {
    "README.md": say("For the reader: what was done, what is exact, how to compute with it."),
    "datapackage.json": say("The variables and their categories."),
    "table.csv": say("The protected counts, one line per cell."),
    "mechanism.json": say("The method and all its public parameters: how the counts came about."),
    "manifest.json": say("The SHA-256 of every file."),
}

STAYS: tuple[tuple[str, str], ...] = (
    (confidential.ORIGINAL, say("The original counts.")),
    (confidential.RECORD, say("The seed, the rule for at-risk cells, the decisions taken.")),
    (confidential.COINS, say("Each coin, what was done, and what was blocked.")),
    (
        confidential.STATUSES,
        say("Which cells are unsafe, and which are suppressed to protect those."),
    ),
    (confidential.HIDDEN, say("The inner cells behind the published sub-tables.")),
    (confidential.KEYS, say("The sums of the record keys.")),
    ("risk_report.md", say("What was at risk and what became of it.")),
    ("audit_trail.json", say("Every step that led here.")),
    ("recipe.toml", say("How to repeat it, seed included.")),
)
"""What a dossier keeps, for people."""


def meaning(name: str) -> str:
    """What a file of the bundle is for."""
    return MEANINGS.get(name, "A further published table, one line per cell.")


def stays(protected: Protected) -> tuple[tuple[str, str], ...]:
    """What the dossier of this very run keeps."""
    record = protected.record
    absent = {
        name
        for name, found in (
            (confidential.COINS, record.steps is not None),
            (confidential.STATUSES, bool(record.statuses)),
            (confidential.HIDDEN, record.hidden is not None),
            (confidential.KEYS, record.problem.record_keys is not None),
        )
        if not found
    }
    return tuple((name, words) for name, words in STAYS if name not in absent)


@dataclass(frozen=True)
class Bundle:
    """A bundle that passed verification.

    Attributes
    ----------
    files
        Every file by name.
    size
        Bytes of the zip.
    fingerprint
        Its SHA-256.
    checks
        What was checked, in words.
    mechanism
        How the table was protected, in words.
    summary
        What the run did to the original; ``None`` without an original. Confidential.
    stays
        What the dossier keeps, with its meaning.
    """

    files: dict[str, bytes]
    size: int
    fingerprint: str
    checks: tuple[str, ...]
    mechanism: str
    summary: RunSummary | None = None
    stays: tuple[tuple[str, str], ...] = ()


def prepare(release: Release, protected: Protected | None, progress: Progress) -> Bundle:
    """Make the bundle in memory and verify it as its reader will."""
    progress.report(say("making the bundle"), 0.1)
    files = public.files(release)
    data = archive.pack(files)
    progress.report(say("verifying the bundle"), 0.5)
    verified = verify_bytes(data)
    progress.report(say("comparing with the original"), 0.9)
    summary = None if protected is None else summarise(protected)
    words = mechanism_text(release)
    kept = () if protected is None else stays(protected)
    return Bundle(files, len(data), verified.fingerprint, verified.checks, words, summary, kept)


def inspect(path: Path, progress: Progress) -> Bundle:
    """A bundle file, verified once more.

    Raises
    ------
    BundleError, InputError
        When it is not what it was, or no longer there.
    """
    progress.report(say("reading the bundle"), 0.1)
    data = archive.load(path)
    progress.report(say("verifying the bundle"), 0.4)
    verified = verify_bytes(data)
    # Verified: nothing but the described files is in it.
    files = archive.unpack(data, allowed=lambda name: True)
    words = mechanism_text(verified.release)
    return Bundle(files, len(data), verified.fingerprint, verified.checks, words)


def size_text(size: int) -> str:
    """Bytes for people."""
    if size < 1000:
        return say("{size} bytes", size)
    for unit in ("kB", "MB"):
        size_ = size / 1000
        if size_ < 1000:
            return (
                say("{size:.1f} {unit}", size_, unit)
                if size_ < 100
                else say("{size:.0f} {unit}", size_, unit)
            )
        size = round(size_)
    return say("{size:.1f} GB", size / 1000)


def mechanism_text(release: Release) -> str:
    """How the table was protected, in words."""
    likelihood, method = likelihood_of(release), methods()[release.mechanism.method]
    label = method.label
    cycles = release.mechanism.parameters.get("cycles")
    if not isinstance(cycles, MoveSet) or isinstance(likelihood, CellFactors):
        texts = [
            _parameter(p, value)
            for p in method.parameters
            if p.public
            and isinstance(value := release.mechanism.parameters.get(p.name), (int, float, str))
            and value is not False
            and value != ""
        ]
        said = say(" ({texts})", joined(texts, "; ")) if texts else ""
        return say("{label}{said}. {help}", label, said, say(method.help.splitlines()[0]))
    return plural(
        len(cycles),
        "{label}: {cycles} cycle, "
        "{likelihood}. A coin adds each with probability "
        "{alpha}, subtracts it with {beta}, else "
        "leaves the table. {likelihood2}",
        "{label}: {cycles} cycles, "
        "{likelihood}. A coin adds each with probability "
        "{alpha}, subtracts it with {beta}, else "
        "leaves the table. {likelihood2}",
        label,
        count_text(len(cycles)),
        _course(likelihood, release),
        chance_text(likelihood.alpha),
        chance_text(likelihood.beta),
        _blocking(likelihood),
    )


def _parameter(parameter: Parameter[Any], value: float | str) -> str:
    """A parameter in words: of a choice what it means, not what it is called in files."""
    label = parameter.label
    if value is True:
        return label
    meaning = told((parameter.choices or {}).get(str(value), "")).split(":")[0].rstrip(".")
    return (
        say("{label}: {meaning}", label, meaning)
        if meaning
        else say("{label} {value}", label, say(str(value)))
    )


def _course(likelihood: MoveSequence | AdaptiveSequence, release: Release) -> str:
    """How often the cycles come, in words."""
    if isinstance(likelihood, AdaptiveSequence):
        return plural(
            likelihood.steps, "{steps} step", "{steps} steps", count_text(likelihood.steps)
        )
    order = release.mechanism.parameters.get("order", "listed")
    passes = likelihood.passes
    if order == "listed" and likelihood.moves == release.mechanism.parameters["cycles"]:
        return plural(passes, "{passes} pass", "{passes} passes", passes)
    steps = len(likelihood.moves) * passes
    how = {
        "random": say(" in a random order that is published"),
        "replacement": say(" drawn at random"),
    }
    return plural(
        steps,
        "{steps} step{order}",
        "{steps} steps{order}",
        count_text(steps),
        how.get(str(order), ""),
    )


def _blocking(likelihood: MoveSequence | AdaptiveSequence) -> str:
    if isinstance(likelihood, AdaptiveSequence):
        return ORDERS["positive"]
    return BLOCKING_RULES[likelihood.rule]


def reader_sentence(bundle: Bundle, release: Release) -> str:
    """The page's sentence for a reader."""
    cells = _cells(release)
    return say(
        "This bundle of {size} passed all {checks} checks: "
        "protected counts of {cells} cells, with the mechanism that made them.",
        size_text(bundle.size),
        len(bundle.checks),
        count_text(cells),
    )


def _cells(release: Release) -> int:
    return sum(published.table.domain.size for published in release.tables)
