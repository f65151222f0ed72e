"""The posterior page, through the real window."""

from __future__ import annotations

import json
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from pages_of import beliefs as page
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QHeaderView, QLabel
from pytestqt.qtbot import QtBot
from readable import tab_order, texts, unnamed

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.informed_prior import informed
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters, set_prior
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import about
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.believed.cell import cell_sentence
from tabprotect.gui.frame.main_window import OPEN, MainWindow
from tabprotect.gui.look.drawn.drawing import Sheet
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.check.page import CheckPage
from tabprotect.languages.messages import in_100

Settle = Callable[[], None]


REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cyclic.json").read_text())


SLIDES = REFERENCE["two_way_4x4"]


CELL = (0, 1)


def engine(window: MainWindow, prior: str = "uniform") -> Posterior:
    release = window.document.release
    assert release is not None
    return infer(likelihood_of(release), parse_prior(prior, release.table.domain))


def test_it_says_why_it_cannot_be_used_before_there_is_a_release(opened: MainWindow) -> None:
    assert "Protect the table first" in CheckPage.stage.why_not(opened.document)
    before = opened.page
    opened.go("check")
    assert opened.page is before


def test_figures_stand_beside_the_cells_they_are_of(protected: MainWindow) -> None:
    table = page(protected).exposed.table
    header, modes = table.horizontalHeader(), QHeaderView.ResizeMode
    table.resize(2000, 300)
    assert header.sectionResizeMode(0) == modes.ResizeToContents
    assert header.length() < table.viewport().width()
    # Where not all of it fits, the name gives way and no figure leaves the page.
    table.resize(200, 300)
    assert header.sectionResizeMode(0) == modes.Stretch


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
    low, high = (int(end[CELL]) for end in found.interval(0.9))
    assert shown.cell.value("90 % sure") == (f"{low} to {high}" if low < high else str(low))
    true = found.probability(original.counts)
    assert shown.cell.value("the true count") == in_100(float(true[CELL]))
    intruder = engine(protected, "positive").probability(original.counts)
    assert shown.cell.value("the true count", "intruder") == in_100(float(intruder[CELL]))
    assert shown.figure.name == "true"
    assert np.allclose(shown.map.values_shown, true, atol=1e-12)
    for number, figure in enumerate(["true", "entropy", "small", "published", "mean", "mode"]):
        shown._figure_box.setCurrentIndex(number)
        assert shown.figure.name == figure
    assert np.array_equal(shown.map.values_shown, found.mode)


def test_the_slides_release_has_the_true_posterior_not_the_printed_one(
    window: MainWindow, settle: Settle, opened: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    opened.document.do(set_parameters, alpha=0.25, beta=0.25)
    settle()
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
    theirs.go("check")
    qtbot.waitUntil(lambda: not theirs.document.jobs.running)
    theirs.document.select(CELL)
    shown = page(theirs)
    entry = SLIDES["posteriors"]["any|alpha=beta=1/4"]
    expected = {int(k): float(Fraction(v[0])) for k, v in entry["(0, 1)"].items()}
    belief = shown.cell.histogram.beliefs[0]
    told = dict(zip(belief.values.tolist(), belief.chances.tolist(), strict=True))
    assert told == pytest.approx(expected, abs=1e-12)
    assert shown.cell.sentence == (
        "Could be 0 to 2; a reader who assumes nothing thinks 0 most likely, with 72 in 100."
    )
    assert shown._way.text() == (
        "Worked out exactly, over all 22 tables that could be behind it. Up to 3 draws were allowed: no "
        "reader's odds are off by more than 3 to 1 for that."
    )
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
        "order": "listed",
        "n_cover": 0,
    }
    mechanism = Mechanism("cyclic_perturbation", domain, parameters)
    public.write(Release.of(Table.dense(domain, counts), mechanism), tmp_path / "mode.zip")
    window.files.open(str(tmp_path / "mode.zip"))
    settle()
    window.go("check")
    settle()
    shown = page(window)
    shown.exposed.among.setCurrentIndex(shown.exposed.among.findData("misses"))
    wrong = {tuple(map(int, cell.strip("()").split(","))) for cell in example["violating_cells"]}
    assert set(shown.exposed.cells) == wrong


def test_the_keyboard_walks_cells_on_the_map_and_in_the_list(protected: MainWindow, qtbot: QtBot) -> None:
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
    assert protected.document.selection == shown.exposed.cells[1] != first


def test_the_most_exposed_cells_come_first(protected: MainWindow) -> None:
    shown, found = page(protected), engine(protected)
    original = protected.document.original
    assert original is not None
    cells = shown.exposed.cells
    risky = {tuple(map(int, i)) for i in np.argwhere((original.counts >= 1) & (original.counts <= 2))}
    assert set(cells) == risky
    chances = [float(found.probability(original.counts)[cell]) for cell in cells]
    assert chances == sorted(chances, reverse=True)
    shown.exposed.search.setText("v3")
    listed = shown.exposed.table.rows.rows
    assert {shown.exposed.cells[row][0] for row in listed} == {2} and len(listed) < len(cells)


@pytest.mark.parametrize("protected", ["1..2", "1..7"], indirect=True)
def test_public_view_is_what_the_bundles_reader_sees(
    protected: MainWindow, reader: MainWindow, settle: Settle, qtbot: QtBot
) -> None:
    mine, theirs = page(protected), page(reader)
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


def test_a_prior_is_chosen_in_words_and_everything_follows(protected: MainWindow, settle: Settle) -> None:
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
        f"{','.join(domain.labels(index))},{published[index] + 1.5}" for index in np.ndindex(domain.shape)
    ]
    good, bad = tmp_path / "last year.csv", tmp_path / "bad.csv"
    good.write_text("\n".join(lines) + "\n")
    bad.write_text("\n".join([*lines[:3], "v1,w9,4"]) + "\n")
    intruder = shown.priors["intruder"]
    steps = (
        ("negative_binomial(1)", lambda: intruder.take_file("negative_binomial", str(good))),
        ("negative_binomial(2.5)", lambda: intruder.dispersion.setValue(2.5)),
        ("poisson", lambda: intruder.take_file("poisson", str(good))),
    )
    for kind, choose in steps:
        choose()
        settle()
        expected = engine(protected, f"{kind}:{good}").distribution(CELL)[1]
        assert np.allclose(shown.cell.histogram.beliefs[1].chances, expected, atol=1e-12)
    shown.priors["intruder"].take_file("table", str(bad))
    settle()
    assert protected.document.project is not None
    assert protected.document.project.priors["intruder"] == f"poisson:{good}"
    assert shown.page.errors.error is not None and shown.page.errors.isVisible()
    assert shown.priors["intruder"].combo.currentData() == "poisson"


def test_an_earlier_release_and_a_model_are_assumed(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown, release = page(protected), protected.document.release
    assert release is not None
    choice, bundle = shown.priors["intruder"], tmp_path / "last year.zip"
    bundle.write_bytes(public.to_bytes(release, page=False))
    choice.take_file("last", str(bundle))
    settle()
    choice.combo.setCurrentIndex(choice.combo.findData("model"))
    expected = [f"last:{bundle}", "model:v + w", "model:v*w"]
    for step in range(3):
        if step == 1:
            choice.combo.activated.emit(choice.combo.currentIndex())
        elif step == 2:
            choice.formula.setText("v*w")
            choice.formula.returnPressed.emit()
        settle()
        assert protected.document.project is not None
        assert protected.document.project.priors["intruder"] == expected[step]
        prior = informed(expected[step], [release])
        found = infer(likelihood_of(release), prior).distribution(CELL)[1]
        assert np.allclose(shown.cell.histogram.beliefs[1].chances, found, atol=1e-12)
    assert not choice.formula.isHidden() and choice.formula.text() == "v*w"
    choice.formula.setText("v*z")
    choice.formula.returnPressed.emit()
    settle()
    assert shown.page.errors.isVisible() and choice.formula.text() == "v*w"


def test_a_belief_that_fits_no_original_is_said_and_mended(
    protected: MainWindow, settle: Settle, tmp_path: Path
) -> None:
    shown = page(protected)
    path = tmp_path / "impossible.csv"
    path.write_text("v,w,count,weight\nv1,w1,900,1\n")
    shown.priors["user"].take_file("table", str(path))
    settle()
    assert shown.page.errors.isVisible()
    assert shown.cell.histogram.beliefs == ()
    assert "prior" in shown.page.errors.text
    shown.page.errors._button.click()
    settle()
    assert not shown.page.errors.isVisible()
    assert shown.cell.histogram.beliefs[0].who == "user"


def test_tab_follows_reading(protected: MainWindow) -> None:
    shown = page(protected)
    order = tab_order(shown.page)
    wanted = [shown.map.grid.cells, shown.exposed.table, shown.priors["intruder"].combo]
    places = [order.index(control) for control in wanted]
    assert places == sorted(places)


def test_the_map_can_show_the_intruders_belief(protected: MainWindow) -> None:
    shown, found = page(protected), engine(protected, "positive")
    original = protected.document.original
    assert original is not None
    shown.who_box.setCurrentIndex(shown.who_box.findData("intruder"))
    assert np.allclose(shown.map.values_shown, found.probability(original.counts), atol=1e-12)
    assert "who knows that every cell holds somebody" in shown.cell.sentence
    shown.page.copy_command()
    assert QApplication.clipboard().text() == "tabprotect infer release.zip --prior positive"


def test_every_control_has_a_name(protected: MainWindow) -> None:
    shown = page(protected)
    for tab in (shown.cell, shown.draws):
        shown.tabs.setCurrentWidget(tab)
        assert unnamed(shown) == []


def test_long_labels_and_two_hundred_categories(
    window: MainWindow, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    window.go("check")
    settle()
    shown = page(window)
    window.document.select((199, 2))
    QApplication.processEvents()
    assert shown.map.values_shown.shape == (200, 3)
    assert shown.map.grid.current() == (199, 2)
    assert window.width() == 1280 and shown.width() < 1280
    drawn, svg = list[threading.Thread](), Sheet.svg

    def draw(sheet: Sheet) -> bytes:
        drawn.append(threading.current_thread())
        return svg(sheet)

    monkeypatch.setattr(Sheet, "svg", draw)
    shown.files.write("map_svg", tmp_path / "map-CONFIDENTIAL.svg")
    settle()
    # Beside the window: nobody waits for two hundred rows of numbers.
    assert drawn and threading.main_thread() not in drawn
    words = list(ElementTree.parse(tmp_path / "map-CONFIDENTIAL.svg").getroot().itertext())
    assert any("category number 7 with" in text for text in words)
    assert len(words) > 800


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
    window.go("check")
    settle()
    shown = window.page
    note = next(n for n in shown.findChildren(QLabel) if "o original table fits" in n.text())
    assert note.isVisible()
    assert window.area.verticalScrollBar().maximum() == 0


def test_the_verdict_comes_first_with_a_card_for_each_reader(protected: MainWindow, settle: Settle) -> None:
    shown, document = page(protected), protected.document
    assert document.project is not None and document.project.protected is not None
    verdict = document.project.protected.record.verdict
    assert verdict is not None and verdict.staff is not None
    known, cells = verdict.staff.known, verdict.staff.at_risk_cells
    assert shown.page.sentence.startswith(
        f"Readers would know {known} of {cells} small counts. Limit 0. Closest:"
    )
    cards = {reader.name: reader for reader in shown.readers.found}
    assert list(cards) == ["A reader", "A reader who knows more", "In truth"]
    assert cards["A reader"].number == verdict.known and cards["A reader"].found.state == "passed"
    assert cards["In truth"].number == verdict.staff.known
    judged = engine(protected, "positive")
    assert about(judged.small(document.project.at_risk).sum()) in cards["A reader who knows more"].words
    assert shown.who == "user"
    assert cards["A reader who knows more"].text in shown.page.sentence
    document.set_public(True)
    settle()
    assert "In truth" not in {reader.name for reader in shown.readers.found}
    assert shown.page.sentence.startswith("A reader would know ") and "Closest" not in shown.page.sentence
    document.set_public(False)
    document.do(set_prior, who="intruder", prior="uniform")
    settle()
    # Who knows no more than a reader is no second one.
    assert [reader.name for reader in shown.readers.found] == ["A reader", "In truth"]
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
    card = next(r for r in shown.readers.found if r.name == "With earlier releases")
    assert card.number == known.before.together.known and "release 1 of" in card.knows
    assert about(known.before.together.at_risk) in shown.page.sentence


@pytest.mark.parametrize(
    ("way", "chance", "said"),
    [
        ("exact", 1.0, "A reader who looks is certain: it is 3"),
        ("chains", 1.0, "A reader who looks finds 3 in every simulated table"),
        ("exact", 0.75, "Could be 2 to 3; a reader who looks thinks 3 most likely, with 75 in 100"),
    ],
)
def test_certain_is_said_only_where_it_is_computed(way: str, chance: float, said: str) -> None:
    believed = SimpleNamespace(
        distribution=lambda index: (np.array([2, 3]), np.array([1 - chance, chance])),
        interval_of=lambda index, level: (2 if chance < 1 else 3, 3),
        mode=np.array([[3]]),
        way=way,
        prior=SimpleNamespace(label="looks"),
    )
    posterior = cast(Posterior, believed)
    assert cell_sentence(posterior, (0, 0), true=None) == f"{said}."
    assert cell_sentence(posterior, (0, 0), true=2) == f"{said}. The true count is 2."


def test_without_a_choice_the_most_exposed_cell_is_shown(protected: MainWindow, settle: Settle) -> None:
    shown = page(protected)
    protected.document.select(None)
    settle()
    first = shown.exposed.cells[0]
    belief = shown.cell.histogram.beliefs[0]
    assert np.array_equal(belief.values, engine(protected).distribution(first)[0])
    assert protected.document.original is not None
    assert protected.document.original.domain.cell_text(first) in shown.cell.sentence
