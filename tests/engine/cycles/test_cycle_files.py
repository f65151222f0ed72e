"""Cycle files: what is written is read back; every fault is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.designs import bidiagonal, elementary, order_design
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain


@pytest.mark.parametrize("suffix", [".json", ".mat", ".mar"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    moves = elementary(Domain.of_shape((3, 4, 2)))
    path = tmp_path / f"cycles{suffix}"
    cycle_files.write(moves, path)
    assert cycle_files.read(path, domain=moves.domain) == moves


def test_round_trip_keeps_the_margins_claimed(tmp_path: Path) -> None:
    moves = order_design(Domain.of_shape((2, 2, 2, 2)), 2)
    cycle_files.write(moves, tmp_path / "c.json")
    assert cycle_files.read(tmp_path / "c.json").margins == moves.margins


def test_margins_follow_the_tables_names(tmp_path: Path) -> None:
    moves = order_design(Domain.of_shape((2, 2, 2)), 1)
    cycle_files.write(moves, tmp_path / "c.json")
    other = Domain.of({"x": ["1", "2"], "y": ["1", "2"], "z": ["1", "2"]})
    assert cycle_files.read(tmp_path / "c.json", domain=other).margins == (("x",), ("y",), ("z",))


def test_4ti2_form() -> None:
    text = cycle_files.to_4ti2(bidiagonal(Domain.of_shape((2, 2))))
    assert text.splitlines() == ["2 4", "1 -1 -1 1", "-1 1 1 -1"]


GOOD = {"shape": [2, 2], "cycles": [{"plus": [[0, 0], [1, 1]], "minus": [[0, 1], [1, 0]]}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": None}, "shape: must be a list, is None"),
        ({"shape": [2, "2"]}, "whole number"),
        ({"shape": [2, 0]}, r"shape\[1\]: must be at least 1, is 0"),
        ({"shape": [10**10, 10**10]}, "categories"),
        ({"cycles": []}, "missing or empty"),
        ({"cycles": [7]}, "cycle 1"),
        ({"cycles": [{"plus": [[0, 0]]}]}, "cycle 1.minus: is missing"),
        ({"cycles": [{"plus": [[0, 0, 0]], "minus": []}]}, "not a cell of 2 numbers"),
        ({"cycles": [{"plus": [[0, 2]], "minus": []}]}, "lies outside"),
        ({"cycles": [{"plus": [[0, -1]], "minus": []}]}, "lies outside"),
        ({"cycles": [{"plus": [[0, True]], "minus": []}]}, "whole number"),
        ({"cycles": [{"plus": [[0, 1]], "minus": [[0, 1]]}]}, "twice"),
        ({"cycles": [{"plus": [], "minus": []}]}, "cycle 1 is empty"),
        ({"variables": ["a"]}, "must name 2"),
        ({"margins": [["nope"]]}, "no variable"),
        ({"zeros": [[0, 2]]}, "zeros: .* lies outside"),
        ({"zeros": 1}, "zeros: must be a list"),
        ({"zeros": [[0, True]]}, "whole number"),
    ],
)
def test_faults_are_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "cycles.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(InputError, match=message) as caught:
        cycle_files.read(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with"),
        ("1 4\n1 -1 -1", "4 entries, it has 3"),
        ("1 9\n1", "9 columns"),
        ("1 4\n1 -1 -1 x", "'x' is not a whole number"),
        ("1 4\n2 -2 -2 2", "other than"),
    ],
)
def test_4ti2_faults(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cycle_files.from_4ti2(text, Domain.of_shape((2, 2)))


def test_wrong_shape_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(GOOD))
    with pytest.raises(InputError, match="2 x 2 table, this one is 3 x 3"):
        cycle_files.read(path, domain=Domain.of_shape((3, 3)))
    with pytest.raises(InputError, match="no such file"):
        cycle_files.read(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON") as caught:
        cycle_files.read(tmp_path / "bad.json")
    assert caught.value.line == 1


def test_no_margins_means_the_grand_total(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"shape": [2, 2], "margins": [], "cycles": [{"plus": [[0, 0]], "minus": []}]}))
    moves = cycle_files.read(path)
    assert moves.margins == ((),)
    assert moves.violations()[0].amount == 1
