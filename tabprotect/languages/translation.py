"""The language in force, and the functions through which shown texts go.

English is what a said text is: it is shown as it is, and nothing is loaded for it. JSON, recipes,
bundles and whatever else is read by programs never go through here.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from tabprotect.languages.catalogue import Catalogue, Translations, head, number_writer
from tabprotect.languages.messages import Message, message
from tabprotect.languages.number_formats import NARROW

_PIECE = re.compile(r"\{[^}]*\}|<[^>]*>|&[a-z]+;|%\(\w+\)\w|[A-Za-z]+")


def stretched(text: str) -> str:
    """A template, longer; values and marks of HTML stay."""
    return _PIECE.sub(_longer, text)


def _longer(found: re.Match[str]) -> str:
    word = found.group()
    return word if word[0] in "{%<&" else word + word[: -(-2 * len(word) // 5)].lower()


ENGLISH = "en"
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "de": "Deutsch"}
"""Each by its code, with its name in itself."""

PSEUDO = "en-XA"
"""English, two fifths longer: what is cut in it is cut in some language."""

VARIABLE = "TABPROTECT_LANGUAGE"

_force: list[str] = []
_apart: list[bool] = []


@cache
def catalogue(language: str, *, apart: bool = False) -> Catalogue:
    """The catalogue of a language; ``apart`` as :func:`figures_apart` has its figures."""
    if language == PSEUDO:
        return Catalogue(PSEUDO, {text: stretched(text) for text in Translations("de")}, str)
    if language == ENGLISH:
        return Catalogue(ENGLISH, {}, lambda figures: figures.replace(",", NARROW))
    said: Mapping[str, str] = Translations(language)
    if apart:
        group = head(language)["X-Group"]
        said = {template: _figures_apart(text, group) for template, text in said.items()}
    return Catalogue(language, said, number_writer(language, NARROW if apart else ""))


def _figures_apart(text: str, group: str) -> str:
    """A text with the figures that stand in its own words apart."""
    return re.sub(rf"(?<=\d){re.escape(group)}(?=\d{{3}}(?!\d))", NARROW, text)


def known(language: str) -> str:
    """The language of a code like ``de_AT.UTF-8``; English where there is no catalogue for it."""
    code = language if language == PSEUDO else re.split("[-_.@]", language)[0].lower()
    return code if code in LANGUAGES or code == PSEUDO else ENGLISH


def of_environment(environment: Mapping[str, str] | None = None) -> str:
    """The language that the environment asks for, as gettext reads it, our own variable first."""
    given = os.environ if environment is None else environment
    if given.get(VARIABLE):
        return known(given[VARIABLE])
    said = next((given[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if given.get(n)), "")
    if said.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    if not said and environment is None:
        # Windows and macOS say it otherwise.
        said = locale.getlocale()[0] or ""
    wanted = [*given.get("LANGUAGE", "").split(":"), said] if said else []
    # English is also what an unknown language gives: it counts where it is named.
    spoken = (w for w in wanted if known(w) != ENGLISH or w.lower().startswith(ENGLISH))
    return next(map(known, spoken), ENGLISH)


def set_language(language: str, *, apart: bool = False) -> None:
    """Show texts in this language from here on; ``apart`` as within :func:`figures_apart`."""
    _apart[:] = [True] if apart else []
    _force[:] = [] if language == ENGLISH else [language]


def language() -> str:
    """The code of the language in force, for ``<html lang>``."""
    return _force[0] if _force else ENGLISH


@contextmanager
def figures_apart() -> Iterator[None]:
    """Within it thousands are apart by a narrow space in every language, as in tables and in print."""
    before = _apart[:]
    _apart[:] = [True]
    try:
        yield
    finally:
        _apart[:] = before


def translate(text: str) -> str:
    """A said text as it is shown; anything else is somebody's own words and stays."""
    if _force:
        return catalogue(_force[0], apart=bool(_apart)).translated(text)
    return _english_apart(text) if _apart and isinstance(text, Message) and "," in text else text


def _english_apart(text: Message) -> str:
    """An English text with its figures apart, letter by letter: its words stay as they were changed."""
    if not text.values:
        return _figures_apart(text, ",")
    figures = catalogue(ENGLISH).translated(text)
    if len(figures) != len(text):
        return text
    return "".join(
        [new if old == "," and new == NARROW else old for old, new in zip(text, figures, strict=True)]
    )


def tr(template: str, /, *given: object, **values: object) -> str:
    """A text that is shown where it is said: ``told(say(...))``."""
    return translate(message(template, *given, **values))
