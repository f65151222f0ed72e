"""Pages made of templates: their words by run of text, and what a page prints of the program's.

Words of a template lie between tags; the values in them are named as in any other sentence. A
value that stands alone is a sentence of the program's or a figure, unless the template marks it as
somebody's own: inside ``<bdi>``, ``<code>``, ``<pre>``, ``<option>`` or ``<label>``. Words in a
template's own statements are told where they are printed: they may be keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from tabprotect.languages.messages import message

_TOKEN = re.compile(r"(?P<tag><[^>{]*(?:\{[{%].*?[}%]\}[^>{]*)*>|\{%.*?%\}|\{#.*?#\})", re.DOTALL)
_VALUE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_OWN = ("bdi", "code", "pre", "option", "label", "title", "style", "script", "textarea")
_SAID = re.compile(r'(?<=\s)((?:aria-label|placeholder|title|alt)=")([^"{<]*[A-Za-z][^"{<]*)"')
_STATED = re.compile(r'"([A-Z][a-z][^"]*)"')
_WORD = re.compile(r"[A-Za-z]{2,}")
_SILENT = ("style", "script")
_NAME = re.compile(r"([A-Za-z_]\w*)(?:\(\w*\))?\s*(?:\[[^\]]*\]|\|.*)?\)?$")


def page_texts(source: str) -> list[str]:
    """Return what a template says."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    page_told(source, keep)
    for statement in re.findall(r"\{%.*?%\}", source, re.DOTALL):
        found += _STATED.findall(statement)
    return found


def environment(
    source: Callable[[str], str], translated: Callable[[str], str], language: str, **options: Any
) -> Environment:
    """Templates by name, in a language; ``language`` is also a global of theirs.

    Parameters
    ----------
    source
        The English template of a name.
    told
        Translates a said text.
    options
        Further ones of the environment.
    """

    def word(text: str) -> str:
        return translated(message(text))

    def printed(value: object) -> object:
        return word(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=FunctionLoader(source if language == "en" else lambda name: page_told(source(name), word)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
    made.globals |= {"told": printed, "language": language}
    return made


def page_told(source: str, translated: Callable[[str], str]) -> str:
    """A template in another language; values alone are told when the page is made."""
    return "".join(_pieces(source, translated))


def _pieces(source: str, translated: Callable[[str], str]) -> Iterator[str]:
    inside = ""
    at = 0
    for token in _TOKEN.finditer(source):
        yield _run(source[at : token.start()], inside, translated)
        text = token.group()
        if text.startswith("</"):
            inside = ""
        elif text.startswith("<") and not text.startswith("<!"):
            inside = re.sub(r"\W.*", "", text[1:], flags=re.DOTALL)
        yield _SAID.sub(lambda said: f'{said[1]}{translated(said[2])}"', text)
        at = token.end()
    yield _run(source[at:], inside, translated)


def _run(text: str, inside: str, translated: Callable[[str], str]) -> str:
    """One run of words and values between two tags."""
    bare = text.strip()
    if not bare or inside in _SILENT:
        return text
    values: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        name = _NAME.search(found[1].strip())
        word = name[1] if name else "value"
        number = 2
        unique = word
        while unique in values:
            unique, number = f"{word}{number}", number + 1
        values[unique] = found[0]
        return f"{{{unique}}}"

    template = re.sub(r"\s+", " ", _VALUE.sub(named, bare))
    words = re.sub(r"\{\w+\}", "", template)
    if _WORD.search(words):
        said = translated(template)
        for name, value in values.items():
            said = said.replace(f"{{{name}}}", value)
    elif inside in _OWN:
        return text
    else:
        said = _VALUE.sub(lambda found: f"{{{{ told({found[1].strip()}) }}}}", bare)
    start = text[: len(text) - len(text.lstrip())]
    return start + said + text[len(text.rstrip()) :]
