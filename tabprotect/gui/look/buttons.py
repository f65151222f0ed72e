"""Buttons and named fields, scrolling areas and emptied layouts, as the window uses them everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QSignalBlocker, QSize, Qt, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLayout,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from tabprotect.gui.look.roles import dress
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

Slot = Callable[..., object] | SignalInstance
"""What a signal does; connected as it is, so that a method does not keep its widget alive."""

Run = Slot | None
"""What a click does."""

Sender = TypeVar("Sender", bound=QObject)
Widget = TypeVar("Widget", bound=QWidget)


Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """Return what is there whenever it is asked for."""
    assert value is not None
    return value


def connected(sender: Sender, **signals: Slot) -> Sender:
    """Return an object whose signals, by their names, are connected."""
    for name, slot in signals.items():
        getattr(sender, name).connect(slot)
    return sender


def named(
    widget: Widget,
    name: str = "",
    *,
    tip: str = "",
    about: str = "",
    focus: Qt.FocusPolicy | None = None,
    role: str = "",
    **signals: Slot,
) -> Widget:
    """The widget with what a screen reader calls it and says of it, its tooltip, and how it gets the focus.

    Its ``role`` is as of :func:`dress`; its ``signals`` are connected by their names.
    """
    if role:
        dress(widget, role)
    for text, write in (
        (name, widget.setAccessibleName),
        (tip, widget.setToolTip),
        (about, widget.setAccessibleDescription),
    ):
        if text:
            write(translate(text))
    if focus is not None:
        widget.setFocusPolicy(focus)
    return connected(widget, **signals)


@contextlib.contextmanager
def silent(*senders: QObject) -> Iterator[None]:
    """Return what is done within is told by none of the senders' signals."""
    blockers = [QSignalBlocker(sender) for sender in senders]
    yield
    for blocker in blockers:
        blocker.unblock()


def push_button(
    text: str, run: Run = None, *, name: str = "", tip: str = "", flat: bool = False, role: str = ""
) -> QPushButton:
    """A push button; ``name`` is for a screen reader where the text alone is too short."""
    button = named(QPushButton(translate(text), flat=flat), name, tip=tip, role=role)
    if run is not None:
        button.clicked.connect(run)
    return button


def tool_button(
    face: str | QIcon = "",
    run: Run = None,
    *,
    name: str = "",
    tip: str = "",
    checkable: bool = False,
    flat: bool = False,
    focus: Qt.FocusPolicy | None = None,
) -> QToolButton:
    """A tool button that shows words or a picture."""
    button = named(QToolButton(autoRaise=flat), name, tip=tip, focus=focus)
    button.setCheckable(checkable)
    if isinstance(face, QIcon):
        button.setIcon(face)
    else:
        button.setText(translate(face))
    if run is not None:
        button.clicked.connect(run)
    return button


def choice(
    name: str = "",
    offered: Mapping[Any, str] = MappingProxyType({}),
    changed: Callable[[], object] | None = None,
    *,
    current: object = None,
    tips: Mapping[Any, str] = MappingProxyType({}),
    tip: str = "",
    wide: int | None = None,
) -> QComboBox:
    """A box to choose one of several in.

    Parameters
    ----------
    name
        What a screen reader calls it.
    offered
        The words by what they stand for, as ``currentData`` returns it.
    changed
        Called when another one is current, whoever chose it.
    current
        The one that is chosen at first; the first by default.
    tips
        What is said of some of them.
    tip
        What is said of the box.
    wide
        The characters it is wide at least, however long its words are; by default as wide as they are.
    """
    box = named(QComboBox(), name, tip=tip)
    offer(box, offered, tips=tips, current=current)
    if wide is not None:
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(wide)
    if changed is not None:
        box.currentIndexChanged.connect(lambda _: changed())
    return box


def offer(
    box: QComboBox,
    offered: Mapping[Any, str],
    *,
    names: Iterable[str] = (),
    tips: Mapping[Any, str] = MappingProxyType({}),
    current: object = None,
) -> None:
    """Have a box offer these and no others, as of :func:`choice`, without telling anybody.

    Behind them stand ``names`` of the data, which are shown as they are in every language.
    """
    with silent(box):
        box.clear()
        for number, (data, words) in enumerate(offered.items()):
            box.addItem(translate(words), data)
            if data in tips:
                box.setItemData(number, translate(tips[data]), Qt.ItemDataRole.ToolTipRole)
        for name in names:
            box.addItem(name, name)
        box.setCurrentIndex(0 if current is None else max(0, box.findData(current)))


class Dialog(QDialog):
    """A dialog with a title, which goes when it is closed."""

    def __init__(self, parent: QWidget, title: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate(title))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)


def decision(
    dialog: QDialog, words: str, take: Run = None, *, back: str = message("Cancel")
) -> tuple[QDialogButtonBox, QPushButton, QPushButton]:
    """The row of buttons that ends a dialog, the one that takes what it says, and the way ``back``.

    Parameters
    ----------
    take
        What the first one does; by default the dialog is accepted.
    """
    buttons, roles = QDialogButtonBox(), QDialogButtonBox.ButtonRole
    main = named(buttons.addButton(translate(words), roles.AcceptRole), role="main")
    buttons.accepted.connect(dialog.accept if take is None else take)
    leave = buttons.addButton(translate(back), roles.RejectRole)
    buttons.rejected.connect(dialog.reject)
    return buttons, main, leave


def faces(texts: Mapping[str, str], show: Callable[[str], object]) -> dict[str, QToolButton]:
    """Buttons by name, of which a single one is checked; a click shows the face of that name."""
    buttons = {}
    for name, text in texts.items():
        button = buttons[name] = tool_button(text, checkable=True, focus=Qt.FocusPolicy.StrongFocus)
        button.setAutoExclusive(True)
        dress(button, "tab")
        button.clicked.connect(lambda _=False, face=name: show(face))
    return buttons


class Inside(QWidget):
    """The content that an area scrolls: as high as its words are at its width, and no higher.

    Words that wrap have a least height of their own, that at their least width: it would leave
    an empty end to scroll to.
    """

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        layout = self.layout()
        flows = layout is not None and layout.hasHeightForWidth()
        return QSize(least.width(), 0) if flows else least


def card(inside: QLayout | None = None, name: str = "") -> QFrame:
    """A frame around what belongs together; ``name`` is for a screen reader."""
    frame = named(QFrame(), name, role="card")
    if inside is not None:
        frame.setLayout(inside)
    return frame


class Scrolling(QScrollArea):
    """A frameless area that scrolls where what it holds does not fit.

    Parameters
    ----------
    name, focus
        As of :func:`named`.
    sideways
        Whether it scrolls to the left and right, too.
    """

    def __init__(
        self,
        inside: QWidget | None = None,
        *,
        name: str = "",
        sideways: bool = True,
        focus: Qt.FocusPolicy | None = None,
    ) -> None:
        super().__init__(widgetResizable=True)
        named(self, name, focus=focus).setFrameShape(QFrame.Shape.NoFrame)
        if not sideways:
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if inside is not None:
            self.setWidget(inside)


class ScrollsDown(Scrolling):
    """An area that scrolls up and down only: never narrower than what it holds."""

    def __init__(self) -> None:
        super().__init__(sideways=False)

    def minimumSizeHint(self) -> QSize:
        least, held = super().minimumSizeHint(), self.widget()
        wide = 0 if held is None else held.minimumSizeHint().expandedTo(held.minimumSize()).width()
        return QSize(wide + self.verticalScrollBar().sizeHint().width(), least.height())


def emptied(layout: QLayout, *, secret: bool = False) -> None:
    """Take everything out of a layout; its widgets are hidden and go.

    Parameters
    ----------
    secret
        Whether they are no part of the window from here on: what they say may belong to the house.
    """
    while layout.count():
        item = layout.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            if secret:
                widget.setParent(None)
            widget.deleteLater()
