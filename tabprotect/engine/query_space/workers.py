"""Independent pieces of work on this machine's cores, or on somebody's Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar, cast

from tabprotect.engine.budgets import WORKERS_PATIENCE
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.progress import Progress
from tabprotect.languages.messages import message

Workers = int | str | None
"""A number of processes, ``"tcp://host:port"`` of a Dask scheduler, or ``None``: one process."""


Piece = TypeVar("Piece")
Result = TypeVar("Result")


def parse_workers(text: str) -> Workers:
    """Parse ``"4"`` or ``"tcp://host:8786"``.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if "://" in text:
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ParameterError({"workers": f"must be a number from 1 up or tcp://host:port, is {text!r}"})
    return number


def spread_over_workers(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], workers: Workers, progress: Progress, stage: str
) -> list[Result]:
    """Run ``work`` on all pieces; the results are in the order of the pieces.

    Raises
    ------
    Interrupted
        If cancelled, between two pieces; nothing is left running.
    InputError
        If there is no scheduler at the address.
    """
    out: list[Result] = []
    progress.report(stage, 0.0)
    if workers is None or workers == 1:
        for done, piece in enumerate(pieces, start=1):
            out.append(work(piece))
            progress.report(stage, done / len(pieces))
        return out
    # Imported late, here and below: joblib costs a tenth of the start-up time.
    import joblib

    with _parallel(workers) as parallel:
        results = cast(Iterator[Result], parallel(joblib.delayed(work)(piece) for piece in pieces))
        for done, result in enumerate(results, start=1):
            out.append(result)
            progress.report(stage, done / len(pieces))
    return out


@contextmanager
def _parallel(workers: int | str) -> Iterator[Callable[..., Iterator[object]]]:
    import joblib

    if isinstance(workers, int):
        if getattr(sys, "frozen", False):
            # A packaged program has no interpreter to start worker processes with.
            raise InputError(
                message("the packaged program works in one process"), hint=message("leave out the workers")
            )
        with joblib.Parallel(n_jobs=workers, return_as="generator") as parallel:
            yield parallel
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
    with client, joblib.parallel_config(backend="dask"):
        yield joblib.Parallel(return_as="generator")
