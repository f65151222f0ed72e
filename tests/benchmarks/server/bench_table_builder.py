"""Tables on demand from records with keys: ``python bench_table_builder.py [RECORDS [CLIENTS]]``.

Records of 60 uneven variables; each of the clients asks for sub-tables of one to three variables by HTTP,
and looks at what comes for ten seconds on average before the next one. Printed are the seconds until an
answer, the processor seconds of the server for each, and the load of the machine.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

VARIABLES, AT_ONCE, SECONDS = 60, 10**6, 60.0
SIZES = (2, 3, 4, 6, 10, 20)


def write_records(path: Path, number: int) -> None:
    """An area of 400, and variables of 2 to 20 categories."""
    rng = np.random.default_rng(1)
    writer: pq.ParquetWriter | None = None
    for begin in range(0, number, AT_ONCE):
        several = min(AT_ONCE, number - begin)
        columns: dict[str, object] = {}
        for k in range(VARIABLES):
            size = 400 if k == 0 else SIZES[k % len(SIZES)]
            codes = pa.array((rng.random(several, dtype=np.float32) ** 3 * size).astype(np.int16))
            columns[f"v{k}"] = pa.DictionaryArray.from_arrays(codes, pa.array([f"c{j}" for j in range(size)]))
        columns["key"] = pa.array(rng.random(several))
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def main() -> None:
    number = int(float(sys.argv[1])) if len(sys.argv) > 1 else AT_ONCE
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_records(folder / "people.parquet", number)
        names = [f"v{k}" for k in range(VARIABLES)]
        (folder / "service.toml").write_text(
            f'[table]\nsource = "people.parquet"\nid = "people"\nvariables = {json.dumps(names)}\n'
            'record_key = "key"\n\n[rule]\nname = "cell_keys"\nD = 5\nV = 3.0\njs = 2\n\n'
            "[limits]\nrequests = 100000\nquantum = 0.0\n"
        )
        words = ["serve", "service.toml", "--database", "h.sqlite", "--port", "8791"]
        begun = time.perf_counter()
        server = subprocess.Popen([sys.executable, "-m", "tabprotect", *words], cwd=folder)
        try:
            while not _healthy():
                if server.poll() is not None:
                    sys.exit(server.returncode)
                time.sleep(0.5)
            print(
                f"{number:,} records, {VARIABLES} variables: ready after {time.perf_counter() - begun:.0f} s"
            )
            _load(names, clients, server.pid)
        finally:
            server.terminate()
            server.wait()


def _processor(process: int) -> float:
    """The processor seconds of a process so far."""
    said = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")


def _load(names: list[str], clients: int, server: int) -> None:
    spent: list[float] = []
    kinds: Counter[str] = Counter()
    before, until = _processor(server), time.perf_counter() + SECONDS

    def client(seed: int) -> None:
        rng = random.Random(seed)
        # Each is looking at something when it begins: as many ask in the first seconds as later.
        time.sleep(rng.expovariate(0.1))
        while time.perf_counter() < until:
            asked = rng.sample(names, rng.choice([1, 2, 2, 3]))
            begun = time.perf_counter()
            said = _asked(asked, f"user {seed}")
            spent.append(time.perf_counter() - begun)
            kinds[said] += 1
            time.sleep(rng.expovariate(0.1))

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    each = (_processor(server) - before) / len(spent)
    p50, p95, p99 = np.percentile(spent, [50, 95, 99])
    print(f"{clients} clients, {len(spent):,} answers: p50 {p50:.3f} s, p95 {p95:.3f} s, p99 {p99:.3f} s, "
          f"{each:.3f} CPU s each, load {os.getloadavg()[0]:.1f}, {dict(kinds)}")  # fmt: skip


def _asked(names: list[str], user: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", 8791, timeout=120)
    body = json.dumps({"variables": names, "user": user})
    connection.request("POST", "/tables/people/queries", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    return str(said.get("code") or answer.status)


def _healthy() -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", 8791, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False


if __name__ == "__main__":
    main()
