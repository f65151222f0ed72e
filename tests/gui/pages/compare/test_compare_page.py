"""The compare page, through the real window."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from readable import tab_order, texts, unnamed

from tabprotect.engine.assessment.comparing import compare as compared
from tabprotect.engine.assessment.registered import named_measures
from tabprotect.engine.project.verbs.compare_verbs import set_comparison
from tabprotect.engine.project.verbs.release_verbs import set_seed
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.compare.page import ComparePage
from tabprotect.gui.pages.compare.words import names
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.gui.plots.map_axis import LANE, Axis, AxisScale
from tabprotect.gui.plots.ru_map import CORNERS, MEAN, PlottedConfiguration, RiskUtilityMap
from tabprotect.gui.plots.series_looks import INKS, SHAPES, SeriesLook, series_looks

Settle = Callable[[], None]

QUICK = (
    "known_at_risk",
    "risk_fbeta",
    "unchanged_small",
    "hellinger_expected",
    "hellinger_restored",
    "mean_absolute_deviation",
    "mean_loss",
)
"""Measures without a posterior: the tests of the engine look at those."""

TWO = ("random_rounding base=3", "cell_key D=3 js=1")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "named_measures", lambda names: named_measures(names or QUICK))


@pytest.fixture
def page(opened: MainWindow, settle: Settle) -> ComparePage:
    opened.go("compare")
    settle()
    found = opened.page
    assert isinstance(found, ComparePage)
    return found


@pytest.fixture
def ran(page: ComparePage, settle: Settle) -> ComparePage:
    """Two settings, three runs each, the same in every test run."""
    page.change(set_seed(seed=11))
    page.change(set_comparison(runs=list(TWO), runs_per_method=3))
    page.main_button.click()
    settle()
    return page


def test_the_empty_page_teaches_and_begins(page: ComparePage, settle: Settle, opened: MainWindow) -> None:
    assert "side by side" in page._empty.text() and page.fitting.isVisible()
    assert page.main_button.text() == "Compare every method that fits"
    assert opened.page.command_line() == ""
    assert not unnamed(page)
    page.fitting.click()
    project = opened.document.project
    assert project is not None
    runs = project.comparison.runs
    assert {"cell_key", "cyclic_perturbation", "random_rounding"} <= set(runs)
    assert page.stack.currentWidget() is page.view and page.main_button.isEnabled()
    assert "press Compare" in page.view.map.empty


def test_a_comparison_is_shown_chosen_and_filtered(ran: ComparePage, opened: MainWindow) -> None:
    found, view = ran.comparison, ran.view
    assert found is not None and len(found.runs) == 6
    assert [s.number for s in view.map.settings] == [0, 1]
    # The two figures of the cards under Protect; here no reader would know a cell.
    assert [measure.name for measure in view.axes] == ["known_at_risk", "mean_loss"]
    assert "2 settings leave nothing known; of these random rounding changes least" in ran.sentence
    assert "Cell keys (largest noise (D) 3," in view.words((1, None))
    view.risk.setCurrentIndex(view.risk.findData("unchanged_small"))
    assert "gives away least" in ran.sentence or "best in both" in ran.sentence
    heads = [column.head for column in view.table.list.rows.columns]
    assert heads[2].startswith("Small counts published unchanged")  # what the map shows, first
    assert opened.page.command_line() == (
        "tabprotect compare example:duncan-roehrig-4x4 --run 'random_rounding base=3' "
        "--run 'cell_key D=3 js=1' --runs-per-method 3 --at-risk 1..2"
    )
    places = view.map.places()
    assert len(places) == 8
    # The mouse, the keys, the table and the list all choose the same.
    place, point = next((p, at) for p, at in places if p == (1, None))
    plot = view.map._canvas
    assert plot is not None
    spot = plot.widget.mapFromScene(plot.box.mapViewToScene(point))
    QTest.mouseClick(plot.widget.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert ran.place == place and ran.runs.list.currentRow() == 1
    assert view.table.list.currentIndex().row() == 1
    view.map.setFocus()
    QTest.keyClick(view.map, Qt.Key.Key_Down)
    assert ran.place == (0, None)
    QTest.keyClick(view.map, Qt.Key.Key_Right)
    assert ran.place is not None and ran.place[1] is not None
    other = 1 - ran.place[0]
    ran.runs.list.setCurrentRow(other)
    assert ran.place == view.map.place == (other, None)
    assert "Cell keys" in view.words((1, None)) and "run 1" in view.words((0, 0))
    table = view.table
    assert table.list.rows.rowCount() == 2
    table.filter.setText("KEY")
    assert table.list.rows.rowCount() == 1
    heads = [column.head for column in table.list.rows.columns]
    table.copy()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) == 2 and copied[0].split("\t") == heads
    assert not unnamed(ran)
    order = tab_order(ran)
    assert order.index(ran.runs.list) < order.index(view.map) < order.index(table.list)


def test_a_point_becomes_the_projects_release(ran: ComparePage, opened: MainWindow, settle: Settle) -> None:
    found, document = ran.comparison, opened.document
    assert found is not None
    before = len(document.history.trail)
    ran.choose((1, 4))
    assert found.runs[4].number == 1
    ran.open_button.click()
    settle()
    release = document.release
    assert release is not None
    expected = found.release(found.runs[4])
    for ours, theirs in zip(release.tables, expected.tables, strict=True):
        assert np.array_equal(ours.table.counts, theirs.table.counts)
    names = [entry.command for entry in document.history.trail[before:]]
    assert names == ["set_method", "set_parameters", "protect"]
    assert opened.page.name == "table"
    # The comparison is still there, and no seed is in what may be shown.
    opened.go("compare")
    assert ran.comparison is found
    seeds = {str(run.seed) for run in found.runs}
    assert not [text for text in texts(ran) for seed in seeds if seed in text]
    assert not [s for s in seeds if s in document.recipe_text()]


def test_a_weak_setting_opens_as_a_draft_that_no_reason_has_let_out(
    page: ComparePage, opened: MainWindow, settle: Settle
) -> None:
    page.change(set_seed(seed=11))
    page.change(set_comparison(runs=["cyclic_perturbation alpha=0.01 beta=0.01"]))
    page.change(set_comparison(runs_per_method=2))
    page.compare()
    settle()
    found = page.comparison
    assert found is not None
    page.view.map.opened.emit((0, 1))
    settle()
    project = opened.document.project
    assert project is not None and project.protected is not None and project.against
    assert not [d for d in project.protected.record.decisions if d.startswith("published")]
    assert project.published is False and project.method == "cyclic_perturbation"
    expected = found.release(found.runs[1]).table.counts
    assert np.array_equal(project.protected.release.table.counts, expected)


def test_exports_are_marked(ran: ComparePage, settle: Settle, tmp_path: Path) -> None:
    found = ran.comparison
    assert found is not None
    ran.files.write("csv", tmp_path / "all.csv")
    settle()
    assert "Written: all-CONFIDENTIAL.csv" in ran.errors.accessibleDescription()
    rows = list(csv.DictReader((tmp_path / "all-CONFIDENTIAL.csv").read_text().splitlines()))
    assert [row["run_CONFIDENTIAL"] for row in rows] == [TWO[0]] * 3 + [TWO[1]] * 3
    assert [float(r["hellinger_expected"]) for r in rows] == [
        r.values["hellinger_expected"] for r in found.runs
    ]
    ran.files.write("svg", tmp_path / "map-CONFIDENTIAL.svg")
    settle()
    assert "CONFIDENTIAL" in (tmp_path / "map-CONFIDENTIAL.svg").read_text()
    ran.files.write("svg", tmp_path / "map-CONFIDENTIAL.svg")
    settle()
    assert "there is a file of that name already" in ran.errors.text


def test_a_setting_that_fails_says_why(page: ComparePage, settle: Settle) -> None:
    page.change(set_comparison(runs=["random_rounding base=1000", "random_rounding"], runs_per_method=2))
    page.main_button.click()
    settle()
    assert "every run failed" in page.runs.list.item(0).text()
    assert "failed" not in page.runs.list.item(1).text()
    assert [s.there for s in page.view.map.settings] == [False, True]
    columns = {c.head: c for c in page.view.table.list.rows.columns}
    assert columns["failed"].values[0] and not columns["failed"].values[1]
    page.choose((0, None))
    assert not page.open_button.isEnabled()


def test_a_comparison_stops_with_what_is_there(
    page: ComparePage, opened: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    page.change(set_comparison(runs=list(TWO), runs_per_method=400))
    page.compare()
    qtbot.waitUntil(lambda: page.comparison is not None)
    assert page.main_button.text().startswith("Stop")
    page.main_button.click()
    settle()
    found = page.comparison
    assert found is not None and 0 < len(found.runs) < 800
    assert page.sentence.endswith("of 2 tried.") and not page.running
    assert page.main_button.text() == "Compare"
    opened.document.do(set_comparison, runs_per_method=5)
    assert "compare again" in page.sentence
    # A setting is left out by a key, and undone.
    page.runs.list.setFocus()
    page.runs.list.setCurrentRow(0)
    QTest.keyClick(page.runs.list, Qt.Key.Key_Delete)
    project = opened.document.project
    assert project is not None and project.comparison.runs == TWO[1:]
    opened.document.undo()
    assert page.runs.list.count() == 2
    # Another table: nothing of the old comparison is left.
    opened.document.saved = opened.document.project  # nothing is asked about unsaved work
    opened.files.open("example:langsrud-lupp")
    settle()
    opened.go("compare")
    assert page.comparison is None and not page.view.map.settings


def test_the_public_view_keeps_nothing(ran: ComparePage, opened: MainWindow) -> None:
    ran.view.table.filter.setText("rounding")
    opened.document.set_public(True)
    said = " ".join(texts(ran))
    assert ran.view.table.filter.text() == ""
    assert not [word for word in ("random_rounding", "cell_key D", "F-beta risk 0") if word in said]
    assert not ran.view.map.settings and not ran.view.table.list.rows.columns
    assert not ran.runs.isVisible()
    assert "public view" in ran._empty.text() and not ran.shows_original()
    QGuiApplication.clipboard().setText("before")
    ran.copy_command()
    ran.view.table.copy()
    assert QGuiApplication.clipboard().text() == "before"
    opened.document.set_public(False)
    assert len(ran.view.map.settings) == 2 and ran.runs.list.count() == 2


def test_large_text_and_dark_colours_show_the_same(ran: ComparePage, settle: Settle) -> None:
    THEME.apply(mode="dark", zoom=2.0)
    settle()
    assert len(ran.view.map.places()) == 8 and ran.runs.list.count() == 2
    assert not ran.grab().isNull()


def setting(number: int, risk: float, utility: float) -> PlottedConfiguration:
    return PlottedConfiguration(
        number=number,
        label=f"setting {number}",
        look=SeriesLook(INKS[number], "circle"),
        runs=np.array([number]),
        x=np.array([risk]),
        y=np.array([utility]),
        mean=(risk, utility),
        low=(risk, utility),
        high=(risk, utility),
    )


def mapped(qtbot: QtBot, axes: tuple[Axis, Axis], settings: list[PlottedConfiguration]) -> RiskUtilityMap:
    shown = RiskUtilityMap()
    qtbot.addWidget(shown)
    shown.resize(600, 400)
    shown.show_settings(settings, axes, [0])
    with qtbot.waitExposed(shown):
        shown.show()
    shown.grab()
    return shown


@pytest.mark.parametrize("higher", [False, True])
def test_axes_grow_to_the_right_and_up_whatever_is_better(qtbot: QtBot, higher: bool) -> None:
    axes = (Axis("risk", "share", higher), Axis("utility", "bits", not higher))
    shown = mapped(qtbot, axes, [setting(0, 0.2, 0.2), setting(1, 0.6, 0.6)])
    at = {place: point for place, point in shown.places() if place[1] is None}
    assert at[1, None].x() > at[0, None].x() and at[1, None].y() > at[0, None].y()
    # Words say which corner is better, above all points.
    assert CORNERS[axes[0].sign, axes[1].sign] == ("\u2198" if higher else "\u2196")
    canvas = shown._canvas
    assert canvas is not None and canvas.y(at[1, None].y()) - MEAN > canvas.line
    shown.show_settings([setting(0, float("nan"), 0.2)], axes, [])
    assert not shown.filled and shown.places() == []


def test_a_method_far_off_leaves_room_to_the_others_and_zero_has_a_lane() -> None:
    axis = Axis("change", "counts", higher_is_better=False)
    values = np.array([0.0, 0.2, 0.5, 1.0, 20.0])
    scale = AxisScale.of(values, middle=values)
    places = [scale.place(value) for value in values.tolist()]
    assert places == sorted(places) and scale.low < places[0] and places[-1] < scale.high
    share = (places[3] - places[1]) / (scale.high - scale.low)
    assert share > 0.2 and places[1] - places[0] == pytest.approx(LANE)
    ticks = scale.ticks(axis, 9)
    assert ticks[0] == (pytest.approx(places[0]), "0")
    for place, text in ticks[1:]:
        assert scale.place(float(text)) == pytest.approx(place)
    even = AxisScale.of(values[:4], middle=values[:4])
    assert even.place(0.5) == 0.5
    assert Axis("risk", "share", higher_is_better=False).text(0.25, 2) == "25\u202f%"


def test_names_on_the_map_cover_nothing(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    boxes: list[QRectF] = []
    label = Canvas.label

    def noted(canvas: Canvas, text: str, left: float, top: float, *, ink: str | QColor) -> None:
        wide = canvas.metrics.horizontalAdvance(text)
        if text.startswith("setting"):
            boxes.append(QRectF(left, top, wide, canvas.line))
        label(canvas, text, left, top, ink=ink)

    monkeypatch.setattr(Canvas, "label", noted)
    close = [setting(n, 0.3 + 0.002 * n, 0.4 + 0.003 * (n % 3)) for n in range(6)]
    shown = mapped(qtbot, (Axis("risk", "share", False), Axis("utility", "share", False)), close)
    names = boxes[-6:]
    assert len(names) == 6
    assert not [1 for n, a in enumerate(names) for b in names[:n] if a.intersects(b)]
    area = QRectF(0, 0, *shown._canvas.size)  # type: ignore[union-attr]
    assert all(area.contains(box) for box in names)


def test_settings_are_called_by_what_tells_them_apart() -> None:
    runs = ("cell_key D=3 V=2", "cell_key D=5 V=2", "random_rounding base=3")
    assert names(runs) == ("Cell keys, D 3", "Cell keys, D 5", "Random rounding")


def test_every_method_has_a_shape_of_its_own() -> None:
    found = series_looks([f"method {n}" for n in range(len(SHAPES))])
    assert len({look.shape for look in found.values()}) == len(SHAPES)
    assert len({(look.ink, look.shape) for look in series_looks(map(str, range(40))).values()}) == 40
