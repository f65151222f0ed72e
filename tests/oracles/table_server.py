"""A table server inside the test's own process, and a client that speaks to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from tabprotect.server.application import application
from tabprotect.server.server import Server
from tabprotect.server.service import Access, CriterionChoice, RequestLimits, Service, TableSource

QUICK = RequestLimits(requests=100_000, quantum=0.0)


class Client:
    """Requests one after the other, each in a loop of its own; cookies stay."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.app = application(server)
        self.cookies = httpx.Cookies()

    def __call__(self, method: str, path: str, **given: Any) -> httpx.Response:
        async def one() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", cookies=self.cookies
            ) as client:
                response = await client.request(method, path, **given)
                self.cookies = client.cookies
                return response

        return asyncio.run(one())

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self("GET", path, **given)

    def ask(self, *variables: str, **more: Any) -> httpx.Response:
        body = {"variables": list(variables), **more}
        return self("POST", f"/tables/{self.server.table.id}/queries", json=body)

    def all(self, work: Callable[[httpx.AsyncClient], Coroutine[Any, Any, Any]]) -> Any:
        """Many requests at once in one loop."""

        async def run() -> Any:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                return await work(client)

        return asyncio.run(run())


Serve = Callable[..., Client]


def czech(threshold: int = 10, **more: Any) -> Service:
    """2^6, variables A..F, width at least 10."""
    fixed: dict[str, Any] = {
        "table": TableSource(source="example:czech-autoworkers"),
        "criterion": CriterionChoice(threshold=threshold),
        "limits": QUICK,
        "access": Access(prices=False),
    }
    return Service(**(fixed | more))
