"""Groups, in the house and in a reader's window: as all originals say, the closest first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pages_of import beliefs
from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.engine.project.verbs.table_verbs import open_table, set_roles
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.groups_panel import GroupsPanel

LEAST = 3
"""People from which on a group counts where counts of 1 and 2 are small."""


def asked(window: MainWindow, qtbot: QtBot) -> GroupsPanel:
    page = beliefs(window)
    page.tabs.setCurrentWidget(page.groups)
    qtbot.waitUntil(lambda: page.groups.table.model().rowCount() > 0)
    assert not unnamed(page.groups)
    return page.groups


def rows(panel: GroupsPanel) -> list[list[str]]:
    model = panel.table.model()
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


@pytest.fixture
def sparse(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> MainWindow:
    """A table with empty cells, protected by a reader's rule that lists all originals."""
    counts = [[6, 1, 0], [0, 5, 1], [2, 0, 4]]
    lines = [f"g{i},c{j},{n}" for i, row in enumerate(counts) for j, n in enumerate(row)]
    (tmp_path / "sparse.csv").write_text("\n".join(["g,c,count", *lines]))
    document = opened.document
    document.run(open_table(source=str(tmp_path / "sparse.csv")))
    qtbot.waitUntil(lambda: not document.jobs.running)
    document.do(protect, seed=7, accept_weak=True)
    document.do(set_roles, sensitive=["c"])
    document.do(protect, seed=7, accept_weak=True)
    qtbot.waitUntil(lambda: not document.jobs.running)
    opened.go("check")
    qtbot.waitUntil(lambda: not document.jobs.running)
    return opened


def test_groups_are_as_all_originals_say(sparse: MainWindow, qtbot: QtBot) -> None:
    panel = asked(sparse, qtbot)
    posterior = sparse.document.known_posterior("user")
    assert posterior is not None
    listed = posterior.list_originals()
    assert listed is not None
    tables, weights = listed[0].reshape(-1, 3, 3), listed[1]
    people = tables.sum(axis=2)
    whole = (tables == people[:, :, None]) & (people >= LEAST)[:, :, None]
    chance = np.tensordot(weights, whole, 1).max(axis=1)
    assert chance.max() > 0.01
    found = panel._asking.answer
    assert found is not None and np.allclose(found.whole.max(axis=1), chance)
    closest = int(chance.argmax())
    assert f"of 3 groups give themselves away. Closest: g{closest}: a reader is " in panel.sentence.text()
    # Published and true people, of the category and of the group.
    told, true = rows(panel), sparse.document.project
    assert true is not None and true.table is not None
    group, category, *shares, _ = told[0]
    at = int(category[1:])
    assert len(told) == 3 and group == f"g{closest}"
    for row in told:
        of = found.whole[int(row[0][1:])]
        assert of[int(row[1][1:])] == of.max()
    # Where no category could be shared the one that most have is told: the second and the third here.
    assert {row[0]: row[1] for row in told if row[0] != group}.items() <= {
        ("g0", "c0"),
        ("g1", "c1"),
        ("g2", "c2"),
    }
    for counts, said in zip((posterior.published.counts, true.table.counts), shares, strict=True):
        assert said == f"{counts[closest][at]} of {counts[closest].sum()}"
    # A row leads to its cell.
    panel.chosen.emit(panel._cells[0])
    assert sparse.document.selection == (closest, at)
    assert [panel.wanted.itemText(n) for n in range(panel.wanted.count())] == ["c"]


def test_a_reader_sees_the_published_people_alone(reader: MainWindow, qtbot: QtBot) -> None:
    panel = asked(reader, qtbot)
    assert panel.wanted.count() == 2 and {len(row) for row in rows(panel)} == {4}
    assert "Each is sure to hold several categories." in panel.sentence.text()


def test_all_people_of_one_variable_are_one_group(opened: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "one.csv").write_text("c,count\nc0,0\nc1,5\nc2,1\n")
    document = opened.document
    document.run(open_table(source=str(tmp_path / "one.csv")))
    qtbot.waitUntil(lambda: not document.jobs.running)
    document.do(set_method, method="random_rounding")
    document.do(protect, seed=7)
    qtbot.waitUntil(lambda: not document.jobs.running)
    opened.go("check")
    panel = asked(opened, qtbot)
    assert len(rows(panel)) == 1 and "of 1 groups give" in panel.sentence.text()
