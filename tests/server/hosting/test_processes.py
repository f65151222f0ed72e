"""Real processes: several on one PostgreSQL, killed under load; one on SQLite, begun anew."""

from __future__ import annotations

import os
import random
import resource
import signal
import threading
from itertools import combinations
from pathlib import Path

from postgresql_server import running_server
from served import TABLE, asked, check, said, served, workers_of
from table_server import Serve

from tabprotect.server.service import read


def test_four_processes_of_which_one_is_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    queries = [list(q) for k in (1, 2) for q in combinations("ABCDEF", k)]
    rng = random.Random(1)
    jobs = [(f"client {n}", query) for n in range(8) for query in rng.sample(queries, 6)]
    with running_server() as postgresql:
        database = postgresql.database("served")
        with served(tmp_path, database, 4) as (port, process):
            answered = asked(port, jobs[:10], 8)
            victim = rng.choice(workers_of(process))
            threading.Timer(0.05, os.kill, (victim, signal.SIGKILL)).start()
            answered += asked(port, jobs[10:], 8)
            assert len(answered) == 48
            # The database is gone, and back again.
            postgresql.stop()
            status, problem = said(port, "POST", f"{TABLE}/queries", {"variables": ["A"]})
            assert (status, problem["code"]) == (503, "unavailable")
            postgresql.start()
            answered += asked(port, [("later", ["A", "B"])], 1)
        assert check(tmp_path, database, answered) >= 49


def test_begun_anew_it_goes_on_where_it_was_killed(serve: Serve, tmp_path: Path) -> None:
    database = str(tmp_path / "h.sqlite")
    with served(tmp_path, database, 1) as (port, process):
        first = said(port, "POST", f"{TABLE}/queries", {"variables": ["A", "B"]})[1]
        # No file may grow any more: to a program the disk is full.
        full = os.path.getsize(database)
        limits = resource.prlimit(process, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        status, problem = said(port, "POST", f"{TABLE}/queries", {"variables": ["C", "D"]})
        while status == 201:
            status, problem = said(port, "POST", f"{TABLE}/queries", {"variables": ["C", "D"]})
        assert (status, problem["code"]) == (503, "unavailable")
        assert said(port, "GET", "/queries/1")[1]["answer"] == first["answer"]
        resource.prlimit(process, resource.RLIMIT_FSIZE, limits)
        last = said(port, "POST", f"{TABLE}/queries", {"variables": ["E"], "user": "ann"})
        assert last[0] == 201
        os.kill(process, signal.SIGKILL)
    client = serve(read(tmp_path / "service.toml"), database)
    again = client.ask("A", "B").json()
    assert again["answer"] == first["answer"]
    assert again["number"] == int(str(last[1]["number"])) + 1
    assert client.get("/queries/1").json()["answer"] == first["answer"]
    check(tmp_path, database, [("anonymous", first), ("ann", last[1]), ("anonymous", again)])
