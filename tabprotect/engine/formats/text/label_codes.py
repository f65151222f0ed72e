"""Labels numbered by whole arrays, through a hash table of eight-byte words."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Codes, Ints, Words
from tabprotect.engine.formats.text.fields import MOST_WORDS, Fields

ROOM = 8
"""Slots per label, so that most are found at the first probe."""


class LabelCodes:
    """Labels of one variable, numbered in order of first appearance.

    Attributes
    ----------
    numbers
        Label -> its number.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        # Drawn afresh, so that no file can be made whose labels all share one slot.
        self._mix = [np.uint64(secrets.randbits(64) | 1) for _ in range(MOST_WORDS)]
        # The labels seen so far: their words and their numbers. The first entry stands for none.
        self._known: list[Words] = [np.zeros(1, dtype=np.uint64)]
        self._codes: Codes = np.full(1, -1, dtype=np.int32)
        self._slots: Codes = np.empty(0, dtype=np.int32)
        self._bits = 0
        self._make_room(10)

    def of_texts(self, texts: Sequence[str]) -> Codes:
        """The numbers of labels; unknown ones get the next numbers."""
        for label in dict.fromkeys(texts):
            self.numbers.setdefault(label, len(self.numbers))
        return np.fromiter(map(self.numbers.__getitem__, texts), np.int32, len(texts))

    def of_column(self, fields: Fields, column: int) -> Codes | None:
        """The numbers of the labels in a column; ``None`` if one is too long for this."""
        words = fields.words(column)
        if words is None:
            return None
        changes = words[0][1:] != words[0][:-1]
        for word in words[1:]:
            changes |= word[1:] != word[:-1]
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
        if 4 * len(starts) > fields.rows:
            return self._numbered(words, fields, column, np.arange(fields.rows))
        runs = np.diff(starts, append=fields.rows)
        return np.repeat(
            self._numbered([word[starts] for word in words], fields, column, starts), runs
        )

    def _numbered(self, words: list[Words], fields: Fields, column: int, rows: Ints) -> Codes:
        """The numbers of the labels in some rows, whose words are given."""
        while len(self._known) < len(words):
            self._known.append(np.zeros(len(self._codes), dtype=np.uint64))
        hashed = self._hash(words)
        found = self._find(words, hashed)
        # Repeated only if two labels share a hash.
        while len(unknown := np.flatnonzero(found < 0)):
            _, first = np.unique(hashed[unknown], return_index=True)
            fresh = unknown[np.sort(first)]
            texts = [fields.text(row, column) for row in rows[fresh].tolist()]
            self._add([word[fresh] for word in words], self.of_texts(texts))
            found[unknown] = self._find([word[unknown] for word in words], hashed[unknown])
        return self._codes[found]

    def _hash(self, words: list[Words]) -> Words:
        hashed = words[0] * self._mix[0]
        for word, mix in zip(words[1:], self._mix[1:], strict=False):
            hashed += (word ^ (word >> np.uint64(29))) * mix
        return hashed

    def _slot(self, hashed: Words) -> Ints:
        mixed = (hashed ^ (hashed >> np.uint64(32))) * self._mix[-1]
        return (mixed >> np.uint64(64 - self._bits)).view(np.int64)

    def _find(self, words: list[Words], hashed: Words) -> Codes:
        """Indices among the known labels; -1 for unknown ones."""
        slot = self._slot(hashed)
        found = self._slots[slot]
        rest = np.flatnonzero(self._differ(found, words) & (found >= 0))
        while len(rest):
            slot[rest] = (slot[rest] + 1) & (len(self._slots) - 1)
            there = self._slots[slot[rest]]
            found[rest] = there
            rest = rest[self._differ(there, [word[rest] for word in words]) & (there >= 0)]
        return found

    def _differ(self, found: Codes, words: list[Words]) -> Bools:
        differ: Bools = self._known[0][found] != words[0]
        for known, word in zip(self._known[1:], words[1:], strict=False):
            differ |= known[found] != word
        for known in self._known[len(words) :]:
            differ |= known[found] != 0
        return differ

    def _add(self, words: list[Words], codes: Codes) -> None:
        before = len(self._codes)
        zeros = np.zeros(len(codes), dtype=np.uint64)
        longer = [*words, *([zeros] * (len(self._known) - len(words)))]
        self._known = [np.concatenate(pair) for pair in zip(self._known, longer, strict=True)]
        self._codes = np.concatenate([self._codes, codes])
        if ROOM * len(self._codes) > len(self._slots):
            self._make_room((ROOM * len(self._codes)).bit_length())
        else:
            self._fill(before)

    def _make_room(self, bits: int) -> None:
        self._bits = bits
        self._slots = np.full(1 << bits, -1, dtype=np.int32)
        self._fill(1)

    def _fill(self, first: int) -> None:
        """Give the labels from number ``first`` on a slot each: their own, or the next free one."""
        labels = np.arange(first, len(self._codes), dtype=np.int32)
        slot = self._slot(self._hash([word[first:] for word in self._known]))
        while len(labels):
            free = self._slots[slot] < 0
            self._slots[slot[free]] = labels[free]
            # If several labels want one slot, the last gets it.
            rest = self._slots[slot] != labels
            labels, slot = labels[rest], (slot[rest] + 1) & (len(self._slots) - 1)
