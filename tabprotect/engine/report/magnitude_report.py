"""Reports of releases of sums: for readers from the bundle, for staff with what the dossier keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from tabprotect.engine.bundle.staff.release_findings import sums_headline
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure.magnitude_verdict import magnitude_verdict
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.report.printed_grids import Grid, GridCell, grid
from tabprotect.engine.report.svg_figures import count_text
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import day_said, joined, message
from tabprotect.languages.translation import translate

UNTITLED = message("A protected table of sums")

WEIGHTS = {
    "sample": message("weights of a sample"),
    "replicate": message("weights stand for equal others"),
    "known": message("weighted contributions are known"),
}

HALF = message("{half:.1f}", half=0.5)
"""Tells which decimal point the language has."""


@dataclass(frozen=True)
class MagnitudeEdition:
    """The contents of the template.

    Attributes
    ----------
    title, made
    confidential
        Whether it is for staff.
    promise
        What the method promises.
    verdict
    facts
        Names and values for the cover.
    staff
        Names and values that only the house knows; none in the edition for readers.
    table
        The published sums.
    checks
        What was checked, in words.
    """

    title: str
    made: str
    confidential: bool
    promise: str
    verdict: Finding
    facts: tuple[tuple[str, str], ...]
    staff: tuple[tuple[str, str], ...]
    table: Grid
    checks: tuple[str, ...]


def magnitude_edition(
    bundle: bytes, made: date, record: Mapping[str, object] | None = None
) -> MagnitudeEdition:
    """The report of a bundle; with the ``record`` of its dossier, for staff.

    Raises
    ------
    BundleError
        When it is damaged.
    """
    found = verify_bytes(bundle)
    release, table = found.release, found.release.magnitude_table
    method = magnitude_methods()[release.mechanism.method]
    judged = magnitude_verdict(release)
    return MagnitudeEdition(
        release.title or UNTITLED,
        translate(day_said(made)),
        record is not None,
        str(method.promise),
        replace(sums_headline(judged, staff=False), word=""),
        (
            (message("Measure"), table.measure),
            (message("Method"), method.label),
            (message("Sums"), _sums(table)),
            (message("Not published"), count_text(int(table.hidden.sum()))),
            *((message("Signed by the key"), key) for key in found.signers),
            (message("Fingerprint (SHA-256)"), found.fingerprint),
        ),
        () if record is None else tuple(_staff(record)),
        _grid(table),
        found.checks,
    )


def _sums(release: PublishedMagnitudes) -> str:
    """Say how many sums there are, and how many of them are published as 0."""
    number, zero = count_text(len(release.key)), int(((release.value == 0) & ~release.hidden).sum())
    return message("{number}, {zero} of them 0", number, count_text(zero)) if zero else number


def _staff(record: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return what the dossier says of how it came about."""
    verdict, audit = record.get("verdict"), record.get("audit")
    said = verdict.get("staff", "") if isinstance(verdict, dict) else ""
    tried = audit if isinstance(audit, dict) else {}
    rows = [
        (message("Verdict with the contributions"), str(said)),
        (message("Rules"), _listed(record.get("rules"))),
        (message("How weights are read"), WEIGHTS.get(str(record.get("weights", "")), "")),
        (message("Hidden as unsafe"), _figure(record.get("primary"))),
        (message("Hidden to protect others"), _figure(record.get("secondary"))),
        (message("Value of these"), _figure(record.get("hidden_value"))),
        (message("Readers tried"), _figure(tried.get("readers"))),
        (message("Pairs of a reader and a sum"), _figure(tried.get("items"))),
        (message("Decisions"), _listed(record.get("decisions"))),
        (message("Prepared by"), str(record.get("prepared_by", ""))),
        (message("Approved by"), str(record.get("approved_by", ""))),
    ]
    return [(name, value) for name, value in rows if value]


def _figure(value: object) -> str:
    return count_text(value) if isinstance(value, int) else str(value or "")


def _apart(text: str) -> str:
    """A sum with its thousands apart; decimals as the language has them."""
    whole, _, part = text.partition(".")
    return f"{count_text(int(whole))}{translate(HALF)[1]}{part}" if part else count_text(int(whole))


def _listed(texts: object) -> str:
    return joined(map(str, texts), "; ") if isinstance(texts, list) else ""


def _grid(release: PublishedMagnitudes) -> Grid:
    """The sums, totals and levels among rows and columns."""
    sizes = tuple(axis.size for axis in release.axes)
    number = {key: n for n, key in enumerate(release.key.tolist())}

    def cell(index: Index) -> GridCell:
        at = number.get(int(np.ravel_multi_index(index, sizes)))
        if at is None:
            return GridCell("0")
        if release.hidden[at]:
            return GridCell("\N{MULTIPLICATION SIGN}", "hidden")
        return GridCell(_apart(release.written(at)))

    domain = Domain(tuple(Variable(axis.variable.name, tuple(axis.written)) for axis in release.axes))
    return grid(domain, cell)
