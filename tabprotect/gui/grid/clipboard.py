"""Blocks of counts on the clipboard: reading what a spreadsheet gives."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, QObject, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QTextDocument

from tabprotect.engine.arrays import Arrays
from tabprotect.engine.budgets import CLIPBOARD_CELLS
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.drawn.drawing import EXPORT_SCALE
from tabprotect.gui.look.theme import Written
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

_NUMBER = re.compile(r"[+\-\u2212]?\d[\d\u2009\u202f\u00a0 ']*")


def read_block(text: str, *, headers: Sequence[str] = ()) -> list[list[int]]:
    """Whole numbers out of tab-separated text; a header row and column are dropped.

    A first row or column is taken for headers when none of it is a number, or when all its
    labels are among ``headers`` (categories may be numbers).

    Raises
    ------
    InputError
        For ragged lines and anything that is not a whole number, naming the place in the block.
    """
    lines = [line.split("\t") for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]
    if not text.strip():
        raise InputError(
            message("the clipboard holds no text"), hint=message("copy a block of numbers first")
        )
    if len({len(line) for line in lines}) > 1:
        wide = len(lines[0])
        bad = next(i for i, line in enumerate(lines) if len(line) != wide)
        raise InputError(
            message(
                "the lines of the block differ in length: {wide} cells in the first, {lines} in line {bad}",
                wide,
                len(lines[bad]),
                bad + 1,
            ),
            hint=message("copy one rectangle"),
        )
    known = set(headers)

    def is_header(labels: Sequence[str]) -> bool:
        named = [label.strip() for label in labels if label.strip()]
        return not named or all(label in known or not _NUMBER.fullmatch(label) for label in named)

    if len(lines) > 1 and is_header(lines[0]):
        lines = lines[1:]
    if len(lines[0]) > 1 and is_header([line[0] for line in lines]):
        lines = [line[1:] for line in lines]
    return [
        [_whole(cell, row + 1, column + 1) for column, cell in enumerate(line)]
        for row, line in enumerate(lines)
    ]


def whole_number(text: str) -> int:
    """A count as people write it: ``1 234``, ``1\u2009234``.

    Raises
    ------
    InputError
        With the reason and a remedy.
    """
    if not (bare := text.strip()):
        raise InputError(message("a count is missing"), hint=message("type 0 for nobody"))
    if not _NUMBER.fullmatch(bare):
        hint = message("type a whole number of at least 0")
        if re.fullmatch(r"[\d ]*[.,]\d+", bare):
            hint = message("counts have no decimals, and no point or comma between thousands")
        raise InputError(message("{bare} is not a whole number", repr(bare)), hint=hint)
    return int(re.sub(r"[^\d\-]", "", bare.replace("\u2212", "-")))


def _whole(text: str, row: int, column: int) -> int:
    try:
        return whole_number(text)
    except InputError as error:
        raise InputError(
            error.message,
            cell=message("row {row}, column {column} of the block", row, column),
            hint=error.hint,
        ) from None


AT_ONCE = 10_000
"""Cells that are copied before anybody sees that it takes time."""

PICTURED = 500
"""Cells of which a picture is copied, too."""

Block = tuple[int, int, int, int]
"""Top, left, bottom, right, all of them in it."""


class Copying(QObject):
    """Puts selected rectangles onto the clipboard; ``failed`` is told why one cannot be."""

    def __init__(self, parent: QObject, jobs: Jobs, failed: Callable[[TabprotectError], object]) -> None:
        super().__init__(parent)
        self._failed = failed
        self._writing: BackgroundTask[tuple[str, str]] = BackgroundTask(self, jobs, _take, failed)
        self._writing.outlives = True

    def copy(self, grid: GridView, text: Written, *, with_headers: bool, whole: bool = False) -> None:
        """Copy what is selected, or with its totals the whole, as tab-separated text and as an HTML table.

        Small ones are copied as a picture as well.
        """
        layout, block = grid.layout_, grid.every if whole else grid.block()
        if layout is None or block is None:
            return
        values, margins = grid.model.values, grid.margins if whole else None

        def work(progress: Progress) -> tuple[str, str]:
            return written(layout, values, block, with_headers or whole, text, progress, margins)

        top, left, bottom, right = block
        if (cells := (bottom - top + 1) * (right - left + 1)) > CLIPBOARD_CELLS:
            self._failed(
                InputError(
                    message("the selection is too large for the clipboard"), hint=message("save the table")
                )
            )
        elif cells > AT_ONCE:
            self._writing.ask(message("copying the cells"), work)
        else:
            self._writing.drop()
            found = work(SILENT)
            _take(found, picture(found[1]) if cells <= PICTURED else None)


def written(
    layout: Layout,
    values: Arrays,
    block: Block,
    with_headers: bool,
    text: Written,
    progress: Progress,
    margins: tuple[Arrays, Arrays, Arrays] | None = None,
) -> tuple[str, str]:
    """A block of values as tab-separated text and as an HTML table, with the totals if they are given."""
    top, left, bottom, right = block
    rows, columns = layout.placement.rows, layout.placement.columns
    lines: list[list[str]] = []
    if with_headers:
        labels = [layout.labels(c, down=False) for c in range(left, right + 1)]
        for level, name in enumerate(columns or ("",)):
            lead = [""] * (len(rows) or 1)
            if level == len(columns or ("",)) - 1 and rows:
                lead = list(rows)
            elif lead:
                lead[-1] = name
            total = [translate(message("Total"))] if margins and not level else [""] * bool(margins)
            lines.append([*lead, *(at[level] if at else "" for at in labels), *total])
    heads = len(lines)
    leads = (len(rows) or 1) if with_headers else 0
    for row in range(top, bottom + 1):
        progress.report(message("copying the cells"), (row - top) / (bottom - top + 1))
        lead = list(layout.labels(row, down=True) or ("",)) if with_headers else []
        total = [] if margins is None else [text(margins[0].reshape(-1)[row].item())]
        lines.append([*lead, *[text(v) for v in values[row, left : right + 1].tolist()], *total])
    if margins is not None:
        lead = [translate(message("Total")), *[""] * (leads - 1)]
        below = [*margins[1].reshape(-1).tolist(), margins[2].reshape(-1)[0].item()]
        lines.append([*lead, *map(text, below)])
    parts = []
    for number, line in enumerate(lines):
        tags = [
            f"<{tag}>{html.escape(cell)}</{tag}>"
            for column, cell in enumerate(line)
            for tag in ("th" if number < heads or column < leads else "td",)
        ]
        parts.append(message("<tr>{tags}</tr>", joined(tags)))
    plain = joined(("\t".join(line) for line in lines), "\n") + "\n"
    return plain, message("<table>{parts}</table>", joined(parts))


def picture(table: str) -> QImage:
    """A table of HTML as a picture, black on white."""
    page = QTextDocument()
    page.setDefaultStyleSheet("td, th { padding: 2px 10px } td { text-align: right } * { color: black }")
    page.setHtml(translate(table))
    size = page.size().toSize()
    image = QImage(size * EXPORT_SCALE, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.scale(EXPORT_SCALE, EXPORT_SCALE)
    page.drawContents(painter)
    painter.end()
    return image


def _take(found: tuple[str, str], shown: QImage | None = None) -> None:
    data = QMimeData()
    if shown is not None:
        data.setImageData(shown)
    data.setText(translate(found[0]))
    data.setHtml(translate(found[1]))
    QGuiApplication.clipboard().setMimeData(data)
