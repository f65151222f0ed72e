"""A said text is its English, and is told by its template and values."""

from __future__ import annotations

import copy
import html
import json
import pickle

import joblib
import pytest

from tabprotect.engine.errors import TabprotectError
from tabprotect.languages.catalogue import Catalogue, number_writer
from tabprotect.languages.messages import Message, capital, joined, message, plural, prose, uncapital
from tabprotect.languages.translation import ENGLISH, catalogue, figures_apart, set_language, translate

GERMAN = Catalogue(
    "de",
    {
        "{known} of {cells:,} small counts": "{known} von {cells:,} kleinen Fallzahlen",
        "Release": "Freigeben",
        "release of {name}": "Freigabe von {name}",
        "one cell": "eine Zelle",
        "{n} cells": "{n} Zellen",
        "there is no variable {name}": "es gibt keine Variable {name}",
        "First paragraph.": "Erster Absatz.",
    },
    number_writer("de"),
)


def cells(n: int) -> str:
    return plural(n, "one cell", "{n} cells", n=n)


@pytest.mark.parametrize(
    ("text", "english", "german"),
    [
        (
            message("{known} of {cells:,} small counts", known=3, cells=31_577),
            "3 of 31,577 small counts",
            "3 von 31.577 kleinen Fallzahlen",
        ),
        # A value that is said is told; one that is somebody's own word stays.
        (
            message("release of {name}", name=message("Release")),
            "release of Release",
            "Freigabe von Freigeben",
        ),
        (message("release of {name}", name="Release"), "release of Release", "Freigabe von Release"),
        (cells(1), "one cell", "eine Zelle"),
        (cells(4), "4 cells", "4 Zellen"),
        (cells(4) + "; Release", "4 cells; Release", "4 Zellen; Release"),
        ("Release: " + message("Release"), "Release: Release", "Release: Freigeben"),
        (joined(["Release", message("Release")], ", "), "Release, Release", "Release, Freigeben"),
        (capital(cells(1)), "One cell", "Eine Zelle"),
        (capital(joined(["v", " × w: ", cells(1)])), "v × w: one cell", "v × w: eine Zelle"),
        (
            capital(message("there is no variable {name}", name="Release")) + ".",
            "There is no variable Release.",
            "Es gibt keine Variable Release.",
        ),
        (uncapital(message("Release")), "release", "Freigeben"),
        (html.escape("<" + message("Release")), "&lt;Release", "&lt;Freigeben"),
        (
            prose("First paragraph.\n\nNobody's."),
            "First paragraph.\n\nNobody's.",
            "Erster Absatz.\n\nNobody's.",
        ),
        (message("{chance:.{digits}f}", chance=0.25, digits=3), "0.250", "0,250"),
        (
            message("release of {name}").format(name=message("Release")),
            "release of Release",
            "Freigabe von Freigeben",
        ),
        (message("line {line}, {flag}", line=1234, flag=True), "line 1234, True", "line 1234, True"),
        (message("{braces} without values"), "{braces} without values", "{braces} without values"),
    ],
)
def test_a_text_is_its_english_and_is_told_by_its_parts(text: str, english: str, german: str) -> None:
    assert text == english and hash(text) == hash(english)
    assert json.dumps(text) == json.dumps(english)
    assert GERMAN.translated(text) == german
    assert type(str(text)) is str


def test_parts_survive_copies_processes_and_errors() -> None:
    text = capital(message("release of {name}", name=message("Release"))) + "."
    for kept in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert kept == text and GERMAN.translated(kept) == "Freigabe von Freigeben."
    again = joblib.Parallel(n_jobs=2, prefer="processes")(
        joblib.delayed(plural)(n, "one cell", "{n} cells", n=n) for n in (1, 2)
    )
    assert [GERMAN.translated(one) for one in again] == ["eine Zelle", "2 Zellen"]
    error = pickle.loads(pickle.dumps(TabprotectError(cells(3), hint=message("Release"))))
    assert GERMAN.translated(error.sentence) == "3 Zellen."


def test_english_is_told_as_it_is_and_plain_words_always_are() -> None:
    text = message("Release")
    assert translate(text) is text
    set_language("de")
    try:
        assert translate(text) == "Freigeben" and translate("Release") == "Release"
        # What was told once is nobody's to tell again.
        assert translate(translate(text)) == "Freigeben"
    finally:
        set_language(ENGLISH)


def test_figures_stand_apart_in_print_and_names_stay_as_they_are() -> None:
    known = message("{known} of {cells:,} cells ({limit:,.1f}) of {name}", 3, 1302, 12345.6, "1,302")
    with figures_apart():
        assert translate(known) == "3 of 1\u202f302 cells (12\u202f345.6) of 1,302"
        assert translate(capital(message("one, {n:,}", 1302))) == "One, 1\u202f302"
        assert translate(message("Alas, {n:,}", 1302).lower()) == "alas, 1\u202f302"
        assert translate(message("Of 48,842 adults; 3,14 and a,b")) == "Of 48\u202f842 adults; 3,14 and a,b"
        set_language("de", apart=True)
        try:
            assert translate(message("{n:,} or {x:,.1f}", 1302, 1302.5)) == "1\u202f302 or 1\u202f302,5"
        finally:
            set_language(ENGLISH)
    assert translate(known) is known


def test_what_is_not_translated_is_english_with_figures_of_the_language() -> None:
    assert GERMAN.translated(message("{n:,} tables", n=1_000)) == "1.000 tables"
    assert isinstance(catalogue("de"), Catalogue)
    assert isinstance(message(message("Release")), Message)
