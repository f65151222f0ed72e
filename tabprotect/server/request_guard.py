"""What every request passes: limits before it is looked at, headers and problems on the way out."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping

import anyio
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.languages.messages import message
from tabprotect.server.browser.reader_pages import problem_page
from tabprotect.server.guard.boundary import (
    PROTOCOLS,
    checked_framing,
    checked_host,
    is_secure,
    shared_headers,
)
from tabprotect.server.guard.limiter import Allowance
from tabprotect.server.problems import HttpProblem
from tabprotect.server.server import Server, Visitor

FREE = frozenset(
    {"/config", "/v2/config", "/health", "/metrics", "/openapi.json", "/style.css", "/favicon.ico"}
)
"""Not counted against a limit."""

MOST_ADDRESS = 8_192
"""Characters of a path with its question."""

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

STRICT = "max-age=31536000"
"""A browser that came over TLS once comes over TLS for a year."""

PATIENCE = 10
"""Seconds that a request may take to arrive, and that answers under way get when the server ends."""

AGAIN = 5
"""Seconds after which to ask once more where the database could not be used."""

CLOSE = {"Connection": "close"}
"""Where the rest of a request is not waited for."""

LOG = logging.getLogger("tabprotect.server")


class Guard:
    """The outermost layer of the program."""

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self._app, self._server = app, server
        self._told = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        scope["tabprotect.begun"] = begun
        allowance: Allowance | None = None
        visitor: Visitor | None = None
        status = 0

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status == 304 and visitor is not None and allowance is not None:
                    self._server.limiter.give_back(visitor.client)
                connection = HTTPConnection(scope)
                access = self._server.service.access
                more = shared_headers(connection, access)
                if is_secure(connection, access):
                    more["Strict-Transport-Security"] = STRICT
                _complete(message, allowance, more)
            await send(message)

        try:
            _check_address(scope)
            connection = HTTPConnection(scope)
            checked_framing(connection)
            checked_host(connection, self._server.service.access)
            self._tell_of_proxy(connection)
            if self._server.names_itself(connection):
                visitor = await anyio.to_thread.run_sync(
                    self._server.visitor, connection, limiter=self._server.key_threads
                )
            else:
                visitor = self._server.visitor(connection)
            scope["tabprotect.visitor"] = visitor
            if scope["path"] not in FREE:
                limits = visitor.limits
                allowance = self._server.limiter.take(visitor.client, limits.requests, limits.window)
                if not allowance.allowed:
                    raise HttpProblem(
                        "rate_limited",
                        message(
                            "at most {requests} requests in {window} seconds", limits.requests, limits.window
                        ),
                    )
            try:
                with anyio.fail_after(PATIENCE):
                    body = await _body(scope, receive, visitor.limits.body)
            except TimeoutError:
                raise HttpProblem(
                    "too_slow", message("a request comes within {PATIENCE} seconds", PATIENCE), headers=CLOSE
                ) from None
            await self._app(scope, _replayed(body, receive), answered)
        except Exception as error:
            if status:
                # Half an answer has left: nothing can be said any more.
                raise
            await self._refused(_problem(error, scope), scope, receive, answered)
        finally:
            self._server.metrics.responded(status, time.monotonic() - begun)

    def _tell_of_proxy(self, connection: HTTPConnection) -> None:
        """Log once that a proxy is there which nobody named: all its visitors share one limit then."""
        access = self._server.service.access
        forwarded = {"forwarded", "x-forwarded-for", access.proxy_header.lower()}
        if self._told or access.trusted_proxy or forwarded.isdisjoint(connection.headers.keys()):
            return
        self._told = True
        LOG.warning("a request was forwarded, and no trusted_proxy is named: its visitors count as one")

    async def _refused(self, problem: HttpProblem, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        scope.setdefault("tabprotect.visitor", Visitor("", None, self._server.service.limits))
        if "text/html" in request.headers.get("accept", "") and not _is_api(scope["path"]):
            response = problem_page(request, problem)
            response.headers.update(problem.headers)
            await response(scope, receive, send)
            return
        await _send(send, problem)


def _is_api(path: str) -> bool:
    return path.startswith(("/tables", "/queries", "/bundles", *PROTOCOLS)) or path in FREE


def _check_address(scope: Scope) -> None:
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
        raise HttpProblem(
            "too_large", message("an address has at most {MOST_ADDRESS:,} characters", MOST_ADDRESS)
        )


async def _body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The whole body, refused before it is held where it is too long."""
    too_long = HttpProblem("too_large", message("a request has at most {most:,} bytes", most), headers=CLOSE)
    said = HTTPConnection(scope).headers.get("content-length", "0")
    if natural(said) is None or int(said) > most:
        raise too_long
    parts, size = [], 0
    while True:
        part = await receive()
        if part["type"] != "http.request":
            return b""
        parts.append(part.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_long
        if not part.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


def _complete(message: Message, allowance: Allowance | None, further: Mapping[str, str]) -> None:
    more = SECURITY | dict(further)
    if allowance is not None:
        more |= allowance.headers
    # What an answer depends on adds up.
    there = {name.lower() for name, _ in message["headers"]} - {b"vary"}
    message["headers"] = [
        *message["headers"],
        *((n.lower().encode(), v.encode()) for n, v in more.items() if n.lower().encode() not in there),
    ]


def _problem(error: Exception, scope: Scope) -> HttpProblem:
    """Return what may be said of an error: never its own text where that might quote a count."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, InputError):
        # Of the database or the history: which one is for the house, and says nothing of a table.
        LOG.error("%s %s: %s", scope["method"], scope["path"], error.message)
    elif isinstance(error, TabprotectError):
        LOG.error("%s %s: %s", scope["method"], scope["path"], error.kind)
    else:
        LOG.error("%s %s: %s", scope["method"], scope["path"], type(error).__name__)
        return HttpProblem(
            "unavailable", message("something unforeseen happened; nothing was released by it")
        )
    return HttpProblem(
        "unavailable",
        message("nothing was decided or released: try again later"),
        headers={"Retry-After": str(AGAIN)},
    )


async def _send(send: Send, problem: HttpProblem) -> None:
    content = json.dumps(problem.as_json(), ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/problem+json",
        "Content-Length": str(len(content)),
        "Cache-Control": "no-store",
        **problem.headers,
    }
    await send(
        {
            "type": "http.response.start",
            "status": problem.status,
            "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": content})
