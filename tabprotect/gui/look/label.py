"""Labels and tooltips that show data: as it is written, never as markup."""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontInfo, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from tabprotect.gui.look.roles import dress
from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

APART = 4 / 3
"""How far lines stand apart, in heights of letters; where a font has them further apart, it does."""


class Label(QLabel):
    """A label that never reads its text as HTML.

    Names of categories and titles come out of files that a stranger may have written.

    Parameters
    ----------
    role
        What it is for the style sheet: ``quiet``, ``section``, ...
    name
        What a screen reader calls it; what the label says is then its description.
    buddy
        The field that it names.
    selectable
        Whether its words can be marked with the mouse.
    """

    def __init__(
        self,
        text: str = "",
        *,
        role: str = "",
        name: str = "",
        wordWrap: bool = False,  # noqa: N803 (Qt's case)
        alignment: Qt.AlignmentFlag | None = None,
        buddy: QWidget | None = None,
        selectable: bool = False,
    ) -> None:
        self._plain = ""
        super().__init__(wordWrap=wordWrap)
        if buddy is not None:
            self.setBuddy(buddy)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if alignment is not None:
            self.setAlignment(alignment)
        self.setTextFormat(Qt.TextFormat.RichText if wordWrap else Qt.TextFormat.PlainText)
        if role:
            dress(self, role)
        self.setText(text)
        if name:
            self.setAccessibleName(translate(name))

    def text(self) -> str:
        return self._plain

    def setText(self, text: str) -> None:
        self._plain = translate(text)
        self._set()
        self._tell(self._plain)

    def _set(self) -> None:
        """Show the text; lines that wrap stand apart as much as they are read best."""
        if not self.wordWrap() or not self._plain:
            super().setText(translate(self._plain))
            return
        apart = round(QFontInfo(self.font()).pixelSize() * APART)
        super().setText(
            f'<p style="margin: 0; white-space: pre-wrap; line-height: {apart}px;'
            f' -qt-line-height-type: minimum">{self._marked(self._plain)}</p>'
        )

    def _marked(self, text: str) -> str:
        """The text as markup that says exactly it."""
        return html.escape(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._plain and self.wordWrap():
            self._set()

    def setAccessibleName(self, name: str) -> None:
        super().setAccessibleName(translate(name))
        self._tell(self.text())

    def clear(self) -> None:
        # A picture stays where no text is set in place of none.
        super().clear()
        self.setText("")

    def _tell(self, text: str) -> None:
        # A name stands in the way of the text: nobody who listens would hear it.
        if self.accessibleName():
            self.setAccessibleDescription(translate("" if self.accessibleName().endswith(text) else text))


class Finding(Label):
    """A page's sentence: the finding, its first sentence, is semibold; what explains it is not."""

    def __init__(self, *, name: str) -> None:
        super().__init__(wordWrap=True, name=name, role="sentence")

    def _marked(self, text: str) -> str:
        end = re.search(r"[.:;!?](?=\s)|$", text)
        first = text[: end.end() if end else None]
        rest = text[len(first) :]
        return f'<span style="font-weight: 600">{html.escape(first)}</span>{html.escape(rest)}'


class ElidedLabel(Label):
    """A line that ends in dots where it has no room."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.contentsRect()
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter = QPainter(self)
        painter.drawText(room, int(self.alignment()), words)


def show_text(label: QLabel | QAbstractButton, text: str) -> None:
    """Have a label or a button say something; without words it is hidden."""
    label.setText(translate(text))
    label.setVisible(bool(text))


def tip(text: str) -> str:
    """A tooltip that wraps long lines and says exactly ``text``; empty for an empty one."""
    return message("<p>{text}</p>", html.escape(translate(text))) if text else ""


def heading(text: str) -> Label:
    """A heading within a page."""
    return Label(text, role="section")
