"""The answers of a table server: releases of the method ``publish_margins``. Public."""

from __future__ import annotations

from tabprotect.engine.protection.methods.publish_margins import (
    BOUNDS,
    CELLS,
    FRONTIER,
    PROVED,
    THEN,
    THRESHOLD,
)
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.table_server.decision import ServerState
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.table import Table


def release_of(state: ServerState, query: Query, table: Table, title: str) -> Release:
    """The release in which a released sub-table is published; nothing that comes later changes it.

    It states what judged it: the criterion with its threshold, if that proved it safe together
    with all released before, or a rule that looks at no original.

    Parameters
    ----------
    query
        Has at least one variable.
    table
        Its true counts.
    """
    releases = state.releases
    cells = releases.evidence.cells
    margin = cells.lattice.names_of(query)
    said: dict[str, object] = {
        MARGINS.name: ":".join(map(in_formula, margin)),
        THRESHOLD.name: releases.threshold,
        BOUNDS.name: releases.bounds,
        CELLS.name: cells.judged,
        THEN.name: "",
        "criterion": state.rule.name if state.rule.simulatable else releases.criterion.name,
        FRONTIER: [list(margin)],
    }
    if not state.rule.simulatable:
        said |= {"at_risk": str(cells.at_risk), PROVED: True}
    domain = cells.table.domain
    # In a table that nobody could lay out, only the given variables are described.
    described = domain.project(margin) if domain.wide else domain
    mechanism = Mechanism("publish_margins", described, said)
    return Release((PublishedTable(table),), mechanism, title)
