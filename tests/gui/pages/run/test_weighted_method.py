"""Design weights on the methods page, through the real window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
from pages_of import result
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.run.page import MethodsPage

Settle = Callable[[], None]


def test_estimates_stand_beside_sums_of_weights(
    window: MainWindow, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    records = tmp_path / "r.csv"
    lines = [f"a{n % 3},b{n % 4},{2.5 + n % 2}" for n in range(120)]
    records.write_text("\n".join(["a,b,w", *lines]) + "\n")
    document = window.document
    given = {"source": str(records), "by": ["a", "b"], "design_weight": "w"}
    document.do(tabulate, **given)
    settle()
    document.do(set_method, method="cell_key")
    window.go("methods")
    settle()
    shown = window.pages["methods"]
    assert isinstance(shown, MethodsPage)
    weighted = cast(QComboBox, shown.form.fields["weighted"].input)
    QTest.keyClick(weighted, Qt.Key.Key_Down)
    assert weighted.currentText() == "yes"
    qtbot.waitUntil(lambda: "ust be stated" in shown.form.fields["weight_low"].fault.text())
    for name, value in (("weight_low", "2"), ("weight_high", "5")):
        QTest.keyClicks(shown.form.fields[name].input, value)
    qtbot.waitUntil(lambda: document.project.parameters.get("weight_high") == 5)  # type: ignore[union-attr]
    settle()
    QTest.keyClick(shown, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: document.release is not None)
    settle()
    project = document.project
    assert project is not None and project.weights is not None and document.release is not None
    truth = project.weights.rounded(project.original.domain).counts
    published = document.release.table.counts
    table = result(window).table
    table.turn("original")
    for row, column in np.ndindex(3, 4):
        original = table.grid.model
        assert original.data(original.index(row, column)) == str(truth[row, column])
    assert truth.min() > project.original.counts.max() and (truth != published).any()
