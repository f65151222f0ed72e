"""The table server over HTTP: decisions and repeated answers, one client and eight.

The census table of 14 variables (435,456,000 cells), one process, SQLite. Latencies depend on what
else the machine does; the processor time of the server for each request hardly does.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

TABLE = Path(__file__).parents[2] / "reference" / "kdd14.csv.gz"
CLIENTS = 8


def main() -> None:
    """Print milliseconds: median, 99th percentile, largest; processor time for each request."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        service = Path(folder) / "service.toml"
        service.write_text(
            f'[table]\nsource = "{TABLE.absolute()}"\nid = "t"\n[criterion]\nthreshold = 5\n'
            "[limits]\ncells = 100000\nrequests = 1000000\nquantum = 0\n"
        )
        words = ["serve", str(service), "--port", str(port), "--database", f"{folder}/h.sqlite"]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "tabprotect", *words], env=os.environ | {"TABPROTECT_HOME": folder}
        )
        try:
            names = _variables(port, process)
            load = ", ".join(f"{minutes:.1f}" for minutes in os.getloadavg())
            print(f"start {time.perf_counter() - begun:.1f} s, load {load}, {os.cpu_count()} cores")
            _measured(port, process.pid, names)
        finally:
            process.terminate()
            process.wait(30)


def _variables(port: int, process: subprocess.Popen[bytes]) -> list[str]:
    while process.poll() is None:
        try:
            said = json.loads(
                _send(http.client.HTTPConnection("127.0.0.1", port), "GET", "/tables/t/metadata")[1]
            )
            return [variable["id"] for variable in said["variables"]]
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _send(
    connection: http.client.HTTPConnection, method: str, path: str, body: str | None = None
) -> tuple[int, bytes]:
    connection.request(method, path, body)
    response = connection.getresponse()
    return response.status, response.read()


def _spent(process: int) -> float:
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _measured(port: int, process: int, names: list[str]) -> None:
    answered: list[str] = []
    statuses: Counter[int] = Counter()

    def decide(rng: random.Random, connection: http.client.HTTPConnection) -> None:
        query = rng.sample(names, rng.choice([1, 2, 2, 3, 3, 4]))
        body = json.dumps({"variables": query})
        status, _ = _send(connection, "POST", "/tables/t/queries", body)
        statuses[status] += 1
        if status == 201:
            answered.append(quote(",".join(query)))

    def repeat(rng: random.Random, connection: http.client.HTTPConnection) -> None:
        _send(connection, "GET", f"/tables/t/data?format=csv&variables={rng.choice(answered)}")

    for label, act, clients, times in (
        ("decisions, one client", decide, 1, 40),
        (f"decisions, {CLIENTS} clients", decide, CLIENTS, 20),
        ("repeated answers, one client", repeat, 1, 200),
        (f"repeated answers, {CLIENTS} clients", repeat, CLIENTS, 100),
    ):
        taken: list[float] = []

        def client(number: int, act=act, times=times, taken=taken) -> None:  # type: ignore[no-untyped-def]
            rng = random.Random(number)
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            for _ in range(times):
                begun = time.perf_counter()
                act(rng, connection)
                taken.append(time.perf_counter() - begun)

        before = _spent(process)
        threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken.sort()
        figures = (taken[len(taken) // 2], taken[int(0.99 * (len(taken) - 1))], taken[-1])
        each = (_spent(process) - before) / len(taken)
        said = ", ".join(f"{1000 * seconds:.1f}" for seconds in figures)
        print(f"{label}: {said} ms; {1000 * each:.1f} ms of processor each")
    print(f"answered {dict(statuses)}")
