"""The translations of one language, and how a finished sentence finds its own.

The program composes its sentences in English; what is shown is looked up here. A text is one of
the catalogue's, or made by one of its templates (``{known} of {cells} cells``), or several of
either one after the other. What a template was given is put into the translation: figures as the
language writes them, sentences translated in their turn, names of variables, categories and files
as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache

from tabprotect.languages.po import Entry

DATA = frozenset(
    [
        "name",
        "names",
        "path",
        "file",
        "files",
        "category",
        "categories",
        "variable",
        "variables",
        "title",
        "titles",
        "column",
        "columns",
        "filename",
        "parent",
        "source",
        "inner",
        "outer",
        "margin",
        "margins",
        "key",
        "text2",
    ]
)
"""Values of templates that are somebody's own words, whatever they say."""

_SLOT = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"\w+")
BLOCK = re.compile(r"(\s*</?(?:p|li|ul|ol|h\d|table|tr|td|th|div|br|dl|dt|dd)\b[^>]*>\s*)")
"""Where a text with marks of HTML falls into paragraphs."""

_BREAKS = (
    re.compile(r"(\n[ \t]*\n\s*)"),
    re.compile(r"(\n+)"),
    re.compile(r"((?<=[.!?:])\s+(?=[A-Z\u201c\"]))"),
    re.compile(r"(; | \u00b7 | \u2502 |  +|\t)"),
    re.compile(r"(: )"),
)
"""Where a text falls into parts, the widest first."""

_MOST_TOGETHER = 11
"""Parts of a text, and what parts them, that are looked up together at most."""

_MARK = re.compile(r"- |#+ |&")

_LEAST_LETTERS = 12
"""A template with less of its own is no sentence where a whole one stands in for a value."""


class Template:
    """A sentence with values in it."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._fixed = _SLOT.split(entry.text)[::2]
        self.letters = sum(c.isalpha() for part in self._fixed for c in part)

    def words(self) -> Iterator[str]:
        """Words that are whole in every sentence of it."""
        for number, part in enumerate(self._fixed):
            for word in _WORD.finditer(part):
                begins = word.start() == 0 and number > 0
                ends = word.end() == len(part) and number < len(self._fixed) - 1
                if not (begins or ends):
                    yield word.group()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("(.*?)".join(map(re.escape, self._fixed)), re.DOTALL)

    def told(self, text: str, inner: Callable[[str, str, bool], str]) -> str | None:
        """The translation of a text that it makes; ``None`` for another text.

        Parameters
        ----------
        inner
            What becomes of a value, by its name; and whether it has to be one sentence.
        """
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        names = _SLOT.findall(self._entry.text)
        given = dict(zip(names, found.groups(), strict=True))
        slight = self.letters < _LEAST_LETTERS
        values = {n: inner(n, v, slight) for n, v in given.items()}
        if slight and not all(_short(v) or values[n] != v for n, v in given.items()):
            return None
        if not self._entry.told:
            return text
        return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), self._entry.told)


class Catalogue:
    """What the program says, in one language.

    Parameters
    ----------
    language
        Its code, as in ``<html lang>``.
    figures
        Writes a number or a date as the language does; anything else comes back as it is.
    """

    def __init__(
        self, language: str, entries: Iterable[Entry], figures: Callable[[str], str]
    ) -> None:
        self.language = language
        self._figures = figures
        self._whole: dict[str, str] = {}
        templates = []
        for entry in entries:
            if _SLOT.search(entry.text):
                templates.append(Template(entry))
            else:
                self._whole[entry.text] = entry.told or entry.text
        often = Counter(word for template in templates for word in set(template.words()))
        self._templates: dict[str, list[Template]] = {}
        for template in templates:
            rarest = min(template.words(), key=lambda w: (often[w], -len(w)), default="")
            self._templates.setdefault(rarest, []).append(template)
        self._own: frozenset[str] = frozenset()
        self._cached = lru_cache(8192)(self._looked_up)

    def keep(self, own: Iterable[str]) -> None:
        """Names and labels of the user's that stay as they are, whatever they say."""
        self._own = frozenset(own)
        self._cached.cache_clear()

    def told(self, text: str) -> str:
        """The text in this language; as it is where it is none of the program's."""
        return self._cached(text) if text else text

    def _looked_up(self, text: str) -> str:
        if text in self._own:
            return text
        figures = self._figures(text)
        if figures != text:
            return figures
        said = self._parts(text, 0)
        return text if said is None else said

    def _parts(self, text: str, depth: int) -> str | None:
        """The text, or what of it can be told; ``None`` where that is nothing."""
        bare = text.strip()
        if not bare or bare in self._own or (depth and " " not in bare):
            return None
        said = self._sentence(bare)
        if said is not None:
            return text.replace(bare, said, 1)
        for level, border in enumerate(_BREAKS[depth:], depth):
            parts = border.split(text)
            if len(parts) > 1 and (said := self._run(parts, level + 1)) is not None:
                return said
        return None

    def _run(self, parts: list[str], depth: int) -> str | None:
        """Parts with what parts them: as many at once as make one text of the catalogue."""
        out, at, any_told = [], 0, False
        while at < len(parts):
            for end in range(min(len(parts), at + _MOST_TOGETHER), at, -2):
                joined = "".join(parts[at:end])
                said = self._sentence(joined) if end > at + 1 else self._parts(joined, depth)
                if said is not None:
                    any_told = True
                    break
            else:
                end, said = at + 1, parts[at]
            out += [said, *parts[end : end + 1]]
            at = end + 1
        return "".join(out) if any_told else None

    def _sentence(self, text: str) -> str | None:
        """One text of the catalogue, with or without its full stop, capital and mnemonic."""
        flat = " ".join(text.split()) if "\n" in text else text
        for base, end in ((flat, ""), (flat[:-1], flat[-1:])):
            if end and end not in ".:\u2026!?":
                break
            for lead in dict.fromkeys((base, _recased(base))):
                said = self._whole.get(lead)
                if said is None:
                    said = self._made(lead)
                if said is not None:
                    said = said if lead == base else _cased_like(base, said)
                    return said + ("" if end and said.endswith(end) else end)
        if mark := _MARK.match(flat):
            said = self._sentence(flat[mark.end() :])
            return said and mark.group() + said
        return None

    def _made(self, text: str) -> str | None:
        candidates = [
            template
            for word in {"", *_WORD.findall(text)}
            for template in self._templates.get(word, ())
        ]
        for template in sorted(candidates, key=lambda t: -t.letters):
            if (said := template.told(text, self._value)) is not None:
                return said
        return None

    def _value(self, name: str, value: str, whole: bool) -> str:
        """What was put into a sentence; names and single words stay."""
        if value in self._own:
            return value
        figures = self._figures(value)
        if figures != value:
            return figures
        if name in DATA:
            return value
        if " " not in value.strip():
            # A constant's name says that the value is the program's own.
            return self._whole.get(value, value) if name.isupper() else value
        return (self._sentence(value) if whole else self._parts(value, 0)) or value


def _short(value: str) -> bool:
    """Whether a value is a word, a name of two or a list of names: no sentence by itself."""
    words = value.split()
    return (len(words) < 3 and "." not in value[:-1]) or all(w.endswith(",") for w in words[:-1])


def _recased(text: str) -> str:
    first = text[:1]
    return (first.lower() if first.isupper() else first.upper()) + text[1:]


def _cased_like(model: str, text: str) -> str:
    """A capital where the English text has one; where it has none the language decides."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text
