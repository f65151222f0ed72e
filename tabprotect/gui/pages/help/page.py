"""Help: on the page where it was asked, the five-minute walk, the keys, and about the program."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextBrowser

from tabprotect import licences
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.look.buttons import connected, faces, named
from tabprotect.gui.look.layouts import filled
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.theme import GRID, THEME, chance_text, count_text
from tabprotect.gui.pages.help.texts import DO, FORMULAS, KEYS, ON_PAGES, WALK, WORDS
from tabprotect.gui.pages.stages import PAGES
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate
from tabprotect.version import __version__, compiled

TOPICS = {
    "page": message("This page"),
    "walk": message("Five minutes"),
    "words": message("Words"),
    "keys": message("Keys"),
    "about": message("About"),
}

AROUND = 4
"""Rows and columns of the table that are shown around a cell."""

_TAG = re.compile(r"<[^>]*>")

HERE = {"start": message("Start"), "tabulate": message("Count records")}
"""The names of pages that are no stages."""

BARS, BAR = 8, 30
"""Counts of which the chance is drawn, and letters that a certain one has."""

WIDTH = 96 * GRID
"""Pixels that a text is wide at most: some 110 letters."""

NATIVE = QKeySequence.SequenceFormat.NativeText
"""Keys as they are called in the language in force, as the menus do."""

ABOUT = message(
    """
<p><b>tabprotect {version}</b>: statistical disclosure control of contingency tables.</p>
<p>Free software under the MIT licence; its text comes with the program. It is built on Python, NumPy,
SciPy, DuckDB, HiGHS and Qt for Python (PySide6, LGPL), each under a licence of its own: all of them
stand below, with how to exchange Qt.</p>
<p>It works without a network, and sends nothing anywhere.</p>
<p>Compiled: {here} of {all}.</p>
""",
    __version__,
    **compiled(),
)


class Article(QTextBrowser):
    """Text without a frame of its own; with a ring where the keyboard is."""

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.viewport().update()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QPen(QColor(THEME.colours.focus), 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.end()


class HelpPage(Page):
    """The help page: all that one needs to know."""

    stage = Stage(
        name="help",
        page_class="help.page.HelpPage",
        label=message("Help"),
        icon="help",
        main_label=message("Back"),
    )

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._actions: list[QAction] = []
        self._topic = "walk"
        self._front = ("", "", "", "")
        # An article on the page itself, whose words stand off the ring around it.
        self._text = named(Article(openExternalLinks=False), message("Help text"))
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._text.viewport().setAutoFillBackground(False)
        self._text.document().setDocumentMargin(GRID)
        self._text.document().setIndentWidth(3 * GRID)
        self._text.setMaximumWidth(round(WIDTH * THEME.scale))
        self.finder = connected(
            Finder(message("Find in the help")), textChanged=lambda _: self.refresh(frozenset())
        )
        self.tools.addWidget(self.finder)
        self._faces = faces(TOPICS, self._turn)
        filled(self.tools, *self._faces.values())
        self.body.addWidget(self._text, 1)
        # Of long texts it lays out what is in sight.
        self.licences = named(QPlainTextEdit(readOnly=True), message("Licences"))
        self.licences.hide()
        self._licences = ""
        self.body.addWidget(self.licences, 3)
        self.begins = self._text

    needs: ClassVar[Mapping[str, str]] = {}

    def shows_original(self) -> bool:
        # The figures of the page where help was asked.
        told_here = self._front[0] not in HERE and bool(self._front[3] or self._worked())
        here = self._topic == "page" and not self.finder.text().strip()
        return here and told_here and super().shows_original()

    def list_actions(self, actions: list[QAction]) -> None:
        """The window's actions, for the table of keys."""
        self._actions = actions

    def tell(self, topic: str, front: Page) -> None:
        """Show a text: ``page`` (that in front), ``walk``, ``keys`` or ``about``."""
        self._topic = topic
        self.finder.clear()
        if front is not self:
            self._front = (front.name, front.stage.label, front.stage.hint, front.sentence)
        self._missed = frozenset()
        self.refresh(frozenset())

    def _turn(self, topic: str) -> None:
        self._topic = topic
        self.finder.clear()
        self.refresh(frozenset())

    def main_action(self) -> None:
        self.document.page_asked.emit(self._front[0] or "start")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.main_action()
        else:
            super().keyPressEvent(event)

    def refresh(self, changes: PageChanges) -> None:
        if "view" in changes or "table" in changes or "everything" in changes:
            # Its figures were those of another view, or of another table.
            self._front = (*self._front[:3], "")
        topic = self._topic if self._front[0] or self._topic != "page" else "walk"
        words, text = {
            "page": (message("Help: {front}", translate(self._front[1])), self._on_page),
            "walk": (message("Five minutes"), lambda: message("{WALK}", WALK)),
            "words": (message("Words"), self._words),
            "keys": (message("Keys"), self._keys),
            "about": (message("About tabprotect"), lambda: message("{ABOUT}", ABOUT)),
        }[topic]
        if wanted := self.finder.text().strip():
            words, text = message("Find in the help"), lambda: self._found(wanted)
        self._faces[topic].setChecked(True)
        self._faces["page"].setEnabled(bool(self._front[0]))
        self.set_heading(words)
        self._text.document().setDefaultStyleSheet(
            "h3 { margin-top: 16px; margin-bottom: 4px } p, li { line-height: 135% }"
            f" td {{ padding: 2px 24px 6px 0 }} .cells td {{ padding: 3px 12px 3px 12px }} .quiet {{ color: {THEME.colours.quiet} }}"
        )
        self._text.setHtml(translate(text()))
        about = self._topic == "about" and not wanted
        self.licences.setVisible(about)
        if about and not self._licences:
            self.document.jobs.unseen(self._find_licences, self._show_licences)

    def _find_licences(self, progress: Progress) -> None:
        progress.report("", 0.0)
        self._licences = licences.text()

    def _show_licences(self) -> None:
        if not self.licences.toPlainText():
            self.licences.setPlainText(self._licences)

    def _on_page(self) -> str:
        name, _, hint, figures = self._front
        if name in HERE:
            # What is open is another table, or none.
            return message("{steps}{about}", DO.get(name, ""), ON_PAGES.get(name, ""))
        here = message("<h3>On this table</h3><p>{figures}</p>", html.escape(figures)) if figures else ""
        if worked := self._worked():
            here += message("<h3>One cell of it</h3>{around}", self._around())
            here += message("<p>{worked}</p>", html.escape(translate(worked)))
            here += self._believed()
        return message(
            "<h3>{hint}</h3>{steps}{about}{here}",
            html.escape(hint),
            DO.get(name, ""),
            ON_PAGES.get(name, ""),
            here,
        )

    def take(self, source: str) -> None:
        """Look words up."""
        self.finder.setText(source)

    def _around(self) -> str:
        """The cell among its neighbours, as the table shows it: a few rows and columns of its layer."""
        table, index = self.document.shown_table, self._cell()
        project = self.document.project
        if table is None or index is None or project is None or table.domain.ndim < 2:
            return ""
        domain, c = table.domain, THEME.colours
        rows, columns = domain.variables[0], domain.variables[-1]
        down, across = (_near(index[0], len(rows.categories)), _near(index[-1], len(columns.categories)))
        lines = [joined(_cell_of(columns.label(n), head=True) for n in across)]
        lines[0] = _cell_of("") + lines[0]
        for row in down:
            line = _cell_of(rows.label(row))
            for column in across:
                at = (row, *index[1:-1], column)
                count = table[at]
                small = self.document.in_house and bool(project.at_risk.mask(np.array(count)))
                fill = c.at_risk_fill if small else c.base
                line += _cell_of(count_text(count), fill=fill, here=at == tuple(index))
            lines.append(line)
        body = joined(message("<tr>{line}</tr>", line) for line in lines)
        return message("<table class='cells' cellspacing='0'>{body}</table>", body)

    def texts(self) -> list[tuple[str, str]]:
        return [(title, plain(text)) for title, text in self._parts()]

    def _parts(self) -> list[tuple[str, str]]:
        """All that the help says: what each part is about, and its text."""
        parts = [(translate(word), translate(meaning)) for word, meaning in WORDS]
        parts += [
            (action.text().replace("&", "").split(":")[0], action.shortcut().toString(NATIVE))
            for action in self._actions
            if action.isVisible() and not action.shortcut().isEmpty()
        ]
        parts += [(translate(key), translate(meaning)) for key, meaning in KEYS]
        for name, steps in DO.items():
            parts.append((page_label(name), translate(steps) + translate(ON_PAGES.get(name, ""))))
        parts.append((translate(TOPICS["walk"]), translate(WALK)))
        parts.append((translate(TOPICS["words"]), translate(FORMULAS)))
        return parts

    def _found(self, wanted: str) -> str:
        """Say what the help says anywhere with all these words."""
        words = translate(wanted).casefold().split()
        found = [
            (title, text)
            for title, text in self._parts()
            if all(word in f"{title} {plain(text)}".casefold() for word in words)
        ]
        said = plural(len(found), "{n} place says that.", "{n} places say that.", n=len(found))
        if not found:
            said = message("Nothing of that is said here. The documentation holds more.")
        return message(
            "<p class='quiet'>{said}</p>{body}",
            said,
            joined(message("<h3>{title}</h3>{text}", html.escape(t), text) for t, text in found),
        )

    def _words(self) -> str:
        return message(
            "<table>{rows}</table>{FORMULAS}",
            joined(
                message("<tr><td><b>{word}</b></td><td>{meaning}</td></tr>", word, meaning)
                for word, meaning in WORDS
            ),
            FORMULAS,
        )

    def _cell(self) -> Index | None:
        """The selected cell, or the first small one."""
        table, project = self.document.shown_table, self.document.project
        if table is None or project is None:
            return None
        if (index := self.document.selection) is not None and len(index) == table.domain.ndim:
            return index
        cells, counts = table.cells
        small = cells[project.at_risk.mask(counts)]
        at = int(small[0]) if len(small) else 0
        return tuple(int(k) for k in np.unravel_index(at, table.domain.shape))

    def _believed(self) -> str:
        """The chances of the cell's counts as bars."""
        posterior, table = self.document.known_posterior("user"), self.document.shown_table
        index = self._cell()
        if posterior is None or table is None or index is None:
            return ""
        if posterior.domain != table.domain:
            return ""
        values, chances = posterior.distribution(index)
        likely = sorted(zip(chances.tolist(), values.tolist(), strict=True), reverse=True)
        rows = joined(
            message(
                "<tr><td align='right'>{count}</td><td><span style='color: {colour}'>{bar}</span> "
                "{chance}</td></tr>",
                count_text(value),
                THEME.colours.accent,
                "\u2588" * max(round(BAR * chance), 1),
                chance_text(chance),
            )
            for value, chance in sorted((v, c) for c, v in likely[:BARS])
            if chance > 0.005
        )
        return message("<table>{rows}</table>", rows)

    def _worked(self) -> str:
        """The selected cell, or the first small one, from its true count to what is believed."""
        document = self.document
        table, project, index = document.shown_table, document.project, self._cell()
        if table is None or project is None or index is None:
            return ""
        house = document.in_house
        count = table[index]
        name, shown = table.domain.cell_text(index), count_text(count)
        if house and project.at_risk.mask(np.array(count)):
            first = message(
                "{name}: the true count is {count}. That is small: a count of {words} is.",
                name,
                shown,
                project.at_risk.words,
            )
        elif house:
            first = message("{name}: the true count is {count}. It is not small.", name, shown)
        else:
            first = message("{name}: {count} is published.", name, shown)
        if (posterior := document.known_posterior("user")) is None or posterior.domain != table.domain:
            return joined([first, message("Nothing is known yet of what readers would learn.")], " ")
        # Inference is not imported with the help page.
        from tabprotect.gui.base.believed.cell import cell_sentence, published_count

        out = published_count(posterior, index)
        parts = [first, cell_sentence(posterior, index, true=None)]
        if house and out is not None:
            parts.insert(1, message("{count} is published in its place.", count_text(out)))
        return joined(parts, " ")

    def _keys(self) -> str:
        rows = [
            # Step names ("Undo: set ... to 5") hold counts of the original: only the verb.
            (action.shortcut().toString(NATIVE), action.text().replace("&", "").split(":")[0])
            for action in self._actions
            if action.isVisible() and not action.shortcut().isEmpty()
        ]
        return message(
            "<table>{lines}</table>",
            joined(
                message("<tr><td class='quiet'>{key}</td><td>{words}</td></tr>", key, words)
                for key, words in (*rows, *KEYS)
            ),
        )


def plain(text: str) -> str:
    """What a text says, without its marks."""
    return _TAG.sub(" ", text)


def _near(at: int, size: int) -> range:
    """A few numbers around one of them."""
    first = min(max(at - AROUND // 2, 0), max(size - AROUND, 0))
    return range(first, min(first + AROUND, size))


def _cell_of(text: str, *, fill: str = "", here: bool = False, head: bool = False) -> str:
    """A cell of a small table."""
    said = html.escape(text)
    said = message("<b>{said}</b>", said) if here else said
    ground = message(" bgcolor='{fill}'", fill) if fill else ""
    right = " align='right'" if fill or head else ""
    return message("<td{right}{ground}>{said}</td>", right, ground, said)


def page_label(name: str) -> str:
    """Say what a page is called."""
    return translate(HERE.get(name) or next((one.label for one in PAGES if one.name == name), name))
