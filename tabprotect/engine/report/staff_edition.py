"""The staff edition: a full account of a release, from its dossier. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bundle.staff.confidential import Dossier, DossierStep
from tabprotect.engine.bundle.staff.release_findings import (
    headline,
    honesty,
    magnitude_headline,
    magnitude_protection,
    protection,
)
from tabprotect.engine.bundle.verify import Verification
from tabprotect.engine.disclosure.magnitude_verdict import sentences
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.findings import Finding, FindingGroup
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.report import svg_figures
from tabprotect.engine.report.printed_grids import (
    MOST_CELLS,
    Grid,
    GridCell,
    grid,
    magnitude_grid,
    published_grid,
)
from tabprotect.engine.report.public_edition import MOST_TABLES, PublicEdition, public_edition, size_text
from tabprotect.engine.report.register_section import RegisterSection
from tabprotect.engine.tables.domain import Index
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True)
class StaffEdition:
    """The contents of the staff template.

    Attributes
    ----------
    public
        The public edition, with which this one begins.
    facts
        Names and values for the cover.
    verdict
        The verdict on what readers learn, judged again.
    staff
        The verdict's figures for staff.
    result
        The result of the run, in a sentence.
    figure
        The chart of the main table's cells by the change of their count; ``None`` for magnitudes.
    tables
        The tables before and after protection.
    parameters
        The confidential parameters: label and value.
    groups
        The lines of the checks.
    decisions
        The decisions against the program's advice.
    register
        The earlier releases.
    signatures
        Who prepared and who approved it; empty for those who sign on paper.
    steps
        The steps, with their times.
    """

    public: PublicEdition
    facts: tuple[tuple[str, str], ...]
    verdict: Finding
    staff: str
    result: str
    figure: Markup | None
    tables: tuple[Grid, ...]
    parameters: tuple[tuple[str, str], ...]
    groups: tuple[FindingGroup, ...]
    decisions: tuple[str, ...]
    register: RegisterSection
    signatures: tuple[str, str]
    steps: tuple[DossierStep, ...]


def staff_edition(
    dossier: Dossier, found: Verification, register: RegisterSection, made: date, progress: Progress = SILENT
) -> StaffEdition:
    """The staff edition of a dossier and of the bundle in it.

    Raises
    ------
    Interrupted
        When cancelled while judging what readers learn.
    """
    protected, public = dossier.protected, public_edition(found, made)
    record, problem, release = protected.record, protected.record.problem, protected.release
    magnitudes = problem.magnitudes
    if magnitudes is not None:
        judged = protected.verdict
        facts = (*public.facts[:2], *_of_magnitudes(protected, magnitudes), *public.facts[2:])
        line = magnitude_headline(judged, staff=True, published=record.overruled)
        groups = (magnitude_protection(protected, judged), honesty(protected), public.checks)
        staff, result, figure = "", joined(sentences(protected), " "), None
        tables: tuple[Grid, ...] = (
            magnitude_grid(release.magnitude_table, magnitudes.table, record.primary),
        )
        method: Method = methods("magnitudes")[release.mechanism.method]
    else:
        summary, domain = summarise(protected), problem.table.domain
        # A verdict still in memory is the same; a dossier is judged again.
        found_again = record.verdict
        if found_again is None:
            found_again = verdict(release, original=problem.table, progress=progress)
        facts = (
            (message("Original"), message("{names}: {domain}", ", ".join(domain.names), size_text(domain))),
            (
                message("Sum of the original"),
                message("{total} records", svg_figures.count_text(problem.table.total)),
            ),
            (message("Small counts"), message("counts of {words}", problem.at_risk.words)),
            (message("True small counts"), svg_figures.count_text(summary.at_risk_cells)),
            *public.facts[2:],
        )
        line = headline(found_again, published=record.overruled)
        groups = (protection(protected, summary, found_again), honesty(protected), public.checks)
        staff = "" if found_again.staff is None else found_again.staff.finding.text
        result, figure = summary.sentence, svg_figures.change_bars(_moved(protected))
        tables = tuple(_before_and_after(protected, p) for p in release.tables[:MOST_TABLES])
        method = methods()[release.mechanism.method]
    return StaffEdition(
        public=public,
        facts=facts,
        verdict=line,
        staff=staff,
        result=result,
        figure=figure,
        tables=tables,
        parameters=_kept(method, record.parameters),
        groups=groups,
        decisions=record.decisions,
        register=register,
        signatures=(record.prepared_by, record.approved_by),
        steps=dossier.steps,
    )


def _truth(protected: Protected, published: PublishedTable) -> Ints:
    """A published table as it is without protection."""
    problem, mechanism = protected.record.problem, protected.release.mechanism
    return problem.unprotected(
        published.table.domain,
        groupings_of(problem.table.domain, mechanism.values),
        weighted=methods()[mechanism.method].weighted(mechanism.values),
    ).counts


def _moved(protected: Protected) -> Ints:
    main = protected.release.tables[0]
    moved: Ints = (main.table.counts - _truth(protected, main))[~main.hidden]
    return moved


def _before_and_after(protected: Protected, published: PublishedTable) -> Grid:
    """Each cell as "true → published", at-risk cells marked; a single count if both agree."""
    if published.table.domain.size > MOST_CELLS:
        return published_grid(published)
    truth, problem = _truth(protected, published), protected.record.problem
    at_risk = _at_risk(problem, published, protected)

    def cell(index: Index) -> GridCell:
        before, after = int(truth[index]), int(published.table.counts[index])
        kind = "risk" if at_risk[index] else ""
        if published.hidden[index]:
            return GridCell(f"{svg_figures.count_text(before)} → \N{MULTIPLICATION SIGN}", kind)
        if before == after:
            return GridCell(svg_figures.count_text(before), f"{kind} same".strip())
        return GridCell(f"{svg_figures.count_text(before)} → {svg_figures.count_text(after)}", kind)

    return grid(published.table.domain, cell)


def _at_risk(problem: Problem, published: PublishedTable, protected: Protected) -> Bools:
    """The rule is about numbers of records, even if estimates are published."""
    groupings = groupings_of(problem.table.domain, protected.release.mechanism.values)
    return problem.at_risk.mask(problem.unprotected(published.table.domain, groupings).counts)


def _kept(method: Method, given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """The confidential parameters; large ones by their kind."""
    return tuple(
        (p.label, str(given[p.name]))
        for p in method.parameters
        if not p.public and isinstance(given.get(p.name), (bool, int, float, str)) and given[p.name] != ""
    )


WEIGHTS = {
    "sample": message("weights of a sample"),
    "replicate": message("weights stand for equal others"),
    "known": message("weighted contributions are known"),
}


def _of_magnitudes(protected: Protected, problem: MagnitudeProblem) -> tuple[tuple[str, str], ...]:
    """What the house knows of how a release of magnitudes came about."""
    findings, audit = protected.record.findings, protected.verdict.audit
    tried = ("", "") if audit is None else (_figure(audit.readers), _figure(audit.items))
    rows = [
        (message("Rules"), joined((rule.written for rule in problem.rules), "; ")),
        (message("How weights are read"), WEIGHTS[problem.weights] if problem.table.weighted else ""),
        (message("Hidden as unsafe"), _figure(findings.get("primary"))),
        (message("Hidden to protect others"), _figure(findings.get("secondary"))),
        (message("Value of these"), _figure(findings.get("hidden_value"))),
        (message("Readers tried"), tried[0]),
        (message("Pairs of a reader and a sum"), tried[1]),
    ]
    return tuple((name, value) for name, value in rows if value)


def _figure(value: object) -> str:
    return svg_figures.count_text(value) if isinstance(value, int) else str(value or "")
