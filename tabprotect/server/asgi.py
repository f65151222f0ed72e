"""``tabprotect.server.asgi:app``: for any ASGI server, what it serves named by the environment.

``TABPROTECT_SERVICE`` names ``service.toml``, or ``TABPROTECT_SOURCE`` a table (of the sums
of ``TABPROTECT_MEASURE``); and
``TABPROTECT_DATABASE`` the database of the history. ``TABPROTECT_ALLOWED_HOSTS``,
``TABPROTECT_ALLOWED_ORIGINS``, ``TABPROTECT_TRUSTED_PROXY`` and ``TABPROTECT_SECRET_FILE`` stand for
what ``[access]`` says.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from tabprotect.engine.agency import folder
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.languages.messages import message
from tabprotect.server.application import application, started
from tabprotect.server.service import Service, check_access, of_source, read

SERVICE = "TABPROTECT_SERVICE"
SOURCE = "TABPROTECT_SOURCE"
MEASURE = "TABPROTECT_MEASURE"
DATABASE = "TABPROTECT_DATABASE"
BOUNDARY = {
    "allowed_hosts": "TABPROTECT_ALLOWED_HOSTS",
    "allowed_origins": "TABPROTECT_ALLOWED_ORIGINS",
    "trusted_proxy": "TABPROTECT_TRUSTED_PROXY",
}
"""Lists of ``[access]`` that the environment may name instead, with spaces between."""

SECRET_FILE = "TABPROTECT_SECRET_FILE"


def service_of_environment() -> Service:
    """The service that the environment names.

    Raises
    ------
    InputError
        When it names none, or one that cannot be read.
    """
    file, source = os.environ.get(SERVICE), os.environ.get(SOURCE)
    if file:
        return _bounded(read(Path(file)))
    if source:
        return _bounded(of_source(source, os.environ.get(MEASURE, "")))
    raise InputError(
        message("no service is named"), hint=message("set {SERVICE} or {SOURCE}", SERVICE, SOURCE)
    )


def _bounded(service: Service) -> Service:
    """The service with the boundary that the environment names."""
    access = service.access
    said = {name: tuple(os.environ.get(variable, "").split()) for name, variable in BOUNDARY.items()}
    access = replace(
        access,
        allowed_hosts=said["allowed_hosts"] or access.allowed_hosts,
        allowed_origins=said["allowed_origins"] or access.allowed_origins,
        trusted_proxy=said["trusted_proxy"] or access.trusted_proxy,
        secret_file=os.environ.get(SECRET_FILE) or access.secret_file,
    )
    check_access(access)
    return replace(service, access=access)


def database_address(said: str | None = None) -> str:
    """The named database, else a file beside the program's settings."""
    found = said or os.environ.get(DATABASE)
    if found:
        return found
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(folder() / "table-server.sqlite")


@cache
def _application() -> Starlette:
    return application(started(service_of_environment(), database_address()))


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The application; it is made by the first message, which tells that the server starts.

    Where it cannot be made the server is told so, and ends: without that word some go on without.
    """
    try:
        made = _application()
    except TabprotectError as error:
        if scope["type"] != "lifespan":
            raise
        await receive()
        said = message("{message}; {hint}", error.message, error.hint) if error.hint else error.message
        await send({"type": "lifespan.startup.failed", "message": said})
        return
    await made(scope, receive, send)
