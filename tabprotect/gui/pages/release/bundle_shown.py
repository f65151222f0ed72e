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
from tabprotect.languages.speaking import told

MEANINGS = {
    "README.md": "For the reader: what was done, what is exact, how to compute with it.",
    "datapackage.json": "The variables and their categories.",
    "table.csv": "The protected counts, one line per cell.",
    "mechanism.json": "The method and all its public parameters: how the counts came about.",
    "manifest.json": "The SHA-256 of every file.",
}

STAYS: tuple[tuple[str, str], ...] = (
    (confidential.ORIGINAL, "The original counts."),
    (confidential.RECORD, "The seed, the rule for at-risk cells, the decisions taken."),
    (confidential.COINS, "Each coin, what was done, and what was blocked."),
    (confidential.STATUSES, "Which cells are unsafe, and which are suppressed to protect those."),
    (confidential.HIDDEN, "The inner cells behind the published sub-tables."),
    (confidential.KEYS, "The sums of the record keys."),
    ("risk_report.md", "What was at risk and what became of it."),
    ("audit_trail.json", "Every step that led here."),
    ("recipe.toml", "How to repeat it, seed included."),
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
    progress.report("making the bundle", 0.1)
    files = public.files(release)
    data = archive.pack(files)
    progress.report("verifying the bundle", 0.5)
    verified = verify_bytes(data)
    progress.report("comparing with the original", 0.9)
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
    progress.report("reading the bundle", 0.1)
    data = archive.load(path)
    progress.report("verifying the bundle", 0.4)
    verified = verify_bytes(data)
    # Verified: nothing but the described files is in it.
    files = archive.unpack(data, allowed=lambda name: True)
    words = mechanism_text(verified.release)
    return Bundle(files, len(data), verified.fingerprint, verified.checks, words)


def size_text(size: int) -> str:
    """Bytes for people."""
    if size < 1000:
        return f"{size} bytes"
    for unit in ("kB", "MB"):
        size_ = size / 1000
        if size_ < 1000:
            return f"{size_:.1f} {unit}" if size_ < 100 else f"{size_:.0f} {unit}"
        size = round(size_)
    return f"{size / 1000:.1f} GB"


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
        said = f" ({'; '.join(texts)})" if texts else ""
        return f"{label}{said}. {method.help.splitlines()[0]}"
    return (
        f"{label}: {count_text(len(cycles))} cycle{'' if len(cycles) == 1 else 's'}, "
        f"{_course(likelihood, release)}. A coin adds each with probability "
        f"{chance_text(likelihood.alpha)}, subtracts it with {chance_text(likelihood.beta)}, else "
        f"leaves the table. {_blocking(likelihood)}"
    )


def _parameter(parameter: Parameter[Any], value: float | str) -> str:
    """A parameter in words: of a choice what it means, not what it is called in files."""
    label = told(parameter.label)
    if value is True:
        return label
    meaning = told((parameter.choices or {}).get(str(value), "")).split(":")[0].rstrip(".")
    return f"{label}: {meaning}" if meaning else f"{label} {told(str(value))}"


def _course(likelihood: MoveSequence | AdaptiveSequence, release: Release) -> str:
    """How often the cycles come, in words."""
    if isinstance(likelihood, AdaptiveSequence):
        return f"{count_text(likelihood.steps)} step{'' if likelihood.steps == 1 else 's'}"
    order = release.mechanism.parameters.get("order", "listed")
    passes = likelihood.passes
    if order == "listed" and likelihood.moves == release.mechanism.parameters["cycles"]:
        return f"{passes} pass{'' if passes == 1 else 'es'}"
    steps = len(likelihood.moves) * passes
    how = {"random": " in a random order that is published", "replacement": " drawn at random"}
    return f"{count_text(steps)} step{'' if steps == 1 else 's'}{how.get(str(order), '')}"


def _blocking(likelihood: MoveSequence | AdaptiveSequence) -> str:
    if isinstance(likelihood, AdaptiveSequence):
        return ORDERS["positive"]
    return BLOCKING_RULES[likelihood.rule]


def reader_sentence(bundle: Bundle, release: Release) -> str:
    """The page's sentence for a reader."""
    cells = _cells(release)
    return (
        f"This bundle of {size_text(bundle.size)} passed all {len(bundle.checks)} checks: "
        f"protected counts of {count_text(cells)} cells, with the mechanism that made them."
    )


def _cells(release: Release) -> int:
    return sum(published.table.domain.size for published in release.tables)
