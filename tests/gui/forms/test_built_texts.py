"""Texts with a grammar are written by forms: a method with parameters, a database, a rule."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.forms.parameters.chances_dialogs import ChancesDialog, MatricesDialog
from tabprotect.gui.forms.parameters.configuration_dialog import ConfigurationDialog
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.gui.forms.reading.database_dialog import DatabaseDialog


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    found = QWidget()
    qtbot.addWidget(found)
    return found


def test_a_method_with_its_parameters(parent: QWidget, qtbot: QtBot) -> None:
    dialog = ConfigurationDialog(parent, Domain.of_shape((2, 3)))
    taken: list[str] = []
    dialog.taken.connect(taken.append)
    dialog.method.setCurrentIndex(dialog.method.findData("random_rounding"))
    assert dialog.text() == "random_rounding"
    dialog.form.fields["base"].put("0")
    dialog.take.click()
    assert not taken and dialog.form.fields["base"].fault.text()
    dialog.form.fields["base"].put("7")
    dialog.form.fields["margins"].put("A + B")
    qtbot.mouseClick(dialog.take, Qt.MouseButton.LeftButton)
    assert taken == ["random_rounding base=7 margins='A + B'"]


def test_what_may_follow_another_method(parent: QWidget) -> None:
    dialog = ConfigurationDialog(parent, Domain.of_shape((2, 3)), follows=True)
    assert dialog.method.findData("cyclic_perturbation") < 0
    dialog.method.setCurrentIndex(dialog.method.findData("random_rounding"))
    fields = dialog.form.fields
    assert fields["margins"].isHidden() and not fields["base"].isHidden()


def test_the_place_of_records(parent: QWidget) -> None:
    dialog = DatabaseDialog(parent)
    assert not dialog.take.isEnabled()
    dialog.base.setText("census 2025")
    dialog.table.setText("people")
    assert dialog.text() == "postgresql://localhost/census%202025#people"
    dialog.user.setText("anna")
    dialog.port.setValue(5433)
    dialog.schema.setText("raw")
    assert dialog.text() == "postgresql://anna@localhost:5433/census%202025#raw.people"
    dialog.kind.setCurrentIndex(dialog.kind.findData("duckdb"))
    assert not dialog.take.isEnabled()
    dialog.file.setText("p.duckdb")
    assert dialog.text() == "p.duckdb#people" and dialog.take.isEnabled()
    dialog.kind.setCurrentIndex(dialog.kind.findData("files"))
    dialog.file.setText("people")
    assert dialog.text() == "people/*.parquet"


def test_chances_and_matrices(parent: QWidget) -> None:
    domain = Domain.of_shape((2, 3))
    form = MethodForm()
    form.setParent(parent)
    method = methods()["post_randomisation"]
    given = {p.name: p.default for p in method.parameters}
    form.show_method(method, given, coins=(None, False), house=True, domain=domain)
    form.fields["pstay"].choose.click()
    (chances,) = form.findChildren(ChancesDialog)
    assert chances.text() == "0.8"
    chances.fields["B"].setValue(0.95)
    chances.accept()
    form.fields["matrices"].choose.click()
    (matrices,) = form.findChildren(MatricesDialog)
    assert matrices.text() == "" and "None of its own" in matrices.sums.text()
    matrices.grid.item(0, 0).setText("0,9")
    matrices.accept()
    assert matrices.errors.text and "a1: 0.9" in matrices.sums.text()
    matrices.grid.item(0, 1).setText(".1")
    matrices.accept()
    values = {name: form.fields[name].value for name in ("pstay", "matrices")}
    assert values == {"pstay": "A=0.8, B=0.95", "matrices": "A=[[0.9, 0.1], [0.0, 1.0]]"}
    assert method.resolve(domain, values)


def test_the_rule_of_counts_at_risk(qtbot: QtBot) -> None:
    field = RuleField()
    qtbot.addWidget(field)
    told: list[SmallCount] = []
    field.rule_set.connect(told.append)
    field.show_rule(SmallCount(2, 5))
    assert field.rule == SmallCount(2, 5) and not told
    field.high.setValue(1)
    field.high.editingFinished.emit()
    field.high.editingFinished.emit()
    field.zeros.click()
    assert told == [SmallCount(2, 2), SmallCount(0, 1)] and not field.low.isEnabled()
