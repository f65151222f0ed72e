"""The inspector: everything known about the selected cell, in figures and plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLabel, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.base.believed.totals import CERTAIN, Totals, TotalsBy, groupings_for
from tabprotect.gui.base.document import Document, Total
from tabprotect.gui.base.page import Panel
from tabprotect.gui.frame.contributors import ContributorsView
from tabprotect.gui.look.buttons import Scrolling, connected, named, present
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_column, set_visible
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, count_text, number_text
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief
from tabprotect.languages.messages import in_100, joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.posterior.posterior import Posterior

DRAWN = {
    (False, False): message("What a reader would think."),
    (True, False): message("What a reader would think (dashed: published)."),
    (False, True): message("What a reader would think (solid: original)."),
    (True, True): message("What a reader would think (dashed: published, solid: original)."),
}
"""What the histogram shows, by whether its two marks are drawn."""


class Inspector(Panel):
    """Follows the selection; shows only what the view in force may show."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, message("Inspector"))
        area = named(Scrolling(), message("Inspector"))
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        in_column(area, on=self, margins=0)
        inner = QWidget()
        area.setWidget(inner)
        self._title = Label(wordWrap=True, role="section")
        self._rows: dict[str, QLabel] = {}
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(GRID)
        form.setVerticalSpacing(4)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for name in (
            "published",
            "original",
            "status",
            message("of row"),
            message("of column"),
            message("of total"),
            message("the true count"),
            message("on average"),
            message("90 % sure"),
        ):
            label, value = Label(message(name)), Label(wordWrap=True)
            dress(label, "quiet")
            value.setAccessibleName(tr(name))
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            form.addRow(label, value)
            self._rows[name] = value
        self._form = form
        self.histogram = CellHistogram()
        self.histogram.setFixedHeight(18 * GRID)
        self._caption = Label(wordWrap=True, role="quiet")
        self._why = Label(wordWrap=True, name=message("Why, in plain words"))
        self._counts = held(
            in_column(self._title, form, self.histogram, self._caption, self._why, 1, margins=0, spacing=GRID)
        )
        self.contributors = ContributorsView(document)
        self.contributors.hide()
        in_column(self._counts, self.contributors, on=inner, margins=GRID, spacing=0)
        self._found: TotalsBy | None = None
        self._unknown = ""
        self._asked = Totals(document, self, self._answered, self._failed)
        connected(
            document,
            selection_changed=lambda _: self.refresh(),
            total_selected=lambda _: self.refresh(),
            posterior_ready=lambda *_: self.refresh(),
        )

    @property
    def sentence(self) -> str:
        """Say what the inspector says in plain words."""
        return self._why.text()

    def value(self, name: str) -> str:
        """One of the figures as shown; empty when it is not."""
        return self._rows[name].text() if self._form.isRowVisible(self._rows[name]) else ""

    def shows_original(self) -> bool:
        return super().shows_original() and self.document.selection is not None

    def refresh(self) -> None:
        """Show the selected cell anew."""
        magnitudes = self.document.of_magnitudes
        self._counts.setVisible(not magnitudes)
        self.contributors.setVisible(magnitudes)
        # Also when it is out of sight: what it said of another document goes.
        self.contributors.refresh()
        if magnitudes:
            return
        index, table = self.document.selection, self.document.shown_table
        shown: dict[str, str] = {}
        set_visible(False, self.histogram, self._caption)
        if self.document.total is not None and table is not None:
            shown = self._of_total(self.document.total, table)
        elif index is None or table is None:
            self._title.setText(tr("Nothing selected"))
            self._why.setText(
                translate(
                    message(
                        "Select a cell: its value, status, shares and, once the table is protected, "
                        "what a reader can believe about it appear here."
                    )
                    if table is not None
                    else message("Open a table, then select a cell.")
                    if self.document.project is None
                    else message(
                        "In this view there are no cells to select: a reader sees none of this table."
                    )
                )
            )
        else:
            shown = self._figures(index, table)
            domain = table.domain
            self._title.setText(
                translate(
                    joined(
                        (
                            message("{n}: {c}", n, c)
                            for n, c in zip(domain.names, domain.labels(index), strict=True)
                        ),
                        "\n",
                    )
                )
            )
        for name, value in self._rows.items():
            self._form.setRowVisible(value, name in shown)
            value.setText(translate(shown.get(name, "")))

    def _of_total(self, total: Total, table: Table) -> dict[str, str]:
        """Return what is known of a total: its counts, and what can be believed of it."""
        document, domain = self.document, table.domain
        release = self.document.release
        groupings = () if release is None else groupings_for(domain, release)
        one = _Adding(Publication(domain, (total.names,), groupings), total.cell)
        said = [
            message("{name}: {label}", spoken([name]), label)
            for name, label in zip(one.of.names, one.of.labels(one.place), strict=True)
        ]
        self._title.setText(translate(joined(said, "\n") or message("Grand total")))
        original = None if document.public else document.original
        published = document.published
        shown: dict[str, str] = {}
        true = None
        if published is not None and document.suppressed is None:
            shown["published"] = count_text(one.sum(published))
        if original is not None:
            true = one.sum(original)
            shown["original"] = message("{true}  [staff only]", count_text(true))
        if document.known_posterior("user") is None:
            self._why.setText(
                translate(
                    message("What a reader can believe of a total stands on Check.")
                    if document.release is not None
                    else message("Not protected yet: what a reader can believe follows after Protect.")
                )
            )
            return shown
        self._unknown = ""
        if self._asked.ask_by(total.names, "user"):
            self._found = None
        if self._unknown:
            self._why.setText(translate(self._unknown))
            return shown
        if self._found is None:
            self._why.setText(tr("Adding up what can be believed of the cells\u2026"))
            return shown
        posterior, at = self._found.posterior, self._found.place(total.cell)
        found, best, chance = self._believed(posterior, at, posterior.published_count(at), true)
        way = (
            "exactly"
            if posterior.way == "exact"
            else message("from draws, \u00b1{error:.4f}", posterior.error)
        )
        believed = (
            message("Every reader knows this total: no other is possible")
            if chance > CERTAIN
            else message(
                "A reader who {label} thinks this total most likely {best}, with {chance}",
                posterior.prior.label,
                count_text(best),
                in_100(chance),
            )
        )
        self._why.setText(tr("{believed}; computed {way}.", believed, way))
        return shown | found

    def _believed(
        self, posterior: Posterior, at: Index, published: int | None, true: int | None
    ) -> tuple[dict[str, str], int, float]:
        """Draw what can be believed of a count; its figures, the likeliest count and its chance."""
        values, chances = posterior.distribution(at)
        drawn = (DrawnBelief("user", values, chances),)
        self.histogram.show_beliefs(drawn, published=published, true=true)
        self.histogram.show()
        figures = {
            "on average": number_text(float(values @ chances)),
            "90 % sure": _interval(values, chances, 0.9),
        }
        if true is not None:
            figures["the true count"] = in_100(float(chances[values == true].sum()))
        best = int(posterior.mode[at])
        return figures, best, float(chances[values == best].sum())

    def _answered(self, found: TotalsBy) -> None:
        self._found = found
        self.refresh()

    def _failed(self, error: TabprotectError) -> None:
        self._found, self._unknown = None, error.sentence
        self._why.setText(translate(error.sentence))

    def _figures(self, index: Index, table: Table) -> dict[str, str]:
        document = self.document
        original = None if document.public else document.original
        published = document.published
        hidden = document.suppressed is not None and bool(document.suppressed[index])
        shown: dict[str, str] = {}
        words: list[str] = []
        if published is not None:
            shown["published"] = message("hidden (x)") if hidden else count_text(published[index])
        if original is not None:
            count = original[index]
            shown["original"] = message("{count}  [staff only]", count_text(count))
            shown["status"], words = self._status(index, count)
        if original is not None or document.suppressed is None:
            # Of what is left, shares would not be those of the table.
            shown |= self._shares(index, table)
        posterior = document.known_posterior("user")
        if posterior is not None and posterior.domain == table.domain:
            true = None if original is None else original[index]
            line = None if published is None or hidden else published[index]
            self._caption.setText(translate(DRAWN[line is not None, true is not None]))
            self._caption.show()
            found, best, chance = self._believed(posterior, index, line, true)
            shown |= found
            said = message(
                "A reader who {label} thinks this count most likely {best}, with {chance}",
                posterior.prior.label,
                count_text(best),
                in_100(chance),
            )
            if true is not None:
                said += message("; the true count is {true}", count_text(true))
            words.append(said + ".")
        elif hidden and original is None:
            words.append(message("Not published. Check shows what can be believed of it."))
        elif document.release is None and original is not None:
            words.append(message("Not protected yet: what a reader can believe follows after Protect."))
        self._why.setText(translate(joined(words, " ")))
        return shown

    def _status(self, index: Index, count: int) -> tuple[str, list[str]]:
        """Return what the rule and the run make of an original count, and why."""
        project = present(self.document.project)
        rule = project.at_risk
        small, words = rule.low <= count <= rule.high, rule.words
        if small:
            status = message("small count (U)")
            why = message("Small: the house calls a count of {words} small.", words)
        else:
            status = message("not small (S)")
            why = (
                message("Zero: nobody is in this cell.")
                if count == 0
                else message("Not small: the house calls a count of {words} small.", words)
            )
        if (letter := self._letter(index)) == "M":
            why_too = message("Hidden because it would give away another one.")
            return message("hidden to protect others (M)"), [why, why_too]
        if letter == "U" and not small:
            return message("hidden (U)"), [why, message("Hidden by the rule of the run.")]
        return status, [why]

    def _letter(self, index: Index) -> str:
        """Say what the run made of the cell, a letter of tau-ARGUS; empty where it says nothing."""
        project, release = self.document.project, self.document.release
        if project is None or project.protected is None or release is None:
            return ""
        for published, letters in zip(release.tables, project.protected.record.statuses, strict=False):
            if published is release.inner:
                return str(letters[index])
        return ""

    def _shares(self, index: Index, table: Table) -> dict[str, str]:
        project = present(self.document.project)
        count = table[index]
        rows, columns = project.shown_placement.rows, project.shown_placement.columns
        out = {}
        for name, fixed in (
            (message("of row"), [n for n in table.domain.names if n not in columns]),
            (message("of column"), [n for n in table.domain.names if n not in rows]),
            (message("of total"), []),
        ):
            whole = slice_total(table, table.domain, index, fixed)
            out[name] = (
                message(
                    "{value}\u202f% of {whole}", number_text(100 * count / whole, digits=1), count_text(whole)
                )
                if whole
                else "\u2013"
            )
        return out


class _Adding:
    """The inner cells that one total adds up."""

    def __init__(self, publication: Publication, cell: Index) -> None:
        keys = publication.keys(0)
        self.of = publication.domains[0]
        key = keys[publication.domain.flat(cell)]
        self.place = self.of.unflat(int(key))
        self._cells = keys == key

    def sum(self, table: Table) -> int:
        """The total in a table of the inner cells."""
        return int(table.counts.reshape(-1)[self._cells].sum())


def slice_total(table: Table, domain: Domain, index: Index, fixed: Sequence[str]) -> int:
    """The sum over all cells that agree with ``index`` on the ``fixed`` variables."""
    if not fixed:
        return table.total
    at = tuple(index[a] if n in fixed else slice(None) for a, n in enumerate(domain.names))
    return int(table.counts[at].sum())


def _interval(values: np.ndarray, chances: np.ndarray, level: float) -> str:
    """The shortest run of counts with at least this probability, of equal ones the likeliest."""
    span = np.arange(values[0], values[-1] + 1)
    mass = np.zeros(len(span))
    mass[values - values[0]] = chances
    below = np.concatenate([[0.0], np.cumsum(mass)])
    for length in range(1, len(span) + 1):
        inside = below[length:] - below[:-length]
        best = int(np.argmax(inside))
        if inside[best] >= level - 1e-9:
            low, high = int(span[best]), int(span[best + length - 1])
            break
    return count_text(low) if low == high else message("{low} to {high}", count_text(low), count_text(high))
