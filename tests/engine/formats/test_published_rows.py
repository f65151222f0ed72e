"""Published counts read from a list, and lists that cannot be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect import convert
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.published_rows import PublishedReading, read_published

TWO_WAY = """A,B,count
Total,Total,10
a1,Total,4
a2,Total,6
Total,b1,7
Total,b2,3
a2,b2,1
a1,b1,2
a1,b2,2
a2,b1,5
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "published.csv"
    path.write_text(text)
    return path


def test_the_rows_say_which_margins_there_are(tmp_path: Path) -> None:
    read = read_published(write(tmp_path, TWO_WAY))
    assert read.publication.margins == ((), ("A",), ("B",), ("A", "B"))
    assert read.publication.domain.names == ("A", "B")
    assert read.values.tolist() == [10, 4, 6, 7, 3, 2, 2, 5, 1]
    assert read.cells.tolist() == [0, 1, 2, 3, 4, 8, 5, 6, 7]
    assert read.known.all() and read.labels(5) == ("a2", "b2")


def test_the_count_may_stand_anywhere_and_the_total_have_another_name(tmp_path: Path) -> None:
    text = "n,A\n3,a1\n4,a2\n7,all\n"
    read = read_published(write(tmp_path, text), PublishedReading(count="n", total="ALL"))
    assert read.publication.margins == ((), ("A",)) and read.values.tolist() == [7, 3, 4]


def test_a_cube_with_one_measure_needs_no_column_of_counts(tmp_path: Path) -> None:
    cube = tmp_path / "published.px"
    convert(write(tmp_path, "A,B,count\na1,b1,5\na1,b2,2\na2,b1,1\na2,b2,0\n"), cube)
    assert read_published(cube).values.tolist() == [5, 2, 1, 0]
    with pytest.raises(InputError, match="no measure 'persons'"):
        read_published(cube, PublishedReading(count="persons"))


def test_columns_that_group_others(tmp_path: Path) -> None:
    text = (
        "geo,eu,year,count\nSpain,Total,Total,5\nIceland,Total,Total,1\nTotal,EU,2014,4\n"
        "Total,no,2014,1\nTotal,EU,2015,1\nTotal,no,2015,0\n"
    )
    read = read_published(write(tmp_path, text), PublishedReading(groupings="eu:geo=Spain>EU,Iceland>no"))
    assert read.publication.domain.names == ("geo", "year")
    assert read.publication.margins == (("geo",), ("eu", "year"))
    assert read.values.tolist() == [5, 1, 4, 1, 1, 0]


def test_missing_counts(tmp_path: Path) -> None:
    path = write(tmp_path, TWO_WAY.replace("a2,Total,6\n", "").replace("a1,b2,2\n", ""))
    with pytest.raises(InputError, match="margin A is published in part: 1 of 2") as caught:
        read_published(path)
    assert caught.value.cell == "A=a2" and "--missing" in caught.value.hint
    unknown = read_published(path, missing="unknown")
    assert np.flatnonzero(~unknown.known).tolist() == [2, 6]
    zero = read_published(path, missing="zero")
    assert zero.known.all() and zero.values[2] == 0


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (TWO_WAY + "a1,b1,2\n", 11, "twice \\(first in line 8\\)"),
        ("A,B\na1,b1\na2,b2\n", None, "holds records"),
        (TWO_WAY.replace("a1,b2,2", "a1,b2,-2"), 9, "count -2 is negative"),
        (TWO_WAY.replace("a1,b2,2", "a1,b2,x"), 9, "'x' is not a number"),
        (TWO_WAY.replace("a1,b2,2", "a1,2"), 9, "has 2 fields"),
        ("A,B,count\na1,Total,3\nTotal,Total,3\n", None, "'B' has no code but 'Total'"),
        ("A,B,count\n", 1, "no row"),
        ("A,count\na1,3\nTotal,3\ntotal,4\n", None, "'A' is written in several ways"),
    ],
)
def test_lists_that_cannot_be_read(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=says) as caught:
        read_published(path)
    assert caught.value.file == str(path) and caught.value.line == line


@pytest.mark.parametrize(
    ("groupings", "text", "says"),
    [
        ("eu:geo=Spain>EU", "geo,count\nSpain,5\n", "no column 'eu'"),
        ("eu:geo=Spain>EU", "geo,eu,count\nSpain,Total,5\nTotal,no,5\n", "no category 'no'"),
        ("eu:geo=Spain>EU", "geo,eu,count\nSpain,EU,5\nSpain,Total,5\n", "beside its own"),
    ],
)
def test_groupings_that_do_not_fit(tmp_path: Path, groupings: str, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_published(write(tmp_path, text), PublishedReading(groupings=groupings))
