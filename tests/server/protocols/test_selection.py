"""Selection expressions of PxWebApi 2, against what its service answers."""

from __future__ import annotations

import pytest

from tabprotect.server.problems import HttpProblem
from tabprotect.server.protocols.selection import listed, selected

YEARS = ("2019", "2020", "2021", "2022", "2023")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2020", "2020"),
        ("*", "2019 2020 2021 2022 2023"),
        ("202*", "2020 2021 2022 2023"),
        ("*9", "2019"),
        ("*2*", "2019 2020 2021 2022 2023"),
        ("20?0", "2020"),
        ("top(2)", "2019 2020"),
        ("TOP(2,1)", "2020 2021"),
        ("bottom(2)", "2022 2023"),
        ("bottom(2,1)", "2021 2022"),
        ("bottom(9)", "2019 2020 2021 2022 2023"),
        ("range(2020,2022)", "2020 2021 2022"),
        ("range(2022, 2020)", "2020 2021 2022"),
        ("from(2022)", "2022 2023"),
        ("to(2020)", "2019 2020"),
        ("x*", ""),
    ],
)
def test_what_an_expression_selects(expression: str, expected: str) -> None:
    assert [YEARS[n] for n in selected(YEARS, [expression])] == expected.split()


def test_codes_come_before_expressions_and_in_either_case() -> None:
    odd = ("*", "top(1)", "a,b", "[0,5)", "Ä")
    assert selected(odd, ["*"]) == (0,) and selected(odd, ["top(1)"]) == (1,)
    assert selected(odd, ["ä", "a,b"]) == (2, 4)
    assert selected(odd, ["range(a,b,Ä)"]) == (2, 3, 4)
    assert listed("a, b,[c,d],range(e,f)") == ["a", "b", "c,d", "range(e,f)"]


@pytest.mark.parametrize(
    "text", ["2018", "2*0", "**", "top(0)", "top(x)", "top()", "range(2020)", "from(1)", "to()", ""]
)
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(HttpProblem) as refused:
        selected(YEARS, [text])
    assert refused.value.code == "invalid_query"
