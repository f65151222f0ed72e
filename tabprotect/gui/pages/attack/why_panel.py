"""Why a count can be known: the sum that proves it, or how likely each count is."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.listing import ListColumn, Listing
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.attack.findings import Findings, in_hundred, span, why
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import tell, told


class WhyPanel(QWidget):
    """What is said of one cell."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tell("Why it can be known"))
        self.title = Label(role="section", wordWrap=True, name=say("The count"))
        self.published = Label(role="quiet")
        self.steps = Label(wordWrap=True, name=say("Why"))
        self.list = Listing(say("Counts that add up, or how likely each is"), sortable=False)
        self.list.setMinimumHeight(14 * GRID)
        self.copy = push_button(say("Copy"), self._copy, name=say("Copy why it can be known"))
        card = QFrame()
        # Words stand at the top where there is nothing to list.
        self._rest = QWidget()
        self._rest.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        dress(card, "card")
        in_column(
            self.title,
            self.published,
            (self.list, 1),
            self.steps,
            in_row(self.copy, 1),
            self._rest,
            on=card,
            margins=(GRID + 4, GRID, GRID + 4, GRID),
            spacing=GRID,
        )
        in_column(heading(say("Why")), (card, 1), on=self, margins=0, spacing=GRID)
        self.show_cell(None, 0)

    def show_cell(self, findings: Findings | None, cell: int) -> None:
        """Show why one can know a cell; nothing while there are no findings."""
        some = findings is not None
        self._rest.setVisible(not some)
        for part in (self.published, self.steps, self.list, self.copy):
            part.setVisible(some)
        if findings is None:
            self.title.setText(say("Choose a count in the list."))
            return
        likely, label = findings.likely(cell), findings.label(cell)
        if findings.proved[cell]:
            title = say("{label} is {count}", label, likely)
        elif findings.open[cell]:
            title = say("{label} is published: {count}", label, likely)
        else:
            title = say("{label} is most likely {count}", label, likely)
        self.title.setText(title)
        self.published.setText(say("published: {count}", findings.published(cell)))
        proof = findings.proof(cell)
        lines = why(findings, cell, proof)
        self.steps.setText(joined((f"{n}. {told(line)}" for n, line in enumerate(lines, 1)), "\n"))
        if proof is None:
            self._show_chances(findings, cell)
            return
        cells = proof.cells
        at = np.arange(len(cells))
        ends = findings.attacked.found.ends
        self.list.show_rows(
            [
                ListColumn(say("Count"), at, lambda k: findings.label(int(cells[k])), right=False),
                ListColumn(say("published"), at, lambda k: findings.published(int(cells[k]))),
                ListColumn(
                    say("could be"), at, lambda k: span(int(proof.low[k]), int(proof.high[k]))
                ),
                ListColumn(
                    say("so it is"),
                    at,
                    lambda k: span(int(ends[0][cells[k]]), int(ends[1][cells[k]])),
                ),
            ]
        )

    def _show_chances(self, findings: Findings, cell: int) -> None:
        chances = findings.attacked.found.cells.distribution(cell)
        counts = sorted(chances, key=lambda count: (-chances[count], count))
        self.list.show_rows(
            [
                ListColumn(say("count"), counts),
                ListColumn(say("how likely"), [chances[count] for count in counts], in_hundred),
            ]
        )

    def _copy(self) -> None:
        words = (self.title.text(), self.published.text(), self.steps.text())
        QGuiApplication.clipboard().setText(told(joined(words, "\n")))
