"""``tabulate`` of a release by record swapping: any table of its records, and the records themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.engine.bundle.verify import verify
from tests.cli.conftest import Command

PEOPLE = [
    (a, k, w) for n, a in enumerate("abc") for k in ("x", "y") for w in "pqr"[: n + 1] for _ in range(n + 2)
]


@pytest.fixture(autouse=True)
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Command) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("area,kind,work\n" + "\n".join(map(",".join, PEOPLE)) + "\n")
    run("tabulate", "people.csv", "--by", "area,kind,work", "--out", "whole.csv")
    words = ["--method", "record_swapping", "--set", "rule=deal", "--set", "swap=area", "--set", "rate=0.6"]
    beside = ["--out", "s.zip", "--register", "none", "--no-page", "--accept", "a test"]
    assert run("protect", "whole.csv", *words, "--set", "margins=area*work", *beside).code == 0


def test_tables_of_a_release_are_those_of_its_records(run: Command) -> None:
    assert run("tabulate", "s.zip", "--by", "area,work", "--out", "t.csv").code == 0
    published = verify(Path("s.zip")).release
    assert tp.read_table("t.csv").counts.tolist() == published.tables[1].table.counts.tolist()
    found = run("tabulate", "s.zip", "--out", "records.csv", "--json")
    assert found.json == {"out": "records.csv", "variables": ["area", "kind", "work"], "records": len(PEOPLE)}
    lines = [tuple(line.split(",")) for line in Path("records.csv").read_text().splitlines()[1:]]
    # All but the place stays with its record.
    assert Counter(line[1:] for line in lines) == Counter(one[1:] for one in PEOPLE)
    assert Counter(lines) != Counter(PEOPLE)
    assert run("tabulate", "records.csv", "--by", "area,work", "--out", "again.csv").code == 0
    assert Path("again.csv").read_text() == Path("t.csv").read_text()


def test_what_does_not_add_up_is_no_table_of_records(run: Command) -> None:
    given = ["--method", "cell_key", "--set", "D=5", "--set", "V=3", "--register", "none", "--no-page"]
    assert run("protect", "whole.csv", *given, "--accept", "a test", "--out", "k.zip").code == 0
    found = run("tabulate", "k.zip", "--by", "area", "--out", "t.csv")
    assert found.code == 3 and "k.zip" in found.err and "do not add up" in found.err
    assert not Path("t.csv").exists()
    found = run("tabulate", "s.zip", "--out", "records.parquet")
    assert found.code == 3 and "--out NAME.csv" in found.err
