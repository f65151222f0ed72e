"""Formulas against what R's ``terms`` gives for them."""

from __future__ import annotations

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.formula import terms

NAMES = ("a", "b", "c", "d")


def said(formula: str) -> str:
    """The terms as R writes them, the intercept as 1."""
    return " ".join(":".join(term) or "1" for term in terms(formula, NAMES))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("a", "1 a"),
        ("~ a + b", "1 a b"),
        ("b + a", "1 b a"),
        ("a*b", "1 a b a:b"),
        ("a*b + c", "1 a b c a:b"),
        ("a:b - 1", "a:b"),
        ("0 + a:b", "a:b"),
        ("a + 0 + 1", "1 a"),
        ("a - 0", "1 a"),
        ("-1 + a", "a"),
        ("1", "1"),
        ("b:a", "1 a:b"),
        ("a:a", "1 a"),
        ("a + a", "1 a"),
        ("(a + b)*c", "1 a b c a:c b:c"),
        ("a*(b + c)", "1 a b c a:b a:c"),
        ("(a + b + c)^2", "1 a b c a:b a:c b:c"),
        ("(a + b)**2", "1 a b a:b"),
        ("a*b*c - a:b:c", "1 a b c a:b a:c b:c"),
        ("a*b*c - c*b", "1 a a:b a:c a:b:c"),
        (".", "1 a b c d"),
        (".^2 - d:.", "1 a b c a:b a:c b:c"),
        ("a/b", "1 a a:b"),
        ("a + b:c*d", "1 a d b:c b:c:d"),
        ("a:b^2", "1 a:b"),
        ("a + (b - b)", "1 a"),
        ("(a + b)^9", "1 a b a:b"),
    ],
)
def test_terms(formula: str, expected: str) -> None:
    assert said(formula) == expected


def test_names_that_need_quotation_marks() -> None:
    found = terms("`house hold`*\"a-b\" + 'x'", ("house hold", "a-b", "x"))
    assert found == ((), ("house hold",), ("a-b",), ("x",), ("house hold", "a-b"))


def test_the_dot_may_mean_fewer_names() -> None:
    assert terms(". + g", ("a", "g"), everything=("a",)) == ((), ("a",), ("g",))


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("", "is empty"),
        ("~", "is empty"),
        ("a +", "ends too early"),
        ("a + * b", "has a '\\*' where"),
        ("(a + b", "not closed"),
        ("a + b)", "has a '\\)' too many"),
        ("a b", "has a 'b' too many"),
        ("a + x", "'x', which is no variable"),
        ("a^b", "has the power 'b'"),
        ("a^0", "has the power '0'"),
        ("a ? b", "cannot be read from '\\? b' on"),
        ("(" * 5000, "brackets"),
    ],
)
def test_bad_formulas(formula: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        terms(formula, NAMES)


def test_a_formula_that_explodes_is_stopped() -> None:
    with pytest.raises(InputError, match="more than 100,000 terms"):
        terms("*".join(f"v{k}" for k in range(30)), [f"v{k}" for k in range(30)])
