"""``convert``: every format that is written, through the real command line."""

from __future__ import annotations

import gzip
import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.project.sources import open_table
from tests.cli.conftest import Command

EXAMPLE = "example:czech-autoworkers"
WRITTEN = [kind.name for kind in formats().values() if kind.writes]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_there_and_back(tmp_path: Path, name: str) -> None:
    out = tmp_path / "table.out"
    out.touch(mode=0o644)
    assert main(["convert", EXAMPLE, "--format", name, "--out", str(out)]) == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    named = tmp_path / f"table{formats()[name.replace('-', '_')].suffixes[0]}"
    assert main(["convert", EXAMPLE, "--out", str(named)]) == 0
    assert named.read_bytes() == out.read_bytes()
    assert read_table(named).table == open_table(EXAMPLE).table
    again = tmp_path / "again.csv"
    assert main(["convert", str(named), "--out", str(again)]) == 0
    assert read_table(again).table == open_table(EXAMPLE).table


def test_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "t.csv.gz"
    assert main(["convert", EXAMPLE, "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert "CONFIDENTIAL" in said.out
    assert "No title, notes" not in said.err
    assert gzip.decompress(out.read_bytes()).startswith(b"A,B,")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--out", "t.parquet.gz"], 3, "only text is compressed"),
        (["--out", "t.csv", "--format", "klingon"], 2, "klingon"),
    ],
)
def test_what_cannot_be_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["convert", EXAMPLE, *words]) == code
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_table_itself_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v,w,count\na,x,1\n")
    assert main(["convert", str(path), "--out", str(path)]) == 2


def test_into_a_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'base.db'}#cells"
    assert main(["convert", EXAMPLE, "--to", url]) == 0
    with closing(sqlite3.connect(tmp_path / "base.db")) as base, base:
        rows = base.execute("SELECT count(*), sum(count) FROM cells").fetchone()
    base.close()
    assert rows == (64, 1841)
    assert main(["convert", EXAMPLE, "--to", url]) == 3
    assert main(["convert", EXAMPLE, "--to", "sqlite://"]) == 3


def test_through_pipes(tmp_path: Path) -> None:
    text = b"v,count\na,1\nb,2\n"
    words = [sys.executable, "-m", "tabprotect", "convert", "-", "--out", "-", "--format", "jsonstat"]
    found = subprocess.run(words, input=text, capture_output=True, check=True)
    assert json.loads(found.stdout)["value"] == [1, 2]


def test_pipes(tmp_path: Path) -> None:
    """Records in, a table out; a table in, its description out."""
    program = [sys.executable, "-m", "tabprotect"]
    records = b"region,sex\nn,f\nn,m\nn,m\ns,f\n"
    counted = subprocess.run(
        [*program, "tabulate", "-", "--by", "region,sex", "--out", "-"],
        input=records, capture_output=True, check=True,
    )  # fmt: skip
    assert counted.stdout.decode().split() == ["region,sex,count", "n,f,1", "n,m,2", "s,f,1", "s,m,0"]
    said = subprocess.run(
        [*program, "describe", "-", "--json"], input=counted.stdout, capture_output=True, check=True
    )
    assert json.loads(said.stdout)["total"] == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--where", "nace=10"), "--where"),
        (("--totals", "nonsense"), "--totals"),
        (("--reading", "nofile.toml"), "--reading"),
        (("--strict",), "--strict"),
        (("--counts", "--rule", "p=10"), "--rule"),
    ],
)
def test_what_a_magnitude_table_cannot_take_is_refused_by_name(
    run: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    table = tmp_path / "m.parquet"
    asked = ("--by", "nace,region", "--measure", "turnover", "--holding", "ent", "--out", table)
    assert run("tabulate", "example:fictitious-businesses", *asked).code == 0
    done = run("convert", table, "--out", tmp_path / "m.csv", *words)
    assert done.code == 2 and said in done.err and not (tmp_path / "m.csv").exists()
