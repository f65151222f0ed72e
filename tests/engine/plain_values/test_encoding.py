"""Values as JSON: fields, named attributes, parts, and what JSON has no word for."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.plain_values.encoding import Encodable, as_json, keyed


@dataclass(frozen=True)
class Part:
    name: str
    high: float = math.inf


@dataclass(frozen=True)
class Whole(Encodable):
    part: Part
    values: tuple[int, ...] = (1, 2)
    hidden: int = field(default=3, repr=False)
    json_keys = "called=part.name values double"

    @property
    def double(self) -> int:
        return 2 * self.hidden


class Fields(Part, Encodable):
    """Whatever a dataclass holds."""


def test_keys_are_fields_properties_and_attributes_of_parts() -> None:
    assert list(Whole(Part("a")).as_json().items()) == [("called", "a"), ("values", [1, 2]), ("double", 6)]
    assert Fields("b").as_json() == {"name": "b", "high": None}
    assert json.dumps({"x": Whole(Part("a"))}, default=as_json) == json.dumps(
        {"x": Whole(Part("a")).as_json()}
    )


@dataclass(frozen=True)
class Told:
    whole: Whole | None = None
    reason: str = ""
    seen: tuple[int, ...] | None = None
    json_keys = "seen? why=reason? *whole"


def test_defaults_are_left_out_and_a_part_may_stand_among_the_others() -> None:
    whole = Whole(Part("a"))
    assert as_json(Told(whole)) == whole.as_json()
    assert as_json(Told(whole, "late", ())) == {"seen": [], "why": "late"} | whole.as_json()
    assert keyed(whole, "name=part.name double") == {"name": "a", "double": 6}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (MappingProxyType({"a": (Part("x", 1.0),)}), {"a": [{"name": "x", "high": 1.0}]}),
        (frozenset({"b", "a"}), ["a", "b"]),
        ([np.int64(3), np.bool_(True), np.array([[1], [2]])], [3, True, [[1], [2]]]),
        ((math.nan, -math.inf, 0.5), [None, None, 0.5]),
        (datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (Path("a/b"), "a/b"),
        (None, None),
    ],
)
def test_values_that_json_writes_otherwise(value: Any, said: object) -> None:
    found = as_json(value)
    assert found == said and json.loads(json.dumps(found)) == said


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        as_json(object())
