"""One line of the log of releases, chained by its hash to the line before it. Confidential."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.table_server.decision import LogLine
from tabprotect.engine.tables.table import Table

FIRST_CHAIN = "0" * 64
"""Stands for the hash of the line before the first one."""


@dataclass(frozen=True)
class LogEntry:
    """One line of the log with its number, 1, 2, ..., its session, its time (UTC) and its hash."""

    number: int
    session: int
    time: datetime
    line: LogLine
    chain: str

    def as_json(self, lattice: Lattice) -> dict[str, object]:
        """For ``--json``; confidential."""
        return {
            "number": self.number,
            "session": self.session,
            "time": self.time.replace(tzinfo=UTC).isoformat(timespec="seconds"),
            "user": self.line.user,
            "query": list(lattice.names_of(self.line.query)),
            "answer": self.line.kind,
            "newly_released": self.line.newly_released is not None,
            "reason": self.line.reason,
            "detail": self.line.detail,
            "permanent": self.line.permanent,
            "bundle": self.line.bundle or None,
            "chain": self.chain,
        }

    def follows(self, previous: str, lattice: Lattice) -> bool:
        """Return True if the entry's hash is that of its content chained to ``previous``."""
        return self.chain == chained(previous, self, lattice)


def chained(previous: str, entry: LogEntry, lattice: Lattice) -> str:
    """The hash of a line: SHA-256 over the hash before it and the content of the line."""
    line = entry.line
    said = [
        entry.number,
        entry.session,
        entry.time.isoformat(timespec="microseconds"),
        line.user,
        list(lattice.names_of(line.query)),
        line.kind,
        line.newly_released is not None,
        line.reason,
        line.detail,
        line.permanent,
        line.bundle,
    ]
    text = json.dumps([previous, said], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def table_fingerprint(table: Table) -> str:
    """The identity of a table: SHA-256 of variables, categories and counts. Confidential, since
    small tables can be guessed from it."""
    digest = hashlib.sha256()
    variables = [[v.name, list(v.categories)] for v in table.domain.variables]
    digest.update(json.dumps(variables, ensure_ascii=False).encode())
    columns, counts = table.listed if table.domain.wide else ((table.cells[0],), table.cells[1])
    for array in (*columns, counts):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()
