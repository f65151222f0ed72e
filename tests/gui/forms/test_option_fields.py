"""Fields of forms say what the declared options do: names, help, choices and defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from pages_of import page_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.file_preview import preview
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import Options, option_field, option_named, options_of
from tabprotect.engine.project.options import Judging, MagnitudeTabulation, Protecting, Publishing
from tabprotect.engine.sensitivity.magnitude_rules import sensitivity_rules
from tabprotect.engine.sensitivity.rule import ContributorRule
from tabprotect.gui.forms.option_fields import option_choice
from tabprotect.gui.forms.reading.reading_inputs import OneOf, ReadingForm, value_of
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.label import tip
from tabprotect.gui.pages.release.publish_form import PublishForm, SigningForm
from tabprotect.gui.pages.run.page import MethodsPage
from tabprotect.gui.pages.table.rules_bar import RulesBar
from tabprotect.gui.pages.tabulate.measure_columns import MeasureColumns
from tabprotect.gui.pages.tabulate.page import TabulatePage


@dataclass(frozen=True, kw_only=True)
class Baking(Options):
    """Three choices, the second of which is usual."""

    crust: Literal["thin", "usual", "thick"] = option_field(
        "usual",
        label="Crust",
        choices={"thin": "as thin as paper", "usual": "as usual", "thick": ""},
        help="how thick it is",
    )


def data(box: QComboBox) -> list[object]:
    return [box.itemData(row) for row in range(box.count())]


def test_a_box_has_every_choice_with_its_words_and_the_default(qtbot: QtBot) -> None:
    option = option_named(Baking, "crust")
    box = option_choice(option, words={"thin": "thin", "burnt": "no choice of it"})
    qtbot.addWidget(box)
    assert data(box) == ["thin", "usual", "thick"] and box.currentData() == "usual"
    assert [box.itemText(row) for row in range(3)] == ["thin", "as usual", "thick"]
    assert box.itemData(0, Qt.ItemDataRole.ToolTipRole) == "as thin as paper"
    assert box.accessibleName() == "Crust" and box.toolTip() == "<p>How thick it is.</p>"


def test_fields_have_the_choices_the_default_and_the_help_of_their_options(window: MainWindow) -> None:
    measures, rules, publishing, signing = MeasureColumns(), RulesBar(), PublishForm(), SigningForm()
    page = page_of(window, TabulatePage)
    fields: dict[str, tuple[QWidget, type[Options]]] = {
        "weight": (page._weight, MagnitudeTabulation),
        "record_key": (page._key, MagnitudeTabulation),
        "design_weight": (page._design, MagnitudeTabulation),
        "measure": (measures.measure, MagnitudeTabulation),
        **{name: (box, MagnitudeTabulation) for name, box in measures.boxes.items()},
        "weights": (rules.weights, Judging),
        "tune_for": (page_of(window, MethodsPage).tune.use, Protecting),
        "title": (signing.title, Protecting),
        "release": (publishing.release, Publishing),
        "dossier": (publishing.keep, Publishing),
        "prepared_by": (signing.prepared, Publishing),
        "approved_by": (signing.approved, Publishing),
        "accept": (signing.reason, Publishing),
    }
    for name, (field, kind) in fields.items():
        option = option_named(kind, name)
        assert option.label and field.toolTip() == tip(option.sentence), name
        if option.choices is not None:
            assert isinstance(field, QComboBox) and data(field) == list(option.choices), name
            assert field.currentData() == (option.default or next(iter(option.choices))), name


def test_the_form_of_rules_offers_every_registered_one(qtbot: QtBot) -> None:
    bar = RulesBar()
    qtbot.addWidget(bar)
    rules = [rule for rule in sensitivity_rules().values() if isinstance(rule, ContributorRule)]
    assert sorted(data(bar.kind)) == sorted(rule.name for rule in rules)
    for rule in rules:
        bar.kind.setCurrentIndex(bar.kind.findData(rule.name))
        assert bar.typed == rule.examples[0] and rule.says in bar.kind.toolTip()
        assert [not unit.isHidden() for unit in bar._units].count(True) == rule.numbers + rule.coalitions


def test_the_import_sheet_offers_what_the_options_of_reading_do(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "t.csv"
    path.write_text("v,w,count\na,x,1\nb,x,2\n")
    form = ReadingForm()
    qtbot.addWidget(form)
    form.build(preview(path, Reading()), {})
    shown = [option for option in options_of(Reading) if option.name in form.inputs]
    assert len(shown) > 20
    offered: dict[type[QWidget], Callable[..., list[object]]] = {
        QComboBox: lambda box: data(box)[1:],
        OneOf: lambda box: list(box.buttons),
    }
    for option in shown:
        box = form.inputs[option.name]
        assert box.accessibleName() == option.label and box.toolTip() == tip(option.help)
        assert (value_of(box) or None) == (option.default or None), option.name
        assert isinstance(box, QCheckBox) == (option.kind == "flag"), option.name
        if option.offered:
            assert offered[type(box)](box) == list(option.offered), option.name
    assert {option.name for option in shown if option.offered} >= {"form", "missing", "totals", "decimal"}


@pytest.mark.parametrize(
    "name", [option.name for option in options_of(Reading) if option.choices is not None]
)
def test_choices_of_reading_are_the_only_values(name: str) -> None:
    for value in option_named(Reading, name).choices or ():
        assert Reading.of({name: value}).given == {name: value}
    with pytest.raises(InputError, match="cannot be"):
        Reading.of({name: "nonsense"})
