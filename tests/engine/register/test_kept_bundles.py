"""Bundles in a register: small, the very bytes again, and read no more often than they bear on a table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine import agency
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.bundle.public import to_bytes
from tabprotect.engine.bundle.reader_page.page import PAGE
from tabprotect.engine.bundle.verify import checked_before, verify_bytes
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register import kept_bundles, register_rows
from tabprotect.engine.register.register import Register
from tabprotect.engine.register.register_entry import OriginalMarks
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.register.test_register import publication


def bundle(seed: int) -> bytes:
    counts = np.random.default_rng(seed).poisson(6, size=(3, 4))
    problem = Problem(Table.dense(Domain.of_shape((3, 4)), counts))
    return to_bytes(methods()["random_rounding"].run(problem, {"base": 3}, Randomness.seeded(seed)).release)


BUNDLES = [bundle(seed) for seed in range(3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three bundles of one method, and the manifest of a set."""
    found = tmp_path / "register.sqlite"
    with Register(str(found), new=True) as register:
        for content in (*BUNDLES, b"{}"):
            one = publication(method="random_rounding")
            register.add(replace(one, bundle=sha256(content)), content)
    return found


def test_bundles_are_kept_small_and_come_back_as_they_were(path: Path) -> None:
    with Register(str(path)) as register:
        entries = register.entries()
        assert [register.content(entry) for entry in entries] == [*BUNDLES, b"{}"]
        files = register.files(entries)
        assert sorted(files) == [1, 2, 3]
        for number, content in enumerate(BUNDLES, 1):
            again, release = checked_before(files[number]), verify_bytes(content).release
            assert (again.tables, again.mechanism) == (release.tables, release.mechanism)
    with closing(sqlite3.connect(path)) as raw:
        sizes = [size for (size,) in raw.execute("select length(content) from published_bundle")]
        assert raw.execute("select count(*) from base_bundle").fetchone() == (1,)
    assert max(sizes) < min(map(len, BUNDLES)) / 8


def test_figures_of_a_page_are_worked_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn tables are most of what a bundle by cycles has of its own."""
    place = tmp_path / "register.sqlite"
    with Register(str(place), new=True) as register:
        for seed in range(2):
            counts = np.random.default_rng(seed).poisson(30, size=(4, 4)) + 5
            problem = Problem(Table.dense(Domain.of_shape((4, 4)), counts))
            content = to_bytes(
                methods()["cyclic_perturbation"].run(problem, {}, Randomness.seeded(1)).release
            )
            one = publication(method="cyclic_perturbation")
            register.add(replace(one, bundle=sha256(content)), content)
        last = register.entries()[-1]
        assert register.content(last) == content
        files = register.files([last])[2]
        assert PAGE not in files and checked_before(files).tables == verify_bytes(content).release.tables
        # On another processor other figures may come out: those are not what left.
        monkeypatch.setattr(kept_bundles, "worked_out_again", lambda *_: b'{"way":"kept"}')
        assert register.content(last) is None and register.keeps(last)
        assert register.contents().damaged == ()
    with closing(sqlite3.connect(place)) as raw:
        assert raw.execute("select count(*) from base_bundle").fetchone() == (1,)
        assert raw.execute("select max(length(content)) from published_bundle").fetchone()[0] < 3_000


@pytest.mark.parametrize(
    ("statement", "numbers"),
    [
        ("UPDATE published_bundle SET content = substr(content, 2)", [1, 2, 3, 4]),
        ("UPDATE packed_bundle SET seal = 'x'", [1, 2, 3]),
        ("DELETE FROM packed_bundle", [1, 2, 3]),
        ("UPDATE base_bundle SET content = x'00'", [1, 2, 3]),
        ("DELETE FROM base_bundle", [1, 2, 3]),
    ],
)
def test_what_was_touched_is_never_read(path: Path, statement: str, numbers: list[int]) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(statement)
    with Register(str(path)) as register:
        found = register.contents()
        assert [(one.what, one.number) for one in found.damaged] == [("bundle", n) for n in numbers]
        assert register.files(found.entries) == {}
        assert [register.content(entry) for entry in found.entries[:3]] == [None] * 3


def test_bundles_are_sealed_again_under_another_key(path: Path) -> None:
    new = bytes(range(32))
    with Register(str(path)) as register:
        register.re_mark(new, {}, {})
    agency.key_file().write_text(new.hex())
    with Register(str(path)) as register:
        assert register.contents().damaged == () and len(register.files(register.entries())) == 3


def strangers(number: int) -> OriginalMarks:
    return OriginalMarks(f"{number:064}", (f"{number:063}v",), (f"{number:063}r",))


@pytest.mark.parametrize("others", [10, 150])
def test_the_work_does_not_grow_with_what_else_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    place = str(tmp_path / "register.sqlite")
    own = publication()
    read: list[object] = []
    entry = register_rows._entry
    monkeypatch.setattr(register_rows, "_entry", lambda row: read.append(row) or entry(row))
    with Register(place, new=True) as register:
        register.add(own, b"")
        register.bearing_on(own.marks)
        for number in range(others):
            register.add(replace(own, marks=strangers(number), bundle=f"{number:064}"), b"")
        read.clear()
        # What was whole, and was changed by nobody else, is not read again.
        assert [one.number for one in register.bearing_on(own.marks).entries] == [1]
        assert len(read) == 1
        with closing(sqlite3.connect(place)) as raw, raw:
            raw.execute("UPDATE published_release SET who = 'eve' WHERE number = 3")
        found = register.bearing_on(own.marks)
        assert [(one.what, one.number) for one in found.damaged] == [("changed", 3)]
        assert len(read) == 1 + others + 1
        # It is not taken for whole after the next entry either.
        register.add(replace(own, bundle="9" * 64), b"")
        assert register.bearing_on(own.marks).damaged == found.damaged


def test_entries_are_found_where_their_marks_are_gone(path: Path) -> None:
    own = publication().marks
    with Register(str(path)) as register:
        assert len(register.bearing_on(own).entries) == 4
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("DELETE FROM release_mark")
        for _ in range(2):
            assert len(register.bearing_on(own).entries) == 4
        register.forget(4)
        assert [one.number for one in register.bearing_on(own).entries] == [1, 2, 3]
