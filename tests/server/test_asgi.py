"""``tabprotect.server.asgi:app`` as any ASGI server speaks to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from tabprotect.server import asgi


class Host:
    """An ASGI server that starts the program, makes requests, and ends it."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[Message] = asyncio.Queue()
        self.heard: asyncio.Queue[Message] = asyncio.Queue()

    async def run(self, *paths: str) -> tuple[Message, list[int]]:
        """What the program says of its start, and the statuses of some requests."""
        life = asyncio.ensure_future(
            asgi.app({"type": "lifespan", "asgi": {}}, self.said.get, self.heard.put)
        )
        await self.said.put({"type": "lifespan.startup"})
        begun = await self.heard.get()
        statuses = []
        if begun["type"] == "lifespan.startup.complete":
            statuses = [await self.asked(path) for path in paths]
            await self.said.put({"type": "lifespan.shutdown"})
        await life
        return begun, statuses

    async def asked(self, path: str) -> int:
        # No more than a server must tell: neither client nor the path as it came.
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "path": path, "query_string": b"", "headers": [(b"host", b"localhost")],
        }  # fmt: skip
        statuses: list[int] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        await asgi.app(scope, receive, send)
        return statuses[0]


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    for name in (asgi.SERVICE, asgi.SOURCE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(asgi.DATABASE, str(tmp_path / "h.sqlite"))
    asgi._application.cache_clear()
    yield
    asgi._application.cache_clear()


def test_it_serves_what_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(asgi.SOURCE, "example:duncan-roehrig-4x4")
    begun, statuses = asyncio.run(Host().run("/health", "/tables", "/nowhere"))
    assert begun["type"] == "lifespan.startup.complete"
    assert statuses == [200, 200, 404]


@pytest.mark.parametrize("source", ["", "example:nothing-of-this-name"])
def test_what_it_cannot_serve_it_says(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setenv(asgi.SOURCE, source)
    begun, _ = asyncio.run(Host().run("/health"))
    assert begun["type"] == "lifespan.startup.failed"
    assert begun["message"]
