"""Attacking whatever an address or a database names."""

from __future__ import annotations

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.server.attack.stored import attacked_answers
from tabprotect.server.attack.suite import Finding, attacked
from tabprotect.server.attack.target import server_at


def findings(
    target: str, *, key: str = "", queries: int, progress: Progress = SILENT
) -> list[Finding]:
    """What came of every attack.

    Raises
    ------
    InputError
        When nothing answers at the address, or the database cannot be used.
    """
    if target.startswith(("http://", "https://")):
        return attacked(server_at(target, key), queries, progress)
    return attacked_answers(target)
