"""What the program never says: words that stand for people, counts and chances in other words.

The glossary has what is said in their place (``resources/docs/glossary.md``).
"""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

GERMAN = Path(__file__).resolve().parents[2] / "resources" / "languages" / "de.po"

NOWHERE = re.compile(
    r"\bat[ -]risk\b|\brisky cells?\b|\battackers?\b|\badversar|\binsiders?\b|\bsingletons?\b"
    r"|\bintruders?\b|\bmean belief\b|\bMAD\b|\bincompletely\b|\bjudged exactly\b"
    r"|expected at risk|\d+\.\d+ of|>= 0|\d{8,}",
    re.IGNORECASE,
)
"""In no sentence, wherever it is shown."""

NOT_ON_PAGES = re.compile(
    r"\bsub-tables?\b|\bposteriors?\b|\bMonte Carlo\b|\bMCMC\b|\bpossible originals?\b|\bfibre\b"
    r"|\bP\(|\bthe user\b|\bmode\b|\w@\w|\w\*\w|\bnot judged whole\b",
    re.IGNORECASE,
)
"""Words of the methods' own pages and of options, on no page of the window and in no report."""

NOT_IN_GERMAN = re.compile(
    r"\b[Gg]efährdete|\bAngreifer|\bInsider|\bNicht bereit\b|\bTeiltabellen? der Veröff"
)

PAGES = (
    *("tabprotect/gui/", "tabprotect/engine/register/", "tabprotect/engine/release/"),
    *("tabprotect/engine/report/", "tabprotect/engine/bundle/staff/release_findings.py", "resources/report/"),
    *("tabprotect/engine/disclosure/", "tabprotect/engine/protection/descriptions/"),
)


FORMULAS = "tabprotect/gui/pages/help/texts.py"
"""Explains how a formula is typed."""


def sentences() -> list[tuple[str, str, str]]:
    """Where each sentence of the catalogue is said, in English and in German."""
    found = []
    for message in read_po(BytesIO(GERMAN.read_bytes())):
        if message.id:
            place = message.locations[0][0]
            english, german = message.id, message.string
            if isinstance(english, tuple):
                found += [(place, e, g) for e, g in zip(english, german, strict=True)]
            else:
                found.append((place, english, str(german)))
    return found


@pytest.mark.parametrize(
    ("planted", "word"),
    [("4 at-risk cells", "at-risk"), ("0 of 4.8 of them", "4.8 of"), ("An intruder", "intruder")],
)
def test_a_planted_word_is_found(planted: str, word: str) -> None:
    found = NOWHERE.search(planted) or NOWHERE.search(planted.replace("0 of 4.8", "4.8"))
    assert found is not None and word.casefold() in found[0].casefold()


def test_no_sentence_says_what_is_never_said() -> None:
    wrong = [(place, text) for place, text, _ in sentences() if NOWHERE.search(text)]
    assert not wrong, wrong[:9]


def test_no_page_and_no_report_speaks_of_methods_in_their_own_words() -> None:
    wrong = [
        (place, text)
        for place, text, _ in sentences()
        if place.startswith(PAGES) and place != FORMULAS and NOT_ON_PAGES.search(text)
    ]
    assert not wrong, wrong[:9]


def test_german_says_small_counts_and_readers_too() -> None:
    wrong = [(place, german) for place, _, german in sentences() if NOT_IN_GERMAN.search(german)]
    assert not wrong, wrong[:9]
