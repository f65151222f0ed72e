"""The window in another language: what a widget is given to show is told on its way there.

Qt translates literals that are marked where they stand; the window's sentences are composed, and
its literals are many. So the setters of Qt's own classes are the boundary: in a language other
than English each hands its text to ``told`` before it sets it. What people type and what tables
hold takes other ways (fields, models, lists) and stays as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QDockWidget,
    QDoubleSpinBox,
    QFormLayout,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTabBar,
    QTableWidget,
    QTabWidget,
    QTextEdit,
    QToolBar,
    QTreeWidget,
    QWidget,
)

from tabprotect.languages.catalogue import BLOCK
from tabprotect.languages.speaking import ENGLISH, language, told

SETTERS: Mapping[type, tuple[str, ...]] = {
    QWidget: (
        *("setToolTip", "setWindowTitle", "setStatusTip", "setWhatsThis"),
        *("setAccessibleName", "setAccessibleDescription"),
    ),
    QLabel: ("setText",),
    QAbstractButton: ("setText",),
    QAction: ("setText", "setToolTip", "setStatusTip", "setIconText"),
    QGroupBox: ("setTitle",),
    QLineEdit: ("setPlaceholderText",),
    QPlainTextEdit: ("setPlaceholderText",),
    QTextEdit: ("setHtml",),
    QMenu: ("setTitle", "addMenu", "addAction", "addSection"),
    QMenuBar: ("addMenu",),
    QToolBar: ("addAction",),
    QAbstractSpinBox: ("setSpecialValueText",),
    QSpinBox: ("setSuffix", "setPrefix"),
    QDoubleSpinBox: ("setSuffix", "setPrefix"),
    QComboBox: ("addItem", "setItemText", "setItemData", "setPlaceholderText"),
    QFormLayout: ("addRow",),
    QDialogButtonBox: ("addButton",),
    QTabBar: ("addTab", "setTabText", "setTabToolTip"),
    QTabWidget: ("addTab", "setTabText", "setTabToolTip"),
    QTableWidget: ("setHorizontalHeaderLabels", "setVerticalHeaderLabels"),
    QTreeWidget: ("setHeaderLabels",),
}
"""Methods whose texts are shown; ``addItems`` is for what tables hold."""

MADE = (
    *(QLabel, QPushButton, QCheckBox, QRadioButton, QAction, QGroupBox, QDockWidget, QMenu),
    *(QLineEdit, QPlainTextEdit, QSpinBox, QDoubleSpinBox),
)
"""Classes that take texts when they are made."""

PROPERTIES = frozenset(
    ("title", "toolTip", "placeholderText", "windowTitle", "specialValueText", "suffix", "prefix")
)


def shown(text: str) -> str:
    """A text as a widget shows it: of a page of HTML each paragraph."""
    if "<" not in text or not BLOCK.search(text):
        return told(text)
    parts = BLOCK.split(text)
    parts[::2] = [_paragraph(part) for part in parts[::2]]
    return "".join(parts)


def _paragraph(text: str) -> str:
    if bold := re.fullmatch(r"<b>([^<]*)</b>", text):
        return f"<b>{_paragraph(bold[1])}</b>"
    if re.search(r"<[a-z/]", text):
        return told(text)
    return html.escape(told(html.unescape(text)), quote=False)


def _argument(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
        return [shown(part) for part in value]
    return value


def _telling(method: Callable[..., Any]) -> Callable[..., Any]:
    # The name alone: Qt writes a method's text when it is asked for, which takes long.
    @wraps(method, assigned=("__name__",), updated=())
    def tell(self: Any, *given: Any, **named: Any) -> Any:
        # An item that stands for itself is a name out of a table.
        if given and isinstance(given[-1], str) and given[:-1] == given[-1:]:
            return method(self, *given, **named)
        if method.__name__ == "setItemData":
            # Only what is read, not the program's key.
            read = given[-1] == Qt.ItemDataRole.ToolTipRole
            return method(self, *(map(_argument, given) if read else given), **named)
        if method.__name__ == "addItem":
            # What follows the text is the program's key.
            first = next((n for n, v in enumerate(given) if isinstance(v, str)), len(given))
            return method(self, *map(_argument, given[: first + 1]), *given[first + 1 :], **named)
        return method(self, *map(_argument, given), **named)

    return tell


def _making(kind: type) -> Callable[..., None]:
    made = kind.__init__  # type: ignore[misc]
    typed = issubclass(kind, QLineEdit | QPlainTextEdit)

    def make(self: Any, *given: Any, **named: Any) -> None:
        for name in PROPERTIES | (set() if typed else {"text"}):
            if name in named:
                named[name] = _argument(named[name])
        made(self, *(given if typed else map(_argument, given)), **named)

    return make


def speak_in_window(app: QApplication) -> Callable[[], None]:
    """Let widgets show the language in force; returns what undoes it.

    In English nothing is changed, and nothing costs anything.
    """
    if language() == ENGLISH:
        return lambda: None
    before: list[tuple[type, str, Any]] = []
    for kind, names in SETTERS.items():
        for name in names:
            before.append((kind, name, getattr(kind, name)))
            setattr(kind, name, _telling(getattr(kind, name)))
    for kind in MADE:
        before.append((kind, "__init__", kind.__init__))
        setattr(kind, "__init__", _making(kind))  # noqa: B010
    # Numbers in boxes, and words of Qt's own dialogs and menus.
    numbers = QLocale()
    QLocale.setDefault(QLocale(language()))
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{language()}", folder):
        app.installTranslator(translator)

    def undo() -> None:
        for kind, name, method in before:
            setattr(kind, name, method)
        QLocale.setDefault(numbers)
        app.removeTranslator(translator)

    return undo
