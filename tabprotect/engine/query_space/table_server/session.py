"""A table server session: requests answered from, and logged to, the table's history.

The decision is logged before the answer leaves. If two sessions write at once, the second to
log folds the first one's line in and decides anew: nothing is lost and nothing released twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from types import MappingProxyType

from tabprotect.engine.chained_log import NO_LINES, Head
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import Answer, LogLine, Request, ServerState, decide
from tabprotect.engine.query_space.table_server.ledger import Ledger, Taken
from tabprotect.engine.query_space.table_server.log_entry import LogEntry
from tabprotect.engine.query_space.table_server.refusal_price import Decision
from tabprotect.languages.messages import message


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
    decisions: tuple[tuple[Query, tuple[Query, ...], bool], ...]


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
        tuple((one.query, one.out, one.allowed) for one in state.decisions),
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
        decisions=tuple(Decision(*one) for one in said.decisions),
    )


SNAPSHOT_VERSION = 2
"""Version of a snapshot: one of another version is not read, and the log is folded from its start."""

SNAPSHOT_LINES = 1_000
"""Lines after which the state is stored again, so that a start folds no more than these."""


ATTEMPTS = 100
"""Decisions made anew because others were quicker, before giving up."""


@dataclass(frozen=True)
class Sealed:
    """A release bundle with its fingerprint. Public."""

    fingerprint: str
    content: bytes


Publish = Callable[[Query], Sealed]
"""Makes the bundle for a released sub-table; the same release gives the same bytes."""


@dataclass(frozen=True)
class Answered:
    """An answer and its place in the log."""

    answer: Answer
    entry: LogEntry


class ServerSession:
    """One user's or program's connection to a table server.

    Parameters
    ----------
    ledger
        The table's log; the session does not close it.
    start
        The server before any request: criterion, threshold, rule.
    publish
        Makes bundles; without it answers carry none.
    service
        Fingerprint of what else is fixed for the service; empty for none.
    """

    def __init__(
        self,
        ledger: Ledger,
        start: ServerState,
        progress: Progress = SILENT,
        *,
        publish: Publish | None = None,
        service: str = "",
    ) -> None:
        self._ledger = ledger
        self._publish = publish
        self._head = NO_LINES
        self.state = start
        settings = settings_of(start)
        text = json.dumps([SNAPSHOT_VERSION, settings], sort_keys=True, default=str)
        self._settings = hashlib.sha256(text.encode()).hexdigest()
        found = ledger.kept(self._settings)
        if found is not None:
            self._head = found[0]
            self.state = restored(start, found[1], progress)
        self.catch_up(progress)
        self.number = ledger.open_session(settings | ({"service": service} if service else {}))

    @property
    def length(self) -> int:
        """Number of log entries that this session knows of."""
        return self._head.lines

    def ask(self, request: Request, progress: Progress = SILENT) -> Answered:
        """Answer a request; on return the decision is in the log.

        Raises
        ------
        InputError
            If the database cannot be written: nothing is released then.
        """
        for _ in range(ATTEMPTS):
            answer, line = decide(self.state, request, progress)
            sealed = None
            if answer.kind == "perturbed":
                line = replace(line, bundle=self.state.perturbed)
            elif answer.kind == "table" and request.query in self.state.bundles:
                line = replace(line, bundle=self.state.bundles[request.query])
            elif answer.kind == "table" and self._publish is not None:
                sealed = self._publish(request.query)
                line = replace(line, bundle=sealed.fingerprint)
            entry = self._logged(line, sealed, progress)
            if entry is not None:
                return Answered(answer, entry)
        raise _too_busy()

    def record(
        self, make: Callable[[ServerState], LogLine | None], sealed: Sealed | None = None
    ) -> LogEntry | None:
        """Log an act of the house; ``make`` is called again if somebody else was quicker.

        Returns
        -------
        Entry or None
            ``None`` if ``make`` says that nothing is to be logged.
        """
        for _ in range(ATTEMPTS):
            line = make(self.state)
            if line is None:
                return None
            entry = self._logged(line, sealed, SILENT)
            if entry is not None:
                return entry
        raise _too_busy()

    def catch_up(self, progress: Progress = SILENT) -> None:
        """Fold in the lines that others have logged meanwhile.

        Raises
        ------
        InputError
            If the database cannot be read, or a line is not as it was logged.
        """
        block: list[LogLine] = []
        head = self._head
        for entry in followed(self._ledger, head):
            block.append(entry.line)
            head = entry.head
        if block:
            self.state = self.state.after(block, progress)
            self._head = head

    def _logged(self, line: LogLine, sealed: Sealed | None, progress: Progress) -> LogEntry | None:
        """Log a line; return its entry, or ``None`` if somebody else was quicker."""
        after = self.state.after([line], progress)
        try:
            entry = self._ledger.append(
                line,
                session=self.number,
                previous=self._head,
                content=None if sealed is None else sealed.content,
            )
        except Taken:
            self.catch_up(progress)
            return None
        self.state, self._head = after, entry.head
        if entry.number % SNAPSHOT_LINES == 0:
            self._ledger.keep(entry.head, self._settings, snapshot(self.state))
        return entry


def settings_of(start: ServerState) -> dict[str, object]:
    """The settings of a session, as JSON values."""
    releases = start.releases
    return {
        "criterion": releases.criterion.name,
        "threshold": releases.threshold,
        **releases.evidence.stated(),
        "bounds": releases.bounds,
        "rule": start.rule.name,
        "parameters": dict(start.values),
    }


def _too_busy() -> InputError:
    return InputError(
        message("other sessions are writing to this history all the time"), hint=message("try again later")
    )


def followed(
    ledger: Ledger, head: Head = NO_LINES, *, until: int | datetime | None = None
) -> Iterator[LogEntry]:
    """The log after an entry, with each line checked against the one before it.

    Raises
    ------
    InputError
        At the first line that is missing or not as it was logged.
    """
    for entry in ledger.entries(after=head.lines, until=until):
        if not entry.follows(head, ledger.lattice):
            raise InputError(
                message(
                    "the log has been tampered with: line {number} does not follow line {number2}",
                    entry.number,
                    head.lines,
                ),
                hint=message("put the database back from a copy; nothing is answered until then"),
            )
        yield entry
        head = entry.head


def replay(
    ledger: Ledger, start: ReleaseSet, *, until: int | datetime | None = None, progress: Progress = SILENT
) -> Iterator[tuple[LogEntry, ReleaseSet]]:
    """Each log line with the released set after it, up to a number or a time."""
    state = start
    for entry in followed(ledger, until=until):
        if entry.line.newly_released is not None:
            state = state.release(entry.line.newly_released, progress)
        yield entry, state
