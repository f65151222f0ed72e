"""The state of a table server as JSON values, so that a start need not read a long log."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.table_server.decision import ServerState


def snapshot(state: ServerState) -> dict[str, object]:
    """What a log has made of a server. Confidential."""
    releases = state.releases
    return {
        "released": list(releases.released),
        "unreleasable": list(releases.unreleasable),
        "proved": list(releases.proved),
        "told": list(state.refused),
        "demand": [[query, count] for query, count in state.demand.items()],
        "bundles": [[query, mark] for query, mark in state.bundles.items()],
        "frozen": state.frozen,
        "perturbed": state.perturbed,
        "settings": state.settings,
    }


def restored(start: ServerState, kept: object, progress: Progress = SILENT) -> ServerState:
    """The server that :func:`snapshot` told of, under the same settings."""
    said = cast(dict[str, Any], kept)
    first = start.releases
    lattice = first.evidence.lattice
    released = Frontier(lattice, tuple(said["released"]), upward=False)
    unreleasable = Frontier(lattice, tuple(said["unreleasable"]), upward=True)
    proved = Frontier(lattice, tuple(said["proved"]), upward=True)
    releases = first.resumed(released, unreleasable, proved, progress)
    return replace(
        start,
        releases=releases,
        demand=MappingProxyType(dict(said["demand"])),
        bundles=MappingProxyType(dict(said["bundles"])),
        refused=Frontier(lattice, tuple(said["told"]), upward=True),
        frozen=bool(said["frozen"]),
        perturbed=str(said["perturbed"]),
        settings=str(said["settings"]),
    )
