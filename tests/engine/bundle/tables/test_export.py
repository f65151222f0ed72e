"""Exported tables: what is suppressed stays so, every table has its file, all or none is written."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle.tables.export import export
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import named
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of({"v": ["a", "b"], "w": ["x", "y"]})
TABLE = Table.dense(DOMAIN, np.array([[71, 2], [3, 4]]))
INNER = PublishedTable.hiding(TABLE, np.array([[True, False], [False, False]]))
RELEASE = Release(
    (INNER, PublishedTable(TABLE.margin(["w"])), PublishedTable(TABLE.margin(["v"]))),
    Mechanism("suppression", DOMAIN, methods()["suppression"].resolve(DOMAIN, {})),
    title="Health, 2026",
)


def test_the_main_table_has_the_name_and_others_their_number(tmp_path: Path) -> None:
    written = export(RELEASE, tmp_path / "t.sdmx.csv", named("sdmx-csv"))
    assert {path.name: names for path, names in written.items()} == {
        "t.sdmx.csv": ("v", "w"),
        "t_2.sdmx.csv": ("w",),
        "t_3.sdmx.csv": ("v",),
    }
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    assert read_table(tmp_path / "t_3.sdmx.csv").table.counts.tolist() == [73, 7]


@pytest.mark.parametrize("name", ["csv", "px", "jsonstat", "sdmx-csv", "sdmx-ml", "sdmx-json", "tau-argus"])
def test_a_suppressed_count_is_nowhere(tmp_path: Path, name: str) -> None:
    kind = named(name)
    export(Release((INNER,), RELEASE.mechanism), tmp_path / f"t{kind.suffixes[0]}", kind)
    for path in tmp_path.iterdir():
        assert b"71" not in path.read_bytes()
    with pytest.raises(InputError, match=r"suppressed|is not a number"):
        read_table(tmp_path / f"t{kind.suffixes[0]}")


def test_the_title_is_told_where_there_is_a_place_for_it(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.px", named("px"))
    assert 'TITLE="Health, 2026"' in (tmp_path / "t.px").read_text()


def test_what_is_packed_is_the_same_file_every_time(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.csv", named("csv"))
    export(RELEASE, tmp_path / "u.csv.gz", named("csv"))
    packed = (tmp_path / "u.csv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "t.csv").read_bytes()
    assert packed[4:8] == bytes(4)
    assert (tmp_path / "u_3.csv.gz").is_file()


def test_files_that_belong_to_a_table_stand_beside_it(tmp_path: Path) -> None:
    export(RELEASE, tmp_path / "t.tab", named("tau-argus"))
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"t.tab", "t.rda", "t.hst", "t_2.tab", "t_2.rda", "t_3.tab", "t_3.rda"}


def test_nothing_is_written_where_one_table_cannot_be(tmp_path: Path) -> None:
    other = Table.dense(Domain.of({'a "b"': ["x", "y"]}), np.array([1, 2]))
    release = Release((INNER, PublishedTable(other)), RELEASE.mechanism)
    with pytest.raises(InputError, match="cannot hold") as caught:
        export(release, tmp_path / "t.px", named("px"))
    assert caught.value.file == str(tmp_path / "t_2.px") and not any(tmp_path.iterdir())
