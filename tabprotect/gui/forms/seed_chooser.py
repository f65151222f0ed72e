"""Where the coins of a run come from: the key of the house, the system, or a given seed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from tabprotect.engine.errors import ParameterError
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID

WARNING = (
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
        title = Label("Randomness", role="section")
        self.house = QRadioButton("the house's (the default): the same each time")
        self.fresh = QRadioButton("fresh, from the operating system")
        self.given = QRadioButton("a given seed:")
        self.seed = QLineEdit(placeholderText="whole number")
        self.seed.setAccessibleName("Seed")
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
        self.seed.editingFinished.connect(self._typed)
        row = in_row(self.given, (self.seed, 1), spacing=GRID)
        in_column(
            title, self.house, self.fresh, row, self.warning, on=self, margins=0, spacing=GRID // 2
        )

    def show_seed(self, seed: int | None, fresh: bool = False) -> None:
        """Show where the coins come from."""
        self._showing = True
        self._shown = (seed, fresh)
        kept = self.fresh if fresh else self.house
        (kept if seed is None else self.given).setChecked(True)
        self.seed.setText("" if seed is None else str(seed))
        self.seed.setVisible(seed is not None)
        self.warning.setVisible(seed is not None)
        self._showing = False

    def _ask(self) -> None:
        self.seed.show()
        self.warning.show()
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
                    {"seed": f"must be a whole number of at least 0, is {text!r}"},
                    hint="type digits, or take the house's coins",
                )
            )
            return
        self.given.setChecked(True)
        self._choose(int(text))
