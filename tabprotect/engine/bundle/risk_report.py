"""The dossier's report: what was at risk, what became of it, and what was decided."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from tabprotect.engine.budgets import RISK_REPORT_CELLS as MOST_CELLS
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.bundle.check_lines import CheckGroup, headline, honesty, protection
from tabprotect.engine.protection.descriptions.summary import summarise
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Index


class _Cell(NamedTuple):
    """An at-risk cell; ``unprotected`` is what its true count stands for."""

    at: Index
    original: int
    unprotected: int
    published: int | None


def risk_json(protected: Protected) -> bytes:
    """The report as data; each at-risk cell stands on a line of its own."""
    record, release = protected.record, protected.release
    told = {
        "confidential": True,
        "title": release.title,
        "at_risk_rule": str(record.problem.at_risk),
        "result": summarise(protected).as_json(),
        "verdict": None if record.verdict is None else record.verdict.as_json(),
        "decisions": list(record.decisions),
        "findings": dict(record.findings),
        "at_risk_cells": [],
    }
    domain, cells = protected.record.problem.table.domain, _cells(protected, MOST_CELLS)
    quoted = [[json.dumps(c, ensure_ascii=False) for c in v.categories] for v in domain.variables]
    lines = ",\n".join(
        f'    {{"index": {list(index)}, "labels": [{", ".join(map(list.__getitem__, quoted, index))}], '
        f'"original": {original}, "unprotected": {unprotected}, '
        f'"published": {"null" if published is None else published}}}'
        for index, original, unprotected, published in cells
    )
    listed = f"[\n{lines}\n  ]\n}}\n".encode(errors="backslashreplace")
    return dump_json(told).removesuffix(b"[]\n}\n") + listed


def _cells(protected: Protected, most: int) -> list[_Cell]:
    problem, inner = protected.record.problem, protected.release.inner
    original, mechanism = problem.table.counts, protected.release.mechanism
    weighted = methods()[mechanism.method].weighted(mechanism.values)
    unprotected = problem.unprotected(problem.table.domain, weighted=weighted).counts
    mask = problem.at_risk.mask(original)
    at = np.flatnonzero(mask)[:most]
    published: list[int | None] = [None] * len(at)
    if inner is not None:
        shown = inner.table.counts.reshape(-1)[at].tolist(), inner.hidden.reshape(-1)[at].tolist()
        published = [None if hidden else count for count, hidden in zip(*shown, strict=True)]
    counts = original.reshape(-1)[at].tolist(), unprotected.reshape(-1)[at].tolist()
    indices = map(tuple, np.argwhere(mask)[:most].tolist())
    return list(map(_Cell, indices, *counts, published))


def risk_text(protected: Protected) -> str:
    """The report for people."""
    record = protected.record
    found, domain = record.verdict, record.problem.table.domain
    cells = _cells(protected, 200)
    number = int(record.problem.at_risk.mask(record.problem.table.counts).sum())
    lines = [
        "# CONFIDENTIAL: risk report",
        "",
        protected.release.title or "(no title)",
        "",
        f"At risk: counts of {record.problem.at_risk}.",
        "",
        *([] if found is None else [f"**{headline(found).text}**", ""]),
        *_group(protection(protected, summarise(protected), found)),
        *_group(honesty(protected)),
        "| at-risk cell | original | published |",
        "|---|---:|---:|",
        *(
            f"| {', '.join(domain.labels(c.at))} | {_original(c)} "
            f"| {'not published' if c.published is None else c.published} |"
            for c in cells
        ),
    ]
    if number > len(cells):
        lines.append(f"| ... {number - len(cells):,} more in risk_report.json | | |")
    return "\n".join(lines) + "\n"


def _original(cell: _Cell) -> str:
    """The true count; with what it stands for where estimates are published."""
    count, shown = cell.original, cell.unprotected
    return str(count) if count == shown else f"{count} ({shown} weighted)"


def _group(group: CheckGroup) -> list[str]:
    lines = (f"- {line.state}: {line.text}" for line in group.lines)
    return [f"## {group.title}", "", *lines, ""]
