"""A form made from declared parameters: a field each, a triangle where two are shares of one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.parameters import Parameter, Shares, Values
from tabprotect.engine.protection.method import Method
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.parameters.field import Field
from tabprotect.gui.forms.parameters.share_editor import ShareEditor
from tabprotect.gui.look.buttons import ScrollsDown, connected, emptied, named, push_button, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

REST = 600
"""Milliseconds after the last key before what was typed becomes a step of the history."""


class MethodForm(ScrollsDown):
    """The parameters of one method. ``parameters_set`` carries what was changed.

    ``setting_asked`` names a field that holds a method with its parameters, to be put together.
    """

    parameters_set = Signal(object)
    seed_set = Signal(object, bool)
    wrong = Signal(object)
    cycles_asked = Signal()
    setting_asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Parameters"))
        # Tab goes to the fields, which scroll into sight.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.fields: dict[str, Field] = {}
        self.editors: list[ShareEditor] = []
        self._method: Method | None = None
        self._shown: dict[str, object] = {}
        self._rest = connected(QTimer(self, singleShot=True, interval=REST), timeout=self.flush)
        self._touched = False
        self._inner = QWidget()
        self.setWidget(self._inner)
        self._column = in_column(on=self._inner, margins=(0, 0, GRID, 0), spacing=GRID)
        self._none = Label(message("This method has no parameters."), role="quiet")
        self._rows = in_column(spacing=GRID)
        self._detailed = in_column(spacing=GRID)
        self.details = connected(
            tool_button(message("More about the cycles"), checkable=True, focus=Qt.FocusPolicy.StrongFocus),
            toggled=self._unfold,
        )
        self.explained = connected(
            push_button(message("What each means"), flat=True), toggled=lambda _: self._explain()
        )
        self.explained.setCheckable(True)
        self.seeds = connected(SeedChooser(), seed_set=self.seed_set, wrong=self.wrong)
        rows = (self._rows, self.details, self._detailed, self.seeds)
        filled(self._column, self._none, (self.explained, 0, Qt.AlignmentFlag.AlignLeft), *rows, 1)

    def _explain(self) -> None:
        for field in self.fields.values():
            field.help.setVisible(self.explained.isChecked())

    def show_method(
        self,
        method: Method,
        values: Mapping[str, object],
        *,
        coins: tuple[int | None, bool] | None = None,
        house: bool,
        domain: Domain | None = None,
    ) -> None:
        """Show a method's values; outside the house they can only be read.

        Parameters
        ----------
        coins
            The seed, and whether coins are fresh; ``None`` where neither can be chosen.
        domain
            Its variables and levels can be chosen where tables are named.
        """
        self._rest.stop()
        self._touched = False
        self.prepare(method)
        self._shown = {}
        for name, field in self.fields.items():
            value, known = values.get(name, field.parameter.default), field.parameter.choices
            if value is not None and known is not None and value not in known and "column" in known:
                # A column by its name.
                value = "column"
            self._shown[name] = value
            field.show_value(value)
            field.setEnabled(house)
            if domain is not None:
                field.offer(domain)
        self._unfold(self.details.isChecked())
        for editor in self.editors:
            editor.show_shares()
            editor.triangle.setEnabled(house)
        if coins is not None:
            self.seeds.show_seed(*coins)
            house = house and (coins[0] is not None or _is_random(method, values))
        self.seeds.setVisible(house and coins is not None)

    def prepare(self, method: Method) -> None:
        """Make the fields of a method, unless they are there."""
        if method is not self._method:
            self._build(method)

    def _build(self, method: Method) -> None:
        emptied(self._rows)
        emptied(self._detailed)
        self._method, self.fields, self.editors = method, {}, []
        self.verticalScrollBar().setValue(0)
        single: dict[Shares, Field] = {}
        detailed: list[Field] = []
        for parameter in method.every_parameter:
            if parameter.kind == "cycles":
                self._rows.addWidget(self._cycles())
                continue
            field = self.fields[parameter.name] = Field(parameter)
            connected(
                field,
                changed=partial(self._give_way, parameter),
                setting_asked=partial(self.setting_asked.emit, parameter.name),
            )
            if parameter.of:
                detailed.append(field)
            elif parameter.shares is None:
                self._add(field)
            elif parameter.shares in single:
                self.editors.append(ShareEditor(single.pop(parameter.shares), field))
                self._add(self.editors[-1])
            else:
                single[parameter.shares] = field
        for field in single.values():
            self._add(field)
        for field in detailed:
            self._add(field, self._detailed)
        self.details.setVisible(bool(detailed))
        self.details.setChecked(False)
        self._unfold(False)
        self._none.setVisible(not method.every_parameter)
        self.explained.setVisible(bool(self.fields))
        self._explain()

    def _add(self, row: Field | ShareEditor, to: QVBoxLayout | None = None) -> None:
        row.changed.connect(self._changed)
        (self._rows if to is None else to).addWidget(row)

    def _unfold(self, wanted: bool) -> None:
        """Show what is seldom set, or only what of it is."""
        for field in self.fields.values():
            if field.parameter.of:
                set_now = not field.holds(field.parameter.default) or bool(field.fault.text())
                field.setVisible(wanted or set_now)

    def _give_way(self, parameter: Parameter[object]) -> None:
        """Reset what is excluded by what was set to its default."""
        if self.fields[parameter.name].holds(parameter.default):
            return
        for name, field in self.fields.items():
            if parameter.name == field.parameter.in_place_of or parameter.in_place_of == name:
                field.show_value(field.parameter.default)

    def _cycles(self) -> QWidget:
        return tool_button(
            message("Look at the cycles"),
            lambda: self.cycles_asked.emit(),
            name=message("Go to the cycle set"),
            focus=Qt.FocusPolicy.StrongFocus,
        )

    def flush(self) -> None:
        """Hand over what was changed and not yet said."""
        self._rest.stop()
        if not self._touched:
            return
        self._touched = False
        given: dict[str, object] = {}
        faults: dict[str, str] = {}
        for name, field in self.fields.items():
            if field.holds(self._shown.get(name)):
                continue
            try:
                value = field.parameter.check(field.value)
            except ValueError as error:
                faults[name] = str(error)
                continue
            given[name] = value
        self.show_faults(faults)
        if given and not faults:
            self.parameters_set.emit(given)

    def show_faults(self, faults: Mapping[str, str]) -> None:
        """Mark wrong fields, each with its reason; the others are cleared."""
        for name, field in self.fields.items():
            field.show_fault(faults.get(name, ""))
        self._unfold(self.details.isChecked())
        wrong = next((field for name, field in self.fields.items() if name in faults), None)
        if wrong is not None:
            # Laid out only later, with its fault below it.
            QTimer.singleShot(0, wrong, lambda: self.ensureWidgetVisible(wrong, 0, 0))

    def show_error(self, error: ParameterError) -> bool:
        """Mark the fields an error names; whether there is one of them here."""
        self.show_faults(error.fields)
        return any(name in self.fields for name in error.fields)

    def _changed(self) -> None:
        self._touched = True
        self._rest.start()


def _is_random(method: Method, values: Mapping[str, object]) -> bool:
    try:
        return method.is_random(Values(values))
    except TabprotectError:
        # A value that is wrong is said where it stands; until then nobody knows.
        return True


WARNING = message(
    "Who knows the seed can replay the run and read the original back from the published table. "
    "It goes into the dossier, never into the release."
)


class SeedChooser(QWidget):
    """``seed_set`` carries a seed or ``None``, and whether coins are fresh; ``wrong`` an error."""

    seed_set = Signal(object, bool)
    wrong = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._showing = False
        self._shown: tuple[int | None, bool] = (None, False)
        title = Label(message("Randomness"), role="section")
        self.house = QRadioButton(tr("the house's (the default): the same each time"))
        self.fresh = QRadioButton(tr("fresh, from the operating system"))
        self.given = QRadioButton(tr("a given seed:"))
        self.seed = named(
            QLineEdit(placeholderText=tr("whole number")), message("Seed"), editingFinished=self._typed
        )
        self.seed.setMaximumWidth(22 * GRID)
        group = QButtonGroup(self)
        group.addButton(self.house)
        group.addButton(self.fresh)
        group.addButton(self.given)
        self.warning = Label(WARNING, wordWrap=True, role="quiet")
        self.warning.setContentsMargins(3 * GRID, 0, 0, 0)
        self.house.clicked.connect(lambda: self._choose(None))
        self.fresh.clicked.connect(lambda: self._choose(None, fresh=True))
        self.given.clicked.connect(self._ask)
        row = in_row(self.given, (self.seed, 1), spacing=GRID)
        in_column(title, self.house, self.fresh, row, self.warning, on=self, margins=0, spacing=GRID // 2)

    def show_seed(self, seed: int | None, fresh: bool = False) -> None:
        """Show where the coins come from."""
        self._showing = True
        self._shown = (seed, fresh)
        kept = self.fresh if fresh else self.house
        (kept if seed is None else self.given).setChecked(True)
        self.seed.setText(translate("" if seed is None else str(seed)))
        set_visible(seed is not None, self.seed, self.warning)
        self._showing = False

    def _ask(self) -> None:
        set_visible(True, self.seed, self.warning)
        self.seed.setFocus()

    def _choose(self, seed: int | None, *, fresh: bool = False) -> None:
        # Leaving the field repeats what was typed; only another choice is a step.
        if not self._showing and (seed, fresh) != self._shown:
            self.seed_set.emit(seed, fresh)

    def _typed(self) -> None:
        text = self.seed.text().strip()
        if self._showing or not text:
            return
        if not text.isdecimal():
            self.wrong.emit(
                ParameterError(
                    {"seed": message("must be a whole number of at least 0, is {text}", repr(text))},
                    hint=message("type digits, or take the house's coins"),
                )
            )
            return
        self.given.setChecked(True)
        self._choose(int(text))
