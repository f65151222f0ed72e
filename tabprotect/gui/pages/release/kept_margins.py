"""The small sums that would be published exactly: named, and decided on before they leave."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import KeptSum, kept_in_words, kept_sums_named
from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr


class KeptSums(QWidget):
    """``decided`` when somebody says that they are known anyway; ``other_asked`` for other sums."""

    decided = Signal()
    other_asked = Signal()

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Small sums that are published exactly"))
        self._of: Release | None = None
        self._kept: tuple[KeptSum, ...] = ()
        self._decided = False
        self.said = Label(wordWrap=True, name=message("Which they are"))
        self.keep = push_button(message("It is public already"), self._keep)
        self.other = push_button(message("Do not keep this total"), self.other_asked)
        in_column(
            self.said,
            in_row(self.other, self.keep, 1, spacing=GRID),
            on=self,
            margins=(3 * GRID, 0, 0, 0),
            spacing=4,
        )
        self.hide()

    @property
    def open(self) -> bool:
        """Return True if a decision is still to be made."""
        return bool(self._kept) and not self._decided

    @property
    def chosen(self) -> bool:
        """Return True if somebody decided that they go out."""
        return bool(self._kept) and self._decided

    def show_kept(self, release: Release | None, kept: Sequence[KeptSum]) -> None:
        """Show those of a release; a decision holds for its tables, whatever it is called."""
        before = None if self._of is None else self._of.tables
        if release is None or release.tables is not before:
            self._decided = False
        self._of, self._kept = release, tuple(kept)
        self._show()

    def _keep(self) -> None:
        self._decided = True
        self._show()
        self.decided.emit()

    def _show(self) -> None:
        kept = self._kept
        words = message("{said} {named}", kept_in_words(kept), kept_sums_named(kept)) if kept else ""
        self.said.setText(message("Known anyway: {words}", words) if self._decided else words)
        set_visible(self.open, self.keep, self.other)
        self.setVisible(bool(self._kept))
