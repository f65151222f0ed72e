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
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.report.printed_grids import Grid, GridCell, grid
from tabprotect.engine.report.public_edition import day_text
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.said import joined, say

UNTITLED = say("A protected table of sums")


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
        day_text(made),
        record is not None,
        str(PROMISES[release.method]),
        CheckLine(state, judged.sentence),
        (
            (say("Measure"), release.measure),
            (say("Method"), release.method),
            (say("Sums"), f"{len(release.key):,}"),
            (say("Not published"), f"{int(release.hidden.sum()):,}"),
            *((say("Signed by the key"), key) for key in found.signers),
            (say("Fingerprint (SHA-256)"), sha256(bundle)),
        ),
        () if record is None else tuple(_staff(record)),
        _grid(release),
        (say("Every file is as its manifest lists it."), *adds_up(release)),
    )


def _staff(record: Mapping[str, object]) -> list[tuple[str, str]]:
    """What the dossier says of how it came about."""
    verdict, audit = record.get("verdict"), record.get("audit")
    said = verdict.get("staff", "") if isinstance(verdict, dict) else ""
    tried = audit if isinstance(audit, dict) else {}
    return [
        (say("Verdict with the contributions"), str(said)),
        (say("Rules"), _listed(record.get("rules"))),
        (say("How weights are read"), str(record.get("weights", ""))),
        (say("Hidden as unsafe"), str(record.get("primary", ""))),
        (say("Hidden to protect others"), str(record.get("secondary", ""))),
        (say("Value of these"), str(record.get("hidden_value", ""))),
        (
            say("Readers tried, and pairs of a reader and a sum"),
            f"{tried.get('readers', '')}, {tried.get('items', '')}",
        ),
        (say("Decisions"), _listed(record.get("decisions"))),
        (say("Prepared by"), str(record.get("prepared_by", ""))),
        (say("Approved by"), str(record.get("approved_by", ""))),
    ]


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
        return GridCell(release.written(at))

    domain = Domain(
        tuple(Variable(axis.variable.name, tuple(axis.written)) for axis in release.axes)
    )
    return grid(domain, cell)
