"""Tables, releases and beliefs in other processes, and copies of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.workers import spreading

LATTICE = {f"t{k}": {(a, b): (k + 3 * a + 5 * b) % 11 for a in range(3) for b in range(3)} for k in range(50)}
OWN: dict[str, dict[str, Any]] = {
    "coarsening": {"groupings": "half:v=v1>a,v2>a,v3>b,v4>b"},
    "publish_margins": {"margins": "v + w"},
    "cell_key": {"margins": "v*w"},
}

WAYS: tuple[Callable[[Any], Any], ...] = (lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy)

ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(scope="module")
def table() -> tp.Table:
    return tp.read_table("example:duncan-roehrig-4x4")


@pytest.mark.parametrize("method", list(methods()))
def test_protections_and_beliefs_give_the_same_answers(table: tp.Table, method: Any) -> None:
    found = tp.protect(table, method, seed=10**40, accept="a test", **OWN.get(method, {}))
    belief = tp.infer(found, seed=1, draws=200)
    cell = {"v": "v1", "w": "w2"}
    for way in WAYS:
        again = way(found)
        assert again.parameters == found.parameters and again.sentence == found.sentence
        assert again.release.tables == found.release.tables
        copied = way(belief)
        assert copied.distribution(**cell) == belief.distribution(**cell)
        assert np.array_equal(copied.sample(3, seed=5), belief.sample(3, seed=5))
        assert copied.posterior.originals == belief.posterior.originals


@ways
def test_tables_comparisons_magnitudes_and_attacks(
    table: tp.Table, tmp_path: Path, way: Callable[[Any], Any]
) -> None:
    again = way(table)
    assert again == table and not again.counts.flags.writeable
    assert tp.protect(again).release.tables == tp.protect(table).release.tables
    compared = tp.compare(table, ["random_rounding base=3"], runs=2, seed=1, workers=1)
    assert way(compared).to_frame("dict") == compared.to_frame("dict")
    sums = tp.infer(tp.protect(table), of="v")
    assert way(sums).distribution(v="v1") == sums.distribution(v="v1")
    firms = {"nace": ["24"] * 6 + ["25"], "turnover": [660, 83, 49, 8, 5, 4, 9]}
    turnover = tp.tabulate(firms, by=["nace"], measure="turnover")
    assert way(turnover).to_frame("dict") == turnover.to_frame("dict")
    hidden = tp.protect(turnover, "suppression", rule="p=10", accept="a test")
    assert way(hidden).to_frame("dict") == hidden.to_frame("dict")
    tp.export(tp.protect(table).release, tmp_path / "public.csv")
    attacked = tp.attack(tmp_path / "public.csv", method="unknown:sd=1")
    assert way(attacked).cells == attacked.cells
    assert way(tp.QuerySpace(table)).frontier() == tp.QuerySpace(table).frontier()


@ways
def test_errors_keep_what_they_say(table: tp.Table, way: Callable[[Any], Any]) -> None:
    with pytest.raises(tp.ParameterError) as caught:
        tp.protect(table, "cell_key", d=5)
    error = way(caught.value)
    assert type(error) is tp.ParameterError and str(error) == str(caught.value)
    assert error.fields == caught.value.fields and error.hint == caught.value.hint


def test_fifty_tables_in_processes_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreading, "WORTHWHILE", -1.0)
    tables = {name: tp.Table.from_frame(cells) for name, cells in LATTICE.items()}
    seen: list[float] = []

    class Watched:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            seen.append(fraction)

    found = tp.protect_all(tables, "suppression", workers=2, progress=Watched(), level=3)
    assert seen[-1] == 1.0
    alone = tp.protect_all(tables, "suppression", workers=1, level=3)
    assert found.protections.keys() == alone.protections.keys()
    assert set(found.protections) | set(found.errors) == set(tables) and found.protections
    for name, protection in found.protections.items():
        assert protection.release.tables == alone.protections[name].release.tables
        assert protection.to_frame("dict") == alone.protections[name].to_frame("dict")
    assert {n: str(e) for n, e in found.errors.items()} == {n: str(e) for n, e in alone.errors.items()}


@pytest.mark.parametrize("reason", [KeyboardInterrupt, tp.Interrupted])
def test_what_stops_many_tables(monkeypatch: pytest.MonkeyPatch, reason: type[BaseException]) -> None:
    """Ctrl-C and a progress that cancels do; a table that is refused does not."""
    monkeypatch.setattr(spreading, "WORTHWHILE", -1.0)
    tables = {name: tp.Table.from_frame(cells) for name, cells in list(LATTICE.items())[:4]}
    assert set(tp.protect_all(tables, "cell_key", D=-1, workers=1).errors) == set(tables)

    class Cancelled:
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if partial:
                raise reason

    with pytest.raises(reason):
        tp.protect_all(tables, "random_rounding", workers=2, progress=Cancelled())
