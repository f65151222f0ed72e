"""Records where they are: folders, patterns, DuckDB files, PostgreSQL, Spark. Always the same counts."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa
from distributed import LocalCluster
from postgresql_server import psycopg, running_server

from tabprotect.engine.errors import InputError
from tabprotect.engine.microdata import clusters
from tabprotect.engine.microdata.coding import AddedUp, Codings
from tabprotect.engine.microdata.tabulate import Tabulated, columns, tabulate, tabulate_with_keys

NAMES = ("region", "age", "key", "w")
Row = tuple[str | None, int, float, int]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    draw = np.random.default_rng(7)
    return [
        (
            [None, "north", "south"][int(draw.integers(3))],
            int(draw.integers(0, 90)),
            round(float(draw.random()), 8),
            int(draw.integers(1, 5)),
        )
        for _ in range(400)
    ]


@pytest.fixture(scope="module")
def folder(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")
    (folder / "parts").mkdir()
    with duckdb.connect(str(folder / "house.duckdb")) as base:
        base.execute("CREATE TABLE people(region VARCHAR, age INTEGER, key DOUBLE, w INTEGER)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        base.execute("CREATE SCHEMA old")
        base.execute("CREATE TABLE old.people AS SELECT * FROM people LIMIT 3")
        base.execute(f"COPY people TO '{folder}/all.parquet'")
        for part, rest in (("a", "LIMIT 150"), ("b", "OFFSET 150")):
            select = f"SELECT * FROM people {rest}"
            base.execute(f"COPY ({select}) TO '{folder}/parts/{part}.parquet'")
            base.execute(f"COPY ({select}) TO '{folder}/{part}.csv'")
    (folder / "parts" / "_SUCCESS").touch()
    return folder


def counted(source: Path | str) -> Tabulated:
    return tabulate_with_keys(
        source,
        ["region", "age"],
        also=AddedUp(record_key="key", design_weight="w"),
        codings=Codings(bands={"age": 10}),
    )


def same(source: str, folder: Path) -> None:
    here, there = counted(folder / "all.parquet"), counted(source)
    assert there.table == here.table and there.record_keys == here.record_keys
    assert there.weights is not None and here.weights is not None
    assert there.weights.sums == here.weights.sums
    assert (there.weights.low, there.weights.high) == (here.weights.low, here.weights.high)
    weighted = tabulate(source, ["region"], weight="w")
    assert weighted == tabulate(folder / "all.parquet", ["region"], weight="w")


@pytest.mark.parametrize("place", ["parts", "parts/*.parquet", "[ab].csv", "house.duckdb#main.people"])
def test_files_together_and_databases(folder: Path, place: str) -> None:
    same(f"{folder}/{place}", folder)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("house.duckdb", "has 2 tables"),
        ("house.duckdb#nobody", "no table 'nobody'"),
        ("nothing*", "no file is there"),
        ("a*", "several formats"),
        ("house.sqlite", "no such file"),
    ],
)
def test_places_that_are_none(folder: Path, place: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        tabulate(f"{folder}/{place}", ["region"])
    assert caught.value.hint


def test_files_with_other_columns_are_named(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "a.csv", tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("region,years,key,w\nnorth,3,0.5,1\n")
    with pytest.raises(InputError, match="same columns: age, years") as caught:
        tabulate(tmp_path, ["region"])
    assert caught.value.file == str(tmp_path / "b.csv")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_engine_that_ibis_reaches(folder: Path) -> None:
    url = f"duckdb://{folder}/house.duckdb#people"
    same(url, folder)
    assert columns(url) == columns(folder / "all.parquet")
    with pytest.raises(InputError, match="no column 'years'"):
        tabulate(url, ["years"])
    with pytest.raises(InputError, match="does not answer") as caught:
        tabulate(url + "x", ["region"])
    assert caught.value.detail


def test_a_password_is_not_taken_into_a_project() -> None:
    with pytest.raises(InputError, match="password") as caught:
        tabulate("postgresql://me:secret@host/base#people", ["region"])
    assert "secret" not in f"{caught.value}{caught.value.hint}{caught.value.detail}"
    with pytest.raises(InputError, match="names no table"):
        tabulate("postgresql://host/base", ["region"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_postgresql_shows_the_same(folder: Path, rows: list[Row]) -> None:
    with running_server() as server:
        url = server.database("house")
        engine = sa.create_engine(psycopg(url))
        with engine.begin() as base:
            base.execute(sa.text("CREATE TABLE people(region text, age int, key double precision, w int)"))
            given = [dict(zip(NAMES, row, strict=True)) for row in rows]
            base.execute(sa.text("INSERT INTO people VALUES (:region, :age, :key, :w)"), given)
        engine.dispose()
        same(f"{url}#people", folder)
        same(f"{url}#public.people", folder)


def test_a_dask_cluster_shows_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        for place in ("parts", "[ab].csv"):
            same(f"dask://{address}{folder}/{place}", folder)
        assert columns(f"dask://{address}{folder}/parts") == columns(folder / "all.parquet")
        with pytest.raises(InputError, match="no variable 'years'"):
            tabulate(f"dask://{address}{folder}/parts", ["years"])
        with pytest.raises(InputError, match="no file is there"):
            tabulate(f"dask://{address}{folder}/nothing*", ["region"])
    monkeypatch.setattr(clusters, "CLUSTER_PATIENCE", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler"):
        tabulate(f"dask://127.0.0.1:1{folder}/parts", ["region"])
    with pytest.raises(InputError, match="names no scheduler"):
        tabulate("dask://host:8786", ["region"])


@pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="Spark is not installed: pip install pyspark, and a Java runtime",
)
@pytest.mark.filterwarnings("ignore")
def test_spark_shows_the_same(folder: Path, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = {"spark.sql.shuffle.partitions": "2", "spark.sql.warehouse.dir": str(tmp_path)}
    spark = builder.config(map=settings).getOrCreate()
    try:
        spark.read.parquet(str(folder / "all.parquet")).createOrReplaceTempView("people")
        here = counted(folder / "all.parquet")
        there = counted("pyspark://?spark.master=local[1]#people")
        assert there.table == here.table and there.record_keys == here.record_keys
    finally:
        spark.stop()
