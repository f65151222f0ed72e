"""A table server session: requests answered from, and logged to, the table's history.

The decision is logged before the answer leaves. Where two sessions write at once, the second to
log folds the first one's line in and decides anew: nothing is lost and nothing released twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.database import Entry, Ledger, Taken
from tabprotect.engine.query_space.table_server.fold import Answer, Request, ServerState, serve

ATTEMPTS = 100
"""Decisions made anew because others were quicker, before giving up."""


@dataclass(frozen=True)
class Answered:
    """An answer and its place in the log."""

    answer: Answer
    entry: Entry


class ServerSession:
    """One user's or program's connection to a table server.

    Parameters
    ----------
    ledger
        The table's log; the session does not close it.
    start
        The server as if nothing had been asked: criterion, threshold, rule.
    """

    def __init__(self, ledger: Ledger, start: ServerState, progress: Progress = SILENT) -> None:
        self._ledger = ledger
        self._folded = 0
        self.state = start
        self._catch_up(progress)
        releases = start.releases
        self.number = ledger.open_session(
            {
                "criterion": releases.criterion.name,
                "threshold": releases.threshold,
                "at_risk": str(releases.evidence.cells.at_risk),
                "cells": releases.evidence.cells.judged,
                "bounds": releases.bounds,
                "rule": start.rule.name,
                "parameters": dict(start.values),
            }
        )

    def ask(self, request: Request, progress: Progress = SILENT) -> Answered:
        """Answer a request; on return the decision is in the log.

        Raises
        ------
        InputError
            When the database cannot be written: nothing is released then.
        """
        for _ in range(ATTEMPTS):
            state, answer, line = serve(self.state, request, progress)
            try:
                entry = self._ledger.append(line, session=self.number, number=self._folded + 1)
            except Taken:
                self._catch_up(progress)
                continue
            self.state, self._folded = state, entry.number
            return Answered(answer, entry)
        raise InputError(
            "other sessions are writing to this history all the time", hint="try again later"
        )

    def _catch_up(self, progress: Progress) -> None:
        for entry in self._ledger.entries(after=self._folded):
            self.state = self.state.after(entry.line, progress)
            self._folded = entry.number


def replay(
    ledger: Ledger,
    start: ReleaseSet,
    *,
    until: int | datetime | None = None,
    progress: Progress = SILENT,
) -> Iterator[tuple[Entry, ReleaseSet]]:
    """Each log line with the released set after it, up to a number or a time."""
    state = start
    for entry in ledger.entries(until=until):
        if entry.line.newly_released is not None:
            state = state.release(entry.line.newly_released, progress)
        yield entry, state
