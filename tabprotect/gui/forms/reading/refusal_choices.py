"""What a refusal to read offers, as buttons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtWidgets import QPushButton, QWidget

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import BLANKS, CELLS, HIDDEN, MISSING, TOTALS
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.layouts import FlowLayout
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

Options = dict[str, object]

WORKED_OUT = message("Work them out from the totals")
WHOLE = message("They are whole persons as they stand")

OFFERED: tuple[tuple[str, str, Options], ...] = (
    ("--totals recompute (", message("The inner cells count"), {"totals": "recompute"}),
    ("--totals keep", message("Keep the totals beside them"), {"totals": "keep"}),
    ("--totals none", TOTALS["none"], {"totals": "none"}),
    ("--totals auto", message("Take the totals out"), {"totals": "auto"}),
    ("--missing zero", message("Missing cells are 0"), {"missing": "zero"}),
    ("or structural", MISSING["structural"], {"missing": "structural"}),
    ("or suppressed", WORKED_OUT, {"missing": "suppressed"}),
    (": --missing suppressed", WORKED_OUT, {"missing": "suppressed"}),
    ("--scale 1", WHOLE, {"scale": 1}),
    ("--form grid", message("Several columns are counts"), {"form": "grid"}),
    ("--holds records", message("Each row is a person or firm"), {"holds": "records"}),
    *((f"--hidden {value}", words, Options(hidden=value)) for value, words in HIDDEN.items()),
    *((f"--blank {value}", words, Options(blank=value)) for value, words in BLANKS.items()),
    *((f'--cells "{value}"', words, Options(cells=value)) for value, words in CELLS.items()),
)
"""The option in a hint, the button, and what it sets."""

_TOLERANCE = re.compile(r"--tolerance (\d+)")
_MULTIPLE = re.compile(r"--scale (\d+); or.*--scale 1$")
_SIGN = re.compile(r'--marks "(\S+)=(zero|suppressed)"')
_MEASURES = re.compile(r"numbers in (('[^']*'(, )?)+)")
_COUNTS = re.compile(r"(('[^']*'(, )?)+) hold numbers")
_ONLY_THERE = re.compile(r"--totals (\S+) \(only there\).*--totals recompute:(.+)$")
_BLANK_TOTALS = re.compile(r"a total: --totals ((?:[^,\s]+=,?)+)$")
_ONE_UNIT = re.compile(r"open those of one: --where (.+?)=")
MOST_COUNTS = 3
"""Columns of which each is offered as the count."""


def choices_of(error: InputError | None) -> Iterator[tuple[str, Options]]:
    """The buttons of a refusal: words, and the options that they set."""
    if error is None:
        return
    if (named := _MEASURES.search(error.message)) is not None:
        names = re.findall(r"'([^']*)'", named[1])
        yield message("Leave out {names}", joined(names, ", ")), {"drop": names}
        yield message("They are variables"), {"variable": names}
    if (held := _COUNTS.search(error.message)) is not None:
        for name in re.findall(r"'([^']*)'", held[1])[:MOST_COUNTS]:
            yield message("{name} is the count", name), {"count": name}
    if (most := _TOLERANCE.search(error.hint)) is not None:
        yield message("Differences up to {n} are rounding", most[1]), {"tolerance": int(most[1])}
    if (multiple := _MULTIPLE.search(error.hint)) is not None:
        factor = int(multiple[1])
        yield message("Multiply them by {factor:,}", factor), {"scale": factor}
    if (sign := _SIGN.search(error.hint)) is not None:
        mark = sign[1]
        if sign[2] == "zero":
            yield message("{mark} is a true zero", mark), {"marks": f"{mark}=zero"}
        hidden = message("{mark} is hidden: work it out from the totals", mark)
        yield hidden, {"marks": f"{mark}=suppressed", "missing": "suppressed"}
    if (there := _ONLY_THERE.search(error.hint)) is not None:
        yield message("Totals are {where} alone", there[1].replace("=", " = ")), {"totals": there[1]}
        yield message("{code} is a total everywhere", there[2]), {"totals": f"recompute:{there[2]}"}
    if (blank := _BLANK_TOTALS.search(error.hint)) is not None:
        yield message("They are totals"), {"totals": blank[1]}
    if (one := _ONE_UNIT.search(error.hint)) is not None:
        for unit in re.findall(r"'([^']*)'", error.message):
            yield message("{variable} = {unit} alone", one[1], unit), {"where": {one[1]: unit}}
    for word, words, options in OFFERED:
        if word in error.hint:
            yield words, options


class RefusalChoices(QWidget):
    """A row of buttons; ``take`` gets the options of the one that is clicked."""

    def __init__(self, take: Callable[[Options], object]) -> None:
        super().__init__()
        self._take = take
        self.buttons: list[QPushButton] = []
        self._row = FlowLayout(self, gap=GRID)
        self.hide()

    def show_choices(self, error: InputError | None) -> None:
        """Offer what mends an error; nothing where there is none."""
        for button in self.buttons:
            button.deleteLater()
        self.buttons = []
        for words, options in choices_of(error):
            button = connected(QPushButton(translate(words)), clicked=partial(self._clicked, options))
            self._row.addWidget(button)
            self.buttons.append(button)
        self.setVisible(bool(self.buttons))

    def _clicked(self, options: Options, _: bool = False) -> None:
        self._take(options)
