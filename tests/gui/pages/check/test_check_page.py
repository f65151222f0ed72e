"""The posterior page, through the real window."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from readable import tab_order, texts, unnamed

from tabprotect.engine.bundle import public
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.analysis import chi_square
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.project.verbs.release_verbs import protect, publish, set_prior
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.main_window import OPEN, MainWindow
from tabprotect.gui.look.theme import THEME, chance_text, number_text
from tabprotect.gui.pages.check.page import CheckPage

Settle = Callable[[], None]

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cyclic.json").read_text())
SLIDES = REFERENCE["two_way_4x4"]
CELL = (0, 1)


def page(window: MainWindow) -> CheckPage:
    found = window.pages["posterior"]
    assert isinstance(found, CheckPage)
    return found


def engine(window: MainWindow, prior: str = "uniform") -> Posterior:
    release = window.document.release
    assert release is not None
    return infer(likelihood_of(release), parse_prior(prior, release.table.domain))


@pytest.fixture
def protected(opened: MainWindow, settle: Settle) -> MainWindow:
    """The 4 x 4 example, protected with a seed, cell (v1, w2) selected, the page in front."""
    opened.document.do(protect, seed=7)
    opened.document.do(set_prior, who="intruder", prior="positive")
    settle()
    opened.go("posterior")
    settle()
    opened.document.select(CELL)
    return opened


@pytest.fixture
def reader(qtbot: QtBot, protected: MainWindow, tmp_path: Path) -> Iterator[MainWindow]:
    """A second window that opened the bundle of the first one."""
    release = protected.document.release
    assert release is not None
    public.write(release, tmp_path / "release.zip")
    window = MainWindow(Document())
    qtbot.addWidget(window)
    window.resize(1280, 720)
    with qtbot.waitExposed(window):
        window.show()
    window.files.open(str(tmp_path / "release.zip"))
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    window.document.do(set_prior, who="intruder", prior="positive")
    window.go("posterior")
    qtbot.waitUntil(lambda: not window.document.jobs.running)
    window.document.select(CELL)
    QApplication.processEvents()
    yield window
    window.document.saved = window.document.project
    window.close()


def test_it_says_why_it_cannot_be_used_before_there_is_a_release(opened: MainWindow) -> None:
    assert "Protect the table first" in CheckPage.why_not(opened.document)
    before = opened.page
    opened.go("posterior")
    assert opened.page is before


def test_the_figures_are_the_engines(protected: MainWindow) -> None:
    found, shown = engine(protected), page(protected)
    original = protected.document.original
    assert original is not None
    values, chances = found.distribution(CELL)
    belief = shown.cell.histogram.beliefs[0]
    assert np.array_equal(belief.values, values)
    assert np.allclose(belief.chances, chances, atol=1e-12)
    assert belief.prior is not None and np.allclose(belief.prior, 1 / len(values))
    assert shown.cell.histogram.true == original[CELL] == 1
    assert shown.cell.value("expected") == number_text(float(found.mean[CELL]))
    low, high = (int(end[CELL]) for end in found.interval(0.9))
    assert shown.cell.value("90 % interval") == (f"{low} to {high}" if low < high else str(low))
    assert protected.inspector.value("90 % interval") == shown.cell.value("90 % interval")
    assert shown.cell.value("entropy") == f"{number_text(float(found.entropy[CELL]))} bits"
    true = found.probability(original.counts)
    assert shown.cell.value("P(true)") == chance_text(float(true[CELL]))
    intruder = engine(protected, "positive").probability(original.counts)
    assert shown.cell.value("P(true)", "intruder") == chance_text(float(intruder[CELL]))
    assert shown.figure.name == "true"
    assert np.allclose(shown.map.values_shown, true, atol=1e-12)
    for number, figure in enumerate(["true", "entropy", "small", "published", "mean", "mode"]):
        shown._figure_box.setCurrentIndex(number)
        assert shown.figure.name == figure
    assert np.array_equal(shown.map.values_shown, found.mode)


def test_the_slides_release_has_the_true_posterior_not_the_printed_one(
    window: MainWindow, settle: Settle, opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    opened.document.do(protect, seed=1)
    settle()
    release = opened.document.release
    assert release is not None
    table = Table.dense(release.table.domain, np.array(SLIDES["published"]))
    path = tmp_path / "slides.zip"
    public.write(Release.of(table, release.mechanism, "slides"), path)
    window.files.open(str(path))
    settle()
    # A window is in use: the reader has one of its own.
    (theirs,) = OPEN
    qtbot.waitUntil(lambda: not theirs.document.jobs.running)
    theirs.go("posterior")
    qtbot.waitUntil(lambda: not theirs.document.jobs.running)
    theirs.document.select(CELL)
    shown = page(theirs)
    entry = SLIDES["posteriors"]["any|alpha=beta=1/4"]
    expected = {int(k): float(Fraction(v[0])) for k, v in entry["(0, 1)"].items()}
    belief = shown.cell.histogram.beliefs[0]
    told = dict(zip(belief.values.tolist(), belief.chances.tolist(), strict=True))
    assert told == pytest.approx(expected, abs=1e-12)
    assert shown.cell.sentence == (
        "A reader who assumes nothing believes this cell is 0 with probability .72."
    )
    assert shown._way.text() == "Exact: summed over all 22 possible originals."
    assert shown.mode_button.text().endswith("16 of 16 cells.")
    theirs.close()


def test_where_the_mode_is_not_the_published_value_is_listed(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    example = REFERENCE["mode_theorem"]["counterexamples"][0]
    counts = np.array(example["published"])
    domain = Domain.of_shape(counts.shape)
    parameters = {
        "cycles": design(domain, "bidiagonal"),
        "alpha": 0.25,
        "beta": 0.25,
        "passes": 1,
        "blocking": "any_zero",
    }
    mechanism = Mechanism("cyclic_perturbation", domain, parameters)
    public.write(Release.of(Table.dense(domain, counts), mechanism), tmp_path / "mode.zip")
    window.files.open(str(tmp_path / "mode.zip"))
    settle()
    window.go("posterior")
    settle()
    shown = page(window)
    assert shown.mode_button.text() == "Mode is the published value: 4 of 6 cells."
    shown.mode_button.click()
    wrong = {tuple(map(int, cell.strip("()").split(","))) for cell in example["violating_cells"]}
    assert {row.index for row in shown.exposed.model.rows} == wrong


def test_the_keyboard_walks_cells_on_the_map_and_in_the_list(
    protected: MainWindow, qtbot: QtBot
) -> None:
    shown = page(protected)
    shown.map.grid.cells.setFocus()
    before = shown.cell.sentence
    qtbot.keyClick(shown.map.grid.cells, Qt.Key.Key_Right)
    assert protected.document.selection == (0, 2)
    assert shown.cell.sentence != before
    shown.exposed.among.setCurrentIndex(shown.exposed.among.findData("all"))
    shown.exposed.table.setFocus()
    shown.exposed.table.selectRow(0)
    first = protected.document.selection
    qtbot.keyClick(shown.exposed.table, Qt.Key.Key_Down)
    assert protected.document.selection == shown.exposed.model.rows[1].index != first


def test_the_most_exposed_cells_come_first(protected: MainWindow) -> None:
    shown, found = page(protected), engine(protected)
    original = protected.document.original
    assert original is not None
    rows = shown.exposed.model.rows
    risky = {
        tuple(map(int, i)) for i in np.argwhere((original.counts >= 1) & (original.counts <= 2))
    }
    assert {row.index for row in rows} == risky
    chances = [float(found.probability(original.counts)[row.index]) for row in rows]
    assert chances == sorted(chances, reverse=True)
    shown.exposed.search.setText("v3")
    assert {row.index[0] for row in shown.exposed.model.rows} == {2}


def test_public_view_is_what_the_bundles_reader_sees(
    protected: MainWindow, reader: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    mine, theirs = page(protected), page(reader)
    assert any("[staff only]" in text for text in texts(protected.inspector))
    assert mine.cell.histogram.true == 1
    assert set(texts(mine)) != set(texts(theirs))
    protected.document.set_public(True)
    settle()
    qtbot.waitUntil(lambda: not reader.document.jobs.running)
    QApplication.processEvents()
    assert sorted(texts(mine)) == sorted(texts(theirs))
    assert sorted(texts(mine.map, hidden=False)) == sorted(texts(theirs.map, hidden=False))
    assert mine.cell.histogram.true is None
    for ours, their in ((mine.map, theirs.map), (mine.cell.histogram, theirs.cell.histogram)):
        ours.resize(400, 240)
        their.resize(400, 240)
        protected.setFocus()
        assert ours.grab().toImage() == their.grab().toImage()
    protected.document.set_public(False)
    assert mine.cell.histogram.true == 1


def test_a_prior_is_chosen_in_words_and_everything_follows(
    protected: MainWindow, settle: Settle
) -> None:
    shown = page(protected)
    choice = shown.priors["user"]
    choice.combo.setCurrentIndex(choice.combo.findData("cells"))
    choice.combo.activated.emit(choice.combo.currentIndex())
    settle()
    project = protected.document.project
    assert project is not None and project.priors["user"] == "positive:0,1"
    expected = engine(protected, "positive:0,1").distribution(CELL)
    belief = shown.cell.histogram.beliefs[0]
    assert np.array_equal(belief.values, expected[0])
    assert np.allclose(belief.chances, expected[1], atol=1e-12)
    assert "knows who is in the survey" in shown.cell.sentence
    protected.document.select((2, 3))
    choice.cell.click()
    settle()
    assert protected.document.project.priors["user"] == "positive:0,1;2,3"
    choice.cell.click()
    protected.document.undo()
    settle()
    assert protected.document.project.priors["user"] == "positive:0,1;2,3"


def test_a_prior_from_a_file_and_a_file_that_is_wrong(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown = page(protected)
    published = protected.document.published
    assert published is not None
    domain = published.domain
    lines = ["v,w,count"]
    lines += [
        f"{','.join(domain.labels(index))},{published[index] + 1}"
        for index in np.ndindex(domain.shape)
    ]
    good, bad = tmp_path / "last year.csv", tmp_path / "bad.csv"
    good.write_text("\n".join(lines) + "\n")
    bad.write_text("\n".join([*lines[:3], "v1,w9,4"]) + "\n")
    shown.priors["intruder"].take_file("poisson", str(good))
    settle()
    expected = engine(protected, f"poisson:{good}").distribution(CELL)[1]
    assert np.allclose(shown.cell.histogram.beliefs[1].chances, expected, atol=1e-12)
    shown.priors["intruder"].take_file("table", str(bad))
    settle()
    assert protected.document.project is not None
    assert protected.document.project.priors["intruder"] == f"poisson:{good}"
    assert shown.errors.error is not None and shown.errors.isVisible()
    assert shown.priors["intruder"].combo.currentData() == "poisson"


def test_a_belief_that_fits_no_original_is_said_and_mended(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown = page(protected)
    path = tmp_path / "impossible.csv"
    path.write_text("v,w,count,weight\nv1,w1,900,1\n")
    shown.priors["user"].take_file("table", str(path))
    settle()
    assert shown.errors.isVisible()
    assert shown.cell.histogram.beliefs == ()
    assert "prior" in shown.errors.text
    shown.errors._button.click()
    settle()
    assert not shown.errors.isVisible()
    assert shown.cell.histogram.beliefs[0].who == "user"


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
    assert (
        shown.draws.value("original") == f"{chi_square(original.counts[None])[0]:.3g}  [staff only]"
    )
    protected.document.set_public(True)
    assert shown.draws.value("original") == ""
    assert shown.draws.result is not None
    assert all(not mark.true for mark in shown.draws.plot.marks)
    shown.draws.kind.setCurrentIndex(shown.draws.kind.findData("odds"))
    shown.draws.run()
    settle()
    assert "(v1, w2)" in shown.draws.sentence.text()
    told = list(csv.DictReader(io.StringIO(shown.files.content("draws_csv").decode())))
    assert list(told[0]) == ["draw", "value", "published"]
    assert np.allclose(
        [float(row["value"]) for row in told], shown.draws.result[0].values, equal_nan=True
    )
    protected.document.set_public(False)
    assert b"original_CONFIDENTIAL" in shown.files.content("draws_csv")
    assert b"CONFIDENTIAL" in shown.files.content("draws_svg")


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
    panel.formula.setText("v")
    panel.run()
    settle()
    assert shown.errors.isVisible() and "w is in no term" in shown.errors.text


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
    assert "of 100\u202f000 possible originals" in shown.draws.sentence.text()


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
    assert shown.errors.error is not None and "already" in shown.errors.error.message


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
    assert not shown.errors.isVisible()
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


def test_tab_follows_reading(protected: MainWindow) -> None:
    shown = page(protected)
    order = tab_order(shown)
    assert order[0] is shown.readers.cards[0]
    assert order[-1] is shown.main_button
    wanted = [shown.priors["intruder"].combo, shown.map.grid.cells, shown.exposed.table]
    places = [order.index(control) for control in wanted]
    assert places == sorted(places)


def test_the_map_can_show_the_intruders_belief(protected: MainWindow) -> None:
    shown, found = page(protected), engine(protected, "positive")
    original = protected.document.original
    assert original is not None
    shown.who_box.setCurrentIndex(shown.who_box.findData("intruder"))
    assert np.allclose(shown.map.values_shown, found.probability(original.counts), atol=1e-12)
    assert "who knows that every cell holds somebody" in shown.cell.sentence
    shown._copy.click()
    assert QApplication.clipboard().text() == "tabprotect infer release.zip --prior positive"


def test_every_control_has_a_name(protected: MainWindow) -> None:
    shown = page(protected)
    for tab in (shown.cell, shown.draws):
        shown.tabs.setCurrentWidget(tab)
        assert unnamed(shown) == []


def test_long_labels_and_two_hundred_categories(
    window: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "wide.csv"
    counts = np.random.default_rng(3).poisson(4, (200, 3))
    lines = ["a variable with quite a long name,answer,count"]
    lines += [
        f"category number {i} with a label nobody could call short,answer {j},{counts[i, j]}"
        for i in range(200)
        for j in range(3)
    ]
    path.write_text("\n".join(lines) + "\n")
    window.files.open(str(path))
    settle()
    window.document.do(protect, seed=2, accept_weak=True)
    settle()
    window.go("posterior")
    settle()
    shown = page(window)
    window.document.select((199, 2))
    QApplication.processEvents()
    assert shown.map.values_shown.shape == (200, 3)
    assert shown.map.grid.current() == (199, 2)
    assert window.width() == 1280 and shown.width() < 1280
    svg = shown.files.content("map_svg")
    assert "category number 7 with" in "".join(ElementTree.fromstring(svg.decode()).itertext())


@pytest.mark.parametrize("zoom", [1.0, 1.25])
def test_a_prior_that_fits_nothing_leaves_the_main_action_in_sight(
    window: MainWindow, settle: Settle, tmp_path: Path, zoom: float
) -> None:
    # Nobody can have been counted at least once in a row without anybody.
    path = tmp_path / "t.csv"
    lines = [f"{a},{b},{0 if a == 'x' else 5}" for a in "xyz" for b in "uvw"]
    path.write_text("\n".join(["a,b,count", *lines]) + "\n")
    window.files.open(str(path))
    settle()
    window.document.do(protect, seed=1, accept_weak=True)
    # Nobody begins with an assumption that contradicts the table.
    assert window.document.project is not None
    assert window.document.project.priors["intruder"] == "uniform"
    window.document.do(set_prior, who="intruder", prior="positive")
    settle()
    THEME.apply(zoom=zoom)
    window.resize(1280, 720)
    window.go("posterior")
    settle()
    shown = window.page
    note = next(n for n in shown.findChildren(QLabel) if "o original table fits" in n.text())
    assert note.isVisible()
    corner = shown.main_button.mapTo(window.area.viewport(), shown.main_button.rect().bottomRight())
    assert window.area.viewport().rect().contains(corner)
    assert window.area.verticalScrollBar().maximum() == 0


def test_the_verdict_comes_first_with_a_card_for_each_reader(
    protected: MainWindow, settle: Settle
) -> None:
    shown, document = page(protected), protected.document
    assert document.project is not None and document.project.protected is not None
    verdict = document.project.protected.record.verdict
    assert verdict is not None and shown.sentence == verdict.sentence
    cards = {card.reader.name: card.reader for card in shown.readers.cards}
    assert list(cards) == ["A reader", "An intruder", "In truth"]
    assert cards["A reader"].number == verdict.known and cards["A reader"].bad is False
    assert verdict.staff is not None and cards["In truth"].number == verdict.staff.known
    judged = engine(protected, "positive")
    assert f"{judged.small(document.project.at_risk).sum():.1f}" in cards["An intruder"].words
    assert shown.who == "user"
    shown.readers.cards[1].chosen.emit("intruder")
    assert shown.who == "intruder"
    document.set_public(True)
    settle()
    assert "In truth" not in {card.reader.name for card in shown.readers.cards}
    document.set_public(False)
    document.do(set_prior, who="intruder", prior="uniform")
    settle()
    # Who knows no more than a reader is no second one.
    assert [card.reader.name for card in shown.readers.cards] == ["A reader", "In truth"]
    assert len(shown.cell.histogram.beliefs) == 1


def test_earlier_releases_of_the_table_are_read_beside_it(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown, document = page(protected), protected.document
    document.do(publish, release=str(tmp_path / "r.zip"))
    document.do(protect, seed=2**127 + 1)
    settle()
    assert document.project is not None
    known = document.judging.known(document.project)
    assert known is not None and known.before.together is not None
    card = next(c.reader for c in shown.readers.cards if c.reader.name == "With earlier releases")
    assert card.number == known.before.together.known and "release 1 of" in card.knows
    assert f"{known.before.together.at_risk:,.1f}" in shown.sentence


def test_without_a_choice_the_most_exposed_cell_is_shown(
    protected: MainWindow, settle: Settle
) -> None:
    shown = page(protected)
    protected.document.select(None)
    settle()
    first = shown.exposed.model.rows[0].index
    belief = shown.cell.histogram.beliefs[0]
    assert np.array_equal(belief.values, engine(protected).distribution(first)[0])
    assert protected.document.original is not None
    assert protected.document.original.domain.cell_text(first) in shown.cell.sentence
