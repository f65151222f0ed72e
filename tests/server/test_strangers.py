"""Strangers: slow ones, floods, odd requests; a clock that is moved."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
from odd_requests import answers_only_what_is_released
from served import Caller
from table_server import Serve, czech

from tabprotect.engine.query_space.table_server import ledger
from tabprotect.server import request_guard
from tabprotect.server.application import application, started
from tabprotect.server.hosting import running as patience

TABLE = "/tables/czech-autoworkers"
HURRY = 0.5


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server on the loopback that waits half a second for requests."""
    for module in (request_guard, patience):
        monkeypatch.setattr(module, "PATIENCE", HURRY)
    app = application(started(czech(), str(tmp_path / "h.sqlite")))
    config = uvicorn.Config(app, port=0, http=patience.Patient, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What still comes, before the other side closes or resets."""
    try:
        return await reader.read()
    except OSError:
        return b""


def test_slow_clients_are_let_go_and_keep_nobody_waiting(port: int) -> None:
    async def slow(first: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for byte in first + b"x" * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(HURRY / 50)
        except OSError:
            pass
        found = await rest(reader)
        writer.close()
        return found

    async def both() -> tuple[list[bytes], int]:
        header = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "
        crowd = [asyncio.create_task(slow(header)) for _ in range(40)]
        body = f"POST {TABLE}/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(body.encode())
        caller = Caller(port)
        status, _ = await caller.send("POST", f"{TABLE}/queries", {"variables": ["A"]})
        caller.close()
        told = await rest(reader)
        writer.close()
        return [*await asyncio.gather(*crowd), told], status

    heard, status = asyncio.run(asyncio.wait_for(both(), 60))
    assert status == 201
    # Half a header gets nothing, half a body is told so; every connection has ended.
    assert heard[:-1] == [b""] * 40
    assert b"408" in heard[-1].splitlines()[0] and b'"too_slow"' in heard[-1]


def test_floods_end_at_limits(port: int) -> None:
    async def flood(lines: bytes) -> int:
        """How much of an endless request was taken in at most."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        taken = 0
        try:
            while taken < 2**26:
                writer.write(lines)
                await writer.drain()
                taken += len(lines)
        except OSError:
            pass
        await rest(reader)
        writer.close()
        return taken

    async def all_of_it() -> None:
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        taken = await flood(head + b"X: y\r\n" * 10_000)
        assert taken < 2**26
        taken = await flood(head + b"Cookie: " + b"z" * 100_000)
        assert taken < 2**26
        caller = Caller(port)
        for path, code in (("/" + "a" * 9000, b"too_large"), ("/" + "a" * 30_000, b"too_large")):
            status, content = await caller.send("GET", path)
            assert status == 413 and code in content
        status, content = await caller.send("POST", f"{TABLE}/queries", "x" * 1_000_000)
        assert status == 413 and b"too_large" in content
        caller.close()
        status, _ = await caller.send("GET", "/health")
        assert status == 200
        caller.close()

    asyncio.run(asyncio.wait_for(all_of_it(), 60))


def test_whatever_is_sent_only_what_is_released_comes_back(tmp_path: Path) -> None:
    seen = answers_only_what_is_released(tmp_path, 1_000, seed=5)
    assert {200, 201, 400, 401, 403, 404, 405, 413} <= set(seen)


def test_a_clock_that_is_moved_changes_no_answer(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, noon = str(tmp_path / "h.sqlite"), datetime(2026, 1, 31, 12)
    now = [noon]
    monkeypatch.setattr(ledger, "_now", lambda: now[0])
    client = serve(czech(), path)
    answers = []
    for hours in (0, 1, -24, 2):
        now[0] = noon + timedelta(hours=hours)
        answers.append(client.ask("A", "B").json()["answer"])
    assert all(answer == answers[0] for answer in answers)
    served = serve(czech(), path).server.table
    assert served.verified().lines == 4
    # Up to a time: up to the first line after it, the one from the day before included.
    for hours, lines in ((0.5, 1), (1.5, 3), (3, 4), (-48, 0)):
        assert served.replayed(noon + timedelta(hours=hours))[0] == lines


def test_a_request_has_one_length_and_whole_lines(port: int) -> None:
    body = b'{"variables": ["A"]}'
    good = b"Host: localhost\r\nContent-Type: application/json\r\n"
    odd = [
        b"POST %s/queries HTTP/1.1\r\n" + good + b"Content-Length: 20\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n14\r\n" + body + b"\r\n0\r\n\r\n",
        b"GET /tables HTTP/1.1\nHost: localhost\n\n",
        b"GET /tables HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
    ]

    async def statuses() -> list[bytes]:
        found = []
        for sent in (*odd, b"GET /tables HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent.replace(b"%s", TABLE.encode()))
            found.append((await rest(reader)).split(b" ")[1])
            writer.close()
        return found

    heard = asyncio.run(asyncio.wait_for(statuses(), 60))
    assert heard == [b"400"] * 3 + [b"200"]
