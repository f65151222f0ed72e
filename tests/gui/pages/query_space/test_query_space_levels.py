"""The query-space page on variables with levels: drawn, focused, planned, listed, exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.query_space.page import QuerySpacePage
from tabprotect.gui.pages.query_space.query_space_files import nodes_text

Settle = Callable[[], None]


@pytest.fixture
def page(window: MainWindow, settle: Settle, tmp_path: Path) -> QuerySpacePage:
    geo = Variable("region", ("n1", "n2", "s1", "s2"), (Level("land", ("n", "n", "s", "s")),))
    domain = Domain((geo, Variable("age", ("y", "o")), Variable("sex", ("f", "m"))))
    counts = np.random.default_rng(3).poisson(6, domain.shape)
    counts[0, 0, 0] = 1
    storage.save(History.of(Table.dense(domain, counts)), tmp_path / "t.tabprotect")
    window.files.open(str(tmp_path / "t.tabprotect"))
    settle()
    window.go("query_space")
    settle()
    found = window.pages["query_space"]
    assert isinstance(found, QuerySpacePage)
    return found


def test_levels_are_drawn_focused_and_planned(
    page: QuerySpacePage, window: MainWindow, settle: Settle
) -> None:
    regions = page.space.regions
    assert regions is not None
    lattice, letters = regions.letters.lattice, regions.letters
    assert letters.letters == ("A\u2081", "A", "B", "C")
    assert len(regions.every) == 3 * 2 * 2 == len(regions.status)
    assert regions.by_dimension.sum(axis=0).tolist() == [1, 4, 5, 2]
    wanted = lattice.query(["region@land", "sex"])
    page.space.set_focus(wanted)
    settle()
    found = page.space.foresight()
    assert found is not None and found.query == wanted
    state = regions.state
    gained = {q for q, new in zip(regions.every.tolist(), found.newly_released, strict=True) if new}
    assert gained == {q for q in regions.every.tolist() if q and q & wanted == q and q not in state.released}
    page.main_action()
    settle()
    project = window.document.project
    assert project is not None and project.plan.margins == (("region@land", "sex"),)
    rows = nodes_text(page.space.regions).splitlines() if page.space.regions else []
    assert len(rows) == 13
    assert any(row.startswith('"region@land,sex",2,released,1') for row in rows)
    for tab in range(page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        settle()
