"""The audit trail of a dossier: what was done, in order, each line hashed with the line before. Confidential.

A line is an object with ``number``, ``time``, ``user``, ``program``, what was done with which arguments
and inputs, its result, and ``chain``: SHA-256 over the hash of the line before and all else that it says.
The last hash stands in the record of the dossier and in the register, so that lines cut from the end show.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabprotect.engine.bundle.archive import dump_json
from tabprotect.engine.chained_log import NO_LINES, Head
from tabprotect.languages.messages import message

NUMBER, CHAIN = "number", "chain"


@dataclass(frozen=True)
class ChainedTrail:
    """Lines of a trail with their hashes.

    Attributes
    ----------
    lines
        As JSON objects.
    head
        Number and hash of the last line.
    """

    lines: tuple[Mapping[str, object], ...] = ()
    head: Head = NO_LINES


def chained(steps: Sequence[object]) -> ChainedTrail:
    """Number the steps and hash each with the one before.

    Parameters
    ----------
    steps
        Values that JSON says as objects, in order.
    """
    head, lines = NO_LINES, []
    for step in steps:
        said = {NUMBER: head.lines + 1, **json.loads(dump_json(step))}
        head = head.then(said)
        lines.append({**said, CHAIN: head.chain})
    return ChainedTrail(tuple(lines), head)


def trail_faults(lines: Sequence[object], head: Head | None = None) -> tuple[str, ...]:
    """What of a trail is not as it was written, in words, each line named once.

    Parameters
    ----------
    head
        What is known of the last line elsewhere; ``None`` where nothing is.
    """
    found, before = [], NO_LINES
    for place, line in enumerate(lines, 1):
        stated = dict(line) if isinstance(line, Mapping) else {}
        number, chain = stated.get(NUMBER), stated.pop(CHAIN, None)
        if type(number) is not int or not isinstance(chain, str):
            found.append(message("line {place} has no number, or no hash", place))
            continue
        if number > before.lines + 1:
            missing = range(before.lines + 1, number)
            found.append(
                message("line {number} was cut, or moved", missing[0])
                if len(missing) == 1
                else message("lines {first} to {last} were cut, or moved", missing[0], missing[-1])
            )
        elif number <= before.lines:
            found.append(message("line {number} stands behind line {before}", number, before.lines))
        elif not hmac.compare_digest(before.then(stated).chain.encode(), chain.encode()):
            found.append(message("line {number} was changed", number))
        before = Head(number, chain)
    if head is not None and before != head and not found:
        found.append(
            message("it ends with line {lines}, and had {wanted}", before.lines, head.lines)
            if before.lines != head.lines
            else message("it is another than was recorded")
        )
    return tuple(found)
