"""The table server under load: ``python bench_server_load.py [decisions|kills|mixed|odd|history ...]``.

``decisions``: 10,000 from 8 clients at once, against 4 processes on PostgreSQL, compared with one
server asked in the log's order. ``kills``: a process of 4 is killed (SIGKILL) at 50 random moments
meanwhile. ``mixed``: 10,000 decisions under ten kills, on SQLite and on PostgreSQL. ``odd``: 100,000 generated requests, of any path, method, headers and body. ``history``:
a start on a log of 10^6 lines.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

import sqlalchemy as sa
from odd_requests import answers_only_what_is_released
from postgresql_server import running_server
from served import Job, asked, check, served, workers_of
from table_server import czech

from tabprotect.engine.query_space.table_server import ledger as tables
from tabprotect.engine.query_space.table_server.log_entry import LogEntry, head_after
from tabprotect.engine.query_space.table_server.session import snapshot
from tabprotect.server.served_table import ServedTable

CLIENTS, PROCESSES, DECISIONS, KILLS, ODD, LINES = 8, 4, 10_000, 50, 100_000, 1_000_000


def jobs(seed: int) -> itertools.count[Job]:
    """Endlessly: somebody asks for up to four variables."""
    rng = random.Random(seed)
    while True:
        yield f"user {rng.randrange(40)}", rng.sample("ABCDEF", rng.choice([1, 2, 2, 3, 3, 4]))


def decisions() -> None:
    """10,000 decisions, none lost, none doubled, equal to a serial server's."""
    with running_server() as postgresql, tempfile.TemporaryDirectory() as folder:
        database = postgresql.database("served")
        with served(Path(folder), database, PROCESSES) as (port, _):
            begun = time.perf_counter()
            answered = asked(port, itertools.islice(jobs(1), DECISIONS), CLIENTS)
            spent = time.perf_counter() - begun
        length = check(Path(folder), database, answered)
        kinds = Counter(str(found["decision"]) for _, found in answered)
        print(f"{len(answered):,} answers, {length:,} lines, {dict(kinds)}, {spent:.0f} s")


def kills() -> None:
    """50 kills under load: nothing answered that is not logged, nothing changed."""
    with running_server() as postgresql, tempfile.TemporaryDirectory() as folder:
        database = postgresql.database("served")
        with served(Path(folder), database, PROCESSES) as (port, process):
            killed, heard, rng = 0, 0, random.Random(2)
            after = rng.randint(1, 80)

            def kill() -> None:
                nonlocal killed
                if found := workers_of(process):
                    os.kill(rng.choice(found), signal.SIGKILL)
                    killed += 1

            def seen() -> None:
                nonlocal heard, after
                heard += 1
                if heard == after:
                    after += rng.randint(20, 80)
                    # Soon, while others are being decided on.
                    threading.Timer(rng.random() / 10, kill).start()

            wanted = itertools.takewhile(lambda _: killed < KILLS, jobs(3))
            answered = asked(port, wanted, CLIENTS, seen)
        length = check(Path(folder), database, answered)
        print(f"{killed} kills, {len(answered):,} answers, {length:,} lines: a sound chain")


def mixed() -> None:
    """10,000 decisions under ten kills, refusals among them, on SQLite and on PostgreSQL."""
    with running_server() as postgresql:
        for name in ("sqlite", "postgresql"):
            with tempfile.TemporaryDirectory() as folder:
                database = f"{folder}/h.sqlite" if name == "sqlite" else postgresql.database("mixed")
                _mixed(name, Path(folder), database)


def _mixed(name: str, folder: Path, database: str) -> None:
    with served(folder, database, 2) as (port, process):
        killed, heard, rng = 0, 0, random.Random(4)

        def seen() -> None:
            nonlocal killed, heard
            heard += 1
            found = workers_of(process) if heard % (DECISIONS // 11) == 0 else []
            if found:
                os.kill(rng.choice(found), signal.SIGKILL)
                killed += 1

        answered = asked(port, itertools.islice(jobs(5), DECISIONS), CLIENTS, seen)
    length = check(folder, database, answered)
    kinds = Counter(str(found["decision"]) for _, found in answered)
    print(f"{name}: {killed} kills, {len(answered):,} answers, {length:,} lines, {dict(kinds)}")


def odd() -> None:
    """100,000 generated requests: what came back."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        seen = answers_only_what_is_released(Path(folder), ODD)
        print(f"{sum(seen.values()):,} requests, {dict(sorted(seen.items()))}, "
              f"{time.process_time() - begun:.0f} s of processor")  # fmt: skip


def history() -> None:
    """A start on 10^6 lines: from the last snapshot, and read as a whole by the auditor."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/h.sqlite"
        service = replace(czech())
        served = ServedTable(service, path)
        queries = [served.lattice.query(q) for q in itertools.combinations("ABCDEF", 2)]
        for query in queries:
            served.ask("u", query)
        lines, state = served.log(10**4, 10**4), served.state
        last, pattern = lines[0][0], [e.line for e, _ in reversed(lines)]
        settings = served._session._settings
        _fill(path, served, last, pattern)
        ledger = served._ledger
        entry = ledger.entry(LINES)
        assert entry is not None
        ledger.keep(entry.number, entry.chain, settings, snapshot(state))
        served.close()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        served = ServedTable(service, path)
        print(f"start on {served.length:,} lines: {time.process_time() - begun:.1f} s")
        begun = time.process_time()
        served.ask("u", queries[0])
        print(f"a decision then: {1000 * (time.process_time() - begun):.0f} ms")
        begun = time.process_time()
        number, _ = served.verified()
        print(f"every one of {number:,} lines verified: {time.process_time() - begun:.0f} s")
        served.close()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"memory {before // 1024} MiB before, {after // 1024} MiB after; "
              f"file {os.path.getsize(path) // 2**20} MiB")  # fmt: skip


def _fill(path: str, served: ServedTable, last: LogEntry, pattern: list) -> None:  # type: ignore[type-arg]
    """Lines up to the last one, chained as the server would."""
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        rows, head = [], last.head
        for number in range(last.number + 1, LINES + 1):
            line = replace(pattern[number % len(pattern)], newly_released=None)
            bare = LogEntry(number, last.session, last.time, line, "")
            head = head_after(head, bare, served.lattice)
            rows.append(
                {
                    "history": 1, "number": number, "session": last.session, "time": last.time,
                    "user": line.user, "query": list(served.lattice.names_of(line.query)),
                    "answer": line.kind, "newly_released": False, "reason": line.reason,
                    "detail": line.detail, "permanent": line.permanent, "bundle": line.bundle,
                    "chain": head.chain,
                }
            )  # fmt: skip
            if len(rows) == 50_000 or number == LINES:
                connection.execute(sa.insert(tables._ENTRY), rows)
                rows = []
    engine.dispose()


def main() -> None:
    """Whatever is named, or all of it."""
    known = {
        "decisions": decisions, "kills": kills, "mixed": mixed, "odd": odd, "history": history,
    }  # fmt: skip
    for name in [word for word in sys.argv[1:] if word in known] or known:
        print(f"-- {name}", flush=True)
        known[name]()


if __name__ == "__main__":
    main()
