"""The one table of sentences: every kind is found somewhere, and is said in every language."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tabprotect.engine.release.findings import BESIDE_NUMBER, SENTENCES, Finding, State, in_words
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.verdict_figures import TableVerdict, Verdict, knows
from tabprotect.languages.messages import named
from tabprotect.languages.translation import language, set_language, translate

SOURCES = Path(__file__).resolve().parents[3] / "tabprotect"

COMPOSED = {knows(9.0, 1, certain, limit=limit).kind for certain in (0, 1) for limit in (None, 1.0)}
"""The kinds that are put together of what is known and what may be."""


def values(kind: str, number: int) -> dict[str, object]:
    templates = [table[kind] for table in (SENTENCES, BESIDE_NUMBER) if kind in table]
    texts = [text for one in templates for text in ((one,) if isinstance(one, str) else one)]
    return dict.fromkeys(("n", *(name for text in texts for name in named(text))), number)


def german_of(text: str) -> str:
    before = language()
    set_language("de")
    try:
        return translate(text)
    finally:
        set_language(before)


def test_every_kind_is_found_somewhere() -> None:
    places = (path.read_text("utf-8") for path in SOURCES.rglob("*.py") if path.name != "findings.py")
    source = "\n".join(places)
    assert SENTENCES.keys() >= COMPOSED and BESIDE_NUMBER.keys() <= SENTENCES.keys()
    assert [kind for kind in SENTENCES if f'"{kind}"' not in source and kind not in COMPOSED] == []


@pytest.mark.parametrize("kind", SENTENCES)
def test_every_kind_is_said_of_one_and_of_several_in_german_too(kind: str) -> None:
    for number in (1, 7):
        found = Finding(kind, values=values(kind, number), where="age")
        assert found.text.startswith("age: ") and "{" not in found.text
        if kind in BESIDE_NUMBER:
            assert "{" not in found.beside_number
        german = german_of(found.text)
        assert "{" not in german and (kind == "said" or german != found.text)


def test_a_headline_has_its_word_its_finding_and_what_else_is_to_be_said() -> None:
    found = Finding("no_title", "mind", word="Not ready", rest="Limit 0.")
    assert found.text == "Not ready. The release has no title. Limit 0."
    assert found.heading == "The release has no title"
    assert {found.state} < set(get_args(State))


def test_the_sentence_of_a_verdict_is_that_of_its_findings() -> None:
    tables = (TableVerdict("user", ("a",), True, 9, 14.0, 3, 1, "exact"),)
    verdict = Verdict(tables, Gate(), 3)
    assert verdict.sentence == in_words(verdict.findings)
    (only,) = verdict.findings
    assert (only.kind, only.state, only.values["limit"]) == ("known_certain", "failed", 0)
