"""Reading by whole arrays says the same as reading row by row: the same cells, the same faults."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.text import rows
from tabprotect.engine.formats.text.fields import WORD, LabelCodes, split_fields
from tabprotect.engine.plain_values.encoding import as_json

NOTHING = re.compile("(?!)")


def outcome(path: Path, **options: object) -> tuple[object, ...]:
    """The table with its notes, or the whole error."""
    try:
        found = read_table(path, Reading.of(options))
    except InputError as error:
        return tuple(as_json(error).items())
    return found.table, found.notes


def both(path: Path, **options: object) -> tuple[tuple[object, ...], tuple[object, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK", 16)
        quick = outcome(path, **options)
        patch.setattr(rows, "_PLAIN", NOTHING)
        return quick, outcome(path, **options)


pieces = st.sampled_from(
    [",", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', "a", "b", " ", "x" * 9, "é", "1", "23",
     "0", "3.0", "123456789", "-4", "é" * 40, "\ufeff", "\u2028", "5" * 17]
)  # fmt: skip
labels = st.sampled_from(["a", "b", '"c"', '"d,e"', '"f""g"', '"h\ni"', "", "long label ", "0"])
ends = st.sampled_from(["\n", "\r\n", "\n\n", "\n,,\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Long form, mostly sound, with one odd piece put in somewhere."""
    end = draw(ends)
    lines = ["v,w,count"]
    for _ in range(draw(st.integers(0, 8))):
        count = draw(st.sampled_from(["1", "20", "3.0", "12345678901", '"7"', "", "9" * 20]))
        lines.append(f"{draw(labels)},{draw(labels)},{count}")
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(["", "", *'",\n\r', "x", '"']) | pieces) + text[at:]


@given(files() | st.lists(pieces, max_size=30).map(lambda p: "v,w,count\n" + "".join(p)))
@example('v,w,count\n5" pipe,x,1\n"a\nb",x,2\n')
@example('v,w,count\n"a",x,1\n"b"c,x,2\n')
@example("v,w,count\n\ufeffa,a,1")
@example("v,w,count\n\ufeffa,a,1\nlong label,b,2\n\ufefflong label,a,1\n")
@settings(max_examples=150, deadline=None)
def test_the_quick_way_is_the_exact_way(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "both.csv"
    path.write_bytes(text.encode())
    for options in ({}, {"fill_missing": True, "delimiter": ",", "decimal": "."}):
        quick, slow = both(path, **options)  # type: ignore[arg-type]
        if quick != slow:
            # Of several faults the quick way may meet an earlier one: marks are found block-wise.
            told = [dict(found) for found in (quick, slow)]  # type: ignore[arg-type]
            assert "quotation" in str(told[1]["message"])
            assert told[0]["line"] < told[1]["line"]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-8", "utf-8-sig", "utf-16"])
def test_every_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    text = "v,w,count\n" + "".join(f"é{i},ü{j},{i * j}\n" for i in range(9) for j in range(9))
    path.write_bytes(text.encode(encoding))
    quick, slow = both(path, encoding=encoding)
    assert quick == slow
    assert quick[0].counts.tolist() == np.outer(range(9), range(9)).tolist()  # type: ignore[attr-defined]


def columns(lines: list[bytes], width: int) -> object:
    text = b"".join(lines)
    block = np.frombuffer(text + bytes(WORD), dtype=np.uint8)
    return split_fields(block, len(text), delimiter=",", width=width, encoding="utf-8")


@given(st.lists(st.integers(0, 10**16 - 1), min_size=1, max_size=50))
def test_digits(numbers: list[int]) -> None:
    fields = columns([f"{n},{n}.0\n".encode() for n in numbers], 2)
    assert fields.whole_numbers(0)[0].tolist() == numbers  # type: ignore[attr-defined]
    found, decimals = fields.whole_numbers(1)  # type: ignore[attr-defined]
    assert (found.tolist(), decimals) == (numbers, len(numbers))
    assert fields.whole_numbers(1, point=False) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize("odd", ["", "/", ":", "1:", "+1", " 1", "1 ", "é", "1" * 17, "0x1", ".0"])
def test_what_is_no_plain_number(odd: str) -> None:
    fields = columns([b"a,12345678\n", f"b,{odd}\n".encode(), b"c,3\n"], 2)
    assert fields.whole_numbers(1) is None  # type: ignore[attr-defined]


@given(st.lists(st.text("ab\u00e9", max_size=30), min_size=1, max_size=60), st.integers(1, 60))
def test_labels_are_numbered_as_they_appear(texts: list[str], cut: int) -> None:
    known: dict[str, int] = {}
    codes = LabelCodes()
    for some in (texts[:cut], texts[cut:], texts):
        if some:
            fields = columns([f"{label},1\n".encode() for label in some], 2)
            expected = [known.setdefault(label, len(known)) for label in some]
            assert codes.of_column(fields, 0).tolist() == expected  # type: ignore[arg-type, union-attr]
    assert codes.numbers == known


def test_labels_that_meet_in_one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    # The worst a file could do if it knew the numbers drawn: one hash, one slot for all.
    monkeypatch.setattr(LabelCodes, "_hash", lambda self, words: words[0] * np.uint64(0))
    texts = [f"label{i}" for i in range(300)]
    fields = columns([f"{label},1\n".encode() for label in texts * 2], 2)
    codes = LabelCodes()
    assert codes.of_column(fields, 0).tolist() == [*range(300)] * 2  # type: ignore[arg-type, union-attr]
