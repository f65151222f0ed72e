"""Whether two values are the same down to every field, item and dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from tabprotect.languages.messages import Message


def difference(a: object, b: object, where: str = "") -> str:
    """The first place where two values differ; empty where they do not."""
    # Read-only mappings are of several types; a said text is its English wherever it is kept.
    kinds = [str if isinstance(one, Message) else type(one) for one in (a, b)]
    if kinds[0] is not kinds[1] and not (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return f"{where}: {type(a).__name__} is not {type(b).__name__}"
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same = a.dtype == b.dtype and np.array_equal(a, b) and not b.flags.writeable
        return "" if same else where or "array"
    if is_dataclass(a):
        pairs = [(f.name, getattr(a, f.name), getattr(b, f.name)) for f in fields(a)]
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        if list(a) != list(b):
            return f"{where}: {list(a)} is not {list(b)}"
        pairs = [(str(key), a[key], b[key]) for key in a]
    elif isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        if len(a) != len(b):
            return f"{where}: {len(a)} items are not {len(b)}"
        pairs = [(str(n), *both) for n, both in enumerate(zip(a, b, strict=True))]
    else:
        return "" if a == b else f"{where}: {a!r} is not {b!r}"
    for name, one, two in pairs:
        if found := difference(one, two, f"{where}.{name}"):
            return found
    return ""


def written_out(value: object) -> object:
    """All of a value as JSON, by the names of its fields alone: classes may have other names."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), value.tolist()]
    if is_dataclass(value):
        return {f.name: written_out(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return [[str(key), written_out(one)] for key, one in value.items()]
    if isinstance(value, (tuple, list)):
        return [written_out(one) for one in value]
    return value
