"""A running table server followed from elsewhere: its history, its frontiers, its prices. Confidential."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from datetime import datetime

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.languages.messages import message

HISTORY = "/operator/history"

PATIENCE = 20
"""Seconds to wait for an answer."""


@dataclass(frozen=True)
class FollowedLine:
    """One line of the log.

    Attributes
    ----------
    bits, move
        What a refusal told, and the largest move of an at-risk cell's probability by it; ``None``
        where that was not worked out.
    """

    number: int
    time: datetime
    user: str
    query: Query
    answer: str
    reason: str
    bits: float | None
    move: float | None


@dataclass(frozen=True)
class Standing:
    """The state of a server.

    Attributes
    ----------
    length
        Lines of its log.
    lines
        The latest of them, the latest first.
    """

    label: str
    length: int
    frozen: bool
    released: Frontier
    unreleasable: Frontier
    lines: tuple[FollowedLine, ...]


def standing(address: str, key: str) -> Standing:
    """Ask a server where it stands.

    Parameters
    ----------
    key
        Of an operator or an auditor.

    Raises
    ------
    InputError
        When it does not answer, does not take the key, or is no table server.
    """
    content = _content(address.strip(), key.strip())
    try:
        return _understood(json.loads(content))
    except (KeyError, TypeError, ValueError, TabprotectError):
        raise InputError(
            message("what answers at this address is no table server of this program's"),
            hint="http://host:port, as the server says when it starts",
        ) from None


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: object) -> None:
        return None


def _content(address: str, key: str) -> bytes:
    """Ask for the history; the key is sent nowhere else, for redirections are not followed."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(
            message("{address} is no address of a server", repr(address)), hint="http://host:port"
        )
    request = urllib.request.Request(address.rstrip("/") + HISTORY)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=PATIENCE) as response:
            content: bytes = response.read()
    except urllib.error.HTTPError as error:
        with error:
            if error.code in (401, 403):
                raise InputError(
                    message("the server does not take this key"),
                    hint=message("following takes the key of an operator or an auditor"),
                ) from None
            content = error.read()
    except OSError as error:
        raise InputError(
            message("the server does not answer: {error}", error),
            hint=message("is it running at this address?"),
        ) from None
    return content


@dataclass(frozen=True)
class _Price:
    bits: float | None = None
    largest_move: float | None = None


@dataclass(frozen=True)
class _Line:
    number: int
    time: str
    user: str
    query: tuple[str, ...]
    answer: str
    reason: str
    price: _Price | None


@dataclass(frozen=True)
class _History:
    """The answer of a server at :data:`HISTORY`, as far as it is shown."""

    label: str
    length: int
    frozen: bool
    names: tuple[str, ...]
    told: tuple[Query, ...]
    axes: tuple[Query, ...]
    released: tuple[Query, ...]
    unreleasable: tuple[Query, ...]
    lines: tuple[_Line, ...]


def _understood(heard: object) -> Standing:
    said = decoded(heard, _History, among_others=True)
    everything = (1 << len(said.names)) - 1
    if len(said.told) != len(said.names) or sum(said.axes) != everything or not all(said.axes):
        raise ValueError
    lattice = Lattice(said.names, said.told, said.axes)
    released, unreleasable = said.released, said.unreleasable
    if any(not 0 <= found <= everything for found in (*released, *unreleasable)):
        raise ValueError
    return Standing(
        label=said.label,
        length=said.length,
        frozen=said.frozen,
        released=Frontier.below(lattice, map(lattice.closed, released)),
        unreleasable=Frontier.above(lattice, map(lattice.closed, unreleasable)),
        lines=tuple(_line(line, lattice) for line in said.lines),
    )


def _line(said: _Line, lattice: Lattice) -> FollowedLine:
    return FollowedLine(
        number=said.number,
        time=datetime.fromisoformat(said.time),
        user=said.user,
        query=lattice.query(said.query) if said.query else 0,
        answer=said.answer,
        reason=said.reason,
        bits=None if said.price is None else said.price.bits,
        move=None if said.price is None else said.price.largest_move,
    )
