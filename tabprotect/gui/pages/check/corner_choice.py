"""The second cell of an odds ratio: two variables, and a category of each."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QWidget

from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.look.layouts import in_row


class CornerChoice(QWidget):
    """The corner of a 2 x 2 block opposite to the selected cell: two variables, two categories."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Opposite corner of the 2 × 2 block")
        self._domain: Domain | None = None
        self.variables = (QComboBox(), QComboBox())
        self.categories = (QComboBox(), QComboBox())
        row = in_row(on=self, margins=0, spacing=4)
        for number_, (variable, category) in enumerate(
            zip(self.variables, self.categories, strict=True), 1
        ):
            variable.setAccessibleName(f"Variable {number_} of the block")
            category.setAccessibleName(f"Other category of variable {number_}")
            variable.currentIndexChanged.connect(lambda _, n=number_ - 1: self._fill(n))
            for box in (variable, category):
                box.setSizeAdjustPolicy(
                    QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
                )
                box.setMinimumContentsLength(5)
                row.addWidget(box)

    def show_domain(self, domain: Domain) -> None:
        """Offer the variables of a table."""
        if domain == self._domain:
            return
        self._domain = domain
        for number_, box in enumerate(self.variables):
            box.blockSignals(True)
            box.clear()
            box.addItems(list(domain.names))
            box.setCurrentIndex(min(number_, domain.ndim - 1))
            box.blockSignals(False)
            self._fill(number_)

    def _fill(self, which: int) -> None:
        assert self._domain is not None
        box = self.categories[which]
        box.clear()
        box.addItems(list(self._domain.variables[self.variables[which].currentIndex()].categories))
        box.setCurrentIndex(box.count() - 1)

    def corner(self, first: Index) -> Index:
        """The cell opposite to ``first``."""
        out = list(first)
        for variable, category in zip(self.variables, self.categories, strict=True):
            out[variable.currentIndex()] = category.currentIndex()
        return tuple(out)
