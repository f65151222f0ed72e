"""Draws from the posterior, and what the check page writes into files."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pages_of import beliefs as page
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.posterior.analysis import chi_square
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.theme import THEME, number_text
from tabprotect.gui.pages.check.posterior_files import HeatFigure
from tabprotect.languages.messages import joined
from tabprotect.library.belief import Belief

Settle = Callable[[], None]


CELL = (0, 1)


def engine(window: MainWindow, prior: str = "uniform") -> Posterior:
    release = window.document.release
    assert release is not None
    return infer(likelihood_of(release), parse_prior(prior, release.table.domain))


def test_draws_show_the_spread_with_the_originals_value_only_in_the_house(
    protected: MainWindow, settle: Settle
) -> None:
    shown = page(protected)
    original, published = protected.document.original, protected.document.published
    assert original is not None and published is not None
    shown.tabs.setCurrentWidget(shown.draws)
    shown.draws.draws.setValue(400)
    shown.draws.run()
    settle()
    assert shown.draws.result is not None
    values = shown.draws.result[0].values
    assert len(values) == 400
    possible = np.unique(chi_square(engine(protected).sample(4000, np.random.default_rng(1))))
    gaps = np.abs(values[:, None] - possible[None, :]).min(axis=1)
    assert gaps.max() < 1e-9
    assert shown.draws.value("published") == f"{chi_square(published.counts[None])[0]:.3g}"
    assert shown.draws.value("original") == f"{chi_square(original.counts[None])[0]:.3g}  [staff only]"
    protected.document.set_public(True)
    assert shown.draws.value("original") == ""
    assert shown.draws.result is not None
    assert all(not mark.true for mark in shown.draws.plot.marks)
    shown.draws.kind.setCurrentIndex(shown.draws.kind.findData("odds"))
    shown.draws.run()
    settle()
    assert "(v1, w2)" in shown.draws.sentence.text()
    told = list(csv.DictReader(io.StringIO(shown.files.content("draws_csv")(SILENT).decode())))
    assert list(told[0]) == ["draw", "value", "published"]
    assert np.allclose([float(row["value"]) for row in told], shown.draws.result[0].values, equal_nan=True)
    assert b"\r" not in shown.files.content("draws_csv")(SILENT)
    # An odds ratio of empty cells is none, and how many draws that takes out is said.
    summary = replace(shown.draws.result[0], values=np.array([1.0, np.nan, 2.0, np.nan]))
    shown.draws._drawing.know(("given",), (summary, 4))
    shown.draws._show()
    assert shown.draws.value("not defined") == "2 draws"
    protected.document.set_public(False)
    assert b"original_CONFIDENTIAL" in shown.files.content("draws_csv")(SILENT)
    assert b"CONFIDENTIAL" in shown.files.content("draws_svg")(SILENT)


def test_a_log_linear_model_of_ones_choice_is_fitted_to_the_draws(
    protected: MainWindow, settle: Settle
) -> None:
    shown = page(protected)
    shown.tabs.setCurrentWidget(shown.draws)
    panel = shown.draws
    panel.kind.setCurrentIndex(panel.kind.findData("model"))
    assert panel.formula.isVisible() and panel.formula.text() == "`v` + `w`"
    panel.draws.setValue(100)
    panel.run()
    settle()
    published = protected.document.published
    assert published is not None and panel.model is not None and panel.result is not None
    model = LogLinear.of(published.domain, "v + w")
    tables = published.counts[None]
    assert panel.model.deviance.published == model.deviance(tables, model.fit(tables))[0]
    assert len(panel.result[0].values) == 100
    assert "9 degrees of freedom" in panel.sentence.text() and "Pooled test" in panel.odds.text()
    # The same figures as those of whoever asks the library.
    release = protected.document.release
    assert release is not None and panel.model.given is not None
    same = Belief(Believed(engine(protected)), "pandas", (release,)).fit("v + w", seed=1)
    assert same.given is not None
    assert panel.model.given.statistic == pytest.approx(same.given.statistic, rel=0.2)
    assert panel.model.given.degrees == pytest.approx(same.given.degrees, rel=0.1)
    panel.kind.setCurrentIndex(panel.kind.findData("v"))
    panel.run()
    settle()
    found = panel.result[0].independence
    assert found is not None and found.strength is not None
    assert joined(found.lines(strength=True), "\n") == panel.odds.text()
    panel.kind.setCurrentIndex(panel.kind.findData("model"))
    panel.formula.setText("v")
    panel.run()
    settle()
    assert shown.page.errors.isVisible() and "w is in no term" in shown.page.errors.text


def test_draws_can_be_cancelled_and_partial_results_stay(
    protected: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    shown = page(protected)
    shown.tabs.setCurrentWidget(shown.draws)
    shown.draws.draws.setValue(100_000)
    shown.draws.run()
    (job,) = protected.document.jobs.running
    job.progressed.connect(lambda *_: job.cancel() if shown.draws.result is not None else None)
    with qtbot.waitSignal(job.cancelled):
        pass
    settle()
    assert shown.draws.result is not None
    done = len(shown.draws.result[0].values)
    assert 0 < done < 100_000
    assert "of 100\u202f000 drawn tables" in shown.draws.sentence.text()


def test_exports_from_the_house_say_confidential_in_name_and_content(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown, found = page(protected), engine(protected)
    original = protected.document.original
    assert original is not None
    for kind, name in (("table_csv", "all.csv"), ("cell_csv", "one.csv"), ("cell_svg", "h.svg")):
        shown.files.write(kind, tmp_path / name)
        settle()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "all-CONFIDENTIAL.csv",
        "h-CONFIDENTIAL.svg",
        "one-CONFIDENTIAL.csv",
    ]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all-CONFIDENTIAL.csv").read_text())))
    assert len(rows) == 16
    for row, index in zip(rows, np.ndindex(4, 4), strict=True):
        assert (row["v"], row["w"]) == original.domain.labels(index)
        assert int(row["original_CONFIDENTIAL"]) == original[index]
        assert float(row["user_mean"]) == pytest.approx(float(found.mean[index]), abs=1e-12)
        true = found.probability(original.counts)[index]
        assert float(row["user_p_true_CONFIDENTIAL"]) == pytest.approx(float(true), abs=1e-12)
    svg = (tmp_path / "h-CONFIDENTIAL.svg").read_text()
    assert "CONFIDENTIAL: shows the original" in "".join(ElementTree.fromstring(svg).itertext())
    shown.files.write("table_csv", tmp_path / "all.csv")
    settle()
    assert shown.page.errors.error is not None and "already" in shown.page.errors.error.message


@pytest.mark.parametrize("flip", [False, True])
def test_a_picture_of_many_cells_is_wide_and_says_which_end_is_dark(qapp: QApplication, flip: bool) -> None:
    sizes = []
    for columns in (50, 900):
        domain = Domain(tuple(Variable(n, tuple(map(str, range(k)))) for n, k in (("v", 60), ("w", columns))))
        values = np.zeros(domain.shape)
        values[:, columns // 2 :] = 1.0
        layout = Layout(domain, Placement.of(domain), (0, 0))
        figure = HeatFigure("entropy", layout, values, text="{:g}".format, top=1.0, flip=flip)
        sizes.append(figure.sheet(font=qapp.font(), dpi=96, caption="").size.width())
        assert figure._title.endswith("dark is 0" if flip else "dark is 1")
        image = QImage(400, 300, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        figure.draw(painter, QRectF(0, 0, 400, 300), THEME.colours)
        painter.end()
        left, right = (image.pixelColor(x, 100).lightness() for x in (100, 300))
        assert (left < right) == flip
    # At least so wide that its words fit, and a point for each cell.
    assert sizes[0] > 400 and sizes[1] > 900


def test_public_exports_hold_nothing_of_the_original(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown, found = page(protected), engine(protected)
    protected.document.set_public(True)
    for kind, suffix in (
        ("map_svg", "svg"),
        ("map_png", "png"),
        ("cell_svg", "svg"),
        ("cell_png", "png"),
        ("table_csv", "csv"),
        ("cell_csv", "csv"),
    ):
        shown.files.write(kind, tmp_path / f"{kind}.{suffix}")
        settle()
    assert shown.page.errors.error is None
    assert len(list(tmp_path.iterdir())) == 6
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        for word in (b"CONFIDENTIAL", b"original_", b"is_true", b"[staff only]", b"true value"):
            assert word not in data
    for kind in ("map_png", "cell_png"):
        image = QImage(str(tmp_path / f"{kind}.png"))
        assert image.width() > 200 and image.height() > 100
        middle = range(image.height() // 4, image.height(), 7)
        assert len({image.pixel(x, y) for x in range(image.width()) for y in middle}) > 5
    drawn = "".join(ElementTree.parse(tmp_path / "map_svg.svg").getroot().itertext())
    for label in ("v1", "w4", number_text(float(found.entropy[CELL])), "assumes nothing"):
        assert label in drawn
    rows = list(csv.DictReader(io.StringIO((tmp_path / "cell_csv.csv").read_text())))
    told = {int(r["count"]): float(r["user_posterior"]) for r in rows}
    values, chances = found.distribution(CELL)
    assert {k: v for k, v in told.items() if v} == pytest.approx(
        dict(zip(values.tolist(), chances.tolist(), strict=True)), abs=1e-12
    )
