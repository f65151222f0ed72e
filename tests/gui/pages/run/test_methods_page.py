"""The set-up page, through the real window: every registered method, and one made up here.

What it publishes is said in its second paragraph, as of every method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import cast

import numpy as np
import pytest
from pages_of import counts, page_of, result
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot
from readable import tab_order, texts, unnamed

from tabprotect.engine.errors import InfeasibleError, Suggestion
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import new_table
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.rounding.controlled_programme import Controlled, ControlledProgramme
from tabprotect.engine.protection.subtables import MARGINS, publication_of
from tabprotect.engine.release.likelihood import CellFactors, independent
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.result_table import SUPPRESSED
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.run.page import MethodsPage
from tabprotect.gui.pages.table.method_result import MethodResult
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.languages.messages import uncapital

Settle = Callable[[], None]


class Hiding(Method):
    """Suppresses counts up to a limit in every sub-table; one field of every plain kind.

    A count up to the limit is not published.
    """

    name = "hiding"
    label = "Hiding"
    parameters = (
        Parameter("limit", "Limit", "Counts up to it.", "integer", 2, low=1, high=9),
        Parameter("share", "Share", "Not used.", "real", 0.5, low=0.0, high=1.0, public=False),
        Parameter("zeros", "Zeros too", "Hide them.", "flag", False),
        Parameter("way", "Way", "Not used.", "choice", "a", choices={"a": "one", "b": "other"}),
        MARGINS,
    )
    needs = ("two_way",)
    guarantees = {"exact": "What is published is exact."}  # noqa: RUF012

    def is_random(self, values: Mapping[str, object]) -> bool:
        return False

    def draw(
        self,
        problem: Problem,
        values: Mapping[str, object],
        generator: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Draft:
        tables, letters = [], []
        limit, least = cast(int, values["limit"]), 0 if values["zeros"] else 1
        for table in publication_of(problem.table.domain, values).sums(problem.table)[::-1]:
            hidden = (table.counts <= limit) & (table.counts >= least)
            tables.append(PublishedTable.hiding(table, hidden))
            letters.append(np.where(hidden, "U", "S").astype("<U1"))
        said = f"{int(tables[0].hidden.sum())} cells are hidden."
        return Draft(tuple(tables), statuses=tuple(letters), sentence=said)

    def likelihood(self, release: Release) -> CellFactors:
        return independent(release.tables[0], lambda v: (v, v, None), hidden=(0, 9, None))


@pytest.fixture(autouse=True)
def hiding(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more method: the registry is all that knows of it."""
    registry = methods()
    monkeypatch.setattr(registry, "_found", {**registry._found, "hiding": Hiding()})


def page(window: MainWindow) -> MethodsPage:
    return page_of(window, MethodsPage)


def choose(window: MainWindow, label: str) -> MethodsPage:
    """Make a method the project's, and go to its set-up."""
    (name,) = (name for name, method in methods().items() if method.label == label)
    window.document.do(set_method, method=name)
    window.go("methods")
    return page(window)


@pytest.fixture
def at_methods(opened: MainWindow, tried: Settle) -> MainWindow:
    choose(opened, "Hiding")
    tried()
    return opened


@pytest.fixture
def small(window: MainWindow, settle: Settle, tmp_path: Path) -> MainWindow:
    """Nine cells, one at risk: posteriors that weigh whole originals take no time."""
    counts = [[1, 10, 9], [12, 20, 11], [8, 9, 10]]
    lines = [f"v{r},w{c},{n}" for r, row in enumerate(counts) for c, n in enumerate(row)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(["v,w,count", *lines]))
    window.files.open(str(path))
    settle()
    return window


def test_every_registered_method_has_its_form(at_methods: MainWindow, tried: Settle) -> None:
    shown = page(at_methods)
    project = at_methods.document.project
    assert project is not None
    for name, method in methods().items():
        if any(p.kind == "cycles" for p in method.parameters):
            continue
        at_methods.document.do(set_method, method=name)
        QApplication.processEvents()
        fields = [p.name for p in method.parameters]
        assert list(shown.form.fields) == fields
        said = shown.help.toPlainText()
        assert method.label in said and shown._heading.text() == f"Tune {uncapital(method.label)}"
        for sentence in method.guarantees.values():
            assert sentence.split()[0] in said
    tried()
    assert not unnamed(shown)


def test_choosing_typing_and_running_are_commands(
    at_methods: MainWindow, tried: Settle, qtbot: QtBot
) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    assert document.project is not None and document.project.method == "hiding"
    assert shown.sentence == "4 cells are hidden."
    field = shown.form.fields["limit"].input
    field.setFocus()
    field.selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(field, "3")
    qtbot.waitUntil(lambda: document.project.parameters.get("limit") == 3)  # type: ignore[union-attr]
    tried()
    assert shown.sentence == "6 cells are hidden."
    shown.form.fields["zeros"].input.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: document.project.parameters.get("zeros") is True)  # type: ignore[union-attr]
    QTest.keyClick(shown, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    tried()
    assert at_methods.page.name == "table"
    names = [entry.command for entry in document.history.trail]
    assert names[-4:] == ["set_method", "set_parameters", "set_parameters", "protect"]
    shown.copy_command()
    copied = QGuiApplication.clipboard().text()
    assert "--method hiding" in copied and "--set limit=3" in copied and "--set zeros=True" in copied


def test_a_wrong_field_says_what_is_wrong_and_changes_nothing(
    at_methods: MainWindow, tried: Settle, qtbot: QtBot
) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    field = shown.form.fields["limit"]
    QTest.keyClicks(field.input, "0")
    qtbot.waitUntil(lambda: field.fault.isVisible())
    assert "between 1 and 9" in field.fault.text()
    assert document.project is not None and "limit" not in document.project.parameters
    formula = shown.form.fields["margins"]
    field.input.clear()  # type: ignore[attr-defined]
    QTest.keyClicks(formula.input, "v*nothing")
    qtbot.waitUntil(lambda: shown.errors.isVisible() or formula.fault.isVisible())
    assert "no variable" in formula.fault.text()
    assert "margins" not in document.project.parameters


def test_the_published_tables_beside_the_true_ones(at_methods: MainWindow, tried: Settle) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    shown.main_button.click()
    tried()
    release = document.release
    assert release is not None and document.original is not None
    made, faces = result(at_methods), page_of(at_methods, TablePage).faces
    assert isinstance(made, MethodResult)
    grid = made.table.grid
    # Nothing but hidden cells: there is no change to see.
    assert [name for name, face in faces.items() if face.isVisible()] == ["original", "published"]
    hidden = release.tables[0].hidden
    for row, column in np.ndindex(4, 4):
        index = grid.model.index(row, column)
        count = document.original.counts[row, column]
        assert grid.model.data(index) == ("x" if hidden[row, column] else str(count))
    assert "U unsafe by itself" in made.legend.text()
    assert "x not published" in made.legend.text()
    # The totals are those that are published, as tables of their own.
    assert [grid.right.model().data(grid.right.model().index(r, 0)) for r in range(4)] == [
        str(n) for n in document.original.margin(["v"]).counts
    ]
    made.which.setCurrentIndex(made.which.count() - 1)
    made.which.activated.emit(made.which.currentIndex())
    assert grid.model.data(grid.model.index(0, 0)) == "135"


def test_the_public_view_keeps_nothing_of_the_truth(at_methods: MainWindow, tried: Settle) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    shown.main_button.click()
    tried()
    document.set_public(True)
    table, at = result(at_methods).table, page_of(at_methods, TablePage)
    assert not any(face.isVisible() for face in at.faces.values())
    table.turn("original")
    hidden = table.grid.model.values == SUPPRESSED
    assert hidden.any() and table.shown == "published" and table.grid.delegate.letters is None
    assert not shown.shows_original()
    assert "4 cells" not in "".join(texts(shown))
    # On the table page a suppressed cell is an x as well.
    at_methods.go("table")
    delegate = counts(at_methods).grid.delegate
    assert delegate.hidden is not None and int(delegate.hidden.sum()) == 4


def test_what_is_missing_is_said(window: MainWindow, tried: Settle, settle: Settle) -> None:
    window.document.do(new_table, variables={"a": ["x", "y"], "b": ["u", "v"], "c": ["1", "2"]})
    settle()
    shown = choose(window, "Hiding")
    assert "3 variables, not two" in shown.sentence
    assert not shown.main_button.isEnabled()
    # Cycles and Perturb belong to another method and say so.
    assert "choose cyclic perturbation" in window.pages["perturb"].stage.why_not(window.document)
    window.document.do(set_method, method="cyclic_perturbation")
    assert window.pages["perturb"].stage.why_not(window.document) == ""
    # The page of a method that was left gives way to the choice.
    assert window.page.name == "table"


def test_tab_follows_the_eye_through_fields_made_later(at_methods: MainWindow, tried: Settle) -> None:
    shown = choose(at_methods, "Hiding")
    tried()
    order = tab_order(shown)
    asked = [*(shown.form.fields[n].input for n in ("limit", "share", "zeros", "way"))]
    bar = shown.about.tabBar()
    margins = shown.form.fields["margins"]
    assert margins.chips is not None
    together = [*margins.chips.names.values()]
    last = [bar, shown._copy, shown.main_button]
    # A formula is made of its chips; it is typed on request.
    assert margins.input.isHidden()
    asked += [*together, margins.typed, *last]
    places = [order.index(widget) for widget in asked]
    assert places == sorted(places) and order[-1] is shown.main_button
    # What a click makes stands between the field and the names it was made of.
    together[0].click()
    assert tab_order(shown).index(margins.chips.add) == order.index(together[-1]) + 1
    margins.chips.add.click()
    tried()
    order = tab_order(shown)
    made = (*margins.chips.entries, *together, margins.typed, *last)
    places = [order.index(w) for w in made]
    assert len(places) == 7 and places == sorted(places) and order[-1] is shown.main_button


def test_a_choice_says_what_it_means_and_long_words_break(at_methods: MainWindow) -> None:
    shown = choose(at_methods, "Suppression")
    costs = shown.form.fields["costs"]
    box = costs.input
    assert isinstance(box, QComboBox)
    for name in ("unity", "log"):
        box.setCurrentIndex(box.findData(name))
        box.activated.emit(box.currentIndex())
        words = box.currentData(Qt.ItemDataRole.ToolTipRole)
        assert words[1:].rstrip(".") in costs.help.text()
        assert words[1:].rstrip(".") in box.accessibleDescription()
    assert "=\u200bSpain" in shown.form.fields["groupings"].help.text()


def test_no_randomness_is_offered_where_there_is_none(at_methods: MainWindow) -> None:
    shown = choose(at_methods, "Random rounding")
    assert not shown.form.seeds.isHidden()
    choose(at_methods, "Hiding")
    assert shown.form.seeds.isHidden()


def test_the_original_shows_why_cells_are_hidden(at_methods: MainWindow, tried: Settle) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    shown.main_button.click()
    tried()
    table, original = result(at_methods).table, document.original
    assert original is not None and document.release is not None
    table.turn("original")
    assert np.array_equal(table.grid.model.values, original.counts)
    delegate, hidden = table.grid.delegate, document.release.tables[0].hidden
    assert delegate.letters is not None and np.array_equal(delegate.letters != "", hidden)
    assert np.array_equal(delegate.letters == "U", (original.counts > 0) & (original.counts < 3))
    table.turn("published")
    assert delegate.letters is None and not (table.grid.model.values == original.counts)[hidden].any()


def test_unpublished_inner_cells_leave_nothing_on_the_table_page(small: MainWindow, tried: Settle) -> None:
    document = small.document
    document.do(set_method, method="publish_margins")
    document.do(set_parameters, margins="v + w", threshold=1)
    small.go("methods")
    tried()
    small.go("table")
    document.select((0, 1))
    small.go("methods")
    document.do(protect, accept_weak=True)
    tried()
    assert document.release is not None and document.published is None
    document.set_public(True)
    small.go("table")
    table = counts(small)
    assert not any("small" in text for text in texts(table, hidden=False))


def test_the_panel_tells_secondary_cells_from_sensitive_ones(small: MainWindow, tried: Settle) -> None:
    choose(small, "Suppression")
    tried()
    small.document.do(protect, accept="what the gate says is another test's")
    tried()
    small.go("table")
    tried()
    document, shown = small.document, page_of(small, ReleasePage).cell
    assert document.project is not None and document.project.protected is not None
    letters = document.project.protected.record.statuses[0]
    for letter, said in (("U", "by the rule of the run"), ("M", "would give away another one")):
        document.set_public(False)
        row, column = (int(n) for n in np.argwhere(letters == letter)[0])
        document.select((row, column))
        tried()
        assert said in shown.why.text()
        document.set_public(True)
        tried()
        assert not shown.why.text()


def test_what_is_impossible_offers_what_may_be_asked_instead_and_cannot_be_accepted(
    at_methods: MainWindow, tried: Settle
) -> None:
    shown, document = choose(at_methods, "Hiding"), at_methods.document
    tried()
    error = InfeasibleError("no pattern protects every cell")
    error.suggestions = (Suggestion("a lower limit", {"limit": 1}),)
    shown.show_error(error)
    refusal = shown.preview.refusal
    assert refusal.isVisible()
    refusal.remedies["a lower limit"].click()
    assert document.project is not None and dict(document.project.parameters) == {"limit": 1}
    tried()
    assert "a lower limit" not in refusal.remedies


def test_what_a_search_may_cost_stands_at_the_set_up_while_it_is_tried(
    small: MainWindow, settle: Settle, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    go_on, search = Event(), ControlledProgramme.nearest
    cost = "rounding 5 counts in 3 sums, at most 100 nodes"

    def nearest(self: ControlledProgramme, progress: Progress = SILENT) -> Controlled:
        while not go_on.wait(0.01):
            progress.report(cost, 0.0)
        return search(self, progress)

    monkeypatch.setattr(ControlledProgramme, "nearest", nearest)
    shown = choose(small, "Controlled rounding")
    small.document.do(set_parameters, choice="nearest")
    qtbot.waitUntil(lambda: cost in shown.preview.state)
    shown._trial.drop()
    go_on.set()
    settle()
