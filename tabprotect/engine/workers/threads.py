"""Independent work side by side on the cores of this machine, with the same results on any number of them.

Threads pay where the work is compiled and frees the interpreter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from threading import Event
from typing import Any, TypeVar

from tabprotect.engine.errors import Interrupted, ParameterError
from tabprotect.engine.options import option_field
from tabprotect.engine.progress import PartialProgress, Progress
from tabprotect.languages.messages import message

LOOK = 0.1
"""Seconds between two checks for cancellation."""

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_MOST: ContextVar[int | None] = ContextVar("threads", default=None)


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_threads(text: str) -> int:
    """Parse ``"4"``.

    Raises
    ------
    ParameterError
        If it is no number from 1 up.
    """
    if "://" in text:
        raise ParameterError(
            {
                "workers": message(
                    "must be a number from 1 up: one table is worked on here; compare, batch and widths "
                    "send what is independent to a Dask scheduler"
                )
            }
        )
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError({"workers": message("must be a number from 1 up, is {text}", repr(text))})
    return int(text)


def threads_field() -> Any:
    """The option of a command whose work is done side by side."""
    return option_field(
        None,
        metavar="N",
        read=parse_threads,
        help=message("cores that work side by side (default: all); what comes out is the same"),
    )


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Work on so many cores within the block; on all that there are for ``None``."""
    before = _MOST.set(threads)
    try:
        yield
    finally:
        _MOST.reset(before)


def allowed() -> int:
    """Threads that work side by side."""
    return _MOST.get() or cores()


def side_by_side(
    work: Callable[[Piece, Progress], Result], pieces: Sequence[Piece], progress: Progress
) -> list[Result]:
    """The results in the order of the pieces, none of which depends on another.

    Progress is reported by this thread alone, as the mean of the pieces.

    Raises
    ------
    Interrupted
        When cancelled; nothing is left running. An error of a piece ends the others, too.
    """
    number = min(allowed(), len(pieces))
    if number < 2:
        return [work(one, PartialProgress(progress, k, len(pieces))) for k, one in enumerate(pieces)]
    # Late: the help of a command names the option, and works on nothing.
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    stop = Event()
    parts = [_Part(stop) for _ in pieces]
    with ThreadPoolExecutor(number) as pool:
        futures = [pool.submit(work, one, part) for one, part in zip(pieces, parts, strict=True)]
        left = set(futures)
        try:
            while left:
                done, left = wait(left, timeout=LOOK, return_when=FIRST_COMPLETED)
                if any(one.exception() for one in done):
                    break
                said = [part.stage for part in parts if part.stage]
                if said:
                    progress.report(said[-1], sum(part.fraction for part in parts) / len(parts))
        finally:
            stop.set()
            for one in left:
                one.cancel()
    errors = [one.exception() for one in futures if not one.cancelled()]
    for error in sorted(filter(None, errors), key=lambda one: isinstance(one, Interrupted)):
        raise error
    return [one.result() for one in futures]


class _Part:
    """What a piece says of itself; it ends when the others do."""

    def __init__(self, stop: Event) -> None:
        self._stop, self.stage, self.fraction = stop, "", 0.0

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Keep it for the thread that is watched."""
        if self._stop.is_set():
            raise Interrupted()
        self.stage, self.fraction = stage, fraction


def meanwhile(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """The results in order; each piece is made while the one before it is worked on.

    A piece may use what the last but one had: that is done with.
    """
    rest = iter(pieces)
    first = list(islice(rest, 2))
    if len(first) < 2 or allowed() < 2:
        yield from map(work, chain(first, rest))
        return
    # Late: see above.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(work, first[0])
        for one in chain(first[1:], rest):
            now = pool.submit(work, one)
            yield before.result()
            before = now
        yield before.result()
