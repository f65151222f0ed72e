"""The left side of the compare page: which settings are compared, how often, and by what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCompleter,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QWidget,
)

from tabprotect.engine.assessment.comparing.run_spec import Scope
from tabprotect.engine.errors import InputError, ParameterError, TabprotectError
from tabprotect.engine.options import option_named
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.compare_verbs import MOST_RUNS, comparison_of, set_comparison
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.option_fields import asks_for, option_choice
from tabprotect.gui.forms.parameters.configuration_dialog import ask_configuration
from tabprotect.gui.forms.parameters.field import CHOSEN
from tabprotect.gui.forms.parameters.name_chips import NameChips
from tabprotect.gui.forms.parameters.share_editor import OPEN
from tabprotect.gui.look.buttons import connected, emptied, named, offer, push_button, silent, tool_button
from tabprotect.gui.look.label import Label, heading, tip
from tabprotect.gui.look.layouts import held, in_column, in_grid, in_row, set_enabled
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.compare.words import names as short_names
from tabprotect.gui.pages.compare.words import titles
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.messages import capital, joined, message, plural
from tabprotect.languages.translation import tr, translate

HINT = "cell_key D=5,8 V=3"

MARGINS, KEY, SENSITIVE = (option_named(Scope, name) for name in ("margins", "key", "sensitive"))


def completions(text: str) -> list[str]:
    """Texts that a run specification may go on to, the whole line each."""
    name, space, rest = text.lstrip().partition(" ")
    if not space:
        return [message("{method} ", method) for method in methods()]
    if name not in methods():
        return []
    method = methods()[name]
    before, _, word = rest.rpartition(" ")
    head = message("{name} {before} ", name, before) if before else message("{name} ", name)
    given = {part.partition("=")[0] for part in before.split()}
    parameter, equals, _ = word.partition("=")
    if not equals:
        return [f"{head}{p.name}=" for p in method.parameters if p.name not in given]
    if (declared := next((p for p in method.parameters if p.name == parameter), None)) is None:
        return []
    values: list[str] = []
    if declared.kind == "choice":
        values = list(declared.choices or ())
    elif declared.kind == "flag":
        values = ["true", "false"]
    elif declared.kind in ("real", "integer") and declared.default is not None:
        values = [f"{declared.default:g}"]
    return [f"{head}{parameter}={value}" for value in values]


def examine(text: str, domain: Domain) -> tuple[int, str]:
    """Return how many settings a text makes, and what is wrong with it (empty: nothing)."""
    from tabprotect.engine.assessment.comparing.run_spec import parse_spec

    try:
        specs = parse_spec(text)
        for spec in specs:
            try:
                methods()[spec.method].resolve(domain, spec.given)
            except InputError as error:
                if isinstance(error, ParameterError):
                    raise
        return len(specs), ""
    except ParameterError as error:
        return 0, joined((message("{name} {why}", name, why) for name, why in error.fields.items()), "; ")
    except TabprotectError as error:
        return 0, str(error)


def _compared(runs: Iterable[str]) -> Order:
    """The command that compares these settings, each once."""
    return set_comparison(runs=list(dict.fromkeys(runs)))


class RunsPanel(QWidget):
    """``changed`` carries a command, ``chosen`` a setting's number."""

    changed = Signal(object)
    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[str, ...] = ()
        self._in_force: Sequence[Mapping[str, object]] = ()
        self._domain: Domain | None = None
        self._keys: tuple[str, ...] = ()
        self.list = named(QListWidget(), message("Settings to compare"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMinimumSize(22 * GRID, 8 * GRID)
        self.list.currentRowChanged.connect(self._went)
        connected(
            QShortcut(
                QKeySequence(QKeySequence.StandardKey.Delete),
                self.list,
                context=Qt.ShortcutContext.WidgetShortcut,
            ),
            activated=self.remove,
        )
        self._model = QStringListModel()
        self.text = named(
            QLineEdit(placeholderText=translate(HINT)),
            message("A method with its parameters; a list makes a run of each"),
            textEdited=lambda text: self._model.setStringList(completions(text)),
            textChanged=lambda _: self._check(),
            returnPressed=self.add,
        )
        self.text.setCompleter(
            QCompleter(self._model, self, caseSensitivity=Qt.CaseSensitivity.CaseInsensitive)
        )
        self.add_button = push_button(message("Add"), self.add, name=message("Add the setting"))
        self.verdict = Label(wordWrap=True, name=message("What the setting makes"))
        self.verdict.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.build_button = push_button(message("Add a method\u2026"), self._ask_method)
        self.remove_button = push_button(
            message("Remove"), self.remove, name=message("Remove the setting"), flat=True
        )
        self.clear_button = push_button(
            message("Clear"),
            lambda: self.changed.emit(set_comparison(runs=[])),
            name=message("Remove all settings"),
            flat=True,
        )
        self._ask_how()
        self.levers = connected(Levers(), turned=self._turned)
        self.more = tool_button(
            message("More"),
            checkable=True,
            name=message("Show what is compared as it is written"),
            focus=Qt.FocusPolicy.StrongFocus,
        )
        self._arrange()
        self.more.toggled.connect(self._details.setVisible)
        self._details.hide()
        THEME.follow(self, RunsPanel._check)

    def _ask_how(self) -> None:
        """Ask how often each is run, what is published of it, and what an intruder knows and wants."""
        self.number = named(QSpinBox(minimum=1, maximum=MOST_RUNS, value=20), message("Runs of each setting"))
        self.number.setKeyboardTracking(False)
        self.number.valueChanged.connect(lambda n: self.changed.emit(set_comparison(runs_per_method=n)))
        self.margins = connected(
            asks_for(QLineEdit(), MARGINS), editingFinished=lambda: self._edited("margins", self.margins)
        )
        self.margin_chips = connected(
            NameChips(*CHOSEN["formula"]),
            changed=lambda text: self.changed.emit(set_comparison(margins=text)),
        )
        self.key_chips = NameChips("", ",", quoted=False)
        self.key_chips.changed.connect(
            lambda text: self.changed.emit(set_comparison(key=[n for n in text.split(",") if n]))
        )
        self.key = connected(
            asks_for(QLineEdit(), KEY), editingFinished=lambda: self._edited("key", self.key)
        )
        self.sensitive = option_choice(SENSITIVE, wide=0)
        self.sensitive.activated.connect(
            lambda _: self.changed.emit(set_comparison(sensitive=self.sensitive.currentData()))
        )

    def _arrange(self) -> None:
        adding = in_row((self.text, 1), self.add_button, spacing=GRID)
        first = in_row(self.build_button, 1, self.more)
        removing = in_row(self.remove_button, self.clear_button, 1)
        form = QFormLayout(
            verticalSpacing=GRID,
            horizontalSpacing=GRID,
            rowWrapPolicy=QFormLayout.RowWrapPolicy.DontWrapRows,
            fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow,
        )
        for words, field in (
            (message("Runs of each"), self.number),
            (MARGINS.label, self.margins),
            ("", self.margin_chips),
            (KEY.label, self.key),
            ("", self.key_chips),
            (SENSITIVE.label, self.sensitive),
        ):
            form.addRow(Label(words, buddy=field), field)
        column = in_column(
            heading(message("Compared")),
            (self.list, 1),
            removing,
            self.levers,
            first,
            on=self,
            margins=0,
            spacing=GRID,
        )
        self._details = held(in_column(adding, self.verdict, form, margins=0, spacing=GRID))
        column.addWidget(self._details)

    # -- showing ------------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """Forget everything: the public view, or no table."""
        self._runs, self._domain, self._keys, self._in_force = (), None, (), ()
        for chips in (self.margin_chips, self.key_chips):
            chips.show_text("")
            chips.offer([])
        self.levers.show_run("", {})
        self.build_button.setEnabled(False)
        for widget in (self.list, self.text, self.margins, self.key, self.sensitive):
            with silent(widget):
                widget.clear()
        self.margins.setPlaceholderText("")
        self.key.setPlaceholderText("")
        self._model.setStringList([])
        self.verdict.clear()

    def show_plan(
        self,
        project: Project,
        looks: Mapping[str, SeriesLook],
        failed: Mapping[int, str],
        in_force: Sequence[Mapping[str, object]],
    ) -> None:
        """Show a project's comparison; ``failed`` says which settings did, and why.

        Parameters
        ----------
        in_force
            What each setting ran with; none before it ran.
        """
        plan, domain = project.comparison, project.domain
        self._domain, self._runs, self._in_force = domain, plan.runs, in_force
        with silent(self.list):
            before = self.list.currentRow()
            self.list.clear()
            size = self.fontMetrics().height()
            self.list.setIconSize(QSize(size, size))
            called, whole = short_names(plan.runs), titles(plan.runs)
            for n, (run, title) in enumerate(zip(plan.runs, called, strict=True)):
                name = run.partition(" ")[0]
                item = QListWidgetItem(message("{n}  {title}", n + 1, translate(title)))
                item.setSizeHint(QSize(0, size + GRID))
                item.setIcon(looks[name].icon(size, THEME.colours))
                unmet = joined(methods()[name].unmet(project.problem).values(), "; ")
                reason = message("Not possible: {unmet}", unmet) if unmet else failed.get(n, "")
                if reason:
                    item.setForeground(self.palette().placeholderText())
                    item.setText(tr("{n}  {title} \u2014 {reason}", n + 1, title, reason))
                hint = joined(filter(None, (whole[n], run, reason)), "\n")
                item.setToolTip(tip(hint))
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, reason)
                self.list.addItem(item)
            self.list.setCurrentRow(min(before, self.list.count() - 1))
        self._show_levers()
        self.build_button.setEnabled(True)
        set_enabled(bool(plan.runs), self.remove_button, self.clear_button)
        self._keys = plan.key
        names = [name for v in project.domain.variables for name in (v.name, *v.named)]
        self.margin_chips.offer(names)
        self.margin_chips.show_text(plan.margins)
        self.key_chips.offer(project.domain.names)
        self.key_chips.show_text(",".join(plan.key))
        taken = comparison_of(project)
        own = plan.names_cells
        for widget, text, hint in (
            (self.margins, plan.margins, taken.margins or message("what each publishes")),
            (self.key, joined(plan.key, ", "), joined(taken.key or (), ", ") or message("all others")),
        ):
            widget.setPlaceholderText(translate(hint if not own or not text else ""))
            if not widget.hasFocus():
                widget.setText(translate(text))
        with silent(self.number):
            self.number.setValue(plan.runs_per_method)
        usual = {"": taken.sensitive or message("the last variable")}
        offer(self.sensitive, usual, names=domain.names, current=plan.sensitive)
        self._check()

    def set_current(self, number: int | None) -> None:
        """Mark a setting without telling anybody."""
        with silent(self.list):
            self.list.setCurrentRow(-1 if number is None else number)
        self._show_levers()

    def _show_levers(self) -> None:
        row = self.list.currentRow()
        in_force = self._in_force[row] if 0 <= row < len(self._in_force) else {}
        self.levers.show_run(self._runs[row] if 0 <= row < len(self._runs) else "", in_force)

    # -- doing --------------------------------------------------------------------------------

    def _ask_method(self) -> None:
        if self._domain is not None:
            ask_configuration(
                self, self._domain, lambda run: self.changed.emit(_compared([*self._runs, run]))
            )

    def add(self) -> None:
        """Add what is typed, if it is right."""
        if not (text := self.text.text().strip()) or self._domain is None or not self._check():
            return
        self.text.clear()
        self.changed.emit(_compared([*self._runs, text]))

    def remove(self) -> None:
        """Remove the current setting."""
        row = self.list.currentRow()
        if 0 <= row < len(self._runs):
            self.changed.emit(set_comparison(runs=[r for n, r in enumerate(self._runs) if n != row]))

    def _turned(self, before: str, after: str) -> None:
        """A slider makes another setting of the current one."""
        self.changed.emit(_compared([after if run == before else run for run in self._runs]))

    def _check(self) -> bool:
        if not (text := self.text.text().strip()) or self._domain is None:
            self._say("", wrong=False)
            self.add_button.setEnabled(False)
            return False
        number, wrong = examine(text, self._domain)
        self.add_button.setEnabled(not wrong)
        self._say(
            wrong or plural(number, "Makes {number} setting.", "Makes {number} settings.", number),
            wrong=bool(wrong),
        )
        return not wrong

    def _say(self, text: str, *, wrong: bool) -> None:
        colours = THEME.colours
        self.verdict.setStyleSheet(f"color: {colours.error if wrong else colours.quiet};")
        self.verdict.setText(translate(capital(text)))
        self.verdict.setVisible(bool(text))

    def _edited(self, name: str, field: QLineEdit) -> None:
        text = field.text().strip()
        if name == "key":
            if (names := tuple(part.strip() for part in text.split(",") if part.strip())) != self._keys:
                self.changed.emit(set_comparison(key=list(names)))
        elif field.isModified():
            field.setModified(False)
            self.changed.emit(set_comparison.order({name: text}))

    def _went(self, row: int) -> None:
        self._show_levers()
        if row >= 0:
            self.chosen.emit(row)


STOPS = 25
"""Places of a slider over real numbers."""

SPAN = 8
"""How many times its default a parameter without a near bound goes up and down."""


def stops(parameter: Parameter[object]) -> list[float]:
    """The values that a slider goes through, lowest first: every one up to the bounds, or a span
    around the default where these are far."""
    # A default that is chosen for the table begins at the least.
    default = parameter.low if parameter.default is None else parameter.default
    assert isinstance(default, (int, float))
    if parameter.shares is not None:
        # Two shares of one whole move together: each takes half of it at most.
        return [float(n) for n in np.linspace(parameter.low, 0.5, STOPS)]
    high = parameter.high
    if parameter.kind == "integer":
        return [float(n) for n in range(int(parameter.low), int(min(high, max(4 * default, 10))) + 1)]
    if high <= 2 * SPAN * default:
        return [float(n) for n in np.linspace(parameter.low, high, STOPS)]
    low = max(parameter.low, default / SPAN)
    return [float(n) for n in np.geomspace(low, min(high, default * SPAN), STOPS)]


class Levers(QWidget):
    """``turned`` carries the text of the setting as it was and as it is to be."""

    turned = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.sliders: dict[str, QSlider] = {}
        self._run = ""
        self._in_force: Mapping[str, object] = {}
        self._grid = in_grid(on=self, margins=0, across=GRID, down=2, wide=0)

    def show_run(self, run: str, in_force: Mapping[str, object]) -> None:
        """Show the sliders of a setting, which stand at what is given or else in force; none for an
        empty text."""
        if (run, in_force) == (self._run, self._in_force) and self.sliders:
            return
        self._run, self._in_force = run, in_force
        emptied(self._grid)
        self.sliders = {}
        if not run:
            return
        from tabprotect.engine.assessment.comparing.run_spec import parse_spec

        try:
            (spec,) = parse_spec(run)
        except (TabprotectError, ValueError):
            return
        method = methods()[spec.method]
        declared = {p.name: p for p in method.parameters}
        for row, name in enumerate(method.levers):
            value = spec.given.get(name, in_force.get(name, declared[name].default))
            self._add(row, declared[name], value)

    def _add(self, row: int, parameter: Parameter[object], value: object) -> None:
        values = stops(parameter)
        slider = named(QSlider(Qt.Orientation.Horizontal), parameter.label, tip=tip(parameter.help))
        slider.setRange(0, len(values) - 1)
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
        at = OPEN if math.isnan(number) and parameter.shares is not None else number
        slider.setValue(int(np.argmin(np.abs(np.array(values) - at))))
        label = Label(parameter.label, buddy=slider)
        right = Qt.AlignmentFlag.AlignRight
        shown = Label("" if math.isnan(number) else f"{number:g}", alignment=right)
        slider.valueChanged.connect(lambda at: shown.setText(tr("{values:.4g}", values[at])))
        connected(
            slider,
            valueChanged=partial(self._moved, slider, parameter, values),
            sliderReleased=partial(self._turn, slider, parameter, values),
        )
        self.sliders[parameter.name] = slider
        self._grid.addWidget(label, 2 * row, 0)
        self._grid.addWidget(shown, 2 * row, 1)
        self._grid.addWidget(slider, 2 * row + 1, 0, 1, 2)

    def _moved(self, slider: QSlider, parameter: Parameter[object], values: list[float], at: int) -> None:
        """Keys say at once what they mean, the mouse when it lets go."""
        if not slider.isSliderDown():
            self._turn(slider, parameter, values)

    def _turn(self, slider: QSlider, parameter: Parameter[object], values: list[float]) -> None:
        from tabprotect.engine.assessment.comparing.run_spec import RunSpec, parse_spec

        (spec,) = parse_spec(self._run)
        method = methods()[spec.method]
        value: object = float(f"{values[slider.value()]:.4g}")
        if parameter.kind == "integer":
            value = int(values[slider.value()])
        same = [
            p.name
            for p in method.parameters
            if p.name == parameter.name or (parameter.shares is not None and p.shares == parameter.shares)
        ]
        text = RunSpec(spec.method, {**spec.given, **dict.fromkeys(same, value)}).text
        if text != self._run:
            before, self._run = self._run, text
            self.turned.emit(before, text)
