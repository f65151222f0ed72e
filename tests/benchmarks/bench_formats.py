"""Opening tables and counting records against DuckDB on the same files: CPU seconds, one run.

Each piece of work has a process of its own, so that imports and memory count; the work of DuckDB is
to read the same file into a table of its own, or to count the same groups.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from pathlib import Path

SHAPES = ((100, 10, 10), (100, 100, 10), (100, 100, 100), (1000, 100, 100))
RECORDS = (10**6, 10**7)
VARIABLES = ("region", "age", "sex", "edu")

TIMED = """
import time
{before}
begin = time.process_time()
{work}
spent = time.process_time() - begin
status = open("/proc/self/status").read()
print(spent, int(status.partition("VmHWM:")[2].split()[0]) >> 10)
"""

OURS = "from tabprotect.engine.formats.table_reading import read_table"
OPEN = "read_table({path!r})"
DUCKDB = "import duckdb\nconnection = duckdb.connect()"
LOAD = "connection.execute(\"CREATE TABLE t AS SELECT * FROM '{path}'\")"
COUNT = "connection.execute(\"SELECT {by}, count(*) FROM '{path}' GROUP BY ALL\").fetchall()"
TABULATE = "from tabprotect.engine.microdata.tabulate import tabulate"


def measured(before: str, work: str, times: int = 2) -> tuple[float, int]:
    """Least CPU seconds, and the peak in MiB of the last run."""
    runs = []
    for _ in range(times):
        code = TIMED.format(before=before, work=work)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        # The last line: DuckDB may draw its progress before.
        spent, peak = done.stdout.splitlines()[-1].split()
        runs.append((float(spent), int(peak)))
    return min(runs)[0], runs[-1][1]


def write_tables(folder: Path) -> list[tuple[int, Path, Path]]:
    """Long tables with counts near five, as CSV and Parquet."""
    import duckdb

    found = []
    with duckdb.connect() as connection:
        for shape in SHAPES:
            size = math.prod(shape)
            block, columns = size, []
            for name, extent in zip("ABC", shape, strict=True):
                block //= extent
                columns.append(f"'{name.lower()}' || (range // {block}) % {extent} AS {name}")
            sql = f"SELECT {', '.join(columns)}, hash(range) % 11 AS count FROM range({size})"
            paths = [folder / f"long{size}.csv", folder / f"long{size}.parquet"]
            for path in paths:
                kind = "csv, HEADER" if path.suffix == ".csv" else "parquet"
                connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT {kind})")
            found.append((size, *paths))
    return found


def write_records(folder: Path, size: int) -> Path:
    """Records of four variables."""
    import duckdb

    path = folder / f"records{size}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'R' || hash(range) % 20 AS region, CAST(hash(range * 7) % 100 AS INT) AS "
            "age, CASE WHEN hash(range * 13) % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
            f"CAST(hash(range * 3) % 5 AS INT) AS edu FROM range({size})) TO '{path}'"
        )
    return path


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spent = []
        for size, text, parquet in write_tables(folder):
            duck, _ = measured(DUCKDB, LOAD.format(path=text))
            ours, peak = measured(OURS, OPEN.format(path=str(text)))
            typed, _ = measured(OURS, OPEN.format(path=str(parquet)))
            spent.append((size, ours))
            print(
                f"  {size:10,} cells: CSV {ours:7.3f} s, {peak:5} MiB, {ours / duck:5.2f} x DuckDB "
                f"({duck:.3f} s); Parquet {typed:7.3f} s"
            )
        (small, first), (large, last) = spent[1], spent[-1]
        growth = math.log(last / first) / math.log(large / small)
        print(f"  growth of CSV from {small:,} cells on: exponent {growth:.2f}")
        for size in RECORDS:
            path = write_records(folder, size)
            duck, _ = measured(DUCKDB, COUNT.format(by=", ".join(VARIABLES), path=path))
            ours, peak = measured(TABULATE, f"tabulate({str(path)!r}, {list(VARIABLES)!r})")
            print(
                f"  {size:10,} records: tabulate {ours:7.3f} s, {peak:5} MiB, "
                f"{ours / duck:5.2f} x DuckDB ({duck:.3f} s)"
            )


if __name__ == "__main__":
    main()
