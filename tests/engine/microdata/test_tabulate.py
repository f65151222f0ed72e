from __future__ import annotations

import collections
import csv
import gzip
import io
import os
import threading
import time
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, Interrupted
from tabprotect.engine.microdata.record_files import open_microdata
from tabprotect.engine.microdata.tabulate import MISSING, columns, in_order, tabulate
from tabprotect.engine.progress import Cancellable

RECORDS = "sex,age,w,city\nf,10,2,Oslo\nm,9,1,\nf,10,3,Oslo\nm,9,1,Bergen\nf,,0,Oslo\n"


def put(tmp_path: Path, text: str | bytes, name: str = "r.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parquet(path: Path, sql: str) -> Path:
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    return path


def test_counts_and_order(tmp_path: Path) -> None:
    found = tabulate(put(tmp_path, RECORDS), ["age", "sex"])
    assert found.domain.names == ("age", "sex")
    assert found.domain["age"].categories == ("9", "10", MISSING)
    assert found.domain["sex"].categories == ("f", "m")
    assert found.counts.tolist() == [[0, 2], [2, 0], [1, 0]]


def test_weights(tmp_path: Path) -> None:
    path = put(tmp_path, RECORDS)
    assert tabulate(path, ["sex"], weight="w").counts.tolist() == [5, 2]
    path = put(tmp_path, RECORDS.replace("f,10,2", "f,10,1.5").replace("f,10,3", "f,10,3.5"))
    assert tabulate(path, ["sex"], weight="w").counts.tolist() == [5, 2]


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("f,10,2,", "f,10,2.5,", r"add up to 5\.5, not to a whole", None),
        ("m,9,1,B", "m,9,-1,B", "weight -1 is negative", 5),
        ("m,9,1,B", "m,9,one,B", "weight 'one' is not a number", 5),
        ("m,9,1,B", "m,9,,B", "weight '' is not a number", 5),
        ("m,9,1,B", "m,9,9223372036854775807,B", "more than 9.2e18", None),
        ("m,9,1,B", "m,9,1e28,B", "more than 9.2e18", None),
    ],
)
def test_weights_that_are_no_counts(tmp_path: Path, old: str, new: str, words: str, line: int | None) -> None:
    path = put(tmp_path, RECORDS.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        tabulate(path, ["sex"], weight="w")
    assert caught.value.hint
    assert caught.value.line == line
    assert caught.value.cell is not None
    assert caught.value.file == str(path)


def test_weights_too_large_even_for_the_sum(tmp_path: Path) -> None:
    path = put(tmp_path, "a,w\n" + "x,99999999999999999999999999999\n" * 200)
    with pytest.raises(InputError, match=r"9\.2e18|too large"):
        tabulate(path, ["a"], weight="w")


def test_unknown_and_repeated_variables(tmp_path: Path) -> None:
    path = put(tmp_path, RECORDS)
    with pytest.raises(InputError, match="no variable 'cty'") as caught:
        tabulate(path, ["cty"])
    assert "city" in caught.value.hint
    with pytest.raises(InputError, match="no variable 'zzzzz'") as caught:
        tabulate(path, ["sex"], weight="zzzzz")
    assert "sex, age, w, city" in caught.value.hint
    for by, weight in ((["sex", "sex"], None), (["sex", "w"], "w")):
        with pytest.raises(InputError, match="named twice"):
            tabulate(path, by, weight=weight)
    with pytest.raises(InputError, match="no variable is chosen"):
        tabulate(path, [])


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("", None, "empty"),
        ("sex,age\n", None, "no records"),
        ("sex,sex\nf,1\n", 1, "stands over two columns"),
        ("sex,\nf,1\n", 1, "column 2 has no name"),
        ("sex,age\nf,1\nm\n", 3, "more or fewer fields"),
        ("sex,age\nf,1\nm,2,3\n", 3, "more or fewer fields"),
        ('sex,age\nf,1\n"m,2\n', 3, "quotation mark"),
        (b"sex,age\nf,1\n\xe9,2\n", 3, "byte 13"),
        (b"sex,age\nf,1\n\x00,2\n", 3, "NUL"),
    ],
)
def test_broken_csv(tmp_path: Path, data: str | bytes, line: int | None, words: str) -> None:
    path = put(tmp_path, data)
    with pytest.raises(InputError, match=words) as caught:
        tabulate(path, ["sex"])
    assert caught.value.line == line
    assert caught.value.file == str(path)


def test_parquet(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "r.parquet",
        "SELECT range % 3 AS a, CASE WHEN range % 2 = 0 THEN 'x' END AS b, range / 2.0 AS w, "
        "range AS n FROM range(12)",
    )
    found = tabulate(path, ["a", "b"])
    assert found.domain["a"].categories == ("0", "1", "2")
    assert found.domain["b"].categories == ("x", MISSING)
    assert found.counts.tolist() == [[2, 2]] * 3
    assert tabulate(path, ["b"], weight="w").counts.tolist() == [15, 18]
    kinds = {c.name: (c.kind, c.categories, c.missing) for c in columns(path)}
    assert kinds == {
        "a": ("integer", 3, 0),
        "b": ("text", 1, 6),
        "w": ("real", 12, 0),
        "n": ("integer", 12, 0),
    }


def test_damaged_parquet(tmp_path: Path) -> None:
    whole = parquet(
        tmp_path / "r.parquet", "SELECT range AS a, 'x' || hash(range) AS b FROM range(2000)"
    ).read_bytes()
    holed = whole[:20] + bytes(3000) + whole[3020:]
    for data in (whole[:-1], whole[: len(whole) // 2], b"", b"PAR1", holed, b"a,b\n1,2\n"):
        path = put(tmp_path, data, "bad.parquet")
        with pytest.raises(InputError, match="damaged, cut off") as caught:
            tabulate(path, ["a"])
        assert caught.value.file == str(path)


def test_column_summary(tmp_path: Path) -> None:
    found = columns(put(tmp_path, RECORDS))
    assert [(c.name, c.kind, c.categories, c.missing) for c in found] == [
        ("sex", "text", 2, 0),
        ("age", "integer", 2, 1),
        ("w", "integer", 4, 0),
        ("city", "text", 2, 1),
    ]


def test_many_categories_are_counted_or_told_in_two_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet(tmp_path / "r.parquet", "SELECT range AS number FROM range(3210)")
    (exact,) = columns(path)
    assert (exact.categories, exact.exact) == (3210, True)
    monkeypatch.setattr("tabprotect.engine.microdata.tabulate.EXACT_RECORDS", 3209)
    (about,) = columns(path)
    assert not about.exact and about.categories in (2900, 3000, 3100, 3200, 3210)


def test_odd_names_and_links(tmp_path: Path) -> None:
    path = put(tmp_path, 'a "b",it\'s;\n1,2\n', "it's [1]*?.csv")
    put(tmp_path, 'a "b",it\'s;\n1,3\n', "it's 1xx.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for name in (path, link):
        assert tabulate(name, ["it's;", 'a "b"']).domain["it's;"].categories == ("2",)


def test_gzip_and_other_delimiters(tmp_path: Path) -> None:
    text = RECORDS.replace(",", ";")
    assert tabulate(put(tmp_path, "sep=;\n" + text), ["sex"]).counts.tolist() == [3, 2]
    path = put(tmp_path, gzip.compress(text.encode()), "r.csv.gz")
    assert tabulate(path, ["sex"]).counts.tolist() == [3, 2]
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match="damaged or cut off"):
        tabulate(path, ["sex"])


def test_utf16_and_mark(tmp_path: Path) -> None:
    text = RECORDS.replace("Oslo", "Tromsø").replace(",", "\t")
    for encoding in ("utf-16", "utf-8-sig"):
        found = tabulate(put(tmp_path, text.encode(encoding)), ["city", "sex"])
        assert found.domain["city"].categories == ("Bergen", "Tromsø", MISSING)
        assert found.total == 5


def test_one_file_is_all_it_can_reach(tmp_path: Path) -> None:
    other = put(tmp_path, RECORDS, "other.csv")
    with open_microdata(put(tmp_path, RECORDS)) as source:
        for sql in (
            f"SELECT * FROM read_csv('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'new.csv'}'",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(InputError):
                source.run(lambda c, sql=sql: c.execute(sql), "trying")  # type: ignore[misc]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.csv", "r.csv"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(threading.enumerate())
    tabulate(put(tmp_path, RECORDS), ["sex"])
    assert set(threading.enumerate()) == before
    assert os.listdir(tmp_path) == ["r.csv"]


def test_large_and_mostly_empty_is_sparse(tmp_path: Path) -> None:
    n = 5000
    path = put(tmp_path, "a,b\n" + "".join(f"{i},{n - i}\n" for i in range(n)))
    found = tabulate(path, ["a", "b"])
    assert found.is_sparse
    assert found.domain.shape == (n, n)
    assert found.total == n
    assert found[(0, n - 1)] == 1


def test_cancel(tmp_path: Path) -> None:
    class Later(Cancellable):
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if stage == "counting the records":
                self.cancel()
            super().report(stage, fraction, partial)

    path = parquet(tmp_path / "big.parquet", "SELECT hash(range) % 1000000 AS a FROM range(2000000)")
    before = set(threading.enumerate())
    started = time.process_time()
    with pytest.raises(Interrupted):
        tabulate(path, ["a"], progress=Later())
    stopped = time.process_time()
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SELECT a, count(*) FROM '{path}' GROUP BY a").fetchnumpy()
    counted = time.process_time() - stopped
    # The answer was not waited for.
    assert stopped - started < counted
    assert set(threading.enumerate()) == before


value = st.text(
    st.one_of(st.sampled_from(' ,;"\n01-'), st.characters(exclude_categories=["Cs"], min_codepoint=1)),
    max_size=4,
).filter(lambda text: "\r" not in text)


@given(st.lists(st.tuples(value, value), min_size=1, max_size=12))
@settings(max_examples=20, deadline=None)
def test_against_a_counter(tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("a", "b"), *records])
    path = tmp_path_factory.getbasetemp() / "records.csv"
    path.write_bytes(text.getvalue().encode())
    found = tabulate(path, ["a", "b"])
    expected = collections.Counter(tuple(v or MISSING for v in record) for record in records)
    keys, counts = found.cells
    labels = [found.domain.labels(found.domain.unflat(int(key))) for key in keys]
    assert dict(zip(labels, counts.tolist(), strict=True)) == expected


def test_in_order() -> None:
    assert in_order(["10", "9", "-1", "09"]) == ["-1", "09", "9", "10"]
    assert in_order(["10", MISSING, "9a", "9"]) == ["10", "9", "9a", MISSING]
    assert in_order(["b", "B", "é", "a"]) == ["B", "a", "b", "é"]
