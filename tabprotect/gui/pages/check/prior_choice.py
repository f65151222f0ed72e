"""What the user and the intruder believe beforehand: chosen in words, or from a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QSizePolicy, QWidget

from tabprotect.engine.posterior.prior_text import LAST, MODEL
from tabprotect.engine.release.verdict_figures import READER, Who
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.look.buttons import choice, connected, named, silent, tool_button
from tabprotect.gui.look.file_dialogs import ask_file
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import tr, translate

KINDS: tuple[tuple[str, str, str], ...] = (
    ("uniform", message("assumes nothing"), message("Every count is as likely as any other.")),
    ("positive", message("knows somebody is in every cell"), message("Every true count is at least 1.")),
    (
        "cells",
        message("knows somebody is in chosen cells"),
        message("\u201cI am in the survey\u201d: at least 1 in the cells you choose."),
    ),
    (
        "poisson",
        message("knows earlier counts (Poisson)\u2026"),
        message("A CSV file with the variables and a column count."),
    ),
    (
        "negative_binomial",
        message("knows earlier counts, roughly\u2026"),
        message("Negative binomial around the counts of a CSV file: wider than Poisson."),
    ),
    (
        "table",
        message("goes by the weights of a file\u2026"),
        message("A CSV file with the variables, a column count and a column weight."),
    ),
    (
        LAST,
        message("knows an earlier release\u2026"),
        message("Around what an earlier release lets expect, scaled to this total."),
    ),
    (
        MODEL,
        message("takes the counts to follow a model"),
        message("Around a log-linear model of what was published, as widely as that shows."),
    ),
)

NAME = 40
"""Characters of a file's or a cell's name that are shown; the tooltip has all."""

UNNAMED = message("from a file")
"""Instead of the name of a file of the house, in public view."""

FROM_FILE = ("poisson", "negative_binomial", "table", LAST)


def prior_kind(text: str) -> str:
    """Say which kind a prior text is."""
    kind, colon, _ = text.partition(":")
    if kind == "positive":
        return "cells" if colon else "positive"
    return "negative_binomial" if kind.startswith("negative_binomial") else kind


def cells_of(text: str) -> set[Index]:
    """The chosen cells of a prior text of kind ``cells``."""
    if prior_kind(text) != "cells":
        return set()
    cells = text.partition(":")[2].split(";")
    return {tuple(int(i) for i in cell.split(",")) for cell in cells}


def cells_text(cells: set[Index]) -> str:
    """The prior text that says somebody is in these cells; without any, ``uniform``."""
    if not cells:
        return "uniform"
    return "positive:" + ";".join(",".join(map(str, cell)) for cell in sorted(cells))


def _cut(text: str) -> str:
    """A name that leaves room for the other person's choice beside it."""
    return text if len(text) <= NAME else f"{text[: NAME - 1]}\u2026"


WHO = READER
"""Words of the program, not of a file: they are said in its language."""


class PriorChoice(QWidget):
    """The prior of one person. ``asked`` carries the prior text that was chosen."""

    asked = Signal(str)

    def __init__(self, who: Who) -> None:
        super().__init__()
        self.who = who
        self.text = "uniform"
        self._selection: Index | None = None
        self._domain: Domain | None = None
        self._waiting = False
        self._named = True
        self.setAccessibleName(tr("What {WHO} assumes before", WHO[who]))
        tips = {kind: message("<p>{meaning}</p>", meaning) for kind, _, meaning in KINDS}
        kinds = {kind: words for kind, words, _ in KINDS}
        self.combo = choice(message("What {WHO} assumes", WHO[who]), kinds, tips=tips, wide=12)
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.label = Label(capital(WHO[who]), buddy=self.combo)
        self.combo.activated.connect(self._chosen)
        self.cell = tool_button("", self._toggle, checkable=True)
        self.file = tool_button(
            "",
            lambda: self._ask_file(prior_kind(self.text)),
            name=message("File behind what {WHO} assumes", WHO[who]),
        )
        self.dispersion = named(
            QDoubleSpinBox(minimum=0.01, maximum=1000.0, singleStep=0.5, value=1.0, prefix=tr("dispersion ")),
            message("Dispersion of what {WHO} assumes", WHO[who]),
            tip=message("Dispersion: the larger, the closer to Poisson."),
        )
        self.dispersion.setKeyboardTracking(False)
        self.dispersion.valueChanged.connect(
            lambda value: self.asked.emit(f"negative_binomial({value:g}):{self.text.partition(':')[2]}")
        )
        self.formula = named(
            QLineEdit(),
            message("Model that {WHO} assumes", WHO[who]),
            tip=message("Variables joined by a star go together, those joined by a plus do not."),
            returnPressed=self._model,
        )
        asking = (self.cell, self.file, self.dispersion, self.formula)
        below = in_row(spacing=GRID)
        for widget in asking:
            below.addWidget(widget, 8 if widget is self.formula else 0)
            widget.hide()
        below.addStretch(1)
        in_column(in_row(self.label, (self.combo, 1), spacing=GRID), below, on=self, margins=0, spacing=GRID)

    def show_prior(self, text: str, domain: Domain, selection: Index | None, *, named: bool = True) -> None:
        """Show the prior in force; the selected cell is what can be chosen.

        ``named`` says whether the name of its file may be seen.
        """
        self._named = named
        self.text, self._domain, self._selection = text, domain, selection
        self._waiting = self._waiting and prior_kind(text) != "cells"
        self._refresh()

    def _refresh(self) -> None:
        kind = "cells" if self._waiting else prior_kind(self.text)
        self.combo.setCurrentIndex(self.combo.findData(kind))
        for widget, here in (
            (self.cell, kind == "cells"),
            (self.file, kind in FROM_FILE),
            (self.dispersion, kind == "negative_binomial"),
            (self.formula, kind == MODEL),
        ):
            widget.setVisible(here)
        if kind == MODEL:
            self.formula.setText(translate(self.text.partition(":")[2]))
        name = self.text.partition(":")[2]
        shown = _cut(Path(name).name) if self._named else UNNAMED
        self.file.setText(translate(shown if kind in FROM_FILE else ""))
        self.file.setToolTip(translate(tip(name) if self._named and kind in FROM_FILE else ""))
        if kind == "negative_binomial":
            given = self.text.partition(":")[0].removeprefix("negative_binomial").strip("()")
            with silent(self.dispersion):
                self.dispersion.setValue(float(given or "1"))
        self._refresh_cell()

    def _refresh_cell(self) -> None:
        cells = cells_of(self.text)
        chosen = "" if len(cells) < 2 else message("  ({cells} chosen)", len(cells))
        if self._selection is None or self._domain is None:
            self.cell.setEnabled(False)
            self.cell.setText(tr("select a cell{chosen}", chosen))
        else:
            self.cell.setEnabled(True)
            self.cell.setChecked(self._selection in cells)
            self.cell.setToolTip(tip(message("in {selection}", self._domain.cell_text(self._selection))))
            self.cell.setText(
                tr("in {selection}{chosen}", _cut(self._domain.cell_text(self._selection)), chosen)
            )
        self.cell.setAccessibleName(tr("Somebody {WHO} knows is {text}", WHO[self.who], self.cell.text()))

    def _chosen(self, at: int) -> None:
        kind = self.combo.itemData(at)
        self._waiting = False
        if kind in FROM_FILE:
            self._ask_file(kind)
        elif kind == MODEL:
            self.asked.emit(f"{MODEL}:{' + '.join(() if self._domain is None else self._domain.names)}")
        elif kind == "cells":
            if self._selection is None:
                self._waiting = True
                self._refresh()
            else:
                self.asked.emit(cells_text({self._selection}))
        else:
            self.asked.emit(kind)

    def _toggle(self) -> None:
        if self._selection is not None:
            cells = cells_of(self.text) ^ {self._selection}
            self._waiting = not cells
            self.asked.emit(cells_text(cells))

    def _model(self) -> None:
        self.asked.emit(f"{MODEL}:{self.formula.text()}")
        self._refresh()

    def _ask_file(self, kind: str) -> None:
        title, filters = message("Earlier counts or weights"), message("CSV (*.csv);;All files (*)")
        if kind == LAST:
            title, filters = message("An earlier release"), message("Release bundles (*.zip)")
        connected(
            ask_file(self, title, filters, lambda path: self.take_file(kind, path)), rejected=self._refresh
        )

    def take_file(self, kind: str, path: str) -> None:
        """Ask for the prior of a kind around a file."""
        given = f"({self.dispersion.value():g})" if kind == "negative_binomial" else ""
        self.asked.emit(f"{kind}{given}:{path}")
        # A file that cannot be used leaves the prior as it was; so does the choice.
        self._refresh()
