"""The program as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.sources import Opened
from tabprotect.languages.messages import message
from tabprotect.server import api
from tabprotect.server.accounting.accounts import Accounts
from tabprotect.server.accounting.secret import server_secret
from tabprotect.server.accounting.sessions import Sessions
from tabprotect.server.browser import house_pages, reader_pages
from tabprotect.server.openapi import Address, openapi
from tabprotect.server.problems import HttpProblem
from tabprotect.server.protocols import pxweb_v1, pxweb_v2, sdmx_rest
from tabprotect.server.request_guard import Guard
from tabprotect.server.served_table import ServedTable
from tabprotect.server.server import Server
from tabprotect.server.service import Service

ROUTES: tuple[BaseRoute, ...] = (
    *api.ROUTES,
    Address("/openapi.json", openapi, answers={200: dict[str, object]}),
    *pxweb_v2.ROUTES,
    *pxweb_v1.ROUTES,
    *sdmx_rest.ROUTES,
    *reader_pages.ROUTES,
    *house_pages.ROUTES,
)


def started(service: Service, url: str, progress: Progress = SILENT, opened: Opened | None = None) -> Server:
    """A server over a database, of the service's table or of one that is open already; close it.

    Raises
    ------
    InputError, InfeasibleError
        When the table, the criterion or the database cannot be used.
    """
    secret = server_secret(service.access.secret_file)
    with ExitStack() as opened_so_far:
        served = ServedTable(service, url, progress, opened)
        opened_so_far.callback(served.close)
        accounts = Accounts(url)
        opened_so_far.callback(accounts.close)
        server = Server(service, served, accounts, Sessions(url, secret), secret)
        opened_so_far.pop_all()
    return server


def application(server: Server) -> Starlette:
    """The ASGI application of a running server; it closes the server when it ends."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        server.close()

    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, server=server)],
        exception_handlers={HTTPException: _not_routed},
        lifespan=lifespan,
    )
    # Another spelling of an address is another address.
    app.router.redirect_slashes = False
    app.state.server = server
    return app


async def _not_routed(request: Request, error: Exception) -> Response:
    """Addresses and methods that mean nothing: a problem like all others."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        # Of several routes at one address each knows its own methods only.
        here = [
            one for one in ROUTES if isinstance(one, Route) and one.matches(request.scope)[0] != Match.NONE
        ]
        allowed = {"Allow": ", ".join(sorted({method for one in here for method in one.methods or ()}))}
        raise HttpProblem("method_not_allowed", message("this address takes another method"), headers=allowed)
    raise HttpProblem("not_found", message("this address means nothing here"))
