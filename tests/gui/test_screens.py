"""Every page on small and large screens, in both themes, with what is hardest to fit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fitting import cut, overlapping
from PySide6.QtCore import QPoint, QRect, QThread
from PySide6.QtWidgets import QApplication, QTableView, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.history import History
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import Promised
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.base.background.jobs import Job, Jobs
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.protect.page import ProtectPage

SIZES = ((1024, 700), (1366, 768), (1920, 1080), (960, 540))
"""The last is full HD at 200 %: what counts for a layout are the pixels that it knows."""

SEEN, BESIDE = 6, 3
"""Rows and columns of a table that are in sight at least, and columns beside a panel in a small window."""

TABLES = ("Table of counts", "Result", "Table with the selected cycle")

Question = Callable[[Jobs, str, Callable[[Progress], Any]], Job]


def label(name: str, number: int) -> str:
    return f"{name} {number} {'with a label that goes on and on until it has sixty letters':s}"[:60]


def many_variables() -> Domain:
    return Domain(tuple(Variable(label("Variable", v), ("yes", "no")) for v in range(13)))


def many_categories() -> Domain:
    sizes = {"Occupation of the person": 200, "Region": 12}
    return Domain(tuple(Variable(n, tuple(label(n, c) for c in range(k))) for n, k in sizes.items()))


@pytest.fixture(autouse=True)
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked goes on until it is cancelled: five things run, and nothing is computed."""
    ask: Question = Jobs.question

    def question(jobs: Jobs, words: str, work: Callable[[Progress], Any]) -> Job:
        def wait(progress: Progress) -> None:
            while True:
                progress.report("waiting", 0.3)
                QThread.msleep(5)

        return ask(jobs, words, wait)

    monkeypatch.setattr(Jobs, "question", question)


@pytest.fixture(params=[many_variables, many_categories])
def crowded(request: pytest.FixtureRequest, window: MainWindow, qtbot: QtBot) -> Iterator[MainWindow]:
    """A protected table, with five jobs running."""
    domain = request.param()
    counts = np.random.default_rng(1).poisson(2.0, domain.shape)
    table = Table.dense(domain, counts)
    method = methods()["random_rounding"]
    inner = ":".join(f"`{name}`" for name in domain.names)
    given = {"margins": f"{inner} - 1"}
    protected = method.run(Problem(table, SmallCount(1, 2)), given, Randomness.seeded(1))
    project = Project(
        table=table,
        placement=Placement.of(domain),
        method="random_rounding",
        parameters=given,
        protected=protected,
    )
    window.document.take(History(project))
    window.document.saved = window.document.project
    for number in range(5):
        window.document.jobs.question(f"a long piece of work, number {number}", lambda _: None)
    # What is done at once does not flash by.
    qtbot.waitUntil(window.strip.jobs.isVisible)
    yield window
    window.document.jobs.cancel_all()


def settled(window: MainWindow) -> None:
    for _ in range(3):
        QApplication.processEvents()


def box(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def in_sight(widget: QWidget, window: QWidget) -> bool:
    """Whether all of a widget is visible within whatever scrolls around it."""
    area = box(widget, window)
    parent = widget.parentWidget()
    while parent is not None and parent is not window:
        area = area & box(parent, window)
        parent = parent.parentWidget()
    return widget.isVisible() and (area & window.rect()).size() == widget.size()


def whole_lines(view: QTableView) -> tuple[int, int]:
    """Rows and columns that are in sight whole, and how many there are if these are fewer."""
    found = []
    for down, header in ((True, view.verticalHeader()), (False, view.horizontalHeader())):
        room = view.viewport().height() if down else view.viewport().width()
        ends = [
            (header.sectionViewportPosition(n), header.sectionSize(n)) for n in range(min(header.count(), 60))
        ]
        found.append(sum(1 for begin, size in ends if begin >= 0 and begin + size <= room))
    return found[0], found[1]


def tables(page: QWidget) -> list[QTableView]:
    """The tables of counts of a page."""
    return [
        view for view in page.findChildren(QTableView) if view.isVisible() and view.accessibleName() in TABLES
    ]


def faults_of(window: MainWindow, size: tuple[int, int]) -> list[str]:
    """What of the page in front does not fit."""
    faults, page, strip = [], window.page, window.strip
    settled(window)
    if (window.width(), window.height()) != size:
        faults.append(f"the window is {window.size()}")
    if not (in_sight(strip, window) and in_sight(strip._word, window)):
        faults.append("the strip is cut")
    if not strip.jobs.isVisible() or not in_sight(strip.jobs, window):
        faults.append("the jobs' button is cut")
    if page.main_button.isVisible() and not in_sight(page.main_button, window):
        faults.append("the main action is out of sight")
    for view in tables(page):
        rows, columns = whole_lines(view)
        model = view.model()
        wanted = BESIDE if window.beside.isVisible() and size[0] < 1366 else SEEN
        if rows < min(SEEN, model.rowCount()) or columns < min(wanted, model.columnCount()):
            faults.append(f"{rows} x {columns} of {view.accessibleName()}")
    beyond = window.area.horizontalScrollBar().maximum()
    if beyond > 0:
        faults.append(f"{beyond} pixels beyond the right edge")
    return faults + overlapping(window) + cut(window)


def seen(window: MainWindow, names: Iterable[str]) -> list[str]:
    """What does not fit of pages, at all sizes in both themes, once in all their tabs."""
    faults = []
    for mode in ("light", "dark"):
        THEME.apply(mode=mode)
        for size in SIZES:
            window.resize(*size)
            for name in names:
                window.go(name)
                page = window.page
                assert page.name == name
                if isinstance(page, ProtectPage):
                    page.document.trying._tried(some_trials(page.document.project.domain))  # type: ignore[union-attr]
                where = f"{name} at {size[0]} x {size[1]}, {mode}"
                picture(window, f"{name}-{size[0]}-{mode}")
                faults += [f"{where}: {fault}" for fault in faults_of(window, size)]
                hardest = size == min(SIZES) and mode == "dark"
                for tabs in page.findChildren(QTabWidget) if hardest else ():
                    for number in range(tabs.count()) if tabs.isVisible() else ():
                        tabs.setCurrentIndex(number)
                        there = f"{where}, tab {number + 1}"
                        faults += [f"{there}: {fault}" for fault in faults_of(window, size)]
                    tabs.setCurrentIndex(0)
    return faults


def picture(window: MainWindow, name: str) -> None:
    """Keep a picture, where a folder for them is named."""
    if folder := os.environ.get("SCREENS"):
        settled(window)
        domain = window.document.project.domain  # type: ignore[union-attr]
        window.grab().save(f"{folder}/{domain.ndim}-{name}.png")


def test_nothing_essential_leaves_any_screen(crowded: MainWindow) -> None:
    names = [name for name in crowded.pages if not crowded.pages.why_not(name)]
    faults = seen(crowded, names)
    assert not faults, "\n".join(faults)


def test_nor_do_the_steps_of_cyclic_perturbation(crowded: MainWindow) -> None:
    project = crowded.document.project
    assert project is not None
    domain = project.domain
    corner, last = [1, -1, -1, 1], domain.shape[-1]
    moves = MoveSet.of(
        *(domain, [0, 4], [0, 1, last, last + 1], corner), margins=tuple((name,) for name in domain.names)
    )
    cyclic = replace(project, method="cyclic_perturbation", parameters={}, protected=None, moves=moves)
    crowded.document.take(History(cyclic))
    crowded.document.saved = crowded.document.project
    faults = seen(crowded, ("cycles", "perturb"))
    assert not faults, "\n".join(faults)


def some_trials(domain: Domain) -> tuple[MethodTrial, ...]:
    """As many as there are methods, with long reasons."""
    nothing = Promised(frozenset(), None)
    return tuple(
        MethodTrial(name, {}, "", nothing, 0.4, True, 100, 1.5, 1.5, 3, domain.size)
        if number % 3
        else MethodTrial(name, fault="this table cannot be protected so, for many good reasons")
        for number, name in enumerate(methods())
    )
