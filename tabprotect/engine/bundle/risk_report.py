"""The dossier's report: what was at risk, what became of it, and what was decided."""

from __future__ import annotations

import json

import numpy as np

from tabprotect.engine.budgets import RISK_REPORT_CELLS as MOST_CELLS
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.bundle.check_lines import CheckGroup, headline, honesty, protection
from tabprotect.engine.protection.descriptions.summary import summarise
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods


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
    lines = [json.dumps(cell, ensure_ascii=False) for cell in _cells(protected, MOST_CELLS)]
    cells = "".join(f"    {line},\n" for line in lines).removesuffix(",\n")
    end = "[]\n}\n"
    listed = f"[\n{cells}\n  ]\n}}\n".encode(errors="backslashreplace")
    return dump_json(told).removesuffix(end.encode()) + listed


def _cells(protected: Protected, most: int) -> list[dict[str, object]]:
    problem, inner = protected.record.problem, protected.release.inner
    original, mechanism = problem.table.counts, protected.release.mechanism
    weighted = methods()[mechanism.method].weighted(mechanism.values)
    unprotected = problem.unprotected(problem.table.domain, weighted=weighted).counts
    out: list[dict[str, object]] = []
    for found in np.argwhere(problem.at_risk.mask(original))[:most]:
        index = tuple(found.tolist())
        out.append(
            {
                "index": list(index),
                "labels": list(problem.table.domain.labels(index)),
                "original": int(original[index]),
                "unprotected": int(unprotected[index]),
                "published": None
                if inner is None or inner.hidden[index]
                else int(inner.table.counts[index]),
            }
        )
    return out


def risk_text(protected: Protected) -> str:
    """The report for people."""
    record = protected.record
    found = record.verdict
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
            f"| {', '.join(map(str, c['labels']))} | {_original(c)} "  # type: ignore[call-overload]
            f"| {'not published' if c['published'] is None else c['published']} |"
            for c in cells
        ),
    ]
    if number > len(cells):
        lines.append(f"| ... {number - len(cells):,} more in risk_report.json | | |")
    return "\n".join(lines) + "\n"


def _original(cell: dict[str, object]) -> str:
    """The true count; with what it stands for where estimates are published."""
    count, shown = cell["original"], cell["unprotected"]
    return str(count) if count == shown else f"{count} ({shown} weighted)"


def _group(group: CheckGroup) -> list[str]:
    lines = (f"- {line.state}: {line.text}" for line in group.lines)
    return [f"## {group.title}", "", *lines, ""]
