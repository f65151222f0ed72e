"""A running table server followed from elsewhere: its history, its frontiers, its prices. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.server.attack.target import Sent, server_at

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
    """Where a server stands.

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
    heard = server_at(address.strip(), key.strip(), PATIENCE)(Sent(HISTORY))
    if heard.status in (401, 403):
        raise InputError(
            "the server does not take this key",
            hint="following takes the key of an operator or an auditor",
        )
    try:
        return _understood(heard.json)
    except (KeyError, TypeError, ValueError, TabprotectError):
        raise InputError(
            "what answers at this address is no table server of this program's",
            hint="http://host:port, as the server says when it starts",
        ) from None


def _understood(said: Mapping[str, Any]) -> Standing:
    names = tuple(map(str, said["names"]))
    told, axes = (tuple(map(int, said[part])) for part in ("told", "axes"))
    everything = (1 << len(names)) - 1
    if len(told) != len(names) or sum(axes) != everything or not all(axes):
        raise ValueError
    lattice = Lattice(names, told, axes)

    def query(found: object) -> Query:
        if not isinstance(found, int) or not 0 <= found <= everything:
            raise ValueError
        return lattice.closed(found)

    released, unreleasable = (
        [query(found) for found in said[part]] for part in ("released", "unreleasable")
    )
    return Standing(
        label=str(said["label"]),
        length=int(said["length"]),
        frozen=bool(said["frozen"]),
        released=Frontier.below(lattice, released),
        unreleasable=Frontier.above(lattice, unreleasable),
        lines=tuple(_line(line, lattice) for line in said["lines"]),
    )


def _line(said: Mapping[str, Any], lattice: Lattice) -> FollowedLine:
    price = said["price"] or {}
    return FollowedLine(
        number=int(said["number"]),
        time=datetime.fromisoformat(said["time"]),
        user=str(said["user"]),
        query=lattice.query(said["query"]) if said["query"] else 0,
        answer=str(said["answer"]),
        reason=str(said["reason"]),
        bits=float(price["bits"]) if price else None,
        move=float(price["largest_move"]) if price else None,
    )
