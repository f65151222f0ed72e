"""Starting the server: in this process, or in several."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import uvicorn

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.server import asgi
from tabprotect.server.access.accounts import Accounts
from tabprotect.server.application import application, started
from tabprotect.server.hosting.patience import Patient
from tabprotect.server.request_guard import PATIENCE

OPTIONS: Mapping[str, object] = MappingProxyType(
    {
        "server_header": False,
        "date_header": False,
        "access_log": False,
        "log_level": "warning",
        "http": Patient,
        "timeout_keep_alive": PATIENCE,
        "timeout_graceful_shutdown": PATIENCE,
        # A busy machine is no dead process: started anew it would be busier.
        "timeout_worker_healthcheck": 60,
    }
)
"""How any of them speaks HTTP."""


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
    database: str | None,
    host: str,
    port: int,
    workers: int,
    progress: Progress = SILENT,
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    source, service
        A table, or the file ``service.toml``.

    Raises
    ------
    InputError, InfeasibleError
        When the table, the criterion or the database cannot be used.
    """
    for name, value in ((asgi.SERVICE, service), (asgi.SOURCE, source)):
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    os.environ[asgi.DATABASE] = asgi.database_address(database)
    options = {**OPTIONS, "host": host, "port": port}
    server = started(asgi.service_of_environment(), asgi.database_address(), progress)
    if workers == 1:
        uvicorn.run(application(server), **options)  # type: ignore[arg-type]
        return
    # That it can be started is known; each process opens its own.
    server.close()
    uvicorn.run("tabprotect.server.asgi:app", workers=workers, **options)  # type: ignore[arg-type]
