"""The dossier's report: what was at risk, how it was protected, and what was decided."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import RISK_REPORT_CELLS
from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.bundle.staff.release_findings import (
    headline,
    honesty,
    magnitude_headline,
    magnitude_protection,
    protection,
)
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.descriptions.run_summary import RunSummary
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.findings import FindingGroup
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True)
class _Cells:
    """The at-risk cells in the table's order; ``unprotected`` holds what the true counts stand for."""

    codes: tuple[Ints, ...]
    original: list[int]
    unprotected: list[int]
    published: list[int | None]

    @classmethod
    def of(cls, protected: Protected, most: int) -> _Cells:
        problem, inner = protected.record.problem, protected.release.inner
        original, mechanism = problem.table.counts, protected.release.mechanism
        weighted = methods()[mechanism.method].weighted(mechanism.values)
        unprotected = problem.unprotected(problem.table.domain, weighted=weighted).counts
        mask = problem.at_risk.mask(original)
        at = np.flatnonzero(mask)[:most]
        published: list[int | None] = [None] * len(at)
        if inner is not None:
            shown = inner.table.counts, inner.hidden
            pairs = zip(*(array.reshape(-1)[at].tolist() for array in shown), strict=True)
            published = [None if hidden else count for count, hidden in pairs]
        return cls(
            tuple(np.argwhere(mask)[:most].T),
            original.reshape(-1)[at].tolist(),
            unprotected.reshape(-1)[at].tolist(),
            published,
        )

    @property
    def counts(self) -> Iterator[tuple[int, int, int | None]]:
        """Return for each cell: the true count, what it stands for, and the published count."""
        return zip(self.original, self.unprotected, self.published, strict=True)


def risk_json(protected: Protected, summary: RunSummary) -> bytes:
    """The report as JSON, with each at-risk cell on a line of its own."""
    record, release = protected.record, protected.release
    data = {
        "confidential": True,
        "title": release.title,
        "at_risk_rule": str(record.problem.at_risk),
        "result": summary,
        "verdict": record.verdict,
        "decisions": list(record.decisions),
        "findings": dict(record.findings),
        "groups": [asdict(group) for group in _groups(protected, summary)],
        "at_risk_cells": [],
    }
    cells = _Cells.of(protected, RISK_REPORT_CELLS)
    # Assembled by columns, because a hundred thousand cells may be listed.
    variables = record.problem.table.domain.variables
    quoted = [[json.dumps(c, ensure_ascii=False) for c in v.categories] for v in variables]
    numbers = [list(map(str, range(len(texts)))) for texts in quoted]
    between = f"], {json.dumps('labels')}: ["
    columns = ['    {"index": ['], *_listed(numbers, cells), [between], *_listed(quoted, cells)
    pieces = np.empty((len(cells.original), len(columns) + 1), dtype=np.object_)
    for number, column in enumerate(columns):
        pieces[:, number] = column
    pieces[:, -1] = list(itertools.starmap(_end, cells.counts))
    lines = "".join(pieces.reshape(-1).tolist()).removesuffix(",\n")
    listed = f"[\n{lines}\n  ]\n}}\n".encode(errors="backslashreplace")
    return dump_json(data).removesuffix(b"[]\n}\n") + listed


@lru_cache(maxsize=4096)
def _end(original: int, unprotected: int, published: int | None) -> str:
    counts = {"original": original, "unprotected": unprotected, "published": published}
    return f"], {json.dumps(counts)[1:]},\n"


def _listed(texts: Sequence[Sequence[str]], cells: _Cells) -> list[npt.NDArray[np.object_]]:
    """The JSON text of each category by axis, with a leading comma except on the first axis."""
    return [
        np.array([f", {text}" if axis else text for text in known], dtype=np.object_)[codes]
        for axis, (known, codes) in enumerate(zip(texts, cells.codes, strict=True))
    ]


def risk_text(protected: Protected, summary: RunSummary) -> str:
    """The report for people."""
    record = protected.record
    found, domain = record.verdict, record.problem.table.domain
    cells = _Cells.of(protected, 200)
    labels = [domain.labels(index) for index in zip(*cells.codes, strict=True)] or [()]
    number = int(record.problem.at_risk.mask(record.problem.table.counts).sum())
    lines = [
        message("# CONFIDENTIAL: risk report"),
        "",
        protected.release.title or message("(no title)"),
        "",
        message("Small: counts of {words}.", record.problem.at_risk.words),
        "",
        *([] if found is None else [f"**{headline(found).text}**", ""]),
        *(line for group in _groups(protected, summary) for line in _listed_group(group)),
        message("| small count | original | published |"),
        "|---|---:|---:|",
        *(
            message(
                "| {named} | {original} | {value} |",
                ", ".join(named),
                str(original)
                if original == unprotected
                else message("{original} ({unprotected} weighted)", original, unprotected),
                message("not published") if published is None else published,
            )
            for named, (original, unprotected, published) in zip(labels, cells.counts, strict=False)
        ),
    ]
    if number > len(cells.original):
        lines.append(message("| ... {number:,} more in risk_report.json | | |", number - len(cells.original)))
    return joined(lines, "\n") + "\n"


def _groups(protected: Protected, summary: RunSummary) -> tuple[FindingGroup, ...]:
    return protection(protected, summary, protected.record.verdict), honesty(protected)


def _listed_group(group: FindingGroup) -> list[str]:
    findings = (message("- {state}: {text}", one.state, one.text) for one in group.findings)
    return [f"## {group.title}", "", *findings, ""]


def magnitude_risk_json(done: Protected) -> dict[str, object]:
    """The report on magnitudes as JSON: every cell that is hidden, with its true value."""
    published, table = done.release.magnitude_table, _original(done)
    cells = np.flatnonzero(published.hidden | done.record.primary)[:RISK_REPORT_CELLS]
    return {
        "confidential": True,
        "title": done.release.title,
        "verdict": done.verdict,
        "decisions": list(done.record.decisions),
        "groups": [asdict(magnitude_protection(done, done.verdict))],
        "cells": [
            {
                "index": table.index(cell),
                "original": table.shown(int(table.cells.value[cell])),
                "published": published.written(cell) or None,
                "unsafe": bool(done.record.primary[cell]),
            }
            for cell in cells.tolist()
        ],
    }


def magnitude_risk_text(done: Protected) -> str:
    """The report on magnitudes for people."""
    published, table = done.release.magnitude_table, _original(done)
    cells = np.flatnonzero(published.hidden)
    lines = [
        message("# CONFIDENTIAL: risk report"),
        "",
        done.release.title or message("(no title)"),
        "",
        f"**{magnitude_headline(done.verdict, staff=True).text}**",
        "",
        *_listed_group(magnitude_protection(done, done.verdict)),
        *(message("- Decision: {text}", text) for text in done.record.decisions),
        "",
        message("| hidden sum | original | why |"),
        "|---|---:|---|",
        *(
            message(
                "| {named} | {original} | {why} |",
                ", ".join(table.index(cell).values()),
                table.shown(int(table.cells.value[cell])),
                message("tells too much") if done.record.primary[cell] else message("protects others"),
            )
            for cell in cells[:200].tolist()
        ),
    ]
    if len(cells) > 200:
        lines.append(message("| ... {number:,} more in risk_report.json | | |", len(cells) - 200))
    return joined(lines, "\n") + "\n"


def _original(done: Protected) -> MagnitudeTable:
    assert done.record.problem.magnitudes is not None
    return done.record.problem.magnitudes.table
