"""Sheets of next year: what becomes of other categories, and what differs from last year."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)

from tabprotect.engine.project.recipes.last_year import (
    OtherCategories,
    SinceLastYear,
    category_lines,
)
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, MARGIN
from tabprotect.languages.speaking import told

IS_NEW = "is a new category"


class CategoriesSheet(QDialog):
    """Each new category: another name of one that is missing, or new. ``decided`` carries renames."""

    decided = Signal(object)

    def __init__(self, parent: QWidget, categories: tuple[OtherCategories, ...]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Categories of the new file")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.boxes: dict[tuple[str, str], QComboBox] = {}
        form = QFormLayout()
        for other in categories:
            form.addRow(heading(other.variable))
            for name in other.new:
                box = QComboBox()
                box.addItem(IS_NEW, None)
                for missing in other.missing:
                    box.addItem(f"is {missing}", missing)
                box.setCurrentIndex(max(box.findData(other.alike.get(name)), 0))
                box.setAccessibleName(f"{other.variable}: {name}")
                self.boxes[other.variable, name] = box
                form.addRow(name, box)
            if other.missing:
                form.addRow(Label(f"missing: {', '.join(other.missing)}", wordWrap=True))
        inside = QWidget()
        inside.setLayout(form)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go_on = buttons.addButton("Go on", QDialogButtonBox.ButtonRole.AcceptRole)
        dress(self.go_on, "main")
        buttons.accepted.connect(self._decide)
        buttons.rejected.connect(self.reject)
        said = Label(
            "The recipe was made for other categories. Those that stay missing have no one this "
            "year; steps that name them will say so.",
            wordWrap=True,
        )
        _lay_out(self, said, scroll, buttons)

    def _decide(self) -> None:
        chosen = {key: box.currentData() for key, box in self.boxes.items()}
        self.decided.emit({key: to for key, to in chosen.items() if to is not None})
        self.accept()


class LastYearSheet(QDialog):
    """What differs from last year. CONFIDENTIAL: it shows counts of both."""

    def __init__(self, parent: QWidget, since: SinceLastYear) -> None:
        super().__init__(parent)
        self.setWindowTitle("Since last year (staff only)")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # A terminal writes the arrow with two signs.
        lines = [line.replace(" -> ", " \u2192 ") for line in map(told, since.lines())]
        said = Label(
            "New and missing categories."
            if category_lines(since.categories)
            else "Same categories."
        )
        self.text = QPlainTextEdit("\n".join(lines), readOnly=True)
        self.text.setAccessibleName("What differs from last year")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        _lay_out(self, said, self.text, buttons)


def _lay_out(sheet: QDialog, said: Label, middle: QWidget, buttons: QDialogButtonBox) -> None:
    in_column(said, (middle, 1), buttons, on=sheet, margins=MARGIN, spacing=GRID)
    sheet.resize(70 * GRID, 50 * GRID)
