"""Record files that the workers of a Dask cluster group where they are.

``dask://host:8786/shared/people/*.parquet`` names the scheduler, and the files by a path that the
workers see too. Each worker groups and adds up whole files as this program does, and sends the
groups here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tabprotect.engine.budgets import CLUSTER_PATIENCE
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.database_engines import MARK, handed_over
from tabprotect.engine.microdata.places import files_of, split_cluster
from tabprotect.engine.microdata.record_files import MicrodataFile, open_microdata
from tabprotect.engine.microdata.weights_and_keys import check_known, measured
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

POLL = 0.1
"""Seconds between two checks for cancellation."""

Part = tuple[list[str], list[tuple[object, ...]], tuple[int, int], int]
"""Names of the sums; values and sums of each group; the range of the design weights; that of record keys."""


def group_file(file: str, by: Sequence[str], also: AddedUp) -> Part:
    """Group the records of one file; runs on a worker."""
    with open_microdata(Path(file)) as source:
        for name in (*by, *also.names):
            check_known(source, name)
        measures, ends = measured(source, also, SILENT)
        values = ", ".join(f"CAST({quoted(n)} AS VARCHAR) AS v{i}" for i, n in enumerate(by))
        sums = ", ".join(measures.values())
        rows = source.run(
            lambda c: c.execute(f"SELECT {values}, {sums} FROM {source.relation} GROUP BY ALL").fetchall(),
            message("counting the records"),
        )
        return list(measures), rows, ends, source.key_range


@contextmanager
def grouped_files(
    source: str, by: Sequence[str], also: AddedUp, progress: Progress = SILENT
) -> Iterator[MicrodataFile]:
    """The groups of records in files that a cluster counts, as rows for DuckDB.

    Raises
    ------
    InputError
        If no scheduler answers, a file cannot be read there, or there are too many groups.
    """
    address, path = split_cluster(source)
    files, _ = files_of(path)
    parts = _worked(address, partial(group_file, by=by, also=also), [str(file) for file in files], progress)
    names = parts[0][0]
    rows = [row for _, found, _, _ in parts for row in found]
    columns = {
        name: [row[at] for row in rows] for at, name in enumerate((*by, *(f"{MARK}{name}" for name in names)))
    }
    ends = [ends for _, found, ends, _ in parts if found] or [(0, 0)]
    whole = min(low for low, _ in ends), max(high for _, high in ends)
    with handed_over(source, columns, also, whole, max(part[3] for part in parts)) as made:
        yield made


def _worked(
    address: str, work: Callable[[str], Part], files: Sequence[str], progress: Progress
) -> list[Part]:
    try:
        # Imported late: a heavy optional dependency, for those who have a cluster.
        from distributed import Client
    except ImportError:
        raise InputError(
            message("a Dask scheduler needs the package distributed, which is not installed"),
            hint=message("install it with: pip install 'tabprotect[cluster]'"),
        ) from None
    try:
        client = Client(f"tcp://{address}", timeout=CLUSTER_PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(
            message("no Dask scheduler answers at {address}", address),
            hint=message("start one"),
            detail=str(error),
        ) from None
    with client:
        futures = client.map(work, files, pure=False)
        try:
            while left := [future for future in futures if not future.done()]:
                progress.report(message("counting the records"), 1 - len(left) / len(files))
                time.sleep(POLL)
            found: list[Part] = client.gather(futures)
            return found
        finally:
            client.cancel(futures)
