"""Catalogues as files: gettext's PO, one line for each text, in the order of the files they are of.

Translators' tools read and write it; ``packaging/catalogue.py`` keeps it. Lines that such a tool
breaks up are joined again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_ENTRY = re.compile(
    r'(?:^\#: (?P<where>.*)\n)?(?:^\#.*\n)*^msgid (?P<id>"(?:.*)"(?:\n".*")*)\n'
    r'^msgstr (?P<told>".*"(?:\n".*")*)',
    re.MULTILINE,
)


@dataclass(frozen=True)
class PoEntry:
    """A text and its translation.

    Attributes
    ----------
    text
        In English, with values as ``{name}``.
    told
        The translation with the same values; empty where there is none.
    where
        The file that says it.
    """

    text: str
    told: str
    where: str = ""


def read_po(text: str) -> Iterator[PoEntry]:
    """The entries of a catalogue."""
    for found in _ENTRY.finditer(text):
        if said := _joined(found["id"]):
            yield PoEntry(said, _joined(found["told"]), found["where"] or "")


def po_text(language: str, entries: Iterable[PoEntry]) -> str:
    """A catalogue as a file."""
    head = (
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language}\\n"\n'
        '"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=UTF-8\\n"\n'
    )
    blocks = [
        f"#: {entry.where}\nmsgid {_quoted(entry.text)}\nmsgstr {_quoted(entry.told)}\n"
        for entry in entries
    ]
    return "\n".join([head, *blocks])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _joined(lines: str) -> str:
    return "".join(json.loads(line) for line in lines.split("\n"))
