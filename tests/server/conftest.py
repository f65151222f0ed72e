"""A server over a database of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from table_server import Client, Serve, czech

from tabprotect.server.application import started
from tabprotect.server.server import Server
from tabprotect.server.service import Service


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
