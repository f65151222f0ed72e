"""Independent pieces of work spread over the cores of this machine, or over a Dask cluster; they can be cancelled at any time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing, contextmanager
from typing import Any, TypeVar, cast

from tabprotect.engine.budgets import WORKERS_PATIENCE
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.options import option_field
from tabprotect.engine.progress import SILENT, PartialProgress, Progress
from tabprotect.engine.workers.threads import LOOK, at_most, cores
from tabprotect.languages.messages import message

Workers = int | str | None
"""A number of processes, ``"tcp://host:port"`` of a Dask scheduler, or ``None``: as many as pay."""

PATIENCE = 0.25
"""Seconds of work put into one piece, so that there is progress to see."""


Piece = TypeVar("Piece")
Result = TypeVar("Result")

WORTHWHILE = 8.0
"""Least saving, in seconds, for which processes are started: that takes some seconds itself."""


def parse_workers(text: str) -> Workers:
    """Parse ``"4"`` or ``"tcp://host:8786"``.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if "://" in text:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError({"workers": f"must be a number from 1 up or tcp://host:port, is {text!r}"})
    return int(text)


def workers_field(**said: Any) -> Any:
    """The option of what can be spread; ``said`` as :func:`~tabprotect.engine.options.option_field` takes it."""
    return option_field(
        None,
        metavar="N|tcp://HOST:PORT",
        read=parse_workers,
        **said,
        help=message("processes, or a Dask scheduler (default: one for each core, where it pays)"),
    )


def spread(
    work: Callable[[Piece, Progress], Result],
    pieces: Sequence[Piece],
    *,
    workers: Workers,
    progress: Progress,
    stage: str,
) -> list[Result]:
    """The results in the order of the pieces: the same wherever they are worked out.

    Progress reports the results so far as partial result: number of the piece -> result.

    Begins in this process, and goes on in others when what is left is worth starting them. What
    somebody has a cluster for goes there at once.

    Parameters
    ----------
    work
        A function that can be pickled, as the pieces can. On a cluster the workers have this
        program.
    workers
        Processes, all cores by default, 1 for this one alone; or the address of a scheduler.

    Raises
    ------
    Interrupted
        When cancelled; nothing is left running.
    ParameterError
        If the workers are neither a number from 1 up nor an address.
    InputError
        If there is no scheduler at the address, or more processes than one of a packaged program.
    """
    out: dict[int, Result] = {}
    # Pieces spread over all kinds of work first: neighbours are alike.
    step = max(1, len(pieces) // 10)
    order = [k for offset in range(step) for k in range(offset, len(pieces), step)]
    processes = _processes(workers)
    begun = time.monotonic()
    for done, k in enumerate(order):
        progress.report(stage, done / len(pieces), out)
        if processes:
            out[k] = work(pieces[k], PartialProgress(progress, done, len(pieces), stage, out))
        spent = time.monotonic() - begun
        left = spent / (done + 1) * (len(pieces) - done - 1)
        if not processes or (processes > 1 and left * (1 - 1 / processes) > WORTHWHILE):
            size = max(1, int(PATIENCE * (done + 1) / spent)) if processes else 0
            rest = {k: pieces[k] for k in order if k not in out}
            # Closed where this is cancelled, which ends the processes at once.
            with closing(_elsewhere(work, rest, processes or cast(str, workers), size)) as results:
                for found in results:
                    out.update(found)
                    progress.report(stage, len(out) / len(pieces), out)
            break
    progress.report(stage, 1.0)
    return [out[k] for k in range(len(pieces))]


def _processes(workers: Workers) -> int:
    """Processes of this machine; 0 for a cluster."""
    workers = None if workers is None else parse_workers(str(workers))
    if isinstance(workers, str):
        return 0
    if not getattr(sys, "frozen", False):
        return workers or cores()
    # A packaged program has no interpreter to start processes with.
    if workers is not None and workers > 1:
        raise InputError(
            message("the packaged program works in one process"), hint=message("leave out the workers")
        )
    return 1


def _several(
    work: Callable[[Piece, Progress], Result], pieces: list[tuple[int, Piece]]
) -> list[tuple[int, Result]]:
    # A worker process is ended, not asked; the other cores have their own.
    with at_most(1):
        return [(k, work(piece, SILENT)) for k, piece in pieces]


def _elsewhere(
    work: Callable[[Piece, Progress], Result], pieces: Mapping[int, Piece], workers: int | str, size: int
) -> Generator[dict[int, Result]]:
    """The results, ``size`` pieces at a time, as they come; now and then none, to look up.

    A size of 0 gives each worker about eight parcels.
    """
    listed = list(pieces.items())
    open_: set[Future[list[tuple[int, Result]]]] = set()
    with executor(workers) as (pool, places):
        size = size or max(1, len(listed) // (8 * places))
        batches = [listed[i : i + size] for i in range(0, len(listed), size)][::-1]
        while batches or open_:
            # No more than can be begun: what waits in the executor would outlive its end.
            while batches and len(open_) < places:
                open_.add(pool.submit(_several, work, batches.pop()))
            done, open_ = wait(open_, timeout=LOOK, return_when=FIRST_COMPLETED)
            yield {k: found for future in done for k, found in future.result()}


@contextmanager
def executor(workers: int | str) -> Iterator[tuple[Executor, int]]:
    """Who works elsewhere, and how many at a time; all are ended where an error leaves the block.

    Raises
    ------
    InputError
        If there is no scheduler at the address, or no package to speak to one with.
    """
    if isinstance(workers, int):
        # Late: joblib costs a tenth of the program's start. Its executor can be ended at once, which
        # that of the standard library cannot.
        from joblib.externals.loky import ProcessPoolExecutor

        pool = ProcessPoolExecutor(max_workers=workers)
        ended = {"kill_workers": True}
        try:
            yield pool, workers
            ended = {}
        finally:
            pool.shutdown(wait=True, **ended)
        return
    try:
        # An optional, rather heavy dependency, for those who have a cluster.
        from distributed import Client
    except ImportError:
        raise InputError(
            message("a Dask scheduler needs the package distributed, which is not installed"),
            hint=message('install it with: pip install "tabprotect[cluster]"'),
        ) from None
    try:
        client = Client(workers, timeout=WORKERS_PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(
            message("no Dask scheduler answers at {workers} ({error})", workers, error),
            hint=message("start one, or give a number of processes"),
        ) from None
    # What is cancelled is taken back from the cluster with the client that asked.
    with client, client.get_executor(pure=False) as pool:
        yield pool, max(1, sum(client.ncores().values()))
