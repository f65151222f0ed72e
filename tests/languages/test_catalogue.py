"""The catalogue is what the program says, and its German says the same."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from babel.dates import format_date
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent

from tabprotect.languages.catalogue import Translations, number_writer
from tabprotect.languages.messages import message
from tabprotect.languages.translation import PSEUDO, catalogue, of_environment, stretched

ROOT = Path(__file__).resolve().parents[2]
GERMAN = ROOT / "resources" / "languages" / "de.po"

AREAS = {
    "tabprotect/gui/": 0.98,
    "tabprotect/cli/": 0.98,
    "tabprotect/server/": 0.98,
    "tabprotect/engine/": 0.98,
    "resources/": 0.98,
}
"""Where texts are said, and which share of them is German at least."""


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "packaging")
        yield importlib.import_module("catalogue")


@pytest.fixture(scope="module")
def german() -> Catalog:
    return read_po(BytesIO(GERMAN.read_bytes()))


def pairs(message: Message) -> list[tuple[str, str]]:
    """The templates of an entry, each with its translation: one and many are two."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))] if message.id else []
    return list(zip(message.id, message.string or (), strict=False))


def texts(catalog: Catalog) -> Iterator[tuple[Message, str, str]]:
    for entry in catalog:
        for text, told in pairs(entry):
            yield entry, text, told


def test_translations_are_what_the_catalogue_holds(german: Catalog) -> None:
    assert Translations("de") == {text: told for _, text, told in texts(german)}


def test_numbers_and_dates_are_written_as_the_locale_data_say() -> None:
    written = number_writer("de")
    for number in (0, 7, 1_234, 31_577, 1_234_567):
        assert written(f"{number:,}") == format_decimal(number, locale="de")
    assert written("0.25") == format_decimal(0.25, locale="de")
    assert written("12%") == format_percent(0.12, locale="de")
    for month in range(1, 13):
        day = date(2026, month, month)
        assert written(f"{day.day} {day:%B} 2026") == format_date(day, "long", "de")


def test_the_catalogue_is_what_the_program_says(script: ModuleType) -> None:
    text = GERMAN.read_bytes()
    fresh = script.written(script.brought_up(text, script.said_by()))
    assert fresh == text, "run packaging/catalogue.py, and translate what it brings"


def test_only_what_is_said_is_in_the_catalogue(script: ModuleType, tmp_path: Path) -> None:
    source = """
        def what(n, name):
            return plural(n, "one {name}", "{n} of {name}", n=n, name=message("told " "so"))
        key = "some key"
        shown = tr("{a:,}: {b}", a=1, b=name)
    """
    (tmp_path / "tabprotect").mkdir()
    (tmp_path / "tabprotect" / "words.py").write_text(source.replace("\n        ", "\n"), "utf-8")
    said = {text for text, where in script.said_by(tmp_path).items() if where.endswith(".py")}
    assert said == {("one {name}", "{n} of {name}"), "told so"}


def test_translations_hold_the_values_of_their_texts(german: Catalog) -> None:
    slots = re.compile(r"\{[^}]*\}|%\(\w+\)\w|%s")
    wrong = [
        text
        for _, text, told in texts(german)
        if told and sorted(slots.findall(told)) != sorted(slots.findall(text))
    ]
    assert not wrong


def test_german_covers_every_area(german: Catalog) -> None:
    for area, least in AREAS.items():
        of_area = [
            (text, told) for entry, text, told in texts(german) if entry.locations[0][0].startswith(area)
        ]
        missing = [text for text, told in of_area if not told]
        share = 1 - len(missing) / len(of_area)
        assert share >= least, f"{area}: {share:.3f}, missing {missing[:9]}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (message("Cancel"), "Abbrechen"),
        (message("&Open\u2026"), "\u00d6&ffnen\u2026"),
        (message("there is no variable {wanted}", wanted="Cancel"), "es gibt keine Variable Cancel"),
        (message("{label}: {why}", label=message("Cancel"), why="Cancel"), "Abbrechen: Cancel"),
        # What the program did not say is left as it is.
        ("Cancel", "Cancel"),
        ("men, women, others", "men, women, others"),
        ("", ""),
    ],
)
def test_texts_with_their_values_in_german(text: str, told: str) -> None:
    assert catalogue("de").translated(text) == told


def test_the_pseudo_language_is_two_fifths_longer() -> None:
    text = message("The sums that are to be exact, and what else is not to change.")
    assert len(catalogue(PSEUDO).translated(text)) > 1.3 * len(text)
    assert stretched("<b>{cells:,}</b> &amp; more") == "<b>{cells:,}</b> &amp; moremo"


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


def test_no_text_is_made_within_an_f_string() -> None:
    """There the catalogue's reader sees it from Python 3.12 on only: its order would depend on Python."""
    for path in (Path(__file__).parents[2] / "tabprotect").rglob("*.py"):
        for outer in ast.walk(ast.parse(path.read_text("utf-8"))):
            for inner in ast.walk(outer) if isinstance(outer, ast.JoinedStr) else ():
                called = inner.func if isinstance(inner, ast.Call) else None
                assert getattr(called, "id", "") not in ("message", "tr", "plural"), (path, outer.lineno)
