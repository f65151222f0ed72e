"""Cycles as a mechanism states them: the design they follow from, or a list as arrays.

A design is stated by its name, its parameters and a hash of its cycles, so that everybody who
builds it again can tell that it is the same. Individual cycles are ``starts``, ``cells`` (flat
numbers, the last variable fastest) and ``signs``; cycle i owns the entries ``starts[i]`` to
``starts[i + 1]``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import MAX_CYCLE_CELLS
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.said import say

_ARRAYS = ("starts", "cells", "signs")


def digest(moves: MoveSet) -> str:
    """SHA-256 of starts, cells (64 bits each) and signs (8 bits), little-endian, concatenated."""
    found = hashlib.sha256()
    for array, kind in ((moves.starts, "<i8"), (moves.cells, "<i8"), (moves.signs, "<i1")):
        found.update(np.ascontiguousarray(array, dtype=kind).data)
    return found.hexdigest()


def state(moves: MoveSet) -> dict[str, object]:
    """``{"cycles": ..., "margins": ...}``; margins only if not all (k-1)-way ones are kept."""
    cycles: dict[str, object]
    if moves.design is None:
        cycles = {name: getattr(moves, name).tolist() for name in _ARRAYS}
    else:
        cycles = {
            "design": moves.design.kind,
            "parameters": dict(moves.design.parameters),
            "sha256": digest(moves),
        }
    out: dict[str, object] = {"cycles": cycles}
    if set(moves.margins) != set(all_margins(moves.domain)):
        out["margins"] = [list(m) for m in moves.margins]
    return out


def build(stated: Mapping[str, object], domain: Domain) -> MoveSet:
    """The cycles that :func:`state` states, for a table.

    Raises
    ------
    InputError, ParameterError
        If they are stated otherwise, or the design gives other cycles than those of the hash.
    """
    if "design" not in stated:
        return _listed(stated, domain)
    kind, parameters = stated["design"], stated.get("parameters")
    if set(stated) != {"design", "parameters", "sha256"} or not isinstance(kind, str):
        raise InputError(say('a design of cycles has "design", "parameters" and "sha256"'))
    if not isinstance(parameters, Mapping):
        raise InputError(say('the "parameters" of the design are no JSON object'))
    moves = design(domain, kind, {str(name): value for name, value in parameters.items()})
    if digest(moves) != stated["sha256"]:
        raise InputError(
            say("the cycles are not those of the design {kind}: their SHA-256 differs", repr(kind)),
            hint=say("take the mechanism that came with the table"),
        )
    return moves


def _listed(stated: Mapping[str, object], domain: Domain) -> MoveSet:
    if set(stated) != set(_ARRAYS):
        raise InputError(say("cycles are a design, or the arrays {ARRAYS}", ", ".join(_ARRAYS)))
    starts, cells, signs = (_whole(stated, name) for name in _ARRAYS)
    if not len(starts) >= 2 or starts[0] != 0 or starts[-1] != len(cells):
        raise InputError(say('the "starts" of the cycles do not fit their "cells"'))
    if (np.diff(starts) < 1).any() or len(signs) != len(cells):
        raise InputError(say('a cycle is empty, or "cells" and "signs" are not as many'))
    if (np.abs(signs) != 1).any():
        raise InputError(say("an entry of a cycle is neither 1 nor -1"))
    return MoveSet.of(domain, starts, cells, signs)


def _whole(stated: Mapping[str, object], name: str) -> Ints:
    given = stated[name]
    # Not isinstance of int alone: true and false are instances, but not numbers in JSON.
    if not isinstance(given, list) or not set(map(type, given)) <= {int}:
        raise InputError(say('the "{name}" of the cycles are no list of whole numbers', name))
    if len(given) > MAX_CYCLE_CELLS:
        raise InputError(say("the cycle set is absurdly large"))
    try:
        return np.array(given, dtype=np.int64)
    except OverflowError:
        raise InputError(say('the "{name}" of the cycles are absurdly large', name)) from None
