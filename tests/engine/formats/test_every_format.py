"""What holds for every registered format: its declaration, its round trip, its page, its places."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import by_suffix, format_names, format_of, formats, named, patterns
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.table_writing import write_table
from tabprotect.engine.formats.totals.total_rows import is_total
from tabprotect.engine.options import options_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOCS = Path(__file__).resolve().parents[3] / "resources" / "docs"
ALL = pytest.mark.parametrize("kind", formats().values(), ids=lambda kind: kind.name)
WRITTEN = [kind for kind in formats().values() if kind.writes]


label = st.text(
    st.one_of(st.sampled_from(' ,;"\t|\n\r.0'), st.characters(exclude_categories=["Cs"], min_codepoint=1)),
    max_size=6,
).filter(lambda text: text.strip() and not is_total(text))
"""Blank ones are asked about where they are read."""
names = st.lists(label.filter(str.strip), min_size=1, max_size=3, unique=True)


NARROW = ("acro", "ods", "r", "sas", "sdmx-json", "sdmx-ml", "spss", "stata", "tau-argus")
"""Formats that refuse most names: they are tried with names of letters."""

plain_label = (
    st.text("abz019 .-_'é", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda text: text and not is_total(text))
)
plain_names = st.lists(st.sampled_from(("v", "Age", "region_2")), min_size=1, unique=True)


@st.composite
def tables(draw: st.DrawFn, names: st.SearchStrategy = names, label: st.SearchStrategy = label) -> Table:
    domain = Domain.of(
        {
            name: draw(st.lists(label, min_size=1, max_size=3, unique=True))
            for name in draw(names.filter(lambda given: "count" not in given))
        }
    )
    counts = draw(st.lists(st.integers(0, 2**58), min_size=domain.size, max_size=domain.size))
    return Table.dense(domain, np.array(counts, dtype=np.int64).reshape(domain.shape))


@ALL
def test_the_declaration_is_complete(kind: Format) -> None:
    assert named(kind.name) is kind
    assert kind.label and kind.holds and kind.limits
    assert kind.options <= {option.name for option in options_of(Reading)}
    for suffix in kind.suffixes:
        assert re.fullmatch(r"(\.[a-z0-9]+)+", suffix)
        assert by_suffix(Path(f"t{suffix}")) is kind
    title, blank, *text = kind.help.splitlines()
    assert title.endswith(".") and len(title) < 120 and not blank and text
    for limit in kind.limits:
        assert limit.endswith(".")
    assert ("records" in kind.holds) == (type(kind).records is not Format.records)


def test_names_are_told_without_an_import() -> None:
    assert list(format_names()) == [kind.name for kind in formats().values()]


@pytest.mark.parametrize(
    "kind", [k for k in WRITTEN if k.name not in (*NARROW, "parquet")], ids=lambda kind: kind.name
)
@given(table=tables())
@settings(max_examples=35, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, kind: Format, table: Table) -> None:
    round_trip(tmp_path_factory, kind, table)


@given(table=tables())
@settings(max_examples=10, deadline=None)
def test_round_trip_of_parquet(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    # Nothing is quoted there and texts have lengths: few names tell what many do, at a sixth of
    # a second each.
    round_trip(tmp_path_factory, named("parquet"), table)


@pytest.mark.parametrize("kind", [k for k in WRITTEN if k.name in NARROW], ids=lambda kind: kind.name)
@given(table=tables(plain_names, plain_label))
@settings(max_examples=15, deadline=None)
def test_round_trip_of_plain_names(
    tmp_path_factory: pytest.TempPathFactory, kind: Format, table: Table
) -> None:
    round_trip(tmp_path_factory, kind, table)


def round_trip(tmp_path_factory: pytest.TempPathFactory, kind: Format, table: Table) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{kind.suffixes[0]}"
    try:
        data = kind.write(table)
        write_table(table, path, kind)
    except InputError:
        # Names and categories that the format has no way to write; plain ones: the next test.
        reject()
    assert format_of(path) is kind
    assert read_table(path).table == table
    assert kind.write(table) == data


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.name)
def test_plain_tables_of_every_size(tmp_path: Path, kind: Format) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    for shape in ((5,), (2, 3), (2, 3, 4), (1, 1, 1), (3, 2, 1, 2)):
        size = int(np.prod(shape))
        counts = np.arange(size).reshape(shape) * 10**15
        table = Table.dense(Domain.of_shape(shape), counts)
        write_table(table, path, kind)
        assert read_table(path).table == table


def test_what_cannot_be_published_says_so() -> None:
    kind = OnlyRead()
    assert not kind.publishes and not kind.writes
    with pytest.raises(InputError, match=re.escape(kind.label)):
        kind.publish(Cube(Table.dense(Domain.of({"v": ["a"]}), [1])))


class OnlyRead(Format):
    """A format of somebody who reads it, and no more."""

    label = "Only read"
    suffixes = (".only",)

    def cells(self, path: Path, reading: Reading, progress: Progress = SILENT) -> tuple[CellList, list[str]]:
        raise NotImplementedError


@ALL
def test_hostile_and_broken_files_are_refused(tmp_path: Path, kind: Format) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    with pytest.raises(InputError, match="no such file"):
        read_table(path)
    path.write_bytes(b"")
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert caught.value.hint and caught.value.file == str(path)
    path.write_bytes(b"\x00\xff" * 3000)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert caught.value.hint and caught.value.file == str(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="folder"):
        read_table(path)


@ALL
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, kind: Format) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    os.mkfifo(path)
    with pytest.raises(InputError, match="no regular file"):
        read_table(path)


@ALL
def test_options_that_say_nothing_are_refused(tmp_path: Path, kind: Format) -> None:
    path = tmp_path / f"t{kind.suffixes[0]}"
    path.touch()
    given = {"count": "n", "encoding": "utf-8", "delimiter": ";", "decimal": "."}
    for name in given.keys() - kind.options:
        with pytest.raises(ParameterError, match=f"{name}: says nothing"):
            read_table(path, Reading.of({name: given[name]}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"delimiter": ";;"}, "one character|delimiter cannot"),
        ({"decimal": "x"}, "decimal mark"),
        ({"strip_totals": 1}, "true or false"),
        ({"count": 3}, "must be text"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_readings_that_cannot_be_meant(given: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Reading.of(given)


def test_a_reading_says_what_was_given() -> None:
    assert Reading().given == {}
    given = {"strip_totals": True, "decimal": ","}
    assert Reading.of(given).given == given
    for option in options_of(Reading):
        assert option.help


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.por", b"ASCII SPSS PORT FILE", "portable SPSS"),
        ("t.rda", b"region 1 2\n", "a tau-ARGUS description"),
        ("t.csv", b"PK\x03\x04 anything", "an archive"),
        ("t.pdf", b"", "a PDF document"),
        ("t.tabprotect", b"", "a project"),
        ("t.xml", b"<?xml version='1.0'?><a/>", "XML, but no SDMX-ML"),
        ("t.csv", b"\x80\x04\x95\x0b\x00", "a pickled Python object"),
        ("t", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("t.csv", b"\x89PNG\r\n\x1a\n", "an image"),
        ("t.dat", b"any\x03\x7a\xff\x01", "a binary file of a kind that is not known"),
    ],
)
def test_other_kinds_are_named(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        read_table(path)
    assert caught.value.hint


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.name)
def test_content_tells_where_the_name_does_not(tmp_path: Path, kind: Format) -> None:
    table = Table.dense(Domain.of({"v": ["a", "b"], "w": ["x", "y"]}), [[1, 2], [3, 4]])
    for name in ("t", "t.data"):
        write_table(table, tmp_path / name, kind)
        assert read_table(tmp_path / name).table == table


def test_the_page_in_the_docs_is_that_of_the_registry() -> None:
    page = runpy.run_path(str(DOCS.parents[1] / "packaging" / "format_pages.py"))["formats_page"]()
    assert (DOCS / "formats.md").read_text(encoding="utf-8") == page
    for kind in formats().values():
        assert inspect.getdoc(type(kind).write) is not None
        assert f"`{kind.name}`" in page


@pytest.mark.parametrize("name", ["spss", "stata", "sas", "r"])
def test_a_library_that_is_missing_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kind = formats()[name]
    path = tmp_path / "t"
    path.write_bytes(kind.write(Table.dense(Domain.of({"v": ["a", "b"]}), [1, 2])))
    monkeypatch.setitem(sys.modules, kind.library, None)
    with pytest.raises(InputError, match=f"{kind.label} files need the library") as caught:
        read_table(path)
    assert "tabprotect[statistics]" in caught.value.hint


def test_dialogs_show_every_suffix() -> None:
    for kind in formats().values():
        for holds in kind.holds:
            assert {f"*{suffix}" for suffix in kind.suffixes} <= set(patterns(holds).split())
