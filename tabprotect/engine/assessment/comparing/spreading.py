"""Independent runs spread over the cores of this machine; they can be cancelled at any time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import TypeVar

from tabprotect.engine.progress import SILENT, PartialProgress, Progress

PATIENCE = 0.25
"""Seconds of work put into one piece, so that there is progress to see."""


Piece = TypeVar("Piece")
Result = TypeVar("Result")

WORTHWHILE = 8.0
"""Least saving, in seconds, for which processes are started: that takes some seconds itself."""

LOOK = 0.1
"""Seconds between two checks for cancellation."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Callable[[Piece, Progress], Result],
    pieces: Sequence[Piece],
    *,
    workers: int | None,
    progress: Progress,
    stage: str,
) -> list[Result]:
    """The results in the order of the pieces.

    Progress reports the results so far as partial result: number of the piece -> result.

    Begins in this process, and goes on in others when what is left is worth starting them.

    Parameters
    ----------
    work
        A function that can be pickled, as the pieces can.
    workers
        Processes; all cores by default, 1 for this one alone.

    Raises
    ------
    Interrupted
        When cancelled; nothing is left running.
    """
    workers = cores() if workers is None else workers
    if getattr(sys, "frozen", False):
        # A packaged program has no interpreter to start processes with.
        workers = 1
    out: dict[int, Result] = {}
    # Pieces spread over all kinds of work first: neighbours are alike.
    step = max(1, len(pieces) // 10)
    order = [k for offset in range(step) for k in range(offset, len(pieces), step)]
    begun = time.monotonic()
    for done, k in enumerate(order):
        progress.report(stage, done / len(pieces), out)
        out[k] = work(pieces[k], PartialProgress(progress, done, len(pieces), stage, out))
        spent = time.monotonic() - begun
        left = spent / (done + 1) * (len(pieces) - done - 1)
        if workers > 1 and left * (1 - 1 / workers) > WORTHWHILE:
            size = max(1, int(PATIENCE * (done + 1) / spent))
            rest = {k: pieces[k] for k in order if k not in out}
            # Closed where this is cancelled, which ends the processes at once.
            with closing(_in_processes(work, rest, workers, size)) as results:
                for found in results:
                    out.update(found)
                    progress.report(stage, len(out) / len(pieces), out)
            break
    progress.report(stage, 1.0)
    return [out[k] for k in range(len(pieces))]


def _several(
    work: Callable[[Piece, Progress], Result], pieces: list[tuple[int, Piece]]
) -> list[tuple[int, Result]]:
    # A worker process is ended, not asked.
    return [(k, work(piece, SILENT)) for k, piece in pieces]


def _in_processes(
    work: Callable[[Piece, Progress], Result], pieces: Mapping[int, Piece], workers: int, size: int
) -> Generator[dict[int, Result]]:
    """The results, ``size`` pieces at a time, as they come; now and then none, to look up."""
    # Late: joblib costs a tenth of the program's start. Its executor can be ended at once, which
    # that of the standard library cannot.
    from joblib.externals.loky import ProcessPoolExecutor, wait

    executor = ProcessPoolExecutor(max_workers=workers)
    listed = list(pieces.items())
    batches = [listed[i : i + size] for i in range(0, len(listed), size)][::-1]
    open_: set[Future[list[tuple[int, Result]]]] = set()
    try:
        while batches or open_:
            # No more than can be begun: what waits in the executor would outlive its end.
            while batches and len(open_) < workers:
                open_.add(executor.submit(_several, work, batches.pop()))
            done, open_ = wait(open_, timeout=LOOK, return_when="FIRST_COMPLETED")
            yield {k: found for future in done for k, found in future.result()}
    except BaseException:
        executor.shutdown(wait=True, kill_workers=True)
        raise
    executor.shutdown(wait=True)
