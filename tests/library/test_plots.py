"""Figures drawn with matplotlib: what is in them is what the window's figures are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.engine.errors import InputError

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def without_a_display() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table() -> tp.Table:
    return tp.read_table("example:duncan-roehrig-4x4")


def test_a_belief_as_a_map_and_as_the_histogram_of_a_cell(table: tp.Table) -> None:
    belief = tp.infer(tp.protect(table, alpha=0.25, seed=7))
    shown = {
        of: np.asarray(belief.plot(of=of).collections[0].get_array()).reshape(-1)
        for of in ("entropy", "mean")
    }
    assert np.allclose(shown["entropy"], belief.posterior.entropy.reshape(-1))
    assert np.allclose(shown["mean"], belief.mean.reshape(-1))
    small = belief.plot(of="small", at_risk="1..2").collections[0]
    assert small.get_clim() == (0.0, 1.0)
    cell = {"v": "v1", "w": "w2"}
    bars = belief.plot(cell=cell).patches
    drawn = [(round(bar.get_x() + 0.4), bar.get_height()) for bar in bars]
    likely = {count: p for count, p in belief.distribution(**cell).items() if p >= 5e-4}
    assert dict(drawn[: len(likely)]) == pytest.approx(likely)
    # The prior is uniform over the counts that are possible, seen or not.
    before = 1 / len(belief.distribution(**cell))
    assert dict(drawn[len(likely) :]) == pytest.approx(dict.fromkeys(likely, before))
    with pytest.raises(InputError, match="no figure") as caught:
        belief.plot(of="entrop")
    assert "entropy" in caught.value.hint


def test_a_comparison_has_better_to_the_right_and_upwards(table: tp.Table) -> None:
    found = tp.compare(
        table,
        ["small_count_rounding base=3", "random_rounding base=3"],
        runs=2,
        seed=1,
        measures=["mean_absolute_deviation", "hellinger_published"],
    )
    with pytest.raises(InputError, match="was not computed"):
        found.plot(risk="risk_fbet", utility="hellinger_published")
    ax = found.plot(risk="mean_absolute_deviation", utility="hellinger_published")
    # The deviation is better when low: its axis runs backwards.
    assert ax.xaxis_inverted() and not ax.yaxis_inverted()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [w.partition(" ")[0] for w in words] == ["1", "2"]


def test_a_query_space_shows_every_margin_with_its_status() -> None:
    space = tp.QuerySpace(tp.read_table("example:czech-autoworkers"))
    ax = space.release("A,B").plot()
    words = {text.get_text() for text in ax.texts}
    assert len(words) == 64 and {"total", "A", "A,B", "A,B,C,D,E,F"} <= words
    shown = {text.get_text(): text.get_bbox_patch() for text in ax.texts}
    fills = {name: patch.get_facecolor()[:3] for name, patch in shown.items()}
    assert fills["A,B"] == fills["A"] != fills["C"]


def test_a_verdict_has_rows_and_no_true_figures(table: tp.Table) -> None:
    verdict = tp.protect(table, alpha=0.25, seed=7).verdict
    rows = verdict.to_frame("dict")
    assert rows["reader"] == ["user"] and rows["cells"] == [16]
    assert verdict.staff is not None and "staff" not in verdict._repr_html_()
    assert verdict.to_frame("arrow").num_rows == 1
    assert repr(verdict).startswith("Verdict(")
