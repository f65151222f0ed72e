"""One of a thing is never said to be several: ``1 cell``, not ``1 cells``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command

_ONE_IS_MANY = re.compile(r"\b1 (?:\w+ )?(?:cells|sums|counts|jobs|cycles|tables|records|sub-tables)\b")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,count\nx,u,12\nx,v,40\ny,u,25\ny,v,3\n")
    Path("one.csv").write_text("id\nz\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("check", "t.csv"), ": 1 cell is flagged"),
        (("cycles", "design", "--table", "t.csv", "--out", "c.json"), "c.json: 1 cycle"),
        (("record-keys", "one.csv", "--out", "o.csv"), ": 1 record, keys in "),
    ],
)
def test_one_is_said_as_one(run: Command, words: tuple[str, ...], says: str) -> None:
    found = run(*words)
    assert says in found.out, (found.out, found.err)
    assert not _ONE_IS_MANY.search(found.out)
