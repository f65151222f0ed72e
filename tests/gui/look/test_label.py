"""Lines that end in dots, and figures in one form."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import ElidedLabel, Label
from tabprotect.gui.look.theme import chance_text


def test_a_line_without_room_asks_for_none(qtbot: QtBot) -> None:
    label = ElidedLabel("a name that goes on " * 20)
    qtbot.addWidget(label)
    label.resize(80, 20)
    label.show()
    assert label.minimumSizeHint().width() == 0
    narrow = label.grab().toImage()
    label.setText(label.text()[:60])
    # The same beginning, and the same dots at its end.
    assert label.grab().toImage() == narrow


def test_figures_have_one_form() -> None:
    assert [chance_text(c) for c in (0.0, 0.001, 0.72, 0.999, 1.0)] == [
        *("0\u202f%", "<1\u202f%", "72\u202f%", ">99\u202f%", "100\u202f%")
    ]


def test_a_cleared_label_keeps_no_picture(qtbot: QtBot) -> None:
    label = Label()
    qtbot.addWidget(label)
    label.setPixmap(icons.pixmap("warning", 16, colour="#000000"))
    label.clear()
    assert label.pixmap().isNull() and not label.text()
