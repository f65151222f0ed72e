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
from collections.abc import Callable, Iterable, Iterator, Set
from functools import lru_cache
from itertools import pairwise

from tabprotect.languages.po import PoEntry

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

_SPAN = re.compile(r"; | \u2502 |[.!?] [A-Z]")

_MOST_TOGETHER = 11
"""Parts of a text, and what parts them, that are looked up together at most."""

_LONGEST = 4000
"""Letters of a text that may be one sentence or paragraph."""

_MARK = re.compile(r"- |#+ |&")

_LEAST_LETTERS = 12
"""A template with less of its own is no sentence where a whole one stands in for a value."""


class Template:
    """A sentence with values in it."""

    def __init__(self, entry: PoEntry) -> None:
        self._entry = entry
        self._fixed = _SLOT.split(entry.text)[::2]
        self._names = _SLOT.findall(entry.text)
        # A value that stands where a sentence would may be several.
        self._sentences = [
            (not before or before.endswith((". ", ": ", "? ")))
            and (not after or after in ".\u2026" or re.match(r" [A-Z]", after) is not None)
            for before, after in pairwise(self._fixed)
        ]
        self.letters = sum(c.isalpha() for part in self._fixed for c in part)

    def words(self) -> Iterator[str]:
        """Words that are whole in every sentence of it."""
        for number, part in enumerate(self._fixed):
            for word in _WORD.finditer(part):
                begins = word.start() == 0 and number > 0
                ends = word.end() == len(part) and number < len(self._fixed) - 1
                if not (begins or ends):
                    yield word.group()

    def _values(self, text: str) -> list[str] | None:
        """What stands between its fixed parts, each as short as can be."""
        first, *middle, last = self._fixed
        at, end = len(first), len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last) or at > end:
            return None
        values = []
        for part in middle:
            found = text.find(part, at, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(part)
        return [*values, text[at:end]]

    def told(self, text: str, inner: Callable[[str, str, bool], str], own: Set[str]) -> str | None:
        """The translation of a text that it makes; ``None`` for another text.

        Parameters
        ----------
        inner
            What becomes of a value, by its name; and whether it has to be one sentence.
        own
            Names and labels of the user's.
        """
        found = self._values(text)
        if found is None:
            return None
        if any(
            _SPAN.search(value) and not open_
            for value, open_ in zip(found, self._sentences, strict=True)
        ):
            return None
        # Several sentences of the same make are not one with a long value.
        if any(len(part) >= _LEAST_LETTERS and part in v for part in self._fixed for v in found):
            return None
        # What a sentence ends with has no full stop of the sentence's.
        if not self._fixed[-1] and not self._sentences[-1] and found[-1].endswith("."):
            return None
        given = dict(zip(self._names, found, strict=True))
        slight = self.letters < _LEAST_LETTERS
        if slight and any(": " in value for value in given.values()):
            return None
        values = {n: inner(n, v, slight) for n, v in given.items()}
        if slight and not all(values[n] != v or v in own or _word(n, v) for n, v in given.items()):
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
        self, language: str, entries: Iterable[PoEntry], figures: Callable[[str], str]
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
        # A part of a text is looked at in many ways: as itself, as a value, beside others.
        self._parts = lru_cache(8192)(self._parts_of)
        self._sentence = lru_cache(8192)(self._sentence_of)

    def keep(self, own: Iterable[str]) -> None:
        """Names and labels of the user's that stay as they are, whatever they say."""
        self._own = frozenset(own)
        self._parts.cache_clear()
        self._sentence.cache_clear()

    def told(self, text: str) -> str:
        """The text in this language; as it is where it is none of the program's."""
        if not text:
            return text
        if text in self._own:
            return text
        figures = self._figures(text)
        if figures != text:
            return figures
        said = self._parts(text, 0)
        return text if said is None else said

    def _parts_of(self, text: str, depth: int) -> str | None:
        """The text, or what of it can be told; ``None`` where that is nothing."""
        bare = text.strip()
        if not bare or bare in self._own or (depth and " " not in bare):
            return None
        if len(bare) < _LONGEST and (said := self._sentence(bare)) is not None:
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
            # Lines stay apart: a table has many.
            most = _MOST_TOGETHER if "\n" not in "".join(parts[1:2]) else 1
            for end in range(min(len(parts), at + most), at, -2):
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

    def _sentence_of(self, text: str) -> str | None:
        """One text of the catalogue, with or without its full stop, capital and mnemonic."""
        flat = " ".join(text.split()) if "\n" in text else text
        ways = [(flat, "")]
        if flat[-1:] in ".:\u2026!?":
            ways.append((flat[:-1], flat[-1]))
        for look in (self._whole.get, self._made):
            for base, end in ways:
                for lead in dict.fromkeys((base, _recased(base))):
                    if (said := look(lead)) is not None:
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
            if (said := template.told(text, self._value, self._own)) is not None:
                return said
        return None

    def _value(self, name: str, value: str, whole: bool) -> str:
        """What was put into a sentence; names and single words stay."""
        if value in self._own:
            return value
        figures = self._figures(value)
        if figures != value:
            return figures
        if name.rstrip("0123456789") in DATA:
            return value
        if " " not in value.strip():
            # A constant's name says that the value is the program's own.
            return self._whole.get(value, value) if name.isupper() else value
        return (self._sentence(value) if whole else self._parts(value, 0)) or value


def _word(name: str, value: str) -> bool:
    """Whether a value is a word, a name or a list of names: no sentence by itself."""
    # Thin spaces stand within a number.
    words = value.split(" ")
    named = name.rstrip("0123456789") in DATA and (len(words) < 5 or name == "title")
    return len(words) < 2 or named or all(word.endswith(",") for word in words[:-1])


def _recased(text: str) -> str:
    first = text[:1]
    return (first.lower() if first.isupper() else first.upper()) + text[1:]


def _cased_like(model: str, text: str) -> str:
    """A capital where the English text has one; where it has none the language decides."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text
