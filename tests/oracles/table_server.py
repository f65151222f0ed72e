"""A table server inside the test's own process, and a client that speaks to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
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
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
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


NUTS = Level("nuts2", ("N", "N", "N", "S", "S", "S"))


def region_table() -> Table:
    """Six regions in two halves, by age (with labels) and sex."""
    domain = Domain(
        (
            Variable("region", ("r1", "r2", "r3", "r4", "r5", "r6"), (NUTS,)),
            Variable("age group", ("young", "old"), labels=("Young people", "Old people")),
            Variable("sex", ("f", "m")),
        )
    )
    counts = np.random.default_rng(3).integers(4, 30, size=domain.shape)
    counts[0, 0, 0], counts[4, 1, 1] = 1, 2
    return Table.dense(domain, counts)


def service_of(table: Table, folder: Path) -> Service:
    """A service of a table, called ``t``, that releases what has a width of at least 3."""
    path = folder / "t.json"
    path.write_bytes(formats()["jsonstat"].write(table))
    return czech(3, table=TableSource(source=str(path), id="t"))
