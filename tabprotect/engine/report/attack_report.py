"""The report of an attack on published tables. Public: it holds what anybody can work out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.attack.attack import Way
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.attacked_files import AttackedFiles
from tabprotect.engine.report.report import page_bytes, rendered
from tabprotect.engine.report.svg_figures import count_text
from tabprotect.languages.messages import in_100, joined, message, plural
from tabprotect.languages.translation import figures_apart

PRINTED = 2_000
"""Most cells that are printed, the surest first; ``--json`` has all."""

WAYS: Mapping[Way, str] = {
    "proved": message("proved: no other count fits"),
    "joint": message("all numbers together"),
    "least_squares": message("least squares"),
}


@dataclass(frozen=True)
class CellLine:
    """The line of a report about one cell."""

    labels: tuple[str, ...]
    published: str
    count: str
    belief: str
    way: str
    known: bool


@dataclass(frozen=True)
class AttackEdition:
    """The contents of the template.

    Attributes
    ----------
    facts
        Names and values at the top.
    verdict
        How many counts can be known, in a sentence.
    state
        ``failed`` where any can.
    names
        The variables.
    cells
        The cells, the surest first.
    further
        Number of cells that are not printed.
    notes
        What was found out on the way.
    """

    facts: tuple[tuple[str, str], ...]
    verdict: str
    state: str
    names: tuple[str, ...]
    cells: tuple[CellLine, ...]
    further: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class AttackReport:
    """The report as one page of HTML."""

    html: str

    def as_bytes(self, path: Path) -> bytes:
        """HTML or PDF by the suffix of a path; raises ``InputError`` for another one."""
        return page_bytes(self.html, path)

    def write(self, path: Path) -> None:
        """Write it; raises ``InputError`` for a suffix that is neither ``.html`` nor ``.pdf``."""
        write_bytes(path, self.as_bytes(path))


@figures_apart()
def attack_report(attacked: AttackedFiles) -> AttackReport:
    """The report of an attack."""
    found, shown = attacked.found, attacked.shown
    domain, ways = found.numbers.domain, found.ways()
    value, belief = found.cells.most_likely()
    known, proved = found.known(BELIEF_LIMIT), ways.count("proved")
    surest = np.argsort(-belief, kind="stable")[:PRINTED]
    cells = tuple(
        CellLine(
            domain.labels(domain.unflat(cell)),
            "" if shown[cell] < 0 else count_text(int(shown[cell])),
            count_text(int(value[cell])) if belief[cell] else "?",
            in_100(float(belief[cell])) if belief[cell] else "",
            WAYS[ways[cell]],
            bool(belief[cell] > BELIEF_LIMIT),
        )
        for cell in surest.tolist()
    )
    of_hidden = found.of_hidden(shown, BELIEF_LIMIT)
    hidden, known, proved = (0, known, proved) if of_hidden is None else of_hidden
    verdict = (
        plural(
            hidden,
            "{known:,} of {hidden:,} hidden count can be known (more than {limit} sure); {proved:,} of these proved.",
            "{known:,} of {hidden:,} hidden counts can be known (more than {limit} sure); {proved:,} of these proved.",
            known,
            hidden,
            in_100(BELIEF_LIMIT),
            proved,
        )
        if of_hidden is not None
        else plural(
            known,
            "{known:,} of {size:,} counts can be known (more than {limit} sure); {proved:,} of these is proved.",
            "{known:,} of {size:,} counts can be known (more than {limit} sure); {proved:,} of these are proved.",
            known,
            domain.size,
            in_100(BELIEF_LIMIT),
            proved,
        )
    )
    edition = AttackEdition(
        facts=(
            (message("Files"), joined(attacked.sources, ", ")),
            (message("Method as stated"), attacked.said),
            (message("Published numbers"), count_text(found.numbers.numbers)),
            (message("Inner cells"), count_text(domain.size)),
            (message("Published as they are"), count_text(int(found.published_exactly().sum()))),
        ),
        verdict=verdict,
        state="failed" if known else "passed",
        names=domain.names,
        cells=cells,
        further=domain.size - len(cells),
        notes=found.notes,
    )
    return AttackReport(rendered("attack.html", edition))
