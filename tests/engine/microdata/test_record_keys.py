"""Record keys: added up exactly, read or drawn, never guessable."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.record_files import open_microdata
from tabprotect.engine.microdata.record_keys import COLUMN, add_record_keys, key_measure
from tabprotect.engine.microdata.tabulate import tabulate, tabulate_with_keys
from tabprotect.engine.randomness import KEY_MODULUS, Randomness

RECORDS = "sex,age,key\nf,1,0.25\nm,1,0.99999999\nf,1,0.80000001\nm,2,0.5\nf,2,0.000000004\n"


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_keys_of_a_column(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", RECORDS)
    found = tabulate_with_keys(path, ["sex", "age"], also=AddedUp(record_key="key"))
    assert found.table == tabulate(path, ["sex", "age"])
    assert found.record_keys is not None
    # f,1: 0.25 + 0.80000001 = 1.05000001; the last key rounds to 0.
    assert found.record_keys.counts.tolist() == [[5_000_001, 0], [99_999_999, 50_000_000]]
    whole = put(tmp_path / "w.csv", "sex,key\nf,99999999\nf,2\nm,7\n")
    keys = tabulate_with_keys(whole, ["sex"], also=AddedUp(record_key="key")).record_keys
    assert keys is not None and keys.counts.tolist() == [1, 7]
    assert tabulate_with_keys(path, ["sex"]).record_keys is None
    commas = put(tmp_path / "c.csv", RECORDS.replace(",", ";").replace(".", ","))
    assert (
        tabulate_with_keys(commas, ["sex", "age"], also=AddedUp(record_key="key")).record_keys
        == found.record_keys
    )


def test_keys_of_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    sql = "SELECT * FROM (VALUES ('f', 0.25::DOUBLE), ('f', 5e-9), ('m', 1e-8)) AS r(sex, key)"
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    keys = tabulate_with_keys(path, ["sex"], also=AddedUp(record_key="key")).record_keys
    assert keys is not None and keys.counts.tolist() == [25_000_001, 1]


@settings(max_examples=8, deadline=None)
@given(keys=st.lists(st.integers(0, KEY_MODULUS - 1), min_size=2, max_size=60), data=st.data())
def test_margins_of_keys_are_keys_of_margins(
    keys: list[int], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if len(set(keys)) == 1:
        keys[0] = (keys[0] + 1) % KEY_MODULUS
    a = data.draw(st.lists(st.integers(0, 2), min_size=len(keys), max_size=len(keys)))
    b = data.draw(st.lists(st.integers(0, 1), min_size=len(keys), max_size=len(keys)))
    rows = [f"{x},{y},0.{k:08d}" for x, y, k in zip(a, b, keys, strict=True)]
    path = put(tmp_path_factory.mktemp("keys") / "r.csv", "a,b,key\n" + "\n".join(rows) + "\n")
    inner = tabulate_with_keys(path, ["a", "b"], also=AddedUp(record_key="key")).record_keys
    margin = tabulate_with_keys(path, ["a"], also=AddedUp(record_key="key")).record_keys
    assert inner is not None and margin is not None
    assert np.array_equal(inner.counts.sum(axis=1) % KEY_MODULUS, margin.counts)
    exact = [
        sum((Fraction(k, KEY_MODULUS) for x, k in zip(a, keys, strict=True) if x == value)) % 1
        for value in sorted(set(a))
    ]
    assert margin.counts.tolist() == [int(f * KEY_MODULUS) for f in exact]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.25", "", "1 record has no key"),
        ("0.25", "x", "1 record has no key"),
        ("0.25", "-0.25", "outside its range"),
        ("0.25", "1.25", "outside its range"),
        ("0.25", "1", "outside its range"),
    ],
)
def test_bad_keys(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", RECORDS.replace(old, new))
    with pytest.raises(InputError, match=words):
        tabulate_with_keys(path, ["sex"], also=AddedUp(record_key="key"))


def test_keys_that_are_no_keys(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", "a,key,w\nx,0.5,1\ny,0.5,1\n")
    with pytest.raises(InputError, match="all record keys are the same"):
        tabulate_with_keys(path, ["a"], also=AddedUp(record_key="key"))
    with pytest.raises(InputError, match="no variable 'none'"):
        tabulate_with_keys(path, ["a"], also=AddedUp(record_key="none"))
    with pytest.raises(InputError, match="named twice"):
        tabulate_with_keys(path, ["a", "key"], also=AddedUp(record_key="key"))
    with pytest.raises(ParameterError, match=r"record_key.*not with sums of weights"):
        tabulate_with_keys(path, ["a"], also=AddedUp(weight="w", record_key="key"))


@pytest.mark.parametrize("name", ["k.csv", "k.csv.gz"])
def test_adding_keys(name: str, tmp_path: Path) -> None:
    path, out = put(tmp_path / "r.csv", RECORDS.replace("key", "old")), tmp_path / name
    assert add_record_keys(path, out, randomness=Randomness.fresh()) == 5
    text = gzip.decompress(out.read_bytes()).decode() if name.endswith("gz") else out.read_text()
    keys = [line.rpartition(",")[2] for line in text.splitlines()[1:]]
    assert text.splitlines()[0] == "sex,age,old,record_key"
    assert len(set(keys)) == 5 and all(len(key) == 10 for key in keys)
    assert tabulate(out, ["sex"]) == tabulate(path, ["sex"])
    assert tabulate_with_keys(out, ["sex"], also=AddedUp(record_key="record_key")).record_keys is not None
    with pytest.raises(InputError, match="already"):
        add_record_keys(out, tmp_path / "again.csv", randomness=Randomness.fresh())
    assert not (tmp_path / "again.csv").exists()


def test_keys_are_uniform_and_from_the_operating_system(tmp_path: Path) -> None:
    path = put(tmp_path / "r.csv", "a\n" + "x\n" * 70_000)

    def keys(randomness: Randomness) -> np.ndarray:
        add_record_keys(path, tmp_path / "k.csv", randomness=randomness)
        return np.loadtxt(tmp_path / "k.csv", delimiter=",", skiprows=1, usecols=1)

    first, second = keys(Randomness.fresh()), keys(Randomness.fresh())
    assert (first != second).mean() > 0.99
    # Kolmogorov-Smirnov at about 10^-6: 2.7 / sqrt(n).
    steps = np.arange(1, len(first) + 1) / len(first)
    assert np.abs(np.sort(first) - steps).max() < 2.7 / np.sqrt(len(first))
    # No block of records repeats another's keys.
    assert len(np.unique(first)) > 0.999 * len(first)
    assert np.array_equal(keys(Randomness.seeded(5)), keys(Randomness.seeded(5)))


def with_keys(path: Path, keys: list[object]) -> Path:
    lines = [f"{'mf'[k % 2]},{key}" for k, key in enumerate(keys)]
    path.write_text("\n".join(["sex,k", *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda n, g: list(range(n)), "running number"),
        (lambda n, g: (g.permutation(n) + 5_000).tolist(), "running number"),
        (lambda n, g: (g.integers(1, 4, n) * 10**7).tolist(), "a few different"),
        (lambda n, g: [f"{k:.8f}" for k in g.random(n) ** 3], "crowd into"),
        (lambda n, g: (g.random(n) ** 8 * 10**8).astype(int).tolist(), "crowd into"),
    ],
)
def test_keys_that_are_no_random_numbers_are_refused_with_their_picture(
    make: Callable[[int, np.random.Generator], list[object]], words: str, tmp_path: Path
) -> None:
    path = with_keys(tmp_path / "r.csv", make(2000, np.random.default_rng(4)))
    with open_microdata(path) as source, pytest.raises(InputError, match=words) as caught:
        key_measure(source, "k")
    assert len(caught.value.detail.splitlines()) == 16 and "####" in caught.value.detail


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("end", [256, 10**6, 10**8])
def test_uniform_keys_pass(seed: int, end: int, tmp_path: Path) -> None:
    keys = np.random.default_rng(seed).integers(0, end, 3000).tolist()
    with open_microdata(with_keys(tmp_path / "r.csv", keys)) as source:
        assert key_measure(source, "k")


def test_parquet_files_get_keys_and_give_them_on(tmp_path: Path) -> None:
    path, first, second = (tmp_path / name for name in ("r.csv", "k.parquet", "l.csv"))
    keys = np.random.default_rng(1).integers(0, 10**8, 300)
    with_keys(path, keys.tolist())
    assert add_record_keys(path, first, randomness=Randomness.seeded(5)) == 300
    assert first.read_bytes()[:4] == b"PAR1" and first.stat().st_mode & 0o777 == 0o600
    assert add_record_keys(first, second, column="b", randomness=Randomness.seeded(6)) == 300
    rows = [line.split(",") for line in second.read_text().splitlines()]
    assert rows[0] == ["sex", "k", COLUMN, "b"] and [int(r[1]) for r in rows[1:]] == keys.tolist()
    # The same seed gives the same keys in a copy as CSV.
    third = tmp_path / "m.csv"
    add_record_keys(path, third, randomness=Randomness.seeded(5))
    again = [line.split(",")[-1] for line in third.read_text().splitlines()[1:]]
    assert [r[2] for r in rows[1:]] == again
    with open_microdata(first) as source:
        assert key_measure(source, COLUMN)
    with pytest.raises(InputError, match="already"):
        add_record_keys(first, second, randomness=Randomness.seeded(1))
