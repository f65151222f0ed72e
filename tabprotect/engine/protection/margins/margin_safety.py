"""Findings on margins to be published: the width they leave to the judged cells of the table."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tabprotect.engine.bounds import bounding
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.sensitivity.small_count import Judged, SmallCount, judged_counts
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BoundsWay
from tabprotect.languages.messages import message

MOST_TIGHT = 20
"""Most tight cells that are listed."""


CRITERION = "width"


_JUDGED: WeakKeyDictionary[Table, dict[object, Mapping[str, object]]] = WeakKeyDictionary()
"""Findings kept for each table while it is open: trial runs ask for them again."""


def margin_findings(
    problem: Problem,
    margins: MarginSet,
    *,
    threshold: int,
    way: BoundsWay = "auto",
    cells: Judged = "at_risk",
    progress: Progress = SILENT,
) -> Mapping[str, object]:
    """Findings that say whether the released margins are proved to leave wide enough bounds.

    Parameters
    ----------
    cells
        The judged ones: over all cells the finding depends on the margins alone.

    Returns
    -------
    ``criterion``, ``threshold``, ``width`` (``None`` where nothing is at risk; an upper limit
    unless ``exact``), ``exact``, ``proved``, ``tight`` (cells with their bounds), ``why``.
    """
    rule = judged_counts(problem.at_risk, cells, problem.table.total)
    known = _JUDGED.setdefault(problem.table, {})
    key = (margins, rule, threshold, way)
    if key not in known:
        known[key] = _judge(problem.table, rule, margins, threshold, way, progress)
    return known[key]


def _judge(
    table: Table, rule: SmallCount, margins: MarginSet, beta: int, way: BoundsWay, progress: Progress
) -> Mapping[str, object]:
    found: dict[str, object] = {"criterion": CRITERION, "threshold": beta}
    if rule.low > 0 and not rule.mask(table.cells[1]).any():
        why = message("No cell has a count in {rule}: there are no small counts.", rule)
        return found | {"width": None, "exact": True, "proved": True, "tight": [], "why": why}
    result = bounding.width(
        table, margins, cells=(rule.low, rule.high), beta=beta, search=bounding.Search(way), progress=progress
    )
    bounds, domain = result.tight, table.domain
    order: npt.NDArray[np.intp] = np.argsort(bounds.widths, kind="stable")[:MOST_TIGHT]
    tight = [
        {
            "cell": domain.cell_text(domain.unflat(int(bounds.cells[at]))),
            "lower": int(bounds.lower[at]),
            "upper": int(bounds.upper[at]),
        }
        for at in order
    ]
    safe = result.verdict == "safe"
    return found | {
        "width": result.width,
        "exact": result.exact,
        "proved": safe,
        "tight": [] if safe else tight,
        "why": result.why,
    }
