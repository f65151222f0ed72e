"""Servers that run by themselves, and clients that speak to them over the loopback."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tabprotect.engine.query_space.table_server.decision import Request, ServerState, decide
from tabprotect.engine.query_space.table_server.log_entry import LogEntry
from tabprotect.server.api import DECISIONS
from tabprotect.server.served_table import ServedTable
from tabprotect.server.service import read

SERVICE = """
[table]
source = "example:czech-autoworkers"
[criterion]
threshold = 10
bounds = "decomposable"
[limits]
requests = 1000000
quantum = 0
[access]
prices = false
"""

TABLE = "/tables/czech-autoworkers"

Job = tuple[str, list[str]]
"""A user and the variables that are asked for."""

Said = tuple[str, dict[str, object]]
"""A user and what was answered."""


@contextmanager
def served(folder: Path, database: str, workers: int, service: str = SERVICE) -> Iterator[tuple[int, int]]:
    """The port and the process of a server that runs by itself."""
    path = folder / "service.toml"
    path.write_text(service)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", path, "--port", port, "--database", database, "--workers", workers]
    process = subprocess.Popen([sys.executable, "-m", "tabprotect", *map(str, words)])
    try:
        last = time.monotonic() + 300
        while not answers(port):
            assert process.poll() is None and time.monotonic() < last
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(port: int) -> bool:
    """Whether the server is up, with its database."""
    try:
        return said(port, "GET", "/health")[0] == 200
    except OSError:
        return False


def said(port: int, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
    """One request on a connection of its own; its status and object."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def workers_of(process: int) -> list[int]:
    """The processes that answer: not the one that watches over them."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    spawned = [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
    return [int(c) for c in spawned]


class Caller:
    """A client that keeps its connection, and opens it anew when it is lost."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """One request; raises OSError or EOFError where no whole answer came."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            content = b"" if body is None else json.dumps(body).encode()
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            writer.write(head.encode() + content)
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
            length = next(int(x[15:]) for x in lines if x.startswith("content-length:"))
            return int(lines[0].split()[1]), await reader.readexactly(length)
        except (OSError, EOFError):
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def asked(
    port: int, jobs: Iterable[Job], clients: int, seen: Callable[[], None] = lambda: None
) -> list[Said]:
    """The answers to some queries that so many clients ask at once, each until it is answered.

    A server that says it cannot answer now has decided nothing: it is asked again, too.

    Parameters
    ----------
    seen
        Called after each answer.
    """
    waiting, found = iter(jobs), list[Said]()

    async def client() -> None:
        caller = Caller(port)
        for user, query in waiting:
            body = {"variables": query, "user": user}
            for _ in range(600):
                try:
                    status, content = await caller.send("POST", f"{TABLE}/queries", body)
                except (OSError, EOFError):
                    # Its process was killed: nothing was answered.
                    status = 503
                if status == 503:
                    await asyncio.sleep(0.1)
                    continue
                answer = json.loads(content)
                assert status in (201, 403), answer
                found.append((user, answer))
                seen()
                break
            else:
                raise AssertionError("nobody answers")
        caller.close()

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(client())

    asyncio.run(run())
    return found


def check(folder: Path, database: str, answered: list[Said]) -> int:
    """That nothing was lost, doubled or decided otherwise than one server would; the log's length.

    Every answer is in the log, under its number, once; nothing was released twice; every line is
    the one that a single server, asked in the log's order, would have written.
    """
    served = ServedTable(read(folder / "service.toml"), database)
    try:
        entries = [entry for entry, _ in reversed(served.log(10**6, 10**6))]
        assert served.verified().lines == len(entries) >= len(answered)
        by_number = {entry.number: entry for entry in entries}
        numbers = [found["number"] for _, found in answered]
        assert len(set(numbers)) == len(numbers)
        bundles: dict[object, object] = {}
        for user, found in answered:
            line = by_number[int(str(found["number"]))].line
            assert line.user == user and DECISIONS[line.kind][0] == found["decision"]
            if found["decision"] == "release":
                answer = found["answer"]
                # An answer never changes.
                assert bundles.setdefault(line.query, answer) == answer
        released = [e.line.newly_released for e in entries if e.line.newly_released is not None]
        assert released and len(released) == len(set(released))
        _follows(entries, served._start)
        return len(entries)
    finally:
        served.close()


def _follows(entries: list[LogEntry], state: ServerState) -> None:
    for entry in entries:
        line = entry.line
        _, serial = decide(state, Request(line.user, line.query))
        assert (serial.kind, serial.newly_released) == (line.kind, line.newly_released)
        state = state.after([line])
