"""One declared parameter on a form: its input, its help below, its fault beside it."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QComboBox, QLineEdit, QSizePolicy, QToolButton, QWidget

from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.subtables import MARGINS
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.forms.parameters.chances_dialogs import DIALOGS, ask_chances
from tabprotect.gui.forms.parameters.name_chips import NameChips
from tabprotect.gui.look.buttons import choice, connected, push_button, silent, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.file_dialogs import ask_file
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.style import HEIGHT
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import translate

IMPORTED = message("(read from a file)")
LONG = 200
"""Characters from which on a text stands for a file's content."""

BREAK = "\u200b"
"""Where a line may be broken, without a width of its own."""

LONG_WORD = 20
"""Characters from which on a word may be broken."""

FILES = frozenset({"perturbation", "groupings", "statuses", "cells"})
"""Kinds that may also be the name of a file."""


BY_CLICKS = {
    "margins": message("Which tables are published? Without a choice all that the method can publish."),
    "keep": message("Which sums stay exactly as they are? Without a choice those of all variables but one."),
    "groupings": message("Levels above the categories of a variable, to publish tables of them too."),
}
"""What a field asks whose value is put together by clicks; its grammar is told to who types."""

NAMED = {
    "auto": message("chosen by the program"),
    "published": message("published"),
    "at_risk": message("the small counts"),
    "lp": message("linear programmes"),
    "hashed": message("under hashed keys"),
    "plain": message("under plain keys"),
    "l1": message("sum of changes"),
    "l2": message("sum of squares"),
    "shuttle": message("shuttle algorithm"),
    "log": message("logarithm of the count"),
    "blocks": message("whole blocks"),
}
"""What choices, and defaults of texts, are called whose names are those of options."""

FEW = 40
"""Letters up to which what a choice means is its name."""

CHOSEN = {"formula": ("*", " + "), "groupings": ("", "; ")}
"""Kinds that can be put together by clicks: what stands between names, and between entries."""


HALF = "0.5"
"""Tells which decimal point the language has."""


SIDES, NAMES = 520, 184
"""Pixels, at normal text, that a field is wide at least that has its name beside it, and of the name."""


class Field(QWidget):
    """One parameter. ``changed`` when the user has set it to something else."""

    changed = Signal()
    setting_asked = Signal()

    def __init__(self, parameter: Parameter[object]) -> None:
        super().__init__()
        self.parameter = parameter
        self._held: str | None = None
        self._domain: Domain | None = None
        self._read: Callable[[], object]
        self._write: Callable[[object], None]
        self.fault = Label(wordWrap=True)
        self.fault.setVisible(False)
        self.help = Label(wordWrap=True, role="quiet")
        for label in (self.fault, self.help):
            # A long word (an example) may be cut; it must not make the form wider than its room.
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._column = column = in_column(spacing=GRID // 2)
        self.input = self._input()
        self.input.setAccessibleName(translate(parameter.label))
        # A box that is ticked has its words beside it.
        boxed = isinstance(self.input, QCheckBox)
        self._label = Label("" if boxed else parameter.label, wordWrap=True)
        if boxed:
            column.addWidget(self.input)
        else:
            self._label.setBuddy(self.input)
            row = in_row((self.input, 4), spacing=GRID)
            if parameter.unit:
                row.addWidget(Label(parameter.unit, role="quiet"))
            if parameter.kind in FILES:
                self.choose = self._open_button()
                row.addWidget(self.choose)
            elif parameter.kind in ("setting", *DIALOGS):
                self.choose = tool_button(
                    message("Choose\u2026"),
                    self._ask,
                    name=message("Choose: {label}", parameter.label),
                    focus=Qt.FocusPolicy.StrongFocus,
                )
                row.addWidget(self.choose)
            elif parameter.kind in ("real", "integer"):
                row.addStretch(1)
            column.addLayout(row)
        self.chips: NameChips | None = None
        if parameter.kind in CHOSEN:
            self.chips = connected(NameChips(*CHOSEN[parameter.kind]), changed=self.put)
            self.chips.hide()
            column.addWidget(self.chips)
            self.typed = push_button(
                message("Type it"), flat=True, name=message("Type it: {label}", parameter.label)
            )
            self.typed.setCheckable(True)
            self.typed.toggled.connect(self.input.setVisible)
            self.typed.toggled.connect(lambda _: self._explain())
            self.typed.hide()
            column.addWidget(self.typed, 0, Qt.AlignmentFlag.AlignLeft)
        self.help.hide()
        filled(column, self.fault, self.help)
        self._sides = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._sides.setContentsMargins(0, 0, 0, GRID // 2)
        filled(self._sides, (self._label, 0, Qt.AlignmentFlag.AlignTop), (column, 1))
        self._stand()
        self._explain()
        THEME.follow(self, Field._colour)
        self._colour()

    def minimumSizeHint(self) -> QSize:
        # However it stands now: it can always stand in one column.
        return QSize(self._column.minimumSize().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stand()

    def _stand(self) -> None:
        """Its name in a column of names where there is room for one, else above it."""
        beside = self.width() >= SIDES * THEME.scale
        ways = QBoxLayout.Direction
        self._label.setVisible(beside or bool(self._label.text()))
        # Names stand at the height of what is written in their fields.
        room = (round(HEIGHT * THEME.scale) - self._label.fontMetrics().height()) // 2
        self._label.setContentsMargins(0, max(room - 1, 0) if beside else 0, 0, 0)
        if beside:
            self._label.setFixedWidth(round(NAMES * THEME.scale))
        else:
            self._label.setMinimumWidth(0)
            self._label.setMaximumWidth(self.maximumWidth())
        self._sides.setSpacing(2 * GRID if beside else GRID // 2)
        self._sides.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def _chosen(self) -> None:
        self._explain()
        self.changed.emit()

    def _ask(self) -> None:
        if self.parameter.kind == "setting":
            self.setting_asked.emit()
        elif self._domain is not None:
            ask_chances(self, self.parameter.kind, self._domain, str(self.value or ""), self.put)

    def offer(self, domain: Domain) -> None:
        """Let the variables and levels of a table be chosen, where the field is made of them."""
        self._domain = domain
        if self.chips is not None:
            levels = self.parameter.kind == "groupings"
            names = [n for v in domain.variables for n in (*[v.name] * (not levels), *v.named)]
            self.chips.offer(names)
            self.chips.setVisible(bool(names))
            # What is made of chips is typed on request.
            self.typed.setVisible(bool(names))
            self.input.setVisible(not names or self.typed.isChecked())
            self._explain()

    def _edited(self, text: str) -> None:
        if self.chips is not None:
            self.chips.show_text(text)
        self.changed.emit()

    def put(self, text: str) -> None:
        """Set what was put together somewhere else, and say so."""
        self._write(text)
        self._chosen()

    def _explain(self) -> None:
        """The help below the input: for a choice also what the chosen one means."""
        text = self.parameter.help
        if self.chips is not None and not self.chips.isHidden() and not self.typed.isChecked():
            text = BY_CLICKS.get(self.parameter.name, text)
        if isinstance(self.input, QComboBox) and self.input.currentIndex() >= 0:
            if words := str(self.input.currentData(Qt.ItemDataRole.ToolTipRole)):
                text = message("{text} {removesuffix}.", text, capital(words).removesuffix("."))
            if not self.parameter.public:
                text = message("{text} Which one is chosen is for staff only.", text)
        elif not self.parameter.public:
            text = message("{text} Staff only: it is not published.", text)
        # Told before it is broken: the catalogue knows it without the breaks.
        self.help.setText(translate(_breakable(translate(text))))
        self._label.setToolTip(translate(tip(translate(text))))
        if not self.fault.text():
            self.input.setAccessibleDescription(translate(text))

    def _colour(self) -> None:
        self.fault.setStyleSheet(f"color: {THEME.colours.error};")

    def _input(self) -> QWidget:
        parameter = self.parameter
        if parameter.kind == "flag":
            box = connected(QCheckBox(translate(parameter.label)), toggled=lambda _: self.changed.emit())
            self._read, self._write = box.isChecked, lambda v: box.setChecked(bool(v))
            return box
        if parameter.kind == "choice":
            assert parameter.choices is not None
            free = {None: message("chosen so that the kept sums stay exact")}
            called = {
                v: NAMED.get(v) or (words if 0 < len(words) <= FEW else message(v.replace("_", " ")))
                for v, words in parameter.choices.items()
            }
            combo = connected(
                choice(
                    offered=(free if parameter.default is None else {}) | called,
                    tips={None: "", **parameter.choices},
                    wide=0,
                ),
                activated=self._chosen,
            )
            self._read = combo.currentData
            self._write = lambda v: combo.setCurrentIndex(0 if v is None else combo.findData(v))
            return combo
        line = QLineEdit(placeholderText=translate(self._placeholder()))
        if parameter.kind in ("real", "integer"):
            line.setMaximumWidth(18 * GRID)
        line.textEdited.connect(self._edited)
        self._line = line
        self._read = self._read_line
        self._write = self._write_line
        return line

    def _read_line(self) -> object:
        text = self._line.text().strip()
        if self._held is not None and text == IMPORTED:
            return self._held
        if self.parameter.kind == "real" and translate(HALF) != HALF:
            # As the language writes numbers, or as programs do.
            text = text.replace(translate(HALF).strip("05"), ".")
        return text or None

    def _write_line(self, value: object) -> None:
        text = _written(value)
        # What was read from a file is its whole content: nobody reads that in a line. Many tables are
        # long as well, and are read one by one.
        long = len(text) > LONG and self.chips is None
        if self.parameter.kind == "text" and value == self.parameter.default:
            # An empty field stands for it, and says what it means.
            text = ""
        self._held = text if long or "\n" in text else None
        shown = translate(text) if self.parameter.kind == "real" else text
        self._line.setText(translate(IMPORTED if self._held is not None else shown))
        self._line.setToolTip(
            translate(tip(message("{text}\u2026", text[:400])) if self._held is not None else "")
        )
        if self.chips is not None:
            self.chips.show_text("" if self._held is not None else text)

    def _placeholder(self) -> str:
        parameter = self.parameter
        if parameter.kind in ("real", "integer"):
            low = "" if parameter.low == float("-inf") else message("from {low}", _bound(parameter.low))
            high = "" if parameter.high == float("inf") else message("to {high}", _bound(parameter.high))
            return joined((part for part in (low, high) if part), " ")
        if parameter == MARGINS:
            return message("every table")
        if parameter.kind == "formula":
            return ""
        return "none" if parameter.default in (None, "") else NAMED.get(str(parameter.default), "")

    def _open_button(self) -> QToolButton:
        button = tool_button(
            icons.icon("open"),
            flat=True,
            name=message("Choose a file for {label}", self.parameter.label),
            tip=message("Choose a file"),
            focus=Qt.FocusPolicy.StrongFocus,
        )
        button.clicked.connect(
            lambda: ask_file(self, self.parameter.label, message("All files (*)"), self.put)
        )
        return button

    @property
    def value(self) -> object:
        """Return what the field holds; the default where it is empty."""
        found = self._read()
        return self.parameter.default if found is None else found

    def holds(self, value: object) -> bool:
        """Return True if this is the value it shows, to as many digits as it shows."""
        return _written(self.value) == _written(value)

    def show_value(self, value: object) -> None:
        """Show a value without saying that it changed, unless it is what is being typed."""
        if not self.input.hasFocus() or not self.holds(value):
            with silent(self.input):
                self._write(value)
        self.show_fault("")
        self._explain()

    def show_fault(self, text: str) -> None:
        """Say what is wrong with the field, or with an empty text nothing."""
        self.fault.setText(translate(text and capital(text) + "."))
        self.fault.setVisible(bool(text))
        self.input.setAccessibleDescription(translate(text or self.help.text().replace(BREAK, "")))


def _bound(value: float) -> str:
    """A limit for people: 10 000 000, not 1e+07."""
    return count_text(int(value)) if value == int(value) else f"{value:g}"


def _breakable(text: str) -> str:
    """Long words without a blank may be broken after their own punctuation."""
    return joined(
        (
            re.sub("([=,>:])", rf"\1{BREAK}", word) if len(word) > LONG_WORD else word
            for word in text.split(" ")
        ),
        " ",
    )


def _written(value: object) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
