"""Runs as they are written on the command line."""

from __future__ import annotations

import pytest

from tabprotect.engine.assessment.comparing.run_spec import RunSpec, expand, parse_spec
from tabprotect.engine.errors import ParameterError


def test_a_method_with_numbers() -> None:
    (spec,) = parse_spec("cell_key D=5 V=3 js=2 monotone=no")
    assert spec == RunSpec("cell_key", {"D": 5, "V": 3.0, "js": 2, "monotone": False})
    assert parse_spec(" random_rounding ") == (RunSpec("random_rounding"),)


def test_grids_are_products() -> None:
    found = parse_spec("cell_key D=4,5 js=1,2 V=3")
    assert [(s.given["D"], s.given["js"]) for s in found] == [(4, 1), (4, 2), (5, 1), (5, 2)]
    assert expand("m", {}) == (RunSpec("m"),)


def test_formulas_are_no_grids_and_may_have_spaces() -> None:
    text = "cell_key margins=a*b + c groupings=eu:geo=Spain>EU,Iceland>no D=3"
    (spec,) = parse_spec(text)
    assert spec.given == {"margins": "a*b + c", "groupings": "eu:geo=Spain>EU,Iceland>no", "D": 3}
    assert parse_spec(spec.text) == (spec,)
    assert parse_spec('cell_key margins="a*b + c"')[0].given == {"margins": "a*b + c"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no method"),
        ("nonsense D=5", "nonsense"),
        ("cell_key 5", "is no name=value"),
        ("cell_key D=5 D=6", "twice"),
        ('cell_key margins="a', "quotation mark"),
    ],
)
def test_faults(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_spec(text)


def test_what_the_method_refuses_is_left_to_it() -> None:
    assert parse_spec("cell_key D=many W=1")[0].given == {"D": "many", "W": "1"}
