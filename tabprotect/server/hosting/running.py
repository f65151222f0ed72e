"""Starting the server: in this process, or in several.

Connections that wait for a request: ended when it does not come whole in time.

Whoever sends a byte of a header now and then keeps a connection, and what belongs to it, for ever
otherwise.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict

import h11
import uvicorn
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message
from tabprotect.server import asgi
from tabprotect.server.accounting.accounts import Accounts
from tabprotect.server.application import application, started
from tabprotect.server.request_guard import PATIENCE


class Patient(H11Protocol):
    """The server's protocol, with a limit on the time in which headers come."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request."""
        super().connection_made(transport)
        self.conn._receive_buffer = _WholeLines()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """More of a request, or of the next one."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(PATIENCE, self._late)

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _late(self) -> None:
        self._waiting = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class _WholeLines(ReceiveBuffer):
    """Takes lines that end with CR LF alone: a proxy may see other lines where LF is enough."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        end = self._data.find(b"\r\n\r\n")
        if _BARE.search(self._data, 0, len(self._data) if end < 0 else end + 2):
            raise h11.RemoteProtocolError(message("a line ends with CR LF"))
        found: list[bytearray] | None = super().maybe_extract_lines()
        return found


_BARE = re.compile(rb"(?<!\r)\n")


class Options(TypedDict):
    """Options of uvicorn."""

    server_header: bool
    date_header: bool
    access_log: bool
    log_level: str
    http: type[asyncio.Protocol]
    proxy_headers: bool
    timeout_keep_alive: int
    timeout_graceful_shutdown: int | None
    timeout_worker_healthcheck: int


OPTIONS: Options = {
    "server_header": False,
    "date_header": False,
    "access_log": False,
    "log_level": "warning",
    "http": Patient,
    # Who asks is told by the service's own proxies, and by no header of anybody else's.
    "proxy_headers": False,
    "timeout_keep_alive": PATIENCE,
    "timeout_graceful_shutdown": PATIENCE,
    # A busy machine is no dead process: started anew it would be busier.
    "timeout_worker_healthcheck": 60,
}
"""How any of them speaks HTTP."""


@dataclass(frozen=True)
class Listening:
    """The address at which a server answers, and in how many processes."""

    host: str
    port: int
    workers: int = 1


@contextmanager
def accounts_at(database: str | None) -> Iterator[Accounts]:
    """The accounts of a server's database.

    Raises
    ------
    InputError
        For a database that cannot be used.
    """
    found = Accounts(asgi.database_address(database))
    try:
        yield found
    finally:
        found.close()


def run(
    *,
    source: str | None,
    service: str | None,
    measure: str | None = None,
    database: str | None,
    at: Listening,
    boundary: Mapping[str, Sequence[str]] = MappingProxyType({}),
    secret_file: str | None = None,
    ready: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    source, service
        A table, or the file ``service.toml``.
    measure
        What a table of sums sums.
    boundary
        Hosts, origins and proxies by the names of ``[access]``, instead of those it names.
    secret_file
        The file of the secret that signs sessions.
    ready
        Called once the table can be served, before anybody can ask.

    Raises
    ------
    InputError, InfeasibleError
        When the table, the criterion or the database cannot be used.
    """
    for name, value in ((asgi.SERVICE, service), (asgi.SOURCE, source), (asgi.MEASURE, measure)):
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    for name, variable in asgi.BOUNDARY.items():
        if boundary.get(name):
            os.environ[variable] = " ".join(boundary[name])
    if secret_file:
        os.environ[asgi.SECRET_FILE] = secret_file
    os.environ[asgi.DATABASE] = asgi.database_address(database)
    server = started(asgi.service_of_environment(), asgi.database_address(), progress)
    ready()
    if at.workers == 1:
        uvicorn.run(application(server), host=at.host, port=at.port, **OPTIONS)
        return
    # That it can be started is known; each process opens its own.
    server.close()
    uvicorn.run("tabprotect.server.asgi:app", workers=at.workers, host=at.host, port=at.port, **OPTIONS)
