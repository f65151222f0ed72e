"""A method with its parameters, put together in a form: the text of it is written, not typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.assessment.comparing.run_spec import RunSpec, parse_spec
from tabprotect.engine.errors import ParameterError, TabprotectError
from tabprotect.engine.protection.margins.margin_by_margin import may_be_set
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.parameters.method_form import MethodForm
from tabprotect.gui.look.buttons import Dialog, choice, connected, decision
from tabprotect.gui.look.error_strip import ErrorStrip
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, tab_follows_layout
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message


class ConfigurationDialog(Dialog):
    """``taken`` carries the text, ``random_rounding base=5``.

    Parameters
    ----------
    domain
        Whose variables and levels can be chosen.
    follows
        Whether the method is to be applied to margins after another one.
    """

    taken = Signal(str)

    def __init__(self, parent: QWidget, domain: Domain, *, follows: bool = False) -> None:
        super().__init__(parent, message("A method with its parameters"))
        self._domain = domain
        self._settable: dict[str, Sequence[str]] = {}
        for name, method in methods().items():
            every = [p.name for p in method.parameters if p.kind != "cycles"]
            settable = may_be_set(method) if follows else every
            if settable is not None:
                self._settable[name] = settable
        self.method = connected(
            choice(message("Method"), {name: methods()[name].label for name in self._settable}),
            currentIndexChanged=lambda _: self._show_method(),
        )
        self.form = MethodForm()
        self.form.setting_asked.connect(
            lambda name: ask_configuration(self, self._domain, self.form.fields[name].put, follows=True)
        )
        self.errors = ErrorStrip()
        buttons, self.take, _ = decision(self, message("Take it"), self._take)
        first = in_row(Label(message("Method"), buddy=self.method), (self.method, 1), spacing=GRID)
        in_column(self.errors, first, (self.form, 1), buttons, on=self, margins=2 * GRID, spacing=GRID)
        self.setMinimumSize(60 * GRID, 60 * GRID)
        self._show_method()

    def focusNextPrevChild(self, following: bool, /) -> bool:
        tab_follows_layout(self)
        return super().focusNextPrevChild(following)

    @property
    def _method(self) -> Method:
        return methods()[self.method.currentData()]

    def _show_method(self) -> None:
        self.errors.clear()
        method = self._method
        given = {p.name: p.default for p in method.parameters}
        self.form.show_method(method, given, coins=(None, False), house=True, domain=self._domain)
        # Whoever takes the text draws the coins.
        self.form.seeds.hide()
        for name, field in self.form.fields.items():
            if name not in self._settable[method.name]:
                field.hide()

    def text(self) -> str:
        """Say what is set, as text; what is at its default is left out.

        Raises
        ------
        ParameterError
            With every wrong field.
        """
        given: dict[str, object] = {}
        wrong: dict[str, str] = {}
        for name, field in self.form.fields.items():
            if not field.holds(field.parameter.default):
                try:
                    given[name] = field.parameter.check(field.value)
                except ValueError as error:
                    wrong[name] = str(error)
        if wrong:
            raise ParameterError(wrong)
        # A fraction as a form shows it.
        shown = {n: f"{v:g}" if isinstance(v, float) else v for n, v in given.items()}
        return RunSpec(self._method.name, shown).text

    def _take(self) -> None:
        try:
            text = self.text()
            (spec,) = parse_spec(text)
            methods()[spec.method].resolve(self._domain, spec.given)
        except ParameterError as error:
            if not self.form.show_error(error):
                self.errors.show_error(error)
            return
        except TabprotectError as error:
            self.errors.show_error(error)
            return
        self.taken.emit(text)
        self.accept()


def ask_configuration(
    parent: QWidget, domain: Domain, then: Callable[[str], object], *, follows: bool = False
) -> ConfigurationDialog:
    """Ask for a method with its parameters. Nothing waits for the answer."""
    dialog = connected(ConfigurationDialog(parent, domain, follows=follows), taken=then)
    dialog.open()
    return dialog
