"""The pyqtgraph plots: what they draw, zoom, pan, hover, files, and what may not stay behind."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot
from scipy.stats import binom, poisson

from tabprotect.gui.frame.app import application
from tabprotect.gui.look.theme import DARK, LIGHT, THEME, TURNS
from tabprotect.gui.plots.canvas import HATCH, Canvas, Mark, merged
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief
from tabprotect.gui.plots.plot import Plot
from tabprotect.gui.plots.spread import SpreadPlot

VALUES = np.arange(0, 300)
WIDE = DrawnBelief("user", VALUES, poisson.pmf(VALUES, 120), poisson.pmf(VALUES, 100))
FEW = np.arange(5)
USER = DrawnBelief("user", FEW, binom.pmf(FEW, 4, 0.3), np.full(5, 0.2))
INTRUDER = DrawnBelief("intruder", FEW, binom.pmf(FEW, 4, 0.6), np.full(5, 0.2))


@pytest.fixture
def histogram(qtbot: QtBot) -> Iterator[CellHistogram]:
    application()
    THEME.apply(mode="light", zoom=1.0)
    plot = CellHistogram()
    qtbot.addWidget(plot)
    plot.resize(480, 360)
    with qtbot.waitExposed(plot):
        plot.show()
    yield plot
    THEME.apply(mode="light", zoom=1.0)


def canvas(plot: Plot) -> Canvas:
    assert plot._canvas is not None
    # Things are put in place when they are painted.
    while TURNS.waiting:
        QApplication.processEvents()
    plot.grab()
    return plot._canvas


def items(plot: Plot, kind: type) -> list:
    return [item for item in canvas(plot)._items if isinstance(item, kind)]


def labels(plot: Plot) -> list[str]:
    return [item.toPlainText() for item in items(plot, pg.TextItem)]


def spot(plot: Plot, value: float, chance: float) -> QPointF:
    """Where a value and a probability stand in the widget."""
    found = canvas(plot)
    scene = found.box.mapViewToScene(QPointF(value, chance))
    return QPointF(found.widget.mapFromScene(scene))


def wheel(plot: Plot, at: QPointF, steps: int) -> None:
    view = canvas(plot).widget.viewport()
    event = QWheelEvent(
        at,
        QPointF(view.mapToGlobal(at.toPoint())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)
    QApplication.processEvents()


def hover(plot: Plot, at: QPointF) -> None:
    view = canvas(plot).widget.viewport()
    place, none = QPointF(view.mapToGlobal(at.toPoint())), Qt.MouseButton.NoButton
    event = QMouseEvent(QEvent.Type.MouseMove, at, place, none, none, Qt.KeyboardModifier.NoModifier)
    # The library passes on at most a hundred moves a second.
    QTest.qWait(20)
    QApplication.sendEvent(view, event)


def test_bars_stand_for_the_beliefs_side_by_side_from_zero(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER, INTRUDER), published=1, true=2)
    user, user_prior, intruder, intruder_prior = items(histogram, pg.BarGraphItem)
    for bars, heights in ((user, USER.chances), (intruder, INTRUDER.chances)):
        assert np.array_equal(bars.opts["height"], heights) and bars.opts["y0"] == 0
    for bars in (user_prior, intruder_prior):
        assert np.allclose(bars.opts["height"], 0.2)
        assert bars.opts["pen"].style() == Qt.PenStyle.DotLine
    for bars, side in ((user, -1), (intruder, 1)):
        middle = bars.opts["x0"] + bars.opts["width"] / 2
        assert np.array_equal(np.round(middle), FEW) and np.all(np.sign(middle - FEW) == side)
    assert canvas(histogram).box.viewRange()[1][0] == 0
    assert canvas(histogram).box.viewRange()[1][1] > max(USER.chances.max(), INTRUDER.chances.max())
    told = labels(histogram)
    assert {"published 1", "true 2 [staff only]", "a reader", "a reader who knows more"} <= set(told)
    lines = {line.value(): line for line in items(histogram, pg.InfiniteLine) if line.angle == 90}
    assert set(lines) == {1, 2}
    assert lines[1].pen.style() == Qt.PenStyle.DashLine
    assert lines[2].pen.style() == Qt.PenStyle.SolidLine


def test_hatching_stays_inside_its_bars_at_one_distance(histogram: CellHistogram) -> None:
    histogram.show_beliefs((INTRUDER,), published=1, true=None)
    bars, lines = items(histogram, pg.BarGraphItem)[0], items(histogram, pg.PlotCurveItem)[0]
    x, y = lines.getData()
    place = np.round(x).astype(int)
    left, wide = bars.opts["x0"], bars.opts["width"]
    assert set(place) == set(FEW)
    assert np.all((x >= left[place] - 1e-9) & (x <= left[place] + wide + 1e-9))
    assert np.all((y >= -1e-9) & (y <= INTRUDER.chances[place] + 1e-9))
    across, up = canvas(histogram).unit
    offsets = (y / up - (x - left[place]) / across) / HATCH
    phase = offsets + wide / across / HATCH
    assert np.allclose(phase, np.round(phase), atol=1e-6)


def test_the_wheel_zooms_the_count_axis_only_and_the_whole_comes_back(histogram: CellHistogram) -> None:
    histogram.show_beliefs((WIDE,), published=118, true=None)
    QApplication.processEvents()
    whole, top = histogram.span(), canvas(histogram).box.viewRange()[1]
    assert histogram.seen == pytest.approx(whole) and not histogram.whole.isVisible()
    wheel(histogram, spot(histogram, 120, 0.01), 5)
    low, high = histogram.seen
    assert whole[0] < low < 120 < high < whole[1]
    assert canvas(histogram).box.viewRange()[1] == pytest.approx(top)
    assert histogram.whole.isVisible()
    histogram.whole.click()
    assert histogram.seen == pytest.approx(whole) and not histogram.whole.isVisible()
    wheel(histogram, spot(histogram, 120, 0.01), -5)
    assert histogram.seen == pytest.approx(whole)
    wheel(histogram, spot(histogram, 120, 0.01), 60)
    assert histogram.seen[1] - histogram.seen[0] >= 4 - 1e-9
    at = spot(histogram, sum(histogram.seen) / 2, 0.01).toPoint()
    view = canvas(histogram).widget.viewport()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at)
    assert histogram.seen == pytest.approx(whole)


def test_dragging_pans_and_stops_at_the_end(histogram: CellHistogram) -> None:
    histogram.show_beliefs((WIDE,), published=118, true=None)
    histogram.zoom(0.3)
    low, high = histogram.seen
    view = canvas(histogram).widget.viewport()
    start = spot(histogram, (low + high) / 2, 0.02).toPoint()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 9):
        QTest.mouseMove(view, start - QPoint(10 * step, 0), 30)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start - QPoint(80, 0))
    moved = histogram.seen
    assert moved[0] > low and moved[1] - moved[0] == pytest.approx(high - low)
    for _ in range(40):
        QTest.keyClick(histogram, Qt.Key.Key_Right)
    assert histogram.seen[1] == pytest.approx(histogram.span()[1])


def test_keys_zoom_pan_and_reset(histogram: CellHistogram) -> None:
    histogram.show_beliefs((WIDE,), published=118, true=None)
    assert histogram.focusPolicy() & Qt.FocusPolicy.TabFocus
    whole = histogram.span()
    wide = whole[1] - whole[0]
    QTest.keyClick(histogram, Qt.Key.Key_Plus)
    low, high = histogram.seen
    assert high - low == pytest.approx(0.8 * wide)
    QTest.keyClick(histogram, Qt.Key.Key_Left)
    assert histogram.seen[0] < low
    QTest.keyClick(histogram, Qt.Key.Key_Home)
    assert histogram.seen == pytest.approx(whole)


def test_few_counts_do_not_zoom(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER,), published=1, true=None)
    wheel(histogram, spot(histogram, 1, 0.1), 5)
    assert histogram.seen == pytest.approx(histogram.span())
    assert not histogram.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_picture_is_copied_with_its_words_by_keys(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER,), published=1, true=None)
    QTest.mouseClick(histogram, Qt.MouseButton.LeftButton)
    QTest.keyClick(histogram, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    taken = QGuiApplication.clipboard().mimeData()
    assert taken.hasImage() and not taken.imageData().isNull()
    assert "in 100" in taken.text() and taken.text() == histogram.accessibleDescription()
    assert "data:image/png;base64," in taken.html()


def test_hovering_says_count_and_probability(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER, INTRUDER), published=1, true=None)
    for value in (3, 0):
        hover(histogram, spot(histogram, value + 0.1, 0.1))
        assert QToolTip.text() == (
            f"count {value}\na reader: {USER.chances[value]:.4g}\n"
            f"a reader who knows more: {INTRUDER.chances[value]:.4g}"
        )


def test_the_true_value_does_not_stay_behind(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER,), published=1, true=2)
    assert any("[staff only]" in text for text in labels(histogram))
    histogram.show_beliefs((USER,), published=1, true=None)
    scene = canvas(histogram).widget.scene()
    said = [i.toPlainText() for i in scene.items() if hasattr(i, "toPlainText")]
    assert "published 1" in said and not any("true 2" in text for text in said)
    lines = [i for i in scene.items() if isinstance(i, pg.InfiniteLine) and i.angle == 90]
    assert [line.value() for line in lines] == [1]
    histogram.show_beliefs((USER,), published=1, true=2)
    histogram.show_nothing("nothing")
    assert not [i for i in scene.items() if isinstance(i, pg.InfiniteLine | pg.BarGraphItem)]


def test_colours_and_text_size_follow_the_theme(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER,), published=1, true=None)
    before = canvas(histogram).line
    assert items(histogram, pg.BarGraphItem)[0].opts["brush"].color() == QColor(LIGHT.accent)
    THEME.apply(mode="dark", zoom=1.5)
    assert items(histogram, pg.BarGraphItem)[0].opts["brush"].color() == QColor(DARK.accent)
    assert canvas(histogram).line > 1.3 * before
    shown = histogram.grab().toImage()
    at = spot(histogram, 0.9, 0.1).toPoint() + canvas(histogram).widget.pos()
    assert shown.pixelColor(at) == QColor(DARK.accent)
    # A file is for a report: light whatever the window's colours.
    image = QImage.fromData(histogram.png(caption="a caption"))
    colours = {image.pixel(x, y) for x in range(0, image.width(), 9) for y in range(0, 400, 9)}
    assert QColor(LIGHT.accent).rgb() in colours
    assert QColor(DARK.accent).rgb() not in colours


def test_the_svg_holds_texts_where_they_belong(histogram: CellHistogram) -> None:
    histogram.show_beliefs((USER, INTRUDER), published=1, true=2)
    root = ElementTree.fromstring(histogram.svg(caption="said below").decode())
    said = [text.strip() for text in root.itertext() if text.strip()]
    for word in (
        "published 1",
        "true 2 [staff only]",
        "a reader",
        "a reader who knows more",
        "true count; how likely each is, in 100",
        "said below",
    ):
        assert word in said
    # A number on an axis for every count, and the axis of probabilities from zero.
    assert {"0", "1", "2", "3", "4", "20", "40"} <= set(said)


def test_a_file_shows_the_part_that_is_seen(histogram: CellHistogram) -> None:
    histogram.show_beliefs((WIDE,), published=118, true=None)

    def numbers() -> set[int]:
        root = ElementTree.fromstring(histogram.svg(caption="c").decode())
        # Chances are written in 100 on the left, and are smaller than these counts.
        return {int(t) for t in root.itertext() if t.strip().isdigit() and int(t) > 60}

    whole = numbers()
    histogram.zoom(0.2)
    low, high = histogram.seen
    part = numbers()
    assert part and min(part) >= low - 1 and max(part) <= high + 1
    assert min(whole) < low and max(whole) > high


def test_the_spread_is_a_histogram_of_shares(qtbot: QtBot) -> None:
    plot = SpreadPlot()
    qtbot.addWidget(plot)
    with qtbot.waitExposed(plot):
        plot.show()
    values = np.random.default_rng(4).normal(5, 2, 900)
    marks = (Mark(5.5, "published 5.5"), Mark(4.0, "original 4 [staff only]", true=True))
    plot.show_values(np.append(values, np.nan), marks=marks, label="chi-square")
    (bars,) = items(plot, pg.BarGraphItem)
    assert bars.opts["height"].sum() == pytest.approx(1)
    for left, share in zip(bars.opts["x0"], bars.opts["height"], strict=True):
        inside = (values >= left) & (values < left + bars.opts["width"])
        assert share == pytest.approx(inside.mean(), abs=1.5 / 900)
    assert set(labels(plot)) == {"published 5.5", "original 4 [staff only]"}
    plot.show_values(values, marks=marks[:1], label="chi-square")
    assert labels(plot) == ["published 5.5"]


def test_a_title_is_text_whatever_its_characters(qtbot: QtBot) -> None:
    plot = SpreadPlot()
    qtbot.addWidget(plot)
    title = "odds ratio of (a<b>c, R&D)"
    plot.show_values(np.arange(9.0), marks=(), label=title)
    root = ElementTree.fromstring(plot.svg(caption="c").decode())
    assert title in [text.strip() for text in root.itertext()]
    with qtbot.waitExposed(plot):
        plot.show()
    assert canvas(plot).bottom.label.toPlainText().strip() == title


def test_another_cell_has_its_own_range(histogram: CellHistogram) -> None:
    for belief in (WIDE, USER, WIDE):
        histogram.show_beliefs((belief,), published=1, true=None)
        histogram.zoom(0.5)
        histogram.show_beliefs((belief,), published=2, true=None)
        assert histogram.seen == pytest.approx(histogram.span())


def test_marks_at_one_value_share_a_line_where_there_is_room() -> None:
    marks = (Mark(2.0, "published 2"), Mark(2.0, "true 2", true=True), Mark(3.0, "other"))
    assert [mark.label for mark in merged(marks, lambda _: True)] == ["published 2, true 2", "other"]
    narrow = merged(marks, lambda label: "," not in label)
    assert [(mark.label, mark.true) for mark in narrow] == [
        ("published 2", False),
        ("true 2", True),
        ("other", False),
    ]
