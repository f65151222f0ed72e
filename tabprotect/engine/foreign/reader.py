"""The reader: a process that reads foreign files, started once, kept, and begun again after a fault.

A file that ends its reader, or makes it take more than its limits, is an error like any other; the
program goes on.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar, cast

from tabprotect.engine.budgets import (
    READER_MEMORY,
    READER_MEMORY_TIMES,
    READER_SECONDS,
    READER_SECONDS_PER_MEGABYTE,
)
from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.limits import Limits, memory_of_machine
from tabprotect.engine.foreign.wire import Buffer, WireError, WireMessage, receive, send
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import Message, message

T = TypeVar("T")

POLL = 0.05
"""Seconds between two checks for cancellation."""

KEPT = 2
"""The readers that wait for the next file."""

LARGE = 2**24
"""The size of a file, in bytes, after which its reader ends."""

SWITCH = "--read-foreign-files"
"""The argument by which a frozen program is its own reader."""


class RefusedFileError(Exception):
    """A file that its reader declines: the reason by name, and what is said of it."""

    def __init__(self, reason: str, said: object) -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said


def stopped(path: Path | str | None) -> InputError:
    """The error for a file that ended its reader, or made it swell or hang."""
    return InputError(
        message("this file made its reader stop; it may be damaged or made to"),
        file=path,
        hint=message("save it again, or as CSV, from the program that made it"),
    )


def limits_for(size: int, *, written: int = 0) -> Limits:
    """Return what reading so many bytes may cost."""
    memory = min(READER_MEMORY + READER_MEMORY_TIMES * size, max(memory_of_machine(), 2**31))
    seconds = READER_SECONDS + READER_SECONDS_PER_MEGABYTE * (size >> 20)
    return Limits(memory, seconds, written)


class Reader:
    """A reader's process. It answers one question at a time; what it read for one it keeps for none."""

    def __init__(self, first: str = "") -> None:
        """Start it; what it takes to answer ``first`` it loads at once."""
        self.done = 0.0
        """How far the question is, from 0 to 1, where the reader says so."""
        self._process = subprocess.Popen(
            _command(first),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Threads of its own for algebra that no reader does would take memory.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def alive(self) -> bool:
        """Return True if it can be asked."""
        return self._process.poll() is None

    def ask(
        self, do: str, of: Mapping[str, object], buffers: Sequence[Buffer] = (), *, limits: Limits
    ) -> tuple[object, Sequence[Buffer]]:
        """The answer to a question.

        Raises
        ------
        RefusedFileError
            If the file cannot be read.
        WireError
            If the process has ended, by the file or by :meth:`end`, or talks nonsense.
        """
        allowed = [limits.memory, limits.seconds, limits.written]
        question = WireMessage({"do": do, "of": of, "limits": allowed}, buffers)
        self.done = 0.0
        sound = False
        try:
            send(cast("IO[bytes]", self._process.stdin), question)  # type: ignore[arg-type]
            while True:
                found = receive(self._process.stdout, limits.memory)  # type: ignore[arg-type]
                if found.said.keys() != {"done"}:
                    break
                self.done = min(max(float(str(found.said["done"])), 0.0), 1.0)
            sound = found.said.keys() in ({"value"}, {"refused", "said"})
        except (OSError, ValueError) as error:
            raise WireError(str(error)) from None
        finally:
            # What was broken off in the middle cannot be asked again.
            if not sound:
                self.end()
        if not sound:
            raise WireError("no answer")
        if "refused" in found.said:
            reason = str(found.said["refused"])
            if reason == "stopped":
                self.end()
                raise WireError("beyond its memory")
            raise RefusedFileError(reason, found.said["said"])
        return found.said["value"], found.buffers

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process and close its pipes; nobody asks it any more."""
        self.end()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # What was to be written to a reader that has ended.
                    continue


_waiting: list[Reader] = []
_at_the_list = threading.Lock()


def _command(first: str) -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, SWITCH, first]
    # Without site packages' start-up, and without the current folder, where anything may lie.
    paths = [path for path in sys.path if path] + [str(Path(__file__).parents[3])]
    start = (
        f"import sys; sys.path[:] = {paths!r}; "
        f"from tabprotect.engine.foreign.worker import main; main({first!r})"
    )
    return [sys.executable, "-I", "-S", "-c", start]


@contextmanager
def lent(size: int) -> Iterator[Reader]:
    """A reader for a file of so many bytes; it waits for the next file afterwards, if it lives.

    After a large file it ends, so that the memory that it took is free.
    """
    with _at_the_list:
        reader = _waiting.pop() if _waiting else None
    if reader is None or not reader.alive:
        if reader is not None:
            reader.close()
        try:
            reader = Reader()
        except OSError as error:
            raise InputError(
                message("the reader of foreign files cannot be started"), detail=str(error)
            ) from None
    try:
        yield reader
    finally:
        with _at_the_list:
            kept = reader.alive and size <= LARGE and len(_waiting) < KEPT
            if kept:
                _waiting.append(reader)
        if not kept:
            reader.close()


def begin_for(do: str) -> None:
    """Start a reader that will be asked ``do``, unless one waits; it is not waited for."""
    with suppress(OSError), _at_the_list:
        if not _waiting:
            _waiting.append(Reader(do))


def warm() -> None:
    """Have a reader wait for the first file."""
    # Whoever reads a file will be told why there is none.
    with suppress(InputError, WireError), lent(0) as reader:
        reader.ask("close", {}, limits=limits_for(0))


@atexit.register
def end_all() -> None:
    """End the readers that wait."""
    with _at_the_list:
        while _waiting:
            _waiting.pop().close()


if hasattr(os, "register_at_fork"):
    # A child's questions would meet its parent's answers.
    os.register_at_fork(after_in_child=_waiting.clear)


def asked(
    do: str,
    of: Mapping[str, object],
    buffers: Sequence[Buffer] = (),
    *,
    path: Path,
    progress: Progress = SILENT,
    stage: Message | str = "",
) -> tuple[object, Sequence[Buffer]]:
    """The answer of a reader to one question about the file at ``path``; cancelling ends the reader.

    Raises
    ------
    InputError
        If the file made its reader stop.
    RefusedFileError
    Interrupted
    """
    size = path.stat().st_size
    # The reader may have been started in another folder.
    where = {**of, "path": str(path.absolute())}
    with lent(size) as reader:
        try:
            return watched(
                lambda: reader.ask(do, where, buffers, limits=limits_for(size)),
                lambda: progress.report(stage, reader.done),
                reader.end,
            )
        except WireError:
            raise stopped(path) from None


def watched(work: Callable[[], T], look: Callable[[], None], end: Callable[[], None]) -> T:
    """The result of work in a thread, while somebody may cancel it.

    ``look`` is called every :data:`POLL` seconds; if it raises, ``end`` must make the work fail.
    """
    found: list[T] = []
    failed: list[BaseException] = []
    ready = threading.Event()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="reading")
    thread.start()
    try:
        while not ready.wait(POLL):
            look()
    except BaseException:
        end()
        raise
    finally:
        thread.join()
    if failed:
        raise failed[0]
    return found[0]
