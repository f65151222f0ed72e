"""Which number the page of a bundle says to use: as brute force does, and as the library does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.which_number import Question, best_number, cells_of
from tabprotect.engine.bundle import public
from tests.engine.belief.test_which_number import DOMAIN, QUESTIONS, by_hand, release_of
from tests.engine.bundle.reader_page.test_page import Node, node

__all__ = ["node"]


def asked(text: str) -> list[object]:
    question = Question.parse(text)
    others = cells_of(DOMAIN, question.other).tolist() if question.other else []
    return [question.kind, cells_of(DOMAIN, question.cells).tolist(), others]


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("cyclic_perturbation", {}), ("random_rounding", {"base": 3}), ("suppression", {}), ("bootstrap", {})],
)
def test_the_page_answers_as_brute_force_and_the_library(
    node: Node, method: str, parameters: dict[str, object]
) -> None:
    release = release_of(method, **parameters)
    posterior = believe([release]).posterior
    for text, mine in zip(QUESTIONS, node.numbers(release, [*map(asked, QUESTIONS)]), strict=True):
        assert mine["draws"] == 0
        assert (mine["estimate"], mine["low"], mine["high"]) == pytest.approx(by_hand(release, text)), text
        found = best_number(posterior, Question.parse(text), release=release)
        assert (found.kind, found.draws) == (mine["kind"], 0)
        assert (found.estimate, found.low, found.high, found.variance) == pytest.approx(
            [mine[name] for name in ("estimate", "low", "high", "variance")], abs=1e-9
        )


@pytest.mark.parametrize("method", ["cell_key", "discrete_laplace", "post_randomisation"])
def test_a_page_of_drawn_originals_says_by_how_much_it_may_be_off(node: Node, method: str) -> None:
    release = release_of(method)
    posterior = believe([release]).posterior
    for text, mine in zip(QUESTIONS, node.numbers(release, [*map(asked, QUESTIONS)]), strict=True):
        found = best_number(posterior, Question.parse(text), release=release)
        error = (found.error**2 + mine["error"] ** 2) ** 0.5
        assert mine["error"] > 0 and abs(found.estimate - mine["estimate"]) < 5 * error, text
        assert mine["variance"] == pytest.approx(found.variance, rel=0.25)


@pytest.mark.parametrize("method", ["cyclic_perturbation", "random_rounding"])
def test_sums_too_wide_to_be_exact_are_drawn(node: Node, method: str) -> None:
    release = release_of(method)
    questions = [*map(asked, QUESTIONS)]
    text = public.page_of(release).decode()
    script = text.replace("MOST_SUMS=4e6", "MOST_SUMS=3") if "MOST_SUMS=4e6" in text else ""
    script = script or text.replace("MOST_SUMS = 4e6", "MOST_SUMS = 3")
    assert script != text
    drawn = 0
    for exact, mine in zip(
        node.numbers(release, questions), node.numbers(release, questions, script), strict=True
    ):
        assert abs(exact["estimate"] - mine["estimate"]) <= 5 * mine["error"] + 1e-9
        drawn += mine["draws"] > 0
    assert drawn >= 3


def test_a_fault_in_the_weights_is_found(node: Node) -> None:
    release, questions = release_of("cyclic_perturbation"), [*map(asked, QUESTIONS)]
    text = public.page_of(release).decode()
    wrong = text.replace("weight * signs[k]", "signs[k]")
    assert wrong != text and node.numbers(release, questions, wrong) != node.numbers(release, questions)


def test_a_question_is_read_as_the_page_writes_it(tmp_path: Path) -> None:
    question = Question.parse('"a b"="x, y",z; w="p ""q""" / "a b"="u - v"')
    assert question.cells == ({"a b": ["x, y", "z"], "w": ['p "q"']},)
    assert question.other == ({"a b": ["u - v"]},) and Question.parse(question.text) == question
