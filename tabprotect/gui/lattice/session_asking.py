"""A table-server session for the window: asked in workers, its history read back after each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.query_space_state import evidence_of, standard_of
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.registered import rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import Answer, Request, ServerState
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say

if TYPE_CHECKING:
    from tabprotect.engine.query_space.table_server.log_entry import LogEntry


@dataclass(frozen=True)
class Served:
    """The history, and the released set after each of its entries.

    Attributes
    ----------
    states
        One more than ``entries``: before the first, after the first, ...
    answer, tables
        What the last request got, and the tables given out with it.
    """

    entries: tuple[LogEntry, ...]
    states: tuple[ReleaseSet, ...]
    answer: Answer | None = None
    tables: tuple[Table, ...] = ()


class Serving:
    """One session on one table. Its methods run in a worker, one at a time."""

    def __init__(
        self,
        project: Project,
        url: str,
        rule: str,
        values: Mapping[str, object],
        progress: Progress,
    ) -> None:
        # The database library would cost every start of the window most of a second.
        from tabprotect.engine.query_space.table_server.ledger import Ledger
        from tabprotect.engine.query_space.table_server.session import ServerSession

        if not url.strip():
            raise InputError(
                say("a session needs a place for its history"),
                hint="name a file, or a database such as postgresql+psycopg://host/name",
            )
        table = project.original
        standard = standard_of(project.plan, evidence_of(project, progress))
        self._start = ReleaseSet.begin(standard, progress=progress)
        self.table = table
        self.ledger = Ledger(url.strip(), table)
        try:
            state = ServerState.begin(self._start, rules()[rule], values)
            self.session = ServerSession(self.ledger, state, progress)
        finally:
            # No connection stays open between two requests; the next one opens its own.
            self.ledger.close()

    def history(self, progress: Progress) -> Served:
        """All that was asked so far, by this session and by others."""
        from tabprotect.engine.query_space.table_server.session import replay

        try:
            found = list(replay(self.ledger, self._start, progress=progress))
        finally:
            self.ledger.close()
        states = [self._start, *(state for _, state in found)]
        return Served(tuple(entry for entry, _ in found), tuple(states))

    def ask(self, user: str, query: Query, progress: Progress) -> Served:
        """Ask; the decision is in the history before this returns."""
        try:
            answer = self.session.ask(Request(user, query), progress).answer
        finally:
            self.ledger.close()
        served = self.history(progress)
        names = self.session.state.releases.evidence.lattice.names_of
        tables = tuple(self.table.margin(names(q)) for q in answer.queries if q)
        return Served(served.entries, served.states, answer, tables)
