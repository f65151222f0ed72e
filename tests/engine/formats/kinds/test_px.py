"""PX: files of a statistical office, keys, symbols, encodings and faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import TableFile, read_table
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

HEAD = 'CHARSET="ANSI";\nTITLE="x";\nSTUB="v";\nHEADING="w";\nVALUES("v")="a","b";\nVALUES("w")="x","y";\n'


def read(tmp_path: Path, text: str | bytes, **options: object) -> TableFile:
    path = tmp_path / "t.px"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("cp1252"))
    return read_table(path, Reading.of(options))


OFFICE = """CHARSET="ANSI";
AXIS-VERSION="2010";
CODEPAGE="Windows-1252";
LANGUAGE="en";
LANGUAGES="en","da";
CREATION-DATE="20260109 09:00";
DECIMALS=0;
SHOWDECIMALS=0;
MATRIX="POP1";
COPYRIGHT=YES;
SUBJECT-CODE="BE";
SUBJECT-AREA="Population";
SUBJECT-AREA[da]="Befolkning";
DESCRIPTION="Population by gender, age and time <em>[POP1]</em>";
CONTENTS="Population";
UNITS="persons";
STUB="gender","age";
STUB[da]="køn","alder";
HEADING="time";
HEADING[da]="tid";
VARIABLECODE("gender")="gender";
VALUES("gender")="Men","Women; girls";
VALUES[da]("køn")="Mænd","Kvinder";
CODES("gender")="M","K";
VALUES("age")="0-6","7-64","65+";
TIMEVAL("time")=TLIST(A1),"2024","2025";
VALUES("time")="2024","2025";
ELIMINATION("age")=YES;
NOTE="A note that is broken into "
"two strings; with a semicolon, DATA= and a number 7.##";
LAST-UPDATED="20260209 09:00";
SOURCE="an office";
DATA=
120 131
1304 -
88 90
117 125
1290 1301
102 104
;
"""


def test_a_file_of_a_statistical_office(tmp_path: Path) -> None:
    table = read(tmp_path, OFFICE).table
    assert table.domain.names == ("gender", "age", "time")
    assert table.domain["gender"].categories == ("M", "K")
    assert table.domain["age"].categories == ("0-6", "7-64", "65+")
    assert table.counts.reshape(-1).tolist() == [
        *(120, 131, 1304, 0, 88, 90),
        *(117, 125, 1290, 1301, 102, 104),
    ]


def test_codes_long_strings_and_languages(tmp_path: Path) -> None:
    text = HEAD.replace(
        'VALUES("v")="a","b";',
        'VALUES("v")="long "\n"text","b;c";\nVALUES[sv]("v")="p","q";\nCODES("w")="1","2";',
    )
    found = read(tmp_path, text + "DATA=\n1 2\n3 -;\n").table
    assert found.domain["v"].categories == ("long text", "b;c")
    assert found.domain["w"].categories == ("1", "2")
    assert found.counts.tolist() == [[1, 2], [3, 0]]


def test_rows_with_keys(tmp_path: Path) -> None:
    text = HEAD + 'CODES("v")="1","2";\nKEYS("v")=VALUES;\nDATA=\n"b",5 6;\n'
    found = read(tmp_path, text).table
    assert found.domain["v"].categories == ("1", "2")
    assert found.counts.tolist() == [[0, 0], [5, 6]]
    assert read(tmp_path, text.replace("VALUES;", "CODES;").replace('"b",', '"1",')).table.total == 11
    for old, new, words in (('"b",5', '"z",5', "no category"), ("5 6", '5 6\n"b",7 8', "twice")):
        with pytest.raises(InputError, match=words):
            read(tmp_path, text.replace(old, new))


def test_contents_are_left_out(tmp_path: Path) -> None:
    text = HEAD.replace('"x","y"', '"x"') + 'CONTVARIABLE="w";\nDATA=\n1\n2;\n'
    found = read(tmp_path, text)
    assert found.table.domain.names == ("v",) and "'x' was read" in found.notes[0]
    with pytest.raises(InputError, match="holds 2 measures: x, y"):
        read(tmp_path, HEAD + 'CONTVARIABLE="w";\nDATA=\n1 2\n3 4;\n')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + 'DATA=\n1 2\n3 "..";\n', "empty"),
        (HEAD + "DATA=\n1 2\n3 ...;\n", "empty"),
        (HEAD + "DATA=\n1 2\n3 2.5;\n", "not a whole number"),
        (HEAD + "DATA=\n1 2\n3;\n", "3 counts for 4 cells"),
        (HEAD, "no DATA"),
        (HEAD + "nonsense\n", "no PX"),
        (HEAD + 'X="\n', "no PX"),
        (HEAD.replace('STUB="v";', ""), "4 counts for 2 cells"),
        (HEAD.replace('VALUES("v")', 'VALUES("u")'), "no VALUES"),
    ],
)
def test_faults(tmp_path: Path, text: str, words: str) -> None:
    if "DATA" not in text and "no " in words and "VALUES" in words:
        text += "DATA=\n1 2 3 4;\n"
    if "counts for 2" in words:
        text += "DATA=\n1 2\n3 4;\n"
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, text)
    assert caught.value.hint


def test_missing_cells_may_be_taken_as_zero(tmp_path: Path) -> None:
    text = HEAD + 'DATA=\n1 2\n3 "..";\n'
    found = read(tmp_path, text, fill_missing=True)
    assert found.table.counts.tolist() == [[1, 2], [3, 0]]
    assert "taken as 0" in found.notes[-1]


def test_encodings(tmp_path: Path) -> None:
    text = HEAD.replace('"a"', '"Århus"') + "DATA=\n1 2\n3 4;\n"
    for page, encoding in (("", "cp1252"), ('CODEPAGE="utf-8";\n', "utf-8")):
        found = read(tmp_path, text.replace("TITLE", page + "TITLE").encode(encoding)).table
        assert found.domain["v"].categories[0] == "Århus"
    assert read(tmp_path, text.encode("utf-8"), encoding="utf-8").table.total == 10
    with pytest.raises(InputError, match="is not UTF-8"):
        read(tmp_path, text.replace("TITLE", 'CODEPAGE="utf-8";TITLE').encode("cp1252"))


def test_what_a_symbol_means_is_written_and_told(tmp_path: Path) -> None:
    domain = Domain.of({"v": ["a", "b"], "w": ["x", "y"]})
    table = Table.dense(domain, [[1, 0], [3, 4]])
    hidden = np.array([[False, True], [False, False]])
    text = formats()["px"].publish(Cube(table, hidden, about=About("T"))).decode()
    assert 'DATASYMBOL2="Not published, to protect respondents";' in text
    assert 'CELLNOTE("a","y")="Not published, to protect respondents";' in text
    (tmp_path / "t.px").write_text(text)
    with pytest.raises(InputError, match=r"suppressed \(Not published") as caught:
        read_table(tmp_path / "t.px")
    assert caught.value.cell == "(a, y)"


def test_ansi_and_utf_8(tmp_path: Path) -> None:
    text = OFFICE.replace("Women; girls", "Frauen ü. 18").replace('CODES("gender")="M","K";', "")
    for page in ("iso-8859-15", "utf-8", "Windows-1252"):
        told = text.replace("Windows-1252", page)
        (tmp_path / "t.px").write_bytes(told.encode(page))
        found = read_table(tmp_path / "t.px").table
        assert found.domain["gender"].categories[1] == "Frauen ü. 18"


def test_one_of_several_contents_and_texts_for_codes(tmp_path: Path) -> None:
    text = HEAD + 'CODES("v")="1","2";\nCONTVARIABLE="w";\nDATA=\n1 2\n3 4;\n'
    found = read(tmp_path, text, count="y")
    assert found.table.counts.tolist() == [2, 4] and found.table.domain.names == ("v",)
    assert found.table.domain["v"].categories == ("1", "2")
    assert read(tmp_path, text, count="y", labels=True).table.domain["v"].categories == ("a", "b")
    with pytest.raises(InputError, match="2 measures: x, y"):
        read(tmp_path, text, count="z")


def test_what_dots_mean(tmp_path: Path) -> None:
    text = HEAD + 'DATASYMBOL1="none";\nDATA=\n1 "."\n3 "..";\n'
    with pytest.raises(InputError, match="means 'none'") as caught:
        read(tmp_path, text)
    assert '--marks ".=zero"' in caught.value.hint
    assert read(tmp_path, text, marks=".=zero ..=structural").table.total == 4
    with pytest.raises(InputError, match="suppressed"):
        read(tmp_path, text, marks=".=zero ..=suppressed")


STRAY = 'TIMEVAL("w")=TLIST(A1)","2001","2002";\n'


def test_quotes_of_what_says_nothing_about_counts_are_mended_and_told(tmp_path: Path) -> None:
    text = HEAD + STRAY + 'NOTE="a";\nDATA=\n1 2\n3 4;\n'
    found = read(tmp_path, text)
    assert found.table.counts.tolist() == [[1, 2], [3, 4]]
    assert any('quotation marks of TIMEVAL("w") are wrong' in note for note in found.notes)
    with pytest.raises(InputError, match="TIMEVAL"):
        read(tmp_path, text, strict=True)
    for keyword in ("VALUES", "UNITS", "ELIMINATION"):
        wrong = HEAD + f'{keyword}("w")=x","y";\nNOTE="a";\nDATA=\n1 2\n3 4;\n'
        with pytest.raises(InputError, match=f"semicolon of {keyword} are wrong") as caught:
            read(tmp_path, wrong)
        assert caught.value.line == wrong[: wrong.index(f'{keyword}("w")=x')].count("\n") + 1


TONGUES = (
    'CHARSET="ANSI";\nLANGUAGE="sv";\nLANGUAGES="sv","en";\nSTUB{main}="kon";\nSTUB[en]="sex";\n'
    'HEADING{main}="ar";\nHEADING[en]="year";\nVALUES{main}("kon")="man","kvinnor";\n'
    'VALUES[en]("sex")="men","women";\nVALUES{main}("ar")="1","2";\nVALUES[en]("year")="1","2";\n{codes}'
    "DATA=\n1 2\n3 4;\n"
)


@pytest.mark.parametrize("main", ["", "[sv]"])
@pytest.mark.parametrize("codes", ["", 'CODES("kon")="M","K";\n'])
def test_the_language_of_texts_is_chosen(tmp_path: Path, main: str, codes: str) -> None:
    text = TONGUES.format(main=main, codes=codes)
    for wanted, names, texts in (
        (None, ("kon", "ar"), ("man", "kvinnor")),
        ("sv", ("kon", "ar"), ("man", "kvinnor")),
        ("en", ("sex", "year"), ("men", "women")),
    ):
        found = read(tmp_path, text, texts_in=wanted).table
        assert found.domain.names == names and found.counts.tolist() == [[1, 2], [3, 4]]
        variable = found.domain.variables[0]
        assert variable.categories == (("M", "K") if codes else texts)
        assert variable.labels == (texts if codes else ())
    with pytest.raises(InputError, match="no texts in 'de'") as caught:
        read(tmp_path, text, texts_in="de")
    assert caught.value.hint == "it has sv, en"


def test_a_symbol_for_few_people_is_never_zero(tmp_path: Path) -> None:
    text = HEAD + 'DATASYMBOL2="Fewer than five";\nDATA=\n1 2\n3 "..";\n'
    path = tmp_path / "t.px"
    path.write_text(text)
    for reading in (Reading(), Reading(missing="zero")):
        with pytest.raises(InputError, match=r"suppressed .Fewer than five"):
            read_table(path, reading)
