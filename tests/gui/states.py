"""The states of the window, one after another, as people come to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from pages_of import page_of
from PySide6.QtWidgets import QTabWidget, QWidget

from tabprotect.engine.disclosure.choosing.method_trials import MethodTrial
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.cycle_verbs import flip_cycle_cell
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.requirements import Promised
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.reading.import_sheet import ImportSheet
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.palette import Palette
from tabprotect.gui.frame.settings_dialog import SettingsDialog
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]

State = tuple[str, QWidget]
"""A state's name, and the window or dialog that is in front."""

TITLE = "Enterprises by activity, size class and region"


def survey(folder: Path, *, signs: bool = False) -> Path:
    """A file as agencies have them: title line, long names, totals, and signs in place of counts."""
    activities = ("A Agriculture", "B Mining", "C Manufacturing", "F Construction", "G Trade")
    regions = ("North", "South", "East", "West", "Islands")
    draw = np.random.default_rng(3)
    chances = [0.1, 0.1, 0.2, 0.1, 0.2, 0.1, 0.1, 0.1]
    counts = draw.choice([1, 2, 3, 8, 38, 120, 1450, 2400], (5, 3, 5), p=chances)
    lines = [TITLE + ";;;", "Activity;Size class;Region;Enterprises"]
    names = (activities, ("1-9", "10-49", "50+"), regions)
    full = counts
    for axis in range(3):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    for index in np.ndindex(full.shape):
        said = [(*own, "Total")[n] for own, n in zip(names, index, strict=True)]
        sign = {(0, 0, 1): ":", (1, 1, 1): ".."}.get(index) if signs else None
        lines.append(";".join((*said, sign or str(full[index]))))
    path = folder / ("signs.csv" if signs else "enterprises.csv")
    path.write_text("\n".join(lines) + "\n")
    return path


def some_trials(domain: Domain) -> tuple[MethodTrial, ...]:
    """As many as there are methods, with long reasons."""
    nothing = Promised(frozenset(), None)
    return tuple(
        MethodTrial(name, {}, "", nothing, 0.4, True, 100, 1.5, 1.5, 3, domain.size)
        if number % 3
        else MethodTrial(name, fault="this table cannot be protected so, for many good reasons")
        for number, name in enumerate(methods())
    )


def tabs(window: MainWindow, settle: Settle) -> Iterator[State]:
    """All tabs of the page in front, one after another."""
    page = window.page
    shown = [t for t in page.findChildren(QTabWidget) if t.isVisible()]
    if not shown:
        yield page.name, window
    for one in shown:
        for number in range(one.count()):
            if not one.isTabEnabled(number):
                continue
            one.setCurrentIndex(number)
            settle()
            yield f"{page.name}-{number + 1}", window
        one.setCurrentIndex(0)


def states_of_counts(window: MainWindow, settle: Settle, folder: Path) -> Iterator[State]:
    """From the start page to a release that has left."""
    document = window.document

    def project() -> Project:
        assert document.project is not None
        return document.project

    yield "start", window
    window.go("tabulate")
    yield "tabulate", window
    window.files.open(str(survey(folder, signs=True)))
    settle()
    sheet = next((s for s in window.findChildren(ImportSheet) if s.isVisible()), None)
    yield "asked", sheet or window
    if sheet is not None:
        sheet.reject()
    document.run(open_table(source=str(survey(folder)), strip_totals=True))
    settle()
    window.go("table")
    document.trying._tried(some_trials(project().domain))
    settle()
    yield "opened", window
    for name in ("protect", "requirements", "perturb", "variables", "compare", "cycles"):
        window.go(name)
        settle()
        document.trying._tried(some_trials(project().domain))
        settle()
        yield name, window
    document.do(flip_cycle_cell, cycle=0, index=(2, 1, 2), sign=1)
    settle()
    yield "cycles-broken", window
    document.undo()
    document.do(set_method, method="cell_key")
    window.go("methods")
    settle()
    yield "methods", window
    document.undo()
    settle()
    window.go("query_space")
    settle()
    yield from tabs(window, settle)
    palette = Palette(window, window.actions_.menus.values())
    palette.open()
    yield "palette", palette
    palette.close()
    settings = SettingsDialog(window)
    settings.open()
    yield "settings", settings
    settings.close()
    window.actions_["help_page"].trigger()
    yield "help", window
    window.go("table")
    document.run(protect(seed=7, accept_weak=True))
    settle()
    window.go("table")
    settle()
    yield "decided", window
    window.go("release")
    settle()
    yield "lines", window
    gate = page_of(window, ReleasePage)
    gate.show_face("files")
    settle()
    yield "files", window
    gate.show_face("gate")
    window.go("check")
    settle()
    yield from tabs(window, settle)
    window.go("attack")
    settle()
    yield "attack", window
    window.go("table")
    settle()
    gate.signing.reason.setText("a trial, and what it is for")
    gate.form.set_destination(folder / "release.zip", folder / "dossier.zip")
    settle()
    if gate.main_button.isEnabled():
        gate.main_button.click()
        settle()
    if gate._question is not None:
        yield "publish", gate._question
        gate._question.publish.click()
        settle()
        yield "published", window
    window.go("register")
    settle()
    yield "register", window


def states_of_amounts(window: MainWindow, settle: Settle, file: Path) -> Iterator[State]:
    """The same for sums of firms."""
    document = window.document
    window.files.open(str(file))
    settle()
    yield "amounts-no-rule", window
    document.do(set_rules, rules=["p=10"])
    settle()
    yield "amounts", window
    for name in ("protect", "methods", "compare"):
        window.go(name)
        settle()
        yield f"amounts-{name}", window
    window.go("table")
    document.run(protect())
    settle()
    yield "amounts-decided", window
    for name in ("release", "check"):
        window.go(name)
        settle()
        yield f"amounts-{name}", window
