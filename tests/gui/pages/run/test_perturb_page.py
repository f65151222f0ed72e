"""The perturb page, through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from pages_of import page_of, replay
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot
from readable import texts, unnamed

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.project.releasing.judgement import foreseen
from tabprotect.engine.project.verbs.cycle_verbs import flip_cycle_cell, set_cycles
from tabprotect.engine.project.verbs.release_verbs import set_parameters, set_seed
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import BLOCKING_RULES
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.result_table import ResultTable
from tabprotect.gui.look.theme import colour, moved_text
from tabprotect.gui.pages.run.page import PerturbPage
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.gui.pages.table.run_panel import Replay

Settle = Callable[[], None]


def page(window: MainWindow) -> PerturbPage:
    return page_of(window, PerturbPage)


@pytest.fixture
def perturb(opened: MainWindow, tried: Settle) -> MainWindow:
    """The window on the perturb page of the 4 x 4 example, the mechanism tried."""
    opened.go("perturb")
    tried()
    return opened


@pytest.fixture
def weak(window: MainWindow, settle: Settle, tried: Settle, tmp_path: Path) -> MainWindow:
    """A sparse table under long cycles: it would be published as it is."""
    counts = np.random.default_rng(1).poisson(0.6, (4, 4))
    cells = [f"v{r},w{c},{n}" for (r, c), n in np.ndenumerate(counts)]
    (tmp_path / "sparse.csv").write_text("\n".join(["v,w,count", *cells]))
    window.files.open(str(tmp_path / "sparse.csv"))
    settle()
    window.document.do(set_cycles, kind="bidiagonal")
    window.go("perturb")
    tried()
    return window


def shown(table: ResultTable, view: str) -> list[list[str]]:
    """What a view of the result says."""
    table.turn(view)
    model = table.grid.model
    return [
        [str(model.data(model.index(r, c))) for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def number(form: MethodForm, name: str) -> float:
    return float(str(form.fields[name].value))


def put(form: MethodForm, name: str, text: str) -> None:
    """Type into a field, or choose."""
    field = form.fields[name].input
    if isinstance(field, QComboBox):
        field.setCurrentIndex(field.findData(text))
        field.activated.emit(field.currentIndex())
    else:
        assert isinstance(field, QLineEdit)
        field.setText(text)
        field.textEdited.emit(text)


def as_text(counts: np.ndarray, *, signed: bool = False) -> list[list[str]]:
    def text(count: int) -> str:
        out = f"{count:+,}" if signed and count else f"{count:,}"
        return out.replace(",", "\u202f").replace("-", "\u2212")

    return [[text(int(v)) for v in row] for row in counts]


def test_the_preview_is_the_engines(perturb: MainWindow) -> None:
    project = perturb.document.project
    assert project is not None
    wanted = methods()["cyclic_perturbation"].preview(project.problem, project.given)
    panel = page(perturb).preview
    assert panel.figure("unchanged") == f"{wanted.unchanged_share:.0%}".replace("%", "\u202f%")
    assert panel.figure("deviation") == f"{wanted.mean_absolute_deviation:.1f}"
    assert panel.figure("blocked") == f"{wanted.blocked_share:.0%}".replace("%", " %")
    assert panel.figure("immovable") == "0"
    assert panel.refusal.isHidden()
    said = panel.change.accessibleDescription()
    for value, chance in wanted.change.items():
        if chance >= 0.01:
            assert f"{value:+d}".replace("-", "\u2212").replace("+0", "0") + ": " in said
    assert f"moves by {moved_text(wanted.mean_absolute_deviation)} on average" in page(perturb).sentence


def test_the_triangle_the_numbers_and_the_history_agree(
    perturb: MainWindow, tried: Settle, qtbot: QtBot
) -> None:
    form, document = page(perturb).form, perturb.document
    (editor,) = form.editors
    triangle = editor.triangle
    triangle.setFocus()
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Left):
        QTest.keyClick(triangle, key)
    assert (number(form, "alpha"), number(form, "beta")) == (0.27, 0.24)
    assert editor.rest.text().endswith(": 0.49")
    assert "gamma 0.49" in triangle.accessibleDescription()
    qtbot.waitUntil(lambda: document.project is not None and "alpha" in document.project.parameters)
    assert document.project is not None
    assert dict(document.project.parameters) == {"alpha": 0.27, "beta": 0.24}
    assert document.history.undo_label == "set alpha to 0.27 and beta to 0.24"
    tried()
    a, b, c = triangle.corners()
    middle = ((a + b + c) / 3).toPoint()
    QTest.mousePress(triangle, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(triangle, middle + QPoint(1, 1))
    QTest.mouseRelease(triangle, Qt.MouseButton.LeftButton, pos=middle)
    form.flush()
    values = document.project.values
    assert values["alpha"] == values["beta"] == pytest.approx(1 / 3, abs=0.02)
    put(form, "beta", "0.9")
    form.flush()
    # Beta was typed: alpha gives way, together they are a probability.
    assert document.project.values["beta"] == 0.9
    assert document.project.values["alpha"] == pytest.approx(0.1)
    document.undo()
    document.undo()
    document.undo()
    assert form.fields["alpha"].value is form.fields["beta"].value is None
    assert "Left open" in editor.rest.text() and (triangle.first, triangle.second) == (0.25, 0.25)
    tried()


def test_leaving_the_page_loses_no_change(perturb: MainWindow, settle: Settle) -> None:
    put(page(perturb).form, "passes", "3")
    perturb.go("cycles")
    assert perturb.document.project is not None
    assert perturb.document.project.values["passes"] == 3
    settle()


def test_each_rule_says_its_consequence(perturb: MainWindow, tried: Settle) -> None:
    form = page(perturb).form
    for rule, words in BLOCKING_RULES.items():
        put(form, "blocking", rule)
        assert words in form.fields["blocking"].help.text()
        form.flush()
        assert perturb.document.project is not None
        assert perturb.document.project.values["blocking"] == rule
    tried()


def test_a_run_with_a_seed_is_the_engines(perturb: MainWindow, tried: Settle) -> None:
    form, document = page(perturb).form, perturb.document
    assert form.seeds.house.isChecked() and form.seeds.warning.isHidden()
    form.seeds.given.click()
    assert form.seeds.warning.isVisible() and "dossier" in form.seeds.warning.text()
    QTest.keyClicks(form.seeds.seed, "20061984")
    QTest.keyClick(form.seeds.seed, Qt.Key.Key_Return)
    put(form, "passes", "2")
    page(perturb).main_button.click()
    tried()
    project = document.project
    assert project is not None and document.original is not None and document.published is not None
    wanted = methods()["cyclic_perturbation"].run(
        Problem(document.original, project.at_risk, project.title),
        {"cycles": project.cycles, "passes": 2},
        Randomness.seeded(20061984),
    )
    assert document.published == wanted.release.table
    assert document.published != document.original
    assert perturb.page.name == "table"
    table = replay(perturb).table
    assert shown(table, "original") == as_text(document.original.counts)
    assert shown(table, "published") == as_text(document.published.counts)
    difference = document.published.counts - document.original.counts
    assert shown(table, "change") == as_text(difference, signed=True)


def test_a_seed_that_is_none_leaves_everything(perturb: MainWindow) -> None:
    form, before = page(perturb).form, perturb.document.history
    form.seeds.given.click()
    QTest.keyClicks(form.seeds.seed, "-3x")
    QTest.keyClick(form.seeds.seed, Qt.Key.Key_Return)
    assert isinstance(page(perturb).errors.error, ParameterError)
    assert "-3x" in page(perturb).errors.text
    assert perturb.document.history is before


def test_the_replay_ends_at_the_published_table(perturb: MainWindow, tried: Settle) -> None:
    document = perturb.document
    document.do(set_parameters, passes=2)
    document.do(set_seed, seed=5)
    page(perturb).protect()
    tried()
    run = replay(perturb)
    page_of(perturb, TablePage).coins.click()
    assert document.project is not None and document.project.protected is not None
    record = document.project.protected.record
    published, original = document.published, document.original
    assert published is not None and original is not None
    assert run.coins.model.rowCount() == 8 and run.coins.position == 8
    run.coins.buttons["first"].click()
    assert shown(run.table, "published") == as_text(original.counts)
    state = original.counts.copy()
    moves = document.project.cycles
    for step in range(8):
        number, cycle = divmod(step, 4)
        run.coins.buttons["forward"].click()
        state = state + int(record.steps.effective[number, cycle]) * moves.array(cycle)
        assert shown(run.table, "published") == as_text(state), step
        assert shown(run.table, "change") == as_text(state - original.counts, signed=True)
        words = run.coins.words
        assert f"pass {number + 1}, cycle {cycle + 1}" in words
        coin, blocked = record.steps.coins[number, cycle], record.steps.blocked[number, cycle]
        assert ("blocked" in words) == bool(blocked)
        assert {1: "says +", -1: "says \u2212", 0: "says leave"}[int(coin)] in words
    assert np.array_equal(state, published.counts)
    assert not run.coins.buttons["forward"].isEnabled()
    run.coins.buttons["back"].click()
    assert run.coins.position == 7
    # The coin that was flipped last is the one that is marked.
    strip = run.coins.view
    picture = strip.viewport().grab().toImage()
    corners = [strip.visualRect(run.coins.model.index(n)).topLeft() for n in range(8)]
    grounds = [picture.pixelColor(corner + QPoint(2, 2)) for corner in corners]
    assert [n for n, ground in enumerate(grounds) if ground == colour("selection")] == [6]
    # It is in sight, even where the strip is short.
    strip.setFixedWidth(strip.visualRect(run.coins.model.index(0)).width() * 3)
    for name in ("first", "last"):
        run.coins.buttons[name].click()
    assert strip.viewport().rect().contains(strip.visualRect(run.coins.model.index(7)).center())
    strip.setMaximumWidth(16_777_215)
    run.coins.go(7)
    QTest.mouseClick(
        run.coins.view.viewport(),
        Qt.MouseButton.LeftButton,
        pos=run.coins.view.visualRect(run.coins.model.index(2)).center(),
    )
    assert run.coins.position == 3


def test_playing_steps_to_the_end(perturb: MainWindow, tried: Settle, qtbot: QtBot) -> None:
    page(perturb).protect()
    tried()
    coins = replay(perturb).coins
    coins.buttons["play"].click()
    assert coins.playing and coins.position == 0
    assert coins.buttons["play"].text() == "Stop"
    coins._timer.setInterval(5)
    qtbot.waitUntil(lambda: not coins.playing)
    assert coins.position == 4


@pytest.mark.parametrize("shape", [(5, 7), (3, 4, 3)])
@pytest.mark.parametrize(
    ("rule", "order", "steps"),
    [
        ("any_zero", "listed", 0),
        ("negative", "listed", 0),
        ("none", "listed", 0),
        ("any_zero", "random", 50),
        ("negative", "replacement", 0),
        ("any_zero", "positive", 60),
    ],
)
def test_a_replay_is_the_sequential_mechanism(
    shape: tuple[int, ...], rule: str, order: str, steps: int
) -> None:
    from tabprotect.engine.tables.domain import Domain
    from tabprotect.engine.tables.table import Table

    counts = np.random.default_rng(3).integers(0, 4, shape)
    problem = Problem(Table.dense(Domain.of_shape(shape), counts))
    given = {"n_cover": steps} if steps else {"passes": 2}
    protected = methods()["cyclic_perturbation"].run(
        problem, {"cycles": "elementary", **given, "blocking": rule, "order": order}, Randomness.seeded(1)
    )
    moves = cast(MoveSet, protected.release.mechanism.parameters["cycles"])
    replay = Replay(moves, protected.record)
    assert len(replay) == (steps or 2 * len(moves))
    assert np.array_equal(replay.table_after(0), counts)
    assert np.array_equal(replay.table_after(len(replay)), protected.release.table.counts)
    state = counts.copy()
    for step in range(len(replay)):
        pattern = replay.pattern(step)
        if replay.cycle(step) < 0:
            assert replay.is_blocked(step) and "no cycle runs" in replay.step_text(step)
            continue
        assert f"cycle {replay.cycle(step) + 1}" in replay.step_text(step)
        coin = replay.coin(step)
        after = state + coin * pattern
        stops = {"any_zero": (state[pattern != 0] == 0).any(), "negative": after.min() < 0, "none": False}[
            rule
        ]
        assert not (stops and order == "positive")
        state = state if stops else after
        assert replay.done(step) == (0 if stops else coin)
        if step % 17 == 0:
            assert np.array_equal(replay.table_after(step + 1), state)


def test_order_and_number_of_steps_are_set_and_passes_give_way(perturb: MainWindow, tried: Settle) -> None:
    form, document = page(perturb).form, perturb.document
    put(form, "passes", "3")
    form.flush()
    put(form, "n_cover", "9")
    assert form.fields["passes"].value is None
    put(form, "order", "replacement")
    form.flush()
    assert document.project is not None
    wanted = {"passes": None, "n_cover": 9, "order": "replacement"}
    assert dict(document.project.parameters) == wanted
    assert "may come again" in form.fields["order"].help.text()
    # What goes with another rule only is said where it was chosen, and nothing has changed.
    put(form, "blocking", "negative")
    form.flush()
    put(form, "order", "positive")
    form.flush()
    assert "any_zero" in form.fields["order"].fault.text()
    assert document.project.values["order"] == "replacement"
    put(form, "blocking", "any_zero")
    form.flush()
    assert document.project.values["order"] == "positive"
    document.undo()
    assert document.project.values["order"] == "replacement"
    put(form, "passes", "2")
    form.flush()
    assert (document.project.values["passes"], document.project.values["n_cover"]) == (2, 0)
    tried()


def test_a_weak_mechanism_is_refused_with_the_remedies_that_were_tried(
    weak: MainWindow, tried: Settle
) -> None:
    # Other coins may leave so small a table as it is.
    weak.document.do(set_seed, seed=3)
    tried()
    document, shown_page = weak.document, page(weak)
    project, refusal = document.project, shown_page.preview.refusal
    assert project is not None
    chance, offered = foreseen(project)
    assert chance.unlikely and offered
    assert list(refusal.remedies) == [remedy.text for remedy in offered]
    said = texts(refusal)
    assert refusal.isVisible() and refusal.text.startswith("Probably refused")
    assert all(remedy.reached in said for remedy in offered)
    shown_page.main_button.click()
    tried()
    # It is held as a draft, to be looked at, and cannot be published without a reason.
    assert document.project is not None and document.project.against
    assert weak.page.name == "table" and weak.decision is weak.pages["release"]
    assert not weak.decision.main_button.isEnabled()
    weak.go("perturb")
    tried()
    here = weak.page.name
    refusal.remedies[offered[-1].text].click()
    tried()
    assert document.project is not None
    for name, value in offered[-1].parameters.items():
        if name == "method":
            assert document.project.method == value
        elif value is not None and name != "cycles":
            assert document.project.values[name] == value
    while document.project is not project:
        document.undo()
    # Another method has a page of its own.
    weak.go(here)
    tried()
    assert refusal.isVisible()
    refusal.remedies[offered[0].text].click()
    tried()
    shown_page.main_button.click()
    tried()
    assert document.published is not None and document.published != document.original
    assert document.project is not None and document.project.protected is not None
    # That the gate had refused others is said.
    decisions = document.project.protected.record.decisions
    assert any(d.startswith("settings were changed after the gate had refused") for d in decisions)


def test_broken_cycles_cannot_be_run(perturb: MainWindow, tried: Settle) -> None:
    perturb.document.do(flip_cycle_cell, cycle=0, index=[1, 0], sign=1)
    tried()
    assert "changes the margin" in page(perturb).preview.state
    assert not page(perturb).main_button.isEnabled()
    page(perturb).preview.go_mend.click()
    assert perturb.page is perturb.pages["cycles"]
    perturb.document.undo()
    perturb.go("perturb")
    tried()
    assert page(perturb).main_button.isEnabled()


def test_public_view_hides_what_is_confidential(perturb: MainWindow, tried: Settle) -> None:
    document, shown_page = perturb.document, page(perturb)
    for r in range(4):
        for c in range(4):
            document.do(set_count, index=[r, c], count=70_000 + 1000 * r + 10 * c + 7)
    document.do(set_seed, seed=987_654_321)
    tried()
    shown_page.protect()
    tried()
    original, published = document.original, document.published
    assert original is not None and published is not None
    moved = published.counts != original.counts
    assert moved.any()
    secret = {text for row in as_text(np.where(moved, original.counts, 0)) for text in row} - {"0"}
    in_public = {text for row in as_text(published.counts) for text in row}
    secret -= in_public
    run, table = replay(perturb), page_of(perturb, TablePage)
    table.show_view("original")
    assert secret <= set(texts(table))
    document.set_public(True)
    tried()
    said = set(texts(table)) | set(texts(shown_page))
    assert not secret & said
    assert in_public <= said
    assert not any("987654321" in text for text in said)
    assert not any("coin says" in text for text in said)
    assert not table.shows_original()
    assert not run.coins.isVisible()
    assert not any(face.isVisible() for face in table.faces.values())
    perturb.go("perturb")
    tried()
    assert shown_page.preview.figure("unchanged") == ""
    assert "confidential" in shown_page.preview.state
    assert not shown_page.form.fields["alpha"].isEnabled() and not shown_page.form.seeds.fresh.isVisible()
    before = document.project
    shown_page.protect()
    assert document.project is before
    document.set_public(False)
    tried()
    assert secret <= set(texts(table))


def test_copy_as_command(perturb: MainWindow, tried: Settle) -> None:
    perturb.document.do(set_parameters, alpha=0.3, passes=2)
    page(perturb)._copy.click()
    command = QGuiApplication.clipboard().text()
    assert command.startswith("tabprotect protect example:duncan-roehrig-4x4 ")
    assert "--set alpha=0.3" in command and "--set passes=2" in command
    tried()


def test_every_control_has_a_name_and_each_view_keeps_its_place(
    window: MainWindow, settle: Settle, tried: Settle, tmp_path: Path
) -> None:
    counts = np.random.default_rng(1).poisson(9, (60, 14))
    cells = [f"v{r},w{c},{n}" for (r, c), n in np.ndenumerate(counts)]
    (tmp_path / "long.csv").write_text("\n".join(["v,w,count", *cells]))
    window.files.open(str(tmp_path / "long.csv"))
    settle()
    # Of a posterior by formula: drawing one for each trial takes long.
    window.document.do(set_parameters, blocking="negative")
    window.go("perturb")
    tried()
    assert unnamed(page(window)) == []
    page(window).protect()
    tried()
    assert window.page.name == "table" and unnamed(window.page) == []
    table, shown_page = replay(window).table, page_of(window, TablePage)
    tried()
    shown_page.show_view("change")
    table.grid.bottom.horizontalScrollBar().setValue(40)
    table.grid.right.verticalScrollBar().setValue(333)
    window.document.select((50, 12))
    tried()
    grid = table.grid
    place = grid.widths, grid.cells.horizontalScrollBar().value(), grid.current()
    assert place[2] == (50, 12)
    for view, face in shown_page.faces.items():
        if view == "original":
            # That is the table itself, where counts can be typed.
            continue
        QTest.mouseClick(face, Qt.MouseButton.LeftButton)
        tried()
        assert table.shown == view
        assert (grid.widths, grid.cells.horizontalScrollBar().value(), grid.current()) == place
