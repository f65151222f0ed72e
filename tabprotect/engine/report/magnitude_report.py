"""Reports of releases of sums: for readers from the bundle, for staff with what the dossier keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.staff.check_lines import CheckLine, State
from tabprotect.engine.bundle.sums.magnitude_bundle import PROMISES, adds_up, release_within
from tabprotect.engine.disclosure.magnitude_verdict import magnitude_verdict
from tabprotect.engine.magnitudes.methods.sums_methods import SUMS_METHODS
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.report.printed_grids import Grid, GridCell, grid
from tabprotect.engine.report.svg_figures import count_text
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.said import day_said, joined, say
from tabprotect.languages.speaking import told

UNTITLED = say("A protected table of sums")

WEIGHTS = {
    "sample": say("weights of a sample"),
    "replicate": say("weights stand for equal others"),
    "known": say("weighted contributions are known"),
}

HALF = say("{half:.1f}", half=0.5)
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
    verdict: CheckLine
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
    found = release_within(bundle)
    release = found.release
    judged = magnitude_verdict(release)
    # A reason lets it out; it does not make it judged.
    state: State = "failed" if judged.passed is False else "passed" if judged.passed else "mind"
    return MagnitudeEdition(
        release.title or UNTITLED,
        told(day_said(made)),
        record is not None,
        str(PROMISES[release.method]),
        CheckLine(state, judged.sentence),
        (
            (say("Measure"), release.measure),
            (say("Method"), SUMS_METHODS[release.method].label),
            (say("Sums"), _sums(release)),
            (say("Not published"), count_text(int(release.hidden.sum()))),
            *((say("Signed by the key"), key) for key in found.signers),
            (say("Fingerprint (SHA-256)"), sha256(bundle)),
        ),
        () if record is None else tuple(_staff(record)),
        _grid(release),
        (say("Every file is as its manifest lists it."), *adds_up(release)),
    )


def _sums(release: ReleasedSums) -> str:
    """How many sums there are, and how many of them are published as 0."""
    number, zero = count_text(len(release.key)), int(((release.value == 0) & ~release.hidden).sum())
    return say("{number}, {zero} of them 0", number, count_text(zero)) if zero else number


def _staff(record: Mapping[str, object]) -> list[tuple[str, str]]:
    """What the dossier says of how it came about."""
    verdict, audit = record.get("verdict"), record.get("audit")
    said = verdict.get("staff", "") if isinstance(verdict, dict) else ""
    tried = audit if isinstance(audit, dict) else {}
    rows = [
        (say("Verdict with the contributions"), str(said)),
        (say("Rules"), _listed(record.get("rules"))),
        (say("How weights are read"), WEIGHTS.get(str(record.get("weights", "")), "")),
        (say("Hidden as unsafe"), _figure(record.get("primary"))),
        (say("Hidden to protect others"), _figure(record.get("secondary"))),
        (say("Value of these"), _figure(record.get("hidden_value"))),
        (say("Readers tried"), _figure(tried.get("readers"))),
        (say("Pairs of a reader and a sum"), _figure(tried.get("items"))),
        (say("Decisions"), _listed(record.get("decisions"))),
        (say("Prepared by"), str(record.get("prepared_by", ""))),
        (say("Approved by"), str(record.get("approved_by", ""))),
    ]
    return [(name, value) for name, value in rows if value]


def _figure(value: object) -> str:
    return count_text(value) if isinstance(value, int) else str(value or "")


def _apart(text: str) -> str:
    """A sum with its thousands apart; decimals as the language has them."""
    whole, _, part = text.partition(".")
    return f"{count_text(int(whole))}{told(HALF)[1]}{part}" if part else count_text(int(whole))


def _listed(texts: object) -> str:
    return joined(map(str, texts), "; ") if isinstance(texts, list) else ""


def _grid(release: ReleasedSums) -> Grid:
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

    domain = Domain(
        tuple(Variable(axis.variable.name, tuple(axis.written)) for axis in release.axes)
    )
    return grid(domain, cell)
