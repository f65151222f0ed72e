"""Plain values as typed ones: every wrong field named at once, nothing converted by guess."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.decoding import (
    MOST_FAULTS,
    Between,
    FieldsError,
    decoded,
    parsed_json,
    parsed_toml,
)


@dataclass(frozen=True)
class Group:
    name: str
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Settings:
    share: Annotated[float, Between(0, 1)]
    groups: tuple[Group, ...] = ()
    named: Mapping[str, Group] = field(default_factory=dict)
    kind: Literal["plain", "fancy"] = "plain"
    seed: int | None = None
    pair: tuple[int, str] = (0, "")
    either: tuple[int, ...] | str = ""
    flag: bool = False
    anything: object = None


def test_a_whole_file_becomes_its_dataclass() -> None:
    found = decoded(
        {
            "share": 1,
            "groups": [{"name": "a", "sizes": [1, 2]}],
            "named": {"x": {"name": "b"}},
            "kind": "fancy",
            "pair": [1, "z"],
            "either": [3],
            "anything": [None, {"k": 1.5}],
        },
        Settings,
    )
    assert found == Settings(
        1.0,
        (Group("a", (1, 2)),),
        {"x": Group("b")},
        "fancy",
        pair=(1, "z"),
        either=(3,),
        anything=[None, {"k": 1.5}],
    )
    assert type(found.share) is float


def test_every_wrong_field_is_named_at_once_with_its_path() -> None:
    with pytest.raises(FieldsError) as caught:
        decoded(
            {
                "groups": [{"name": "a", "sizes": [1, "2", True]}, 7, {"nmae": "b"}],
                "named": {"x": {"name": None}},
                "kind": "plainer",
                "seed": 1.5,
                "pair": [1],
                "either": {"a": 1},
                "flag": 1,
                "colour": "red",
            },
            Settings,
        )
    assert caught.value.fields == {
        "share": "is missing",
        "colour": "means nothing; there are share, groups, named, kind, seed, pair, either, flag, anything",
        "groups[0].sizes[1]": "must be a whole number, is '2'",
        "groups[0].sizes[2]": "must be a whole number, is True",
        "groups[1]": "must be named values, is 7",
        "groups[2].nmae": "means nothing; there are name, sizes",
        "groups[2].name": "is missing",
        "named.x.name": "must be text, is None",
        "kind": "must be one of plain, fancy, is 'plainer'",
        "seed": "must be a whole number, is 1.5",
        "pair": "must be a list of 2, is [1]",
        "either": "must be a list or text, is {'a': 1}",
        "flag": "must be true or false, is 1",
    }
    assert all(f"{at}: {why}" in caught.value.message for at, why in caught.value.fields.items())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"share": 2}, "share: must be at least 0 and at most 1, is 2.0"),
        ({"share": float("nan")}, "share: must be a number, is nan"),
        ({"share": 10**400}, "share: must be a number, is inf"),
        ({"share": True}, "share: must be a number, is True"),
        ({"share": 0, "seed": 2**63}, "seed: must be a whole number of 64 bits"),
        ({"share": 0, "seed": 10**5000}, "seed: must be a whole number of 64 bits"),
        ({"share": 0, "groups": "abc"}, "groups: must be a list, is 'abc'"),
        ({"share": 0, "either": [1, "x"]}, "either[1]: must be a whole number, is 'x'"),
        ({"share": 0, "groups": [{"name": "a\0"}]}, "groups[0].name: holds a NUL character"),
        ([], "must be named values, is []"),
    ],
)
def test_nothing_is_converted_by_guess(given: object, words: str) -> None:
    with pytest.raises(FieldsError) as caught:
        decoded(given, Settings)
    assert words in caught.value.message


def test_messages_stay_short_whatever_is_sent() -> None:
    deep: object = 0
    for _ in range(500):
        deep = [deep]
    for given in (
        {"share": "x" * 10**6, "y" * 10**6: 1, "z\n\x1b[0m": 2},
        {"share": 0, "groups": [deep] * 10**5},
        {f"k{i}": i for i in range(10**4)},
        {"share": 0, "named": {str(i): i for i in range(10**4)}},
    ):
        with pytest.raises(FieldsError) as caught:
            decoded(given, Settings)
        assert len(caught.value.message) < 400 * MOST_FAULTS
        assert "\x1b" not in caught.value.message


def test_texts_that_are_none_say_where() -> None:
    assert parsed_json('{"a": 1}') == {"a": 1} and parsed_toml("a = 1", "policy") == {"a": 1}
    with pytest.raises(InputError) as caught:
        parsed_json('{"a":\n 1,}')
    assert caught.value.line == 2
    for text in ("[" * 10**5, "1" * 10**5, json.dumps("x")[:-1]):
        with pytest.raises(InputError, match="not valid JSON"):
            parsed_json(text)
    for text in ("a = ", "a = " + "[" * 10**5, "a = " + "1" * 10**5):
        with pytest.raises(InputError, match="not a valid policy"):
            parsed_toml(text, "policy")


@dataclass(frozen=True)
class Spelled:
    valueCodes: Annotated[tuple[Annotated[str, Between(1)], ...], Between(1)]  # noqa: N815


def test_lengths_have_bounds_and_names_any_case_where_that_is_asked_for() -> None:
    assert decoded({"VALUECODES": ["a"]}, Spelled, any_case=True) == Spelled(("a",))
    for given in ({"valuecodes": ["a"]}, {"valueCodes": []}, {"valueCodes": ["a", ""]}, {"valueCodes": "a"}):
        with pytest.raises(FieldsError, match="valueCodes"):
            decoded(given, Spelled)
    with pytest.raises(FieldsError, match=r"valueCodes\[1\]"):
        decoded({"valueCodes": ["a", "b\x00"]}, Spelled)
