"""The quality sheet: every figure by hand, the public edition from the bundle alone, a hundred tables."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas
import pytest

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.report.quality import of_original, of_release
from tabprotect.engine.report.quality_files import qualities, quality_bytes
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of({"v": ["a", "b", "c"], "w": ["x", "y", "z"]})
TRUTH = np.array([[7, 2, 0], [3, 4, 9], [1, 8, 130]])


def protected(method: str, **parameters: object) -> Protected:
    problem = Problem(Table.dense(DOMAIN, TRUTH))
    return methods()[method].run(problem, parameters, Randomness.seeded(5))


def test_figures_before_and_after_are_those_worked_out_by_hand() -> None:
    done = protected("random_rounding", base=3)
    found, *_ = of_original("d.zip", done)
    row, after = found.row, done.release.table.counts
    moved = after - TRUTH
    for name, value in {
        "cells": 9,
        "hidden": 0,
        "zeros_before": 1,
        "zeros_after": int((after == 0).sum()),
        "zero_share_before": 1 / 9,
        "total_before": 164,
        "total_after": int(after.sum()),
        "smallest_before": 0,
        "largest_before": 130,
        "largest_after": int(after.max()),
        "small_counts_before": 2,
        "small_counts_after": int(((after == 1) | (after == 2)).sum()),
        "mean_change": moved.mean(),
        "mean_absolute_change": np.abs(moved).mean(),
        "largest_change": int(np.abs(moved).max()),
        "unchanged_share": (moved == 0).mean(),
        "relative_change_1_2": (abs(moved[0, 1]) / 2 + abs(moved[2, 0]) / 1) / 2,
        "relative_change_11_20": None,
        "relative_change_over_100": abs(moved[2, 2]) / 130,
        "hellinger_distance": np.sqrt(((np.sqrt(TRUTH) - np.sqrt(after)) ** 2).sum() / 2 / 164),
        "rank_correlation": pandas.Series(TRUTH.ravel()).corr(pandas.Series(after.ravel()), "spearman"),
        "no_change_chance": None,
    }.items():
        assert row[name] == (pytest.approx(value) if value is not None else None), name
    assert found.margins == (
        ("v", np.abs(moved.sum(axis=1)).mean(), np.abs(moved.sum(axis=1)).max()),
        ("w", np.abs(moved.sum(axis=0)).mean(), np.abs(moved.sum(axis=0)).max()),
    )
    assert found.confidential and [heading for heading, _ in found.pictures]


def test_hidden_cells_are_counted_and_left_out() -> None:
    done = protected("suppression", choice="cheapest")
    found, *_ = of_original("d.zip", done)
    hidden = done.release.tables[0].hidden
    assert found.row["hidden"] == hidden.sum() > 0
    assert found.row["total_after"] == TRUTH[~hidden].sum() and found.row["total_before"] == 164
    assert found.row["unchanged_share"] == 1 and found.row["largest_change"] == 0 and found.margins == ()
    told = next(of_release("r.zip", done.release))
    assert told.row["expected_absolute_change"] == 0 and told.row["widest_interval"] > 0


def test_readers_expect_what_all_originals_say() -> None:
    release = protected("cyclic_perturbation").release
    (found,) = of_release("r.zip", release)
    listed = believe([release]).posterior.list_originals()
    assert listed is not None
    tables, chances = listed[0].reshape(-1, 3, 3), listed[1]
    far = np.abs(tables - release.table.counts)
    row = found.row
    assert row["expected_absolute_change"] == pytest.approx((chances @ far.reshape(len(far), -1)).mean())
    assert row["expected_unchanged_share"] == pytest.approx(
        (chances @ (far == 0).reshape(len(far), -1)).mean()
    )
    same = methods()["cyclic_perturbation"]
    values = same.resolve(DOMAIN, release.mechanism.parameters)
    assert row["no_change_chance"] == same.no_change(Table.dense(DOMAIN, TRUTH), values)
    assert not found.confidential and not [name for name in row if name.endswith("_before")]


@pytest.mark.filterwarnings("ignore:HarfBuzz-Subset:DeprecationWarning")
def test_files_have_a_row_or_a_page_for_each_table(tmp_path: Path) -> None:
    for number, method in enumerate(("cyclic_perturbation", "random_rounding")):
        done = protected(method)
        folder = tmp_path / f"job{number}"
        folder.mkdir()
        public.write(done.release, folder / "release.zip")
        data = (folder / "release.zip").read_bytes()
        confidential.write(done, folder / "dossier.zip", release=data)
    staff, readers = (qualities([tmp_path], edition) for edition in ("staff", "public"))
    assert {one.file for one in staff} == {"dossier.zip"} and {one.file for one in readers} == {"release.zip"}
    # A dossier holds the bundle; from it alone come the figures for readers.
    inside = qualities([tmp_path / "job0" / "dossier.zip"], "public")
    assert [one.lines for one in inside] == [one.lines for one in readers[: len(inside)]]
    for found in (staff, readers):
        frame = pandas.read_excel(io.BytesIO(quality_bytes(found, Path("q.xlsx"))), engine="calamine")
        assert list(frame) == list(dict.fromkeys(name for one in found for name in one.row))
        assert frame["table"].tolist() == [one.table for one in found]
        html = quality_bytes(found, Path("q.html")).decode()
        assert html.count("<section>") == len(found)
        assert ("CONFIDENTIAL" in html) is (found is staff) and html.count("<svg") >= len(found)
        assert quality_bytes(found, Path("q.pdf")).startswith(b"%PDF")
    with pytest.raises(InputError, match="not in a release bundle"):
        qualities([tmp_path / "job0" / "release.zip"], "staff")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no dossier"):
        qualities([tmp_path / "empty"], "staff")
