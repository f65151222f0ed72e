"""Why a count can be known: the sum that proves it, or how likely each count is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.gui.look.buttons import card, push_button
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import held, in_column, in_row, set_visible
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.attack.findings import Findings, in_hundred, span, why
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate


class WhyPanel(QWidget):
    """A panel of what is said of one cell."""

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Why it can be known"))
        self.title = Label(role="title", wordWrap=True, name=message("The count"))
        self.published = Label(role="quiet")
        self.steps = Label(wordWrap=True, name=message("Why"))
        self.list = RowList(message("Counts that add up, or how likely each is"), sortable=False, low=True)
        self.copy = push_button(message("Copy"), self._copy, name=message("Copy why it can be known"))
        self.check = push_button(message("Check the proof"), self._check)
        self.checked = Label(role="quiet", wordWrap=True, name=message("What the check found"))
        self._shown: tuple[Findings, int] | None = None
        # All stands at the top where the list is short.
        self._rest = QWidget()
        self._rest.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        inside = in_column(
            self.title,
            self.published,
            (self.list, 1),
            self.steps,
            in_row(self.check, self.copy, (self.checked, 1), spacing=GRID),
            self._rest,
            margins=(GRID + 4, GRID, GRID + 4, GRID),
            spacing=GRID,
        )
        could = message("What the publisher could do")
        self.could = RowList(could, sortable=False, low=True)
        self._could = held(in_column(heading(could), self.could, margins=0))
        self.show_could(())
        in_column(heading(message("Why")), (card(inside), 1), self._could, on=self, margins=0, spacing=GRID)
        self.show_cell(None, 0)

    def show_cell(self, findings: Findings | None, cell: int) -> None:
        """Show why one can know a cell; nothing while there are no findings."""
        set_visible(findings is not None, self.published, self.steps, self.list, self.copy)
        self.checked.clear()
        self.check.hide()
        self._shown = None if findings is None else (findings, cell)
        if findings is None:
            self.title.setText(message("Choose a count in the list."))
            return
        likely, label = findings.likely(cell), findings.label(cell)
        if findings.proved[cell]:
            title = message("{label} is {count}", label, likely)
        elif findings.open[cell]:
            title = message("{label} is published: {count}", label, likely)
        else:
            title = message("{label} is most likely {count}", label, likely)
        self.title.setText(title)
        self.published.setText(message("published: {count}", findings.published(cell)))
        proof = findings.proof(cell)
        lines = why(findings, cell, proof)
        self.steps.setText(joined((f"{n}. {translate(line)}" for n, line in enumerate(lines, 1)), "\n"))
        self.check.setVisible(proof is not None)
        if proof is None:
            chances = findings.attacked.found.cells.distribution(cell)
            counts = sorted(chances, key=lambda count: (-chances[count], count))
            self.list.show_rows(
                [
                    ListColumn(message("count"), counts),
                    ListColumn(message("how likely"), [chances[count] for count in counts], in_hundred),
                ]
            )
            return
        cells = proof.cells
        at = np.arange(len(cells))
        ends = findings.attacked.found.ends
        self.list.show_rows(
            [
                ListColumn(message("Count"), at, lambda k: findings.label(int(cells[k])), right=False),
                ListColumn(message("published"), at, lambda k: findings.published(int(cells[k]))),
                ListColumn(message("could be"), at, lambda k: span(int(proof.low[k]), int(proof.high[k]))),
                ListColumn(
                    message("so it is"), at, lambda k: span(int(ends[0][cells[k]]), int(ends[1][cells[k]]))
                ),
            ]
        )

    def _check(self) -> None:
        """Prove it once more, from the published numbers: no other count lets them add up."""
        assert self._shown is not None
        findings, cell = self._shown
        proof, count = findings.proof(cell), int(findings.count[cell])
        assert proof is not None
        tried, fitting = proof.other_counts(count)
        self.checked.setText(
            message("It does not hold: {count} fits, too.", count_text(fitting[0]))
            if fitting
            else plural(
                tried,
                "Checked: the only other count does not let them add up.",
                "Checked: none of {tried} other counts lets them add up.",
                count_text(tried),
            )
        )

    def show_could(self, ways: Sequence[tuple[str, Findings]]) -> None:
        """Show what the publisher could do instead, and what the files would tell then."""
        self._could.setVisible(bool(ways))
        every = np.arange(len(ways))
        numbers = [(int(f.proved.sum()), int((f.known & ~f.proved).sum())) for _, f in ways]
        self.could.show_rows(
            [
                ListColumn(message("instead"), every, lambda k: ways[k][0], right=False),
                ListColumn(
                    message("then"),
                    every,
                    lambda k: message("{proved} proved, {sure} sure", *map(count_text, numbers[k])),
                ),
            ]
        )

    def _copy(self) -> None:
        words = (self.title.text(), self.published.text(), self.steps.text())
        QGuiApplication.clipboard().setText(translate(joined(words, "\n")))
