"""The reader's process: it answers one question after the other until the program closes its pipe.

It imports nothing of the program's own but the readers beside it, so that it is there at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import BinaryIO

from tabprotect.engine.foreign.limits import Limits, hold
from tabprotect.engine.foreign.wire import Buffer, WireError, WireMessage, receive, send

READERS = {
    "workbook": "workbooks:sheet",
    "outline": "workbooks:outline",
    "labelled": "statistics_files:labelled",
    "labelled_texts": "statistics_files:labelled_texts",
    "r": "statistics_files:r",
    "layer": "geopackages:layer",
    "levels": "arrow_levels:levels",
    "xml": "messages:sdmx_ml",
    "xml_texts": "messages:sdmx_ml_texts",
    "xml_structure": "messages:sdmx_ml_structure",
    "connect": "queries:connect",
    "execute": "queries:execute",
    "fetch": "queries:fetch",
    "close": "queries:close",
}
"""The function that answers each question, by its module."""

MOST_ASKED = 2**30

Answer = tuple[object, Sequence[Buffer]]


class Refused(Exception):  # noqa: N818 (an answer, not a fault)
    """A file that its reader declines, with the reason by name and what is said of it."""

    def __init__(self, reason: str, said: object = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.said = said


def loaded(do: str, of: Mapping[str, object]) -> Callable[..., Answer]:
    """The function that answers a question, with the library that it takes."""
    module, _, name = READERS[do].partition(":")
    reader: Callable[..., Answer] = getattr(import_module(f"tabprotect.engine.foreign.{module}"), name)
    ready = getattr(reader, "ready", None)
    if ready is not None:
        ready(of)
    return reader


def answer(question: WireMessage, tell: Callable[[float], None]) -> WireMessage:
    """Read what is asked for, within its limits."""
    said = dict(question.said)
    memory, seconds, written = (int(str(part)) for part in list(said["limits"]))  # type: ignore[call-overload]
    try:
        of: Mapping[str, object] = said["of"]  # type: ignore[assignment]
        # What a library takes to be loaded is not the file's.
        reader = loaded(str(said["do"]), of)
        hold(Limits(memory, seconds, written))
        value, buffers = reader(of, question.buffers, tell)
    except Refused as refused:
        return WireMessage({"refused": refused.reason, "said": refused.said})
    except (MemoryError, RecursionError):
        return WireMessage({"refused": "stopped", "said": ""})
    except ImportError as error:
        return WireMessage({"refused": "missing", "said": str(error.name)})
    # A parser may raise anything on a damaged file.
    except Exception as error:
        text = str(error).encode("utf-8", "replace").decode("utf-8")
        return WireMessage({"refused": "error", "said": [type(error).__name__, text[:2000]]})
    return WireMessage({"value": value}, buffers)


def serve(asked: BinaryIO, answered: BinaryIO) -> None:
    """Answer until the program has ended."""
    while True:
        try:
            question = receive(asked, MOST_ASKED)
        except WireError:
            return
        tell: Callable[[float], None] = lambda done: send(answered, WireMessage({"done": done}))  # noqa: E731
        try:
            found = answer(question, tell)
            send(answered, found)
        except (ValueError, MemoryError, RecursionError):
            # Texts that are no text, or more than fits: nothing of it has been written.
            send(answered, WireMessage({"refused": "stopped", "said": ""}))


def main(first: str = "") -> None:
    """Answer on standard output what is asked on standard input; ``first`` will be the first question."""
    # The program ends this process; Ctrl+C is said to the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    asked, answered = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a library prints is not part of any answer.
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(quiet, number)
    sys.setrecursionlimit(1000)
    if first:
        # Whoever asks for it will be told why it cannot be loaded.
        with suppress(Exception):
            loaded(first, {})
    with suppress(OSError, KeyboardInterrupt):
        serve(asked, answered)
    # Threads of libraries have nothing left to do.
    os._exit(0)
