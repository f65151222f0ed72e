"""The desk: one table with its history, asked by many at once. Confidential inside."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle import public as bundle
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.query_space.evidence import Evidence
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.query_space.registered import criteria, rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.answers import release_of
from tabprotect.engine.query_space.table_server.database import Entry, Ledger
from tabprotect.engine.query_space.table_server.fold import (
    LogLine,
    Request,
    ServerState,
)
from tabprotect.engine.query_space.table_server.session import Answered, Sealed, ServerSession
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.server.service import Service


@dataclass(frozen=True)
class Given:
    """A sub-table that goes out, with the bundle it is in. Public."""

    query: Query
    table: Table
    fingerprint: str
    kind: Literal["table", "perturbed"]


class Desk:
    """One table, served. Safe to use from several threads.

    Parameters
    ----------
    service
        What is fixed.
    url
        The database of the history.

    Raises
    ------
    InputError, InfeasibleError
        When the table, the criterion or the database cannot be used.
    """

    def __init__(self, service: Service, url: str, progress: Progress = SILENT) -> None:
        opened = open_table(service.table.source, progress=progress)
        source = service.table.source
        name = source.removeprefix(PREFIX) if source.startswith(PREFIX) else "table"
        self.id = service.table.id or name
        self.label = service.table.label or opened.title or self.id
        self.service = service
        self.domain: Domain = opened.table.domain
        choice = service.criterion
        at_risk = SmallCount.parse(service.table.at_risk)
        if choice.cells == "all":
            at_risk = SmallCount(0, INT64_MAX // 4)
        evidence = Evidence.gather(opened.table, at_risk, progress=progress)
        releases = ReleaseSet.begin(
            evidence,
            criteria()[choice.name],
            choice.threshold,
            bounds=choice.bounds,
            progress=progress,
        )
        rule = rules()[service.rule.name]
        self._start = ServerState.begin(releases, rule, service.rule.parameters)
        self._lock = threading.Lock()
        # Held here, not by the functions: they go with the desk.
        self._margin = lru_cache(maxsize=256)(self._summed)
        self._perturbed = lru_cache(maxsize=1)(self._opened)
        self._ledger = Ledger(url, opened.table)
        try:
            self._session = ServerSession(self._ledger, self._start, progress, publish=self._sealed)
            self._told_settings()
        except BaseException:
            self._ledger.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self._ledger.close()

    @property
    def lattice(self) -> Lattice:
        """The query space."""
        return self._ledger.lattice

    @property
    def state(self) -> ServerState:
        """What has been decided so far, as far as this process knows. Confidential."""
        return self._session.state

    @cached_property
    def disallowed(self) -> Query:
        """Variables that are not offered: the house says so, or they can never pass."""
        found = self.lattice.query(self.service.table.disallowed)
        if not self._start.rule.simulatable:
            for v in range(self.lattice.variables):
                if not self._start.releases.allows(1 << v):
                    found |= 1 << v
        return found

    def cells(self, query: Query) -> int:
        """How many cells a sub-table has."""
        return self.domain.project(self.lattice.names_of(query)).size

    def ask(self, user: str, query: Query) -> Answered:
        """Decide on a request; on return the decision is in the log.

        Raises
        ------
        InputError
            When the database cannot be used: nothing was decided.
        """
        with self._lock:
            self._session.catch_up()
            return self._session.ask(Request(user, query))

    def known(self, query: Query) -> Given | None:
        """What a sub-table was answered with before, by whomever; ``None`` if it was not."""
        given = self._known(query)
        if given is None:
            with self._lock:
                self._session.catch_up()
            given = self._known(query)
        return given

    def given(self, answered: Answered) -> Given | None:
        """What goes out with an answer; ``None`` where none of the asked table does."""
        return self._known(answered.answer.query)

    def entry(self, number: int) -> Entry | None:
        """A line of the log."""
        return self._ledger.entry(number) if 0 < number < 2**31 else None

    def bundle(self, fingerprint: str) -> bytes | None:
        """A bundle that went out."""
        return self._ledger.bundle(fingerprint)

    @property
    def secret(self) -> bytes:
        """What the servers of this history sign with. Confidential."""
        return self._ledger.secret

    def queries_of(self, user: str) -> list[Entry]:
        """The latest queries of one user, the latest first."""
        return self._ledger.of_user(user)

    def refresh(self) -> ServerState:
        """The state with what other processes have decided."""
        with self._lock:
            self._session.catch_up()
            return self._session.state

    def _known(self, query: Query) -> Given | None:
        state = self._session.state
        mark = state.bundles.get(query)
        if mark is not None:
            return Given(query, self._margin(query), mark, "table")
        if state.perturbed and query not in state.releases.released:
            names = self.lattice.names_of(query)
            perturbed = self._perturbed(state.perturbed)
            return Given(query, perturbed.margin(names), state.perturbed, "perturbed")
        return None

    def _summed(self, query: Query) -> Table:
        return self._start.releases.evidence.cells.table.margin(self.lattice.names_of(query))

    def _opened(self, fingerprint: str) -> Table:
        content = self._ledger.bundle(fingerprint)
        assert content is not None, "a frozen frontier has its table in the same transaction"
        return verify_bytes(content).release.table

    def _release(self, query: Query) -> Release:
        title = f"{self.label}: {self.lattice.text(query)}"
        return release_of(self._start, query, title)

    def _sealed(self, query: Query) -> Sealed:
        signing = Path(self.service.access.signing) if self.service.access.signing else None
        content = bundle.verified_bytes(self._release(query), signing=signing)
        return Sealed(archive.sha256(content), content)

    def _told_settings(self) -> None:
        """A change of what is fixed is an event in the history."""
        mark = self.service.fingerprint
        said = json.dumps(self.service.settings, sort_keys=True, ensure_ascii=False)

        def changed(state: ServerState) -> LogLine | None:
            return None if state.settings == mark else LogLine("", 0, "settings", None, mark, said)

        self._session.record(changed)
