"""The catalogue is what the program says, and its German says the same."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tabprotect.languages.po import PoEntry, po_text, read_po

from tabprotect.languages.catalogue import Catalogue
from tabprotect.languages.speaking import PSEUDO, catalogue, of_environment

ROOT = Path(__file__).resolve().parents[2]
GERMAN = ROOT / "resources" / "languages" / "de.po"

AREAS = {
    "tabprotect/gui/": 0.93,
    "tabprotect/cli/": 0.93,
    "tabprotect/server/": 0.93,
    "tabprotect/engine/": 0.93,
    "resources/": 0.93,
}
"""Where sentences are said, and which share of them is German at least."""


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "packaging")
        yield importlib.import_module("catalogue")


def entries() -> list[PoEntry]:
    return list(read_po(GERMAN.read_text("utf-8")))


def test_the_catalogue_is_what_the_program_says(script: ModuleType) -> None:
    text = GERMAN.read_text("utf-8")
    fresh = po_text("de", script.brought_up(read_po(text), script.said_by()))
    assert fresh == text, "run packaging/catalogue.py, and translate what it brings"


def test_a_choice_of_words_makes_two_sentences_and_keys_make_none(script: ModuleType) -> None:
    source = '''
"""What a module is."""
def say(n, name):
    """What it does."""
    noun = "cell is" if n == 1 else "cells are"
    d = {"some key": name}
    re.compile("a pattern here")
    return f"{n:,} {noun} at risk in {', '.join(name)}"
'''
    said = script.Reader(labels=False).read(source)
    assert said == ["some key", "{n} cell is at risk in {name}", "{n} cells are at risk in {name}"]


def test_translations_hold_the_values_of_their_texts() -> None:
    slots = re.compile(r"\{\w+\}|%\(\w+\)\w")
    wrong = [
        entry.text
        for entry in entries()
        if entry.told and sorted(slots.findall(entry.told)) != sorted(slots.findall(entry.text))
    ]
    assert not wrong


def test_german_covers_every_area() -> None:
    for area, least in AREAS.items():
        of_area = [entry for entry in entries() if entry.where.startswith(area)]
        missing = [entry.text for entry in of_area if not entry.told]
        share = 1 - len(missing) / len(of_area)
        assert share >= least, f"{area}: {share:.3f}, missing {missing[:9]}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Cancel", "Abbrechen"),
        ("&File", "&Datei"),
        ("3 at-risk cells", "3 gefährdete Zellen"),
        ("1 at-risk cell", "1 gefährdete Zelle"),
        ("0.25", "0,25"),
        (
            "31,577 counted in 12 cells (3 × 4), 0 of them zero; 1 cell is at risk (a count of 1).",
            ...,
        ),
        ("there is no variable region", "es gibt keine Variable region"),
        ("There is no variable region.", "Es gibt keine Variable region."),
        # A name is left as it is, whatever it says; so is what the program did not say.
        ("there is no variable Cancel", "es gibt keine Variable Cancel"),
        ("men, women, others", "men, women, others"),
        ("", ""),
        (
            "A zero stays zero. No count is hidden",
            "Eine Null bleibt null. Keine Fallzahl ist verborgen",
        ),
        ("every margin is kept; nothing known", "jeder Rand ist erhalten; nothing known"),
        ("<p>Cancel</p>", "<p>Cancel</p>"),
        ("3 May 2026", "3. Mai 2026"),
        (
            "a reader would know 0 \u2502 exact posterior, 15 possible originals",
            "ein Leser w\u00fcsste 0 \u2502 exakte A-posteriori-Verteilung, 15 m\u00f6gliche Originale",
        ),
        ("posterior by exact draws", "A-posteriori-Verteilung durch exakte Ziehungen"),
        ("Title: A small table", "Titel: A small table"),
        ("t.csv, line 2, cell (a, b)", "t.csv, Zeile 2, Zelle (a, b)"),
        ("Cycle 1 over 8 cells: a1, a2", "Zyklus 1 über 8 Zellen: a1, a2"),
    ],
)
def test_sentences_with_their_values_in_german(text: str, told: object) -> None:
    said = catalogue("de").told(text)
    if told is ...:
        assert "31.577" in said and "gefährdet" in said and "counted" not in said
    else:
        assert said == told


def test_names_of_the_open_table_are_kept() -> None:
    told = Catalogue(
        "de", [PoEntry("Total", "Summe"), PoEntry("{a} or not at all", "{a} oder gar nicht")], str
    )
    assert told.told("Total") == "Summe"
    told.keep(["Total", "Not known"])
    assert told.told("Total") == "Total"
    assert told.told("Not known or not at all") == "Not known oder gar nicht"


def test_what_is_not_translated_is_english_whole() -> None:
    told = Catalogue(
        "de", [PoEntry("{n} cells of {name} may move", ""), PoEntry("{n} cells", "{n} Zellen")], str
    )
    assert told.told("3 cells of x may move") == "3 cells of x may move"


def test_a_long_text_without_sense_is_passed_quickly() -> None:
    # Looking has no backtracking: a text of the size of a page takes no longer than one.
    text = "of a in the is and to. " * 2000
    assert catalogue("de").told(text) == text


def test_a_catalogue_is_read_as_it_was_written() -> None:
    given = [PoEntry('say "it"', "sag „es“", "a.py"), PoEntry("two\nlines", "", "b.py")]
    assert list(read_po(po_text("de", given))) == given
    broken_up = '#, fuzzy\nmsgid ""\n"one "\n"two"\nmsgstr "eins "\n"zwei"\n'
    assert list(read_po(broken_up)) == [PoEntry("one two", "eins zwei")]


def test_the_pseudo_language_is_two_fifths_longer() -> None:
    text = "Nothing is written before you have confirmed it once more."
    assert len(catalogue(PSEUDO).told(text)) > 1.3 * len(text)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "de_DE", "LC_ALL": "C"}, "en"),
        ({"LANG": "fr_FR", "LANGUAGE": "fr:de"}, "de"),
        ({"LANG": "fr_FR"}, "en"),
        ({"LANG": "de_DE", "TABPROTECT_LANGUAGE": "en"}, "en"),
        ({"TABPROTECT_LANGUAGE": "de"}, "de"),
    ],
)
def test_the_environment_says_which_language(environment: dict[str, str], language: str) -> None:
    assert of_environment(environment) == language
