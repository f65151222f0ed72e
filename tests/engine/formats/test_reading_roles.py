"""What a person says of columns, totals and cells without a count, in any format."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table
from tabprotect.engine.formats.table_writing import format_to_write, write_table

MEASURES = "region,sex,count,weight,share\nn,f,5,1.5,0.1\nn,m,7,2.5,0.2\ns,f,3,3.5,0.3\ns,m,9,4.25,0.4\n"
ROUNDED = (
    "v,w,count\na,x,10\na,y,11\na,Total,20\nb,x,5\nb,y,4\nb,Total,10\n"
    "Total,x,15\nTotal,y,16\nTotal,Total,31\n"
)
HIDDEN = (
    "v,w,count\na,x,1\na,y,..\na,Total,3\nb,x,..\nb,y,5\nb,Total,9\nTotal,x,5\nTotal,y,7\nTotal,Total,12\n"
)
YEARS = "year,code,name,count\n2010,1,one,5\n2010,2,two,7\n2010,3,three,1\n2011,1,one,..\n2011,2,two,8\n2011,3,three,2\n"


def read(tmp_path: Path, text: str, **given: object) -> TableFile:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_table(path, Reading.of(given))


def counts(found: TableFile) -> list[int]:
    return [int(count) for count in found.table.counts.reshape(-1)]


def test_numbers_beside_the_counts_are_asked_about(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, MEASURES)
    said = str(caught.value) + caught.value.hint
    assert all(word in said for word in ("weight", "share", "count", "--drop", "--count"))
    found = read(tmp_path, MEASURES, drop=["weight", "share"])
    assert counts(found) == [5, 7, 3, 9] and found.table.domain.names == ("region", "sex")
    # A complete table by a variable of numbers asks nothing.
    ages = "age,sex,count\n0,f,1\n0,m,2\n1,f,3\n1,m,4\n"
    assert read(tmp_path, ages).table.domain.shape == (2, 2)
    # A list of years with gaps: it is a variable if somebody says so.
    gaps = "year,v,count\n2020,a,1\n2021,b,3\n2022,c,2\n"
    with pytest.raises(InputError, match="'year'"):
        read(tmp_path, gaps)
    assert read(tmp_path, gaps, variable="year").table.domain.shape == (3, 3)
    with pytest.raises(InputError, match="no column 'weigth'"):
        read(tmp_path, MEASURES, drop=["weigth"])


def test_a_slice_with_labels(tmp_path: Path) -> None:
    found = read(tmp_path, YEARS, where={"year": 2010}, label={"name": "code"})
    assert counts(found) == [5, 7, 1] and found.table.domain.names == ("code",)
    assert found.table.domain.variables[0].labels == ("one", "two", "three")
    assert "year" in found.notes[0]
    with pytest.raises(InputError, match="no category '1999'"):
        read(tmp_path, YEARS, where={"year": "1999"})
    twice = YEARS.replace("2010,2,two", "2010,2,other")
    with pytest.raises(InputError, match="several labels"):
        read(tmp_path, twice, drop="year", label={"name": "code"}, marks="..=zero")


def test_totals_that_do_not_add_up_have_ways_in(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, ROUNDED)
    for word in ("line 4", "recompute", "keep", "none", "--tolerance 1"):
        assert word in str(caught.value) + caught.value.hint
    for given in ({"totals": "recompute"}, {"totals": "recompute:Total"}, {"tolerance": 1}):
        found = read(tmp_path, ROUNDED, **given)
        assert counts(found) == [10, 11, 5, 4] and "at most 1" in found.notes[-1]
        assert not found.kept
    kept = read(tmp_path, ROUNDED, totals="keep").kept
    assert [(dict(k.where), k.published, k.inner) for k in kept] == [
        ({"v": "a"}, 20, 21), ({"v": "b"}, 10, 9), ({"w": "x"}, 15, 15), ({"w": "y"}, 16, 15),
        ({}, 31, 30),
    ]  # fmt: skip
    with pytest.raises(InputError):
        read(tmp_path, ROUNDED.replace("31", "35"), tolerance=1)


def test_cells_without_a_count(tmp_path: Path) -> None:
    found = read(tmp_path, HIDDEN, missing="suppressed", totals="auto")
    assert counts(found) == [1, 2, 4, 5] and "worked out" in " ".join(found.notes)
    with pytest.raises(InputError, match="the totals do not tell"):
        # Without the totals of w both cells of a row and a column are open.
        read(tmp_path, "v,w,count\na,x,..\na,y,..\nb,x,..\nb,y,..\nTotal,x,5\nTotal,y,7\nc,x,1\nc,y,1\n",
             missing="suppressed", totals="Total")  # fmt: skip
    holes = "v,w,count\na,x,1\na,y,..\nb,x,0\nb,y,5\n"
    assert counts(read(tmp_path, holes, missing="zero")) == [1, 0, 0, 5]
    nobody = read(tmp_path, holes, marks="..=missing", missing="structural").table
    assert nobody.domain.structural[0].where == (("v", ("a",)), ("w", ("y",)))


def test_thousands_with_decimals(tmp_path: Path) -> None:
    text = 'v,count\na,"12,3"\nb,"4,567"\n'
    assert counts(read(tmp_path, text, scale=1000, decimal=",")) == [12_300, 4_567]
    with pytest.raises(InputError, match="times 10 is not a whole number"):
        read(tmp_path, text, scale=10, decimal=",")


@pytest.mark.parametrize("name", ["t.px", "t.json", "t.parquet", "t.sdmx.csv"])
def test_every_format_has_roles(tmp_path: Path, name: str) -> None:
    text = "year,sex,count\n2010,f,1\n2010,m,2\n2011,f,3\n2011,m,4\n"
    path = tmp_path / name
    write_table(read(tmp_path, text).table, path, format_to_write(path))
    found = read_table(path, Reading.of({"where": {"year": "2011"}}))
    assert counts(found) == [3, 4] and found.table.domain.names == ("sex",)


def test_eurostats_tsv(tmp_path: Path) -> None:
    text = "unit,sex,geo\\time\t2019 \t2020 \nNR,F,AT\t110 p\t: \nNR,M,AT\t5 \t7 b\n"
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match="':' is not a number"):
        read_table(path)
    found = read_table(path, Reading(missing="zero"))
    assert found.table.domain.names == ("unit", "sex", "geo", "time") and counts(found) == [110, 0, 5, 7]
    path.write_text(text.replace(": ", ": c"))
    with pytest.raises(InputError, match="'c' is not a number"):
        read_table(path, Reading(missing="zero"))


def test_unknown_keywords_of_px_are_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.px"
    path.write_text(
        'CHARSET="ANSI";\nAXIS_VERSION="2013";\nCREATION.DATE="2020";\nSTUB="v";\nHEADING="w";\n'
        'VALUES("v")="a","b";\nVALUES("w")="x","y";\nDATA=\n1 2\n3 4\n;\n'
    )
    found = read_table(path)
    assert counts(found) == [1, 2, 3, 4] and any("CREATION.DATE: 2020" in n for n in found.notes)
    with pytest.raises(InputError, match="AXIS_VERSION"):
        read_table(path, Reading(strict=True))


def test_a_letter_names_totals_where_several_variables_have_it(tmp_path: Path) -> None:
    coded = ROUNDED.replace("Total", "T")
    with pytest.raises(InputError, match="4 of 5"):
        read(tmp_path, coded)
    assert counts(read(tmp_path, coded, totals="recompute")) == [10, 11, 5, 4]
    # In one variable alone it may be anything.
    assert read(tmp_path, "v,w,count\nT,x,1\nT,y,2\nU,x,3\nU,y,4\n").table.domain.size == 4


CSVW = """{"@context": "http://www.w3.org/ns/csvw", "url": "https://stats.example/t.csv",
"dialect": {"delimiter": "|", "skipRows": 1},
"tableSchema": {"primaryKey": ["area", "year"], "columns": [
 {"name": "area", "titles": "Area", "datatype": "string"},
 {"name": "year", "titles": ["Year"], "datatype": "integer"},
 {"name": "share", "titles": "Share", "datatype": "decimal", "suppressOutput": true},
 {"name": "persons", "titles": {"en": "Persons"}, "null": ":",
  "datatype": {"base": "integer", "format": {"groupChar": "."}}}]}}"""


def test_a_description_beside_a_file_or_named(tmp_path: Path) -> None:
    text = "Persons by area\nArea|Year|Share|Persons\nn|2020|0,1|1.005\nn|2021|0,2|7\ns|2020|0,4|:\ns|2021|0,3|9\n"
    with pytest.raises(InputError):
        read(tmp_path, text)
    other = tmp_path / "elsewhere.json"
    other.write_text(CSVW)
    assert counts(read(tmp_path, text, metadata=str(other), missing="zero")) == [1005, 7, 0, 9]
    other.rename(tmp_path / "t.csv-metadata.json")
    found = read(tmp_path, text, missing="zero").table
    assert found.domain.names == ("Area", "Year") and found.total == 1021
    # What a person says goes before.
    with pytest.raises(InputError, match="'Year'"):
        read(tmp_path, text, missing="zero", count="Year")
    (tmp_path / "t.csv-metadata.json").write_text('{"tables": []}')
    with pytest.raises(InputError, match="no description"):
        read(tmp_path, text)
