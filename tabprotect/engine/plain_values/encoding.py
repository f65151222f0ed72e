"""Values as JSON, by the names of their fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from functools import reduce
from pathlib import PurePath
from typing import Any, ClassVar


class Encodable:
    """A value whose JSON is an object of its fields, or of the attributes that ``json_keys`` names.

    Attributes
    ----------
    json_keys
        The keys of :func:`keyed`. Empty for the fields of a dataclass.
    """

    json_keys: ClassVar[str] = ""

    def as_json(self) -> dict[str, Any]:
        """The object that JSON says of it."""
        return keyed(self)


def as_json(value: object) -> Any:
    """Whatever JSON says of a value; of a number that is infinite or none ``null``, of a time UTC."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {key: as_json(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_json(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return [as_json(one) for one in sorted(value)]
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat(timespec="seconds")
    if isinstance(value, (PurePath, date)):
        return str(value)
    if (encode := getattr(value, "as_json", getattr(value, "tolist", None))) is not None:
        return encode()
    if is_dataclass(value) or hasattr(value, "json_keys"):
        return keyed(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def keyed(value: Any, keys: str = "") -> dict[str, Any]:
    """What JSON says of some attributes of a value.

    Parameters
    ----------
    keys
        The keys in their order, with spaces between: the names of attributes, or ``key=attribute`` where
        the attribute is called otherwise or belongs to a part (``who=publication.who``), which is none
        where the part is. One that ends in ``?`` is left out where the attribute is none, or what its class
        says by default; those of a part stand among the others by ``*part``. By default those of the class.
    """
    kind, said = type(value), dict[str, Any]()
    keys = keys or getattr(kind, "json_keys", "")
    for each in keys.split() or [field.name for field in fields(kind)]:
        key, _, path = each.strip("*?").partition("=")
        path = path or key
        found = reduce(
            lambda part, name: None if part is None else getattr(part, name), path.split("."), value
        )
        if each[0] == "*":
            said |= as_json(found)
        elif each[-1] != "?" or (found is not None and found != getattr(kind, path, None)):
            said[key] = as_json(found)
    return said
