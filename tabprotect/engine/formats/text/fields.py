"""Fields of delimited text by whole arrays: their positions, contents, and numbers of their labels.

A block of bytes is cut at its separators without a step for each row, and digits are read eight
at a time. Only clear-cut text is read like this; for anything else (other quotation marks, rows of
another width, values that are no plain whole numbers) these functions return ``None``, and the block
is read row by row. Labels are numbered through a hash table of eight-byte words.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.arrays import Bools, Bytes, Codes, Ints, Words

MOST_WORDS = 32
"""The most words of a label; longer ones are read row by row."""


WORD = 8

MOST_DIGITS = 2 * WORD

_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(WORD + 1)], dtype=np.uint64)
"""Masks that keep the first n bytes of a word."""
_ZEROS, _SIX, _HIGH = (np.uint64(int.from_bytes(bytes([b] * WORD))) for b in (0x30, 6, 0xF0))
_LEADING = _KEPT & _ZEROS


class Fields:
    """The fields of a block of whole rows of one width.

    Attributes
    ----------
    begin, end : int64 (rows, width)
        The range of each field in ``block``, without quotation marks.
    """

    def __init__(self, block: Bytes, begin: Ints, end: Ints, encoding: str) -> None:
        self.encoding = encoding
        self.begin = begin
        self.end = end
        self.rows = len(begin)
        # Overlapping words: one begins at each byte.
        self._words = np.lib.stride_tricks.as_strided(
            block[:WORD].view("<u8"), (len(block) - WORD + 1,), (1,), writeable=False
        )
        self._block = block

    def after(self, rows: int) -> Fields | None:
        """The fields without the first rows; ``None`` if there are no others."""
        if rows >= self.rows:
            return None
        return Fields(self._block, self.begin[rows:], self.end[rows:], self.encoding)

    def any_text(self, row: int) -> bool:
        """Return True if a row is not blank."""
        return bool((self.begin[row] < self.end[row]).any())

    def text(self, row: int, column: int) -> str:
        """The text of one field."""
        place = slice(self.begin[row, column], self.end[row, column])
        return self._block[place].tobytes().decode(self.encoding)

    def words(self, column: int) -> list[Words] | None:
        """The fields of a column as words, padded with zero bytes; ``None`` if too long."""
        begin = np.ascontiguousarray(self.begin[:, column])
        length = self.end[:, column] - begin
        longest = int(length.max())
        if longest > WORD * MOST_WORDS:
            return None
        if longest <= WORD:
            return [self._words[begin] & _KEPT[length]]
        # Beyond a field's end any position will do: the mask removes it.
        return [
            self._words[np.minimum(begin + at, self.end[:, column])] & _KEPT[np.clip(length - at, 0, WORD)]
            for at in range(0, longest, WORD)
        ]

    def whole_numbers(self, column: int, *, point: bool = True) -> tuple[Ints, int] | None:
        """A column of digits as int64 (rows,), and how many fields end in ``.0``.

        Parameters
        ----------
        point
            True if ``.0`` may follow.

        Returns
        -------
        tuple or None
            ``None`` if a field holds anything else, or more than sixteen digits.
        """
        begin = np.ascontiguousarray(self.begin[:, column])
        length = self.end[:, column] - begin
        shortest, longest = int(length.min()), int(length.max())
        if shortest < 1 or longest > MOST_DIGITS + 2:
            return None
        numbers = self._digits(begin, length, longest)
        if numbers is not None or not point:
            return None if numbers is None else (numbers, 0)
        last = begin + length - 1
        decimals = (length > 2) & (self._block[last] == ord("0"))
        decimals &= self._block[last - 1] == ord(".")
        length -= 2 * decimals
        numbers = self._digits(begin, length, int(length.max()))
        return None if numbers is None else (numbers, int(decimals.sum()))

    def _digits(self, begin: Ints, length: Ints, longest: int) -> Ints | None:
        if longest <= WORD:
            return _eight_digits(self._words[begin], length)
        if longest > MOST_DIGITS:
            return None
        low = np.minimum(length, WORD)
        tail = _eight_digits(self._words[begin + length - low], low)
        head = _eight_digits(self._words[begin], length - low)
        return None if head is None or tail is None else head * 10**WORD + tail


def _eight_digits(words: Words, length: Ints) -> Ints | None:
    """Numbers of up to eight digits each, which are the first bytes of their words."""
    # Moved to the end of the word, after leading zeros (the first byte is the lowest).
    spare = WORD - length
    words &= _KEPT[length]
    # In two steps: a shift by all 64 bits is undefined.
    half = (4 * spare).astype(np.uint64)
    words = (words << half << half) | _LEADING[spare]
    # A byte of a digit is 0x30 to 0x39: nothing is borrowed or carried between digits.
    odd = ((words & _HIGH) ^ _ZEROS) | (((words + _SIX) & _HIGH) ^ _ZEROS)
    if odd.any():
        return None
    words -= _ZEROS
    words = (words * np.uint64(10) + (words >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    words = (words * np.uint64(100) + (words >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    words = (words * np.uint64(10000) + (words >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return words.astype(np.int64)


def split_fields(block: Bytes, size: int, *, delimiter: str, width: int, encoding: str) -> Fields | None:
    """Split ``size`` bytes of whole rows, each ended by a newline, into fields.

    Parameters
    ----------
    block : uint8
        With eight spare bytes after ``size``.
    encoding
        The encoding of the text, in which a byte below 128 is always that character.
    """
    text = block[:size]
    ends = text == ord(delimiter)
    ends |= text == _NEWLINE
    marks = text == _QUOTE
    quoted = bool(marks.any())
    if quoted:
        ends &= ~np.bitwise_xor.accumulate(marks)
    places = np.flatnonzero(ends)
    if not len(places) or len(places) % width:
        return None
    end = places.reshape(-1, width)
    newline = text[end] == _NEWLINE
    if not newline[:, -1].all() or newline[:, :-1].any():
        return None
    begin = np.concatenate([[0], places[:-1] + 1]).reshape(-1, width)
    returns = int(np.count_nonzero(text == _RETURN))
    if returns:
        last = end[:, -1]
        if returns != len(last) or not (text[last - 1] == _RETURN).all():
            return None
        end = end.copy()
        end[:, -1] -= 1
    if quoted:
        opened = text[begin] == _QUOTE
        if 2 * np.count_nonzero(opened) != np.count_nonzero(marks):
            return None
        closed = (text[end - 1] == _QUOTE) & (end - begin > 1)
        if (closed != opened).any():
            return None
        begin, end = begin + opened, end - opened
    return Fields(block, begin, end, encoding)


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
        return np.repeat(self._numbered([word[starts] for word in words], fields, column, starts), runs)

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
