"""What of a table's levels the grid shows: categories alone, or trees with totals at every level."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox

from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.grid.folded_levels import Folding, every_group
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

WAYS = {
    "categories": message("Categories"),
    "folded": message("Levels, folded"),
    "unfolded": message("Levels, unfolded"),
}


class FoldTool(QComboBox):
    """``folded`` when something else is to be shown. Which groups are open is remembered here."""

    folded = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Levels of the variables"))
        self.setToolTip(tr("Totals at every level; a click on a group folds or unfolds it"))
        for key, words in WAYS.items():
            self.addItem(translate(words), key)
        self._folding: Folding | None = None
        self.currentIndexChanged.connect(self._chosen)

    def _chosen(self) -> None:
        self._folding = None
        self.folded.emit()

    def of(self, domain: Domain, placement: Placement) -> Folding | None:
        """Return how the table is shown now; ``None`` where categories stand alone."""
        placed = (*placement.rows, *placement.columns)
        trees = tuple(v.name for v in domain.variables if v.name in placed and len(v.levels) > 1)
        self.setVisible(bool(trees))
        if not trees or self.currentData() == "categories":
            self._folding = None
            return None
        if (known := self._folding) is None or (known.domain, known.trees) != (domain, trees):
            open_now = self.currentData() == "unfolded"
            unfolded = {n: every_group(domain[n]) for n in trees} if open_now else {}
            self._folding = Folding(domain, trees, unfolded)
        return self._folding

    def show_way(self, way: str) -> None:
        """One of ``WAYS``."""
        self.setCurrentIndex(list(WAYS).index(way))

    def toggle(self, name: str, line: int) -> None:
        """Fold or unfold a group."""
        if self._folding is not None:
            self._folding = self._folding.toggled(name, line)
            self.folded.emit()

    def open_for(self, folding: Folding) -> None:
        """Take another folding of the same table."""
        self._folding = folding
        self.folded.emit()
