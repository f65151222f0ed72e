"""Fields of delimited text by whole arrays: their positions and contents.

A block of bytes is cut at its separators without a step for each row, and digits are read eight
at a time. Only clear-cut text is read like this; for anything else (other quotation marks, rows of
another width, values that are no plain whole numbers) these functions return ``None``, and the block
is read row by row.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Bytes, Ints, Words

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
            self._words[np.minimum(begin + at, self.end[:, column])]
            & _KEPT[np.clip(length - at, 0, WORD)]
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


def split_fields(
    block: Bytes, size: int, *, delimiter: str, width: int, encoding: str
) -> Fields | None:
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
