"""Real processes: several on one PostgreSQL, killed under load; one on SQLite, ended and begun anew."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pytest
from postgresql_server import running_server

from tabprotect.engine.query_space.table_server.database import Entry
from tabprotect.engine.query_space.table_server.fold import Request, ServerState, decide
from tabprotect.server.api import DECISIONS
from tabprotect.server.deciding.desk import Desk
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


@contextmanager
def served(folder: Path, database: str, workers: int) -> Iterator[tuple[int, int]]:
    """The port and the process of a server that runs by itself."""
    service = folder / "service.toml"
    service.write_text(SERVICE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", service, "--port", port, "--database", database, "--workers", workers]
    process = subprocess.Popen([sys.executable, "-m", "tabprotect", *map(str, words)])
    try:
        last = time.monotonic() + 90
        while not answers(port):
            assert process.poll() is None and time.monotonic() < last
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(port: int) -> bool:
    try:
        return said(port, "GET", "/health")[0] == 200
    except OSError:
        return False


def said(port: int, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def workers_of(process: int) -> list[int]:
    """The processes that answer: not the one that watches over them."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    spawned = [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
    return [int(c) for c in spawned]


def follows(entries: list[Entry], state: ServerState) -> None:
    """Every line is the one that a single server, asked in this order, would have written."""
    for entry in entries:
        line = entry.line
        _, serial = decide(state, Request(line.user, line.query))
        assert (serial.kind, serial.newly_released) == (line.kind, line.newly_released)
        state = state.after([line])


@pytest.mark.timeout(240)
def test_four_processes_of_which_one_is_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    queries = [list(q) for k in (1, 2) for q in combinations("ABCDEF", k)]
    answered: list[tuple[str, dict[str, object]]] = []
    with running_server() as postgresql:
        database = postgresql.database("served")
        with served(tmp_path, database, 4) as (port, process):

            def client(number: int) -> None:
                rng = random.Random(number)
                for query in rng.sample(queries, 8):
                    user = f"client {number}"
                    for _ in range(20):
                        try:
                            status, found = said(
                                port, "POST", f"{TABLE}/queries", {"variables": query, "user": user}
                            )
                        except (OSError, http.client.HTTPException, ValueError):
                            # Its process was killed: nothing was answered.
                            time.sleep(0.1)
                            continue
                        assert status in (201, 403), found
                        answered.append((user, found))
                        break

            clients = [threading.Thread(target=client, args=(n,)) for n in range(8)]
            for each in clients:
                each.start()
            time.sleep(0.3)
            os.kill(random.choice(workers_of(process)), signal.SIGKILL)
            for each in clients:
                each.join(100)
        desk = Desk(read(tmp_path / "service.toml"), database)
        entries = [entry for entry, _ in reversed(desk.log(10**4, 10**4))]
        assert desk.verified()[0] == len(entries) >= len(answered) == 64
        by_number = {entry.number: entry for entry in entries}
        numbers = [found["number"] for _, found in answered]
        assert len(set(numbers)) == len(numbers)
        for user, found in answered:
            line = by_number[int(str(found["number"]))].line
            assert line.user == user and DECISIONS[line.kind][0] == found["decision"]
        released = [e.line.newly_released for e in entries if e.line.newly_released is not None]
        assert released and len(released) == len(set(released))
        follows(entries, desk._start)
        desk.close()


def test_begun_anew_it_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    database = str(tmp_path / "h.sqlite")
    with served(tmp_path, database, 1) as (port, process):
        first = said(port, "POST", f"{TABLE}/queries", {"variables": ["A", "B"]})[1]
        os.kill(process, signal.SIGKILL)
    with served(tmp_path, database, 1) as (port, _):
        again = said(port, "POST", f"{TABLE}/queries", {"variables": ["A", "B"]})[1]
        assert again["answer"] == first["answer"] and again["number"] == 2
        assert said(port, "GET", "/queries/1")[1]["answer"] == first["answer"]
