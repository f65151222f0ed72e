"""Frozen values as JSON and plain number arrays: written without pickles, read without trust.

Every dataclass reachable from a project through the types of its fields is a *kind*: its fields are
what is stored, so that an added field is saved without further code. Values shared by snapshots
are stored once, arrays beside the JSON by their digest.

A missing field takes its default; an unknown one comes from another version.
"""

from __future__ import annotations

import hashlib
import io
import re
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, get_args, get_origin

import numpy as np

from tabprotect.engine.arrays import Arrays, Ints
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.plain_values.decoding import LATE, Decoding, types_of
from tabprotect.engine.project.project import Project, checked
from tabprotect.engine.protection.problem import Protected, RunEvidence
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, check_groupings
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.moves import Designed, MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '[<|][a-zA-Z][0-9]{1,6}', 'fortran_order': (?:False|True), "
    rb"'shape': \((?:[0-9]{1,18},|[0-9]{1,18}(?:, [0-9]{1,18})+)?\), \} *\n",
    re.DOTALL,
)
"""The first bytes of every array written here (numpy's format 1.0)."""


COPY = "#"
"""Before the number of an array that is equal to another, and not the same: what is one stays one, as
the measure of a magnitude table that has no variable of its own to be judged by."""


def _table(domain: Domain, _array: Ints | None, _keys: Ints | None, _values: Ints | None) -> Table:
    if _array is not None:
        return Table.dense(domain, _array)
    if _keys is None or _values is None:
        raise TypeError("a table without counts")
    return Table.sparse(domain, _keys, _values)


def _moves(
    domain: Domain,
    margins: MarginSet,
    groupings: tuple[Grouping, ...] = (),
    design: Designed | None = None,
    **arrays: Ints,
) -> MoveSet:
    starts, entries = arrays["starts"], len(arrays["cells"])
    if starts.ndim != 1 or starts[0] != 0 or starts[-1] != entries or (np.diff(starts) < 0).any():
        raise ValueError(message("a cycle set is torn"))
    check_groupings(domain, groupings)
    grouped = {grouping.name for grouping in groupings}
    for margin in margins:
        domain.project([name for name in margin if name not in grouped])
    moves = MoveSet.of(domain, **arrays, margins=margins, groupings=groupings)
    return replace(moves, design=design)


def _protected(release: Release, record: RunEvidence) -> Protected:
    if record.problem.table.domain != release.domain:
        raise ValueError(message("a result belongs to another table"))
    return Protected(release, record)


LATE.update(MagnitudeRule=MagnitudeRule, MagnitudeTable=MagnitudeTable)

BUILD: Mapping[type, Callable[..., object]] = {
    Table: _table,
    MoveSet: _moves,
    Protected: _protected,
    Project: lambda **given: checked(Project(**given)),
}
"""Constructors that check what the class itself assumes."""


@cache
def kinds() -> Mapping[str, type]:
    """Every dataclass reachable from a project, by name."""
    found: dict[str, type] = {}

    def visit(hint: object) -> None:
        if isinstance(hint, type) and is_dataclass(hint) and hint.__name__ not in found:
            found[hint.__name__] = hint
            for inner in types_of(hint).values():
                visit(inner)
        for inner in get_args(hint):
            visit(inner)

    visit(Project)
    return found


class _Built(Decoding):
    """Checks values that are already built, down to the dtype of arrays; converts nothing."""

    def scalar(self, given: object, kind: type, at: str) -> object:
        fits = isinstance(given, (int, float) if kind is float else kind)
        if not fits or (isinstance(given, bool) and kind in (int, float)):
            self.wrong(given, kind, at)
        return given

    def record(self, given: object, kind: type, at: str) -> object:
        return given if isinstance(given, kind) else self.wrong(given, kind, at)

    def listed(self, given: object, hint: object, at: str) -> object:
        if not isinstance(given, get_origin(hint) or tuple):
            return self.wrong(given, hint, at)
        if isinstance(given, np.ndarray):
            dtype = get_args(get_args(hint)[1])[0]
            fits = dtype is Any or np.issubdtype(given.dtype, dtype)
            return given if fits else self.wrong(given.dtype, hint, at)
        return super().listed(given, hint, at)


class Encoder:
    """Collects values to be written: ``shared`` in the JSON, ``arrays`` beside it by digest."""

    def __init__(self) -> None:
        self.shared: list[tuple[str, dict[str, object]]] = []
        self.arrays: dict[str, bytes] = {}
        self.size = 0
        self._known: dict[int, int] = {}
        self._alike: dict[str, list[Arrays]] = {}
        # Identities are only valid while their objects live.
        self._alive: list[object] = []

    def put(self, value: object) -> int:
        """Add a value of a kind to ``shared`` if needed; return its number there."""
        if id(value) not in self._known:
            kind: type = type(value)
            if kinds().get(kind.__name__) is not kind:
                raise TypeError(f"{kind.__name__} is not reached from a project")
            content = {name: self._encode(getattr(value, name)) for name in types_of(kind)}
            self.shared.append((kind.__name__, content))
            self._known[id(value)] = len(self.shared) - 1
            self._alive.append(value)
        return self._known[id(value)]

    def _encode(self, value: object) -> object:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Fraction):
            return {"fraction": str(value)}
        if isinstance(value, np.ndarray):
            return {"array": self._array(value)}
        if isinstance(value, tuple):
            return [self._encode(one) for one in value]
        if isinstance(value, list):
            return {"list": [self._encode(one) for one in value]}
        if isinstance(value, Mapping):
            tag = "dict" if isinstance(value, dict) else "map"
            return {tag: [[self._encode(k), self._encode(v)] for k, v in value.items()]}
        return {"value": self.put(value)}

    def _array(self, array: Arrays) -> str:
        out = io.BytesIO()
        np.save(out, np.asarray(array, order="C"), allow_pickle=False)
        data = out.getvalue()
        name = hashlib.sha256(data).hexdigest()
        if name not in self.arrays:
            self.arrays[name] = data
            self.size += len(data)
        alike = self._alike.setdefault(name, [])
        number = next((n for n, one in enumerate(alike) if one is array), len(alike))
        if number == len(alike):
            alike.append(array)
        return f"{name}{COPY}{number}" if number else name


class Decoder:
    """Rebuilds values through constructors that check everything.

    Raises ``KeyError``, ``TypeError``, ``ValueError``, ``IndexError`` or an ``InputError`` for
    data that no encoder wrote; the reader of the file turns them into one error.
    """

    def __init__(
        self, shared: Sequence[tuple[str, Mapping[str, object]]], arrays: Mapping[str, bytes]
    ) -> None:
        self._shared = shared
        self._arrays = arrays
        self._built: dict[int, object] = {}
        self._read: dict[str, Arrays] = {}

    def get(self, number: object) -> object:
        """The value with this number in ``shared``."""
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ValueError(message("{number} is no number of a value", repr(number)))
        if number not in self._built:
            self._built[number] = self._build(*self._shared[number])
        return self._built[number]

    def project(self, number: object) -> Project:
        """The project with this number."""
        found = self.get(number)
        if not isinstance(found, Project):
            raise TypeError("this is no project")
        return found

    def _build(self, name: str, content: Mapping[str, object]) -> object:
        kind = kinds()[name]
        if not set(content) <= set(types_of(kind)):
            raise NotImplementedError(f"a {name} of an unknown version")
        given = {field: self._decode(value) for field, value in content.items()}
        built = _Built()
        for field, hint in types_of(kind).items():
            if field in given:
                built.value(given[field], hint, f"{name}.{field}")
        if built.faults:
            raise TypeError(f"of another type: {', '.join(built.faults)}")
        return BUILD.get(kind, kind)(**given)

    def _decode(self, value: object) -> object:
        if isinstance(value, list):
            return tuple(map(self._decode, value))
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag == "array":
            return self._array(content)
        if tag == "fraction":
            return Fraction(content)
        if tag == "list":
            return list(map(self._decode, content))
        if tag in ("dict", "map"):
            found = {self._decode(k): self._decode(v) for k, v in content}
            return found if tag == "dict" else MappingProxyType(found)
        if tag == "value":
            return self.get(content)
        raise ValueError(message("{tag} is nothing that is stored", repr(tag)))

    def _array(self, name: str) -> Arrays:
        if name not in self._read:
            self._read[name] = self._loaded(name)
        return self._read[name]

    def _loaded(self, name: str) -> Arrays:
        data = self._arrays[name.partition(COPY)[0]]
        # numpy evaluates an array's header as a Python literal, with errors and warnings of its own.
        head = _HEAD.match(data)
        if head is None or head.end() != 10 + int.from_bytes(data[8:10], "little"):
            raise ValueError(message("an array is damaged"))
        try:
            array: Arrays = np.load(io.BytesIO(data), allow_pickle=False)
        except (EOFError, OverflowError, MemoryError, tokenize.TokenError):
            raise ValueError(message("an array is damaged")) from None
        array.flags.writeable = False
        return array
