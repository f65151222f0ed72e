"""What a table server gives out: releases of the method ``publish_margins``. Public."""

from __future__ import annotations

from tabprotect.engine.protection.methods.publish_margins import (
    BOUNDS,
    FRONTIER,
    PROVED,
    THEN,
    THRESHOLD,
)
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.table_server.fold import ServerState
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published import PublishedTable
from tabprotect.engine.release.release import Release


def release_of(state: ServerState, query: Query, title: str) -> Release:
    """The release that a released sub-table goes out in; it depends on nothing that comes later.

    What judged it is stated: the criterion with its threshold where that proved it safe together
    with all that was out, or a rule that looks at no original.

    Parameters
    ----------
    query
        Of at least one variable.
    """
    releases = state.releases
    evidence = releases.evidence
    names = evidence.lattice.names_of(query)
    parameters: dict[str, object] = {
        MARGINS.name: ":".join(f"`{name}`" for name in names),
        THRESHOLD.name: releases.threshold,
        BOUNDS.name: releases.bounds,
        THEN.name: "",
    }
    if state.rule.simulatable:
        parameters["criterion"] = state.rule.name
    else:
        parameters["criterion"] = releases.criterion.name
        parameters["at_risk"] = str(evidence.cells.rule)
        parameters[PROVED] = True
    parameters[FRONTIER] = [list(names)]
    table = evidence.cells.table
    mechanism = Mechanism("publish_margins", table.domain, parameters)
    return Release((PublishedTable(table.margin(names)),), mechanism, title)
