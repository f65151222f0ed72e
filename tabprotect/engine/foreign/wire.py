"""Messages between the program and its reader: a header in JSON, then buffers of plain numbers.

Both sides are ours, but what a hostile file has taken over may write anything: what comes back is
bounded, parsed as JSON and as numbers of a few declared types, and never as Python objects.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

WIDTHS = {"i1": 1, "i4": 4, "i8": 8, "f8": 8, "b1": 1}
"""The types of numbers that go over the wire, little-endian, and their bytes."""

MOST_BUFFERS = 100_000

_LENGTH = struct.Struct("<Q")


class WireError(Exception):
    """The other side has ended, or writes what is no message."""


@dataclass(frozen=True)
class Buffer:
    """Numbers in a row: their type and their bytes."""

    kind: str
    data: bytes | bytearray | memoryview

    def __len__(self) -> int:
        return memoryview(self.data).nbytes // WIDTHS[self.kind]


@dataclass(frozen=True)
class WireMessage:
    """A question or an answer, and the buffers that belong to it."""

    said: Mapping[str, object]
    buffers: Sequence[Buffer] = ()


def send(stream: BinaryIO, message: WireMessage) -> None:
    """Write a message; buffers go out as they stand in memory."""
    kinds = [[one.kind, memoryview(one.data).nbytes] for one in message.buffers]
    said = {**message.said, "buffers": kinds}
    header = json.dumps(said, ensure_ascii=False, default=_written).encode("utf-8")
    stream.write(_LENGTH.pack(len(header)) + header)
    for one in message.buffers:
        stream.write(memoryview(one.data).cast("B") if len(one.data) else b"")
    stream.flush()


def _written(value: object) -> str:
    """A date or a time as ISO 8601 has it, anything else as it says itself."""
    said = getattr(value, "isoformat", value.__str__)()
    return str(said)


def receive(stream: BinaryIO, most: int) -> WireMessage:
    """Read a message of at most ``most`` bytes, its buffers straight into their own memory.

    Raises
    ------
    WireError
    """
    length = _LENGTH.unpack(_exactly(stream, _LENGTH.size))[0]
    if length > most:
        raise WireError("a header beyond all bounds")
    try:
        said = json.loads(_exactly(stream, length))
        kinds = said.pop("buffers")
        sizes = [(str(kind), int(size)) for kind, size in kinds]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise WireError("no message") from None
    whole = length + sum(size for _, size in sizes)
    if len(sizes) > MOST_BUFFERS or whole > most or any(_odd(*one) for one in sizes):
        raise WireError("buffers beyond all bounds")
    return WireMessage(said, [Buffer(kind, _exactly(stream, size)) for kind, size in sizes])


def _odd(kind: str, size: int) -> bool:
    return kind not in WIDTHS or size < 0 or size % WIDTHS[kind] != 0


def _exactly(stream: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        got = stream.readinto(view[at:])  # type: ignore[attr-defined]
        if not got:
            raise WireError("the other side has ended")
        at += got
    return data
