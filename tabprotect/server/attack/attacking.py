"""Attacking whatever an address or a database names: a running server, or all that one answered."""

from __future__ import annotations

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.table_server.ledger import answers_in
from tabprotect.engine.release.release import Release
from tabprotect.server.attack.suite import Finding, Loot, attacked, from_answers
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


def attacked_answers(url: str) -> list[Finding]:
    """The attacks that need nothing but the answers, on all of each table's history.

    Raises
    ------
    InputError
        For a database that cannot be used.
    """
    found: list[Finding] = []
    for bundles in answers_in(url):
        loot = Loot()
        for content in bundles:
            _add(loot, verify_bytes(content).release)
        found += from_answers(loot)
    return found


def _add(loot: Loot, release: Release) -> None:
    for published in release.tables:
        domain = published.table.domain
        counts = published.table.counts.reshape(-1).tolist()
        cells = {domain.labels(domain.unflat(k)): count for k, count in enumerate(counts)}
        loot.add(domain.names, cells)
