"""A server over a database of its own; keys that are hashed quickly, refusals priced by few draws."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from table_server import Client, Serve, czech

from tabprotect.server import served_table as price_worker
from tabprotect.server.accounting import accounts
from tabprotect.server.application import started
from tabprotect.server.server import Server
from tabprotect.server.service import Service


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    # As strong as the library has it, a key takes two thirds of a second; a price takes as long.
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "PasswordHasher", lambda: hasher)
    monkeypatch.setattr(price_worker, "DRAWS", 100)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """``serve(service)``: a client of a server over a database of its own, or of a named one."""
    servers: list[Server] = []

    def start(service: Service | None = None, database: str | None = None) -> Client:
        url = database or str(tmp_path / f"server{len(servers)}.sqlite")
        servers.append(started(service or czech(), url))
        return Client(servers[-1])

    yield start
    for server in servers:
        server.close()
