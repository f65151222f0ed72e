"""``tabprotect.server.asgi:app``: for any ASGI server, what it serves named by the environment.

``TABPROTECT_SERVICE`` names ``service.toml``, or ``TABPROTECT_SOURCE`` a table; and
``TABPROTECT_DATABASE`` the database of the history.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.house import folder
from tabprotect.languages.said import say
from tabprotect.server.application import application, started
from tabprotect.server.service import Service, of_source, read

SERVICE = "TABPROTECT_SERVICE"
SOURCE = "TABPROTECT_SOURCE"
DATABASE = "TABPROTECT_DATABASE"


def service_of_environment() -> Service:
    """The service that the environment names.

    Raises
    ------
    InputError
        When it names none, or one that cannot be read.
    """
    file, source = os.environ.get(SERVICE), os.environ.get(SOURCE)
    if file:
        return read(Path(file))
    if source:
        return of_source(source)
    raise InputError(
        say("no service is named"),
        hint=say("set {SERVICE} or {SOURCE}", SERVICE, SOURCE),
    )


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
        said = say("{message}; {hint}", error.message, error.hint) if error.hint else error.message
        await send({"type": "lifespan.startup.failed", "message": said})
        return
    await made(scope, receive, send)
