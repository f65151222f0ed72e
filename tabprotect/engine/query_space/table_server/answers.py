"""What a table server gives out: releases of the method ``publish_margins``. Public."""

from __future__ import annotations

from dataclasses import replace

from tabprotect.engine.protection.methods.publish_margins import BOUNDS, CELLS, PROVED, THRESHOLD
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.originals import margins_release
from tabprotect.engine.query_space.table_server.fold import ServerState
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
    cells = releases.evidence.cells
    said: dict[str, object] = {
        THRESHOLD.name: releases.threshold,
        BOUNDS.name: releases.bounds,
        CELLS.name: cells.judged,
    }
    if state.rule.simulatable:
        said["criterion"] = state.rule.name
    else:
        said["criterion"] = releases.criterion.name
        said["at_risk"] = str(cells.at_risk)
        said[PROVED] = True
    frontier = Frontier.below(cells.lattice.variables, [query])
    release = margins_release(cells.table, cells.lattice, frontier, **said)
    return replace(release, title=title)
