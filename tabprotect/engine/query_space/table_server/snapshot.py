"""The state of a table server as JSON values, so that a start need not read a long log."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

from tabprotect.engine.decoding import decoded
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.table_server.decision import ServerState


@dataclass(frozen=True)
class Snapshot:
    """The state of a server after a log. Confidential."""

    released: tuple[Query, ...]
    unreleasable: tuple[Query, ...]
    proved: tuple[Query, ...]
    told: tuple[Query, ...]
    demand: tuple[tuple[Query, int], ...]
    bundles: tuple[tuple[Query, str], ...]
    frozen: bool
    perturbed: str
    settings: str


def snapshot(state: ServerState) -> dict[str, object]:
    """A :class:`Snapshot` as JSON values."""
    releases = state.releases
    said = Snapshot(
        tuple(releases.released),
        tuple(releases.unreleasable),
        tuple(releases.proved),
        tuple(state.refused),
        tuple(state.demand.items()),
        tuple(state.bundles.items()),
        state.frozen,
        state.perturbed,
        state.settings,
    )
    return asdict(said)


def restored(start: ServerState, kept: object, progress: Progress = SILENT) -> ServerState:
    """The server stored by :func:`snapshot`, under the same settings."""
    said = decoded(kept, Snapshot)
    first = start.releases
    lattice = first.evidence.lattice
    released = Frontier(lattice, said.released, upward=False)
    unreleasable = Frontier(lattice, said.unreleasable, upward=True)
    proved = Frontier(lattice, said.proved, upward=True)
    releases = first.resumed(released, unreleasable, proved, progress)
    return replace(
        start,
        releases=releases,
        demand=MappingProxyType(dict(said.demand)),
        bundles=MappingProxyType(dict(said.bundles)),
        refused=Frontier(lattice, said.told, upward=True),
        frozen=said.frozen,
        perturbed=said.perturbed,
        settings=said.settings,
    )
