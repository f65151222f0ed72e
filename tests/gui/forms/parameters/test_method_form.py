"""The form of a method that nobody registered: all of it follows from the parameters."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.parameters import Parameter, Shares, resolve
from tabprotect.engine.protection.methods.random_rounding import PLUGIN
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.forms.parameters.field import LONG, Field
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.languages.translation import ENGLISH, set_language

GAME = Shares(("win", "lose", "draw"), rest="remaining")


def share(name: str, shares: Shares | None) -> Parameter[object]:
    return Parameter(name, name, "A share.", "real", 0.25, low=0.0, high=1.0, shares=shares)


class Made(type(PLUGIN)):  # type: ignore[misc]
    parameters = (
        share("first", GAME),
        share("second", GAME),
        share("alone", Shares(("a", "b", "c"), rest="d")),
        share("plain", None),
        Parameter("rounds", "Rounds", "Whole rounds.", "integer", 1, low=1, high=9),
        Parameter("steps", "Steps", "In all.", "integer", 0, low=0, in_place_of="rounds"),
    )


@pytest.fixture
def form(qtbot: QtBot) -> MethodForm:
    form = MethodForm()
    qtbot.addWidget(form)
    form.show()
    values = {p.name: p.default for p in Made.parameters}
    form.show_method(Made(), values, coins=(None, False), house=True)
    return form


def put(form: MethodForm, name: str, text: str) -> None:
    line = form.fields[name].input
    line.setText(text)  # type: ignore[attr-defined]
    line.textEdited.emit(text)  # type: ignore[attr-defined]


def test_two_linked_shares_are_a_triangle_and_one_alone_is_a_field(form: MethodForm) -> None:
    (editor,) = form.editors
    assert [field.parameter.name for field in editor.fields] == ["first", "second"]
    assert editor.triangle.accessibleName() == "Triangle of first, second and remaining"
    assert editor.rest.text() == "remaining, the rest (draw): 0.50"
    assert all(field.isVisible() for field in form.fields.values())


def test_what_is_typed_keeps_the_shares_together_at_most_one(form: MethodForm) -> None:
    seen: list[dict[str, object]] = []
    form.parameters_set.connect(seen.append)
    put(form, "first", "0.9")
    assert form.fields["second"].value == "0.1"
    assert (form.editors[0].triangle.first, form.editors[0].triangle.second) == (0.9, 0.1)
    put(form, "plain", "1")
    put(form, "first", "much")
    form.flush()
    assert not seen and "number" in form.fields["first"].fault.text()
    put(form, "first", "0.6")
    form.flush()
    assert seen == [{"first": 0.6, "second": 0.1, "plain": 1.0}]


def test_what_replaces_another_parameter_puts_it_back(form: MethodForm) -> None:
    put(form, "rounds", "3")
    put(form, "steps", "20")
    assert form.fields["rounds"].value == "1"
    put(form, "rounds", "2")
    assert form.fields["steps"].value == "0"
    with pytest.raises(ParameterError, match="steps and rounds exclude each other"):
        resolve(Made.parameters, {"rounds": 2, "steps": 20})
    assert resolve(Made.parameters, {"rounds": 1, "steps": 20})["steps"] == 20


def test_a_long_number_that_was_not_touched_stays_as_it_is(form: MethodForm) -> None:
    seen: list[dict[str, object]] = []
    values = {p.name: p.default for p in Made.parameters} | {"plain": 1 / 3}
    form.show_method(Made(), values, coins=(None, False), house=True)
    form.parameters_set.connect(seen.append)
    put(form, "rounds", "4")
    form.flush()
    assert seen == [{"rounds": 4}]


def test_tables_and_levels_are_put_together_by_clicks(qtbot: QtBot) -> None:
    levels = (Level("n1", ("A", "A", "B")),)
    domain = Domain((Variable("geo", ("a", "b", "c"), levels), Variable("the age", ("x", "y"))))
    form = MethodForm()
    qtbot.addWidget(form)
    form.show()
    method = methods()["random_rounding"]
    values = {p.name: p.default for p in method.parameters}
    form.show_method(method, values, coins=(None, False), house=True, domain=domain)
    chips, levels_of = form.fields["margins"].chips, form.fields["groupings"].chips
    assert chips is not None and levels_of is not None
    assert list(chips.names) == ["geo", "geo@n1", "the age"] and list(levels_of.names) == ["geo@n1"]
    assert not chips.add.isEnabled()
    for names in (["geo@n1", "the age"], ["geo"]):
        for name in names:
            chips.names[name].click()
        chips.add.click()
    field = form.fields["margins"]
    assert field.value == "geo@n1*`the age` + geo"
    found = Publication.of(domain, str(field.value)).margins
    wanted = {(), ("geo",), ("geo@n1",), ("the age",), ("geo@n1", "the age")}
    assert set(found) == wanted
    chips.entries[1].click()
    assert field.value == "geo@n1*`the age`"
    # A table of two is one click; a level with its own variable is none.
    chips.pairs._build()
    assert list(chips.pairs.boxes) == [("geo", "the age"), ("geo@n1", "the age")]
    assert [box.isChecked() for box in chips.pairs.boxes.values()] == [False, True]
    chips.pairs.boxes["geo", "the age"].click()
    assert field.value == "geo@n1*`the age` + geo*`the age`"
    chips.pairs.boxes["geo@n1", "the age"].click()
    assert field.value == "geo*`the age`"
    # What is typed, with brackets too, is shown as one entry and may be let go.
    put(form, "margins", "(geo + `the age`)^2")
    assert len(chips.entries) == 1
    chips.entries[0].click()
    assert field.value is None and not chips.entries
    levels_of.names["geo@n1"].click()
    assert form.fields["groupings"].value == "geo@n1"


def test_a_long_plan_is_shown_table_by_table_and_goes_on(qtbot: QtBot) -> None:
    names = [f"variable number {n}" for n in range(6)]
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in names))
    form = MethodForm()
    qtbot.addWidget(form)
    form.show()
    method = methods()["publish_margins"]
    planned = [f"`{a}`*`{b}`" for a, b in pairwise(names)]
    values = {p.name: p.default for p in method.parameters} | {"margins": " + ".join(planned)}
    assert len(str(values["margins"])) > LONG
    form.show_method(method, values, coins=(None, False), house=True, domain=domain)
    field = form.fields["margins"]
    assert field.chips is not None and len(field.chips.entries) == len(planned)
    field.chips.entries[0].click()
    assert field.value == " + ".join(planned[1:])
    # Who works by keys goes on where the entry was.
    assert field.chips.entries[0].accessibleName().startswith("Chosen: variable number 1 ×")
    put(form, "margins", "`variable number 0`:`variable number 1` - 1")
    (entry,) = field.chips.entries
    assert "variable number 0 × variable number 1 without totals" in entry.text()


def test_an_empty_field_says_what_its_default_means(qtbot: QtBot) -> None:
    asked = Parameter("zeros", "Zeros", "Published, or a number.", "text", "published")
    set_language("de")
    field = Field(asked)
    set_language(ENGLISH)
    qtbot.addWidget(field)
    field.show_value("published")
    assert isinstance(field.input, QLineEdit)
    assert (field.input.text(), field.input.placeholderText()) == ("", "veröffentlicht")
    assert field.value == "published"
    field.put("7")
    assert field.value == "7"
