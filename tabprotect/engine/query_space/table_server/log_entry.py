"""One line of the log of releases, chained by its hash to the line before it. Confidential."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from tabprotect.engine.chained_log import Head
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.query_space.table_server.decision import LogLine
from tabprotect.engine.tables.table import Table


@dataclass(frozen=True)
class LogEntry:
    """One line of the log with its number, 1, 2, ..., its session, its time (UTC) and its hash."""

    number: int
    session: int
    time: datetime
    line: LogLine
    chain: str

    def as_json(self, lattice: Lattice) -> dict[str, object]:
        """Return what ``--json`` prints; confidential."""
        keys = (
            "number session time user=line.user answer=line.kind reason=line.reason detail=line.detail "
            "permanent=line.permanent chain"
        )
        return keyed(self, keys) | {
            "query": list(lattice.names_of(self.line.query)),
            "newly_released": self.line.newly_released is not None,
            "bundle": self.line.bundle or None,
        }

    @property
    def head(self) -> Head:
        """The head that this line makes."""
        return Head(self.number, self.chain)

    def follows(self, previous: Head, lattice: Lattice) -> bool:
        """Return True if the line is the next one, unchanged."""
        return self.head == head_after(previous, self, lattice)


def head_after(previous: Head, entry: LogEntry, lattice: Lattice) -> Head:
    """Return the head that a line makes, whatever hash it states itself."""
    line = entry.line
    return previous.then(
        [
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
    )


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
