"""Help: on the page where it was asked, the five-minute walk, the keys, and about the program."""

from __future__ import annotations

import html

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QTextBrowser

from tabprotect import licences
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import faces, named
from tabprotect.gui.look.theme import GRID, THEME, chance_text, count_text
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import told
from tabprotect.version import __version__

WALK = say(
    "<ol>\n<li><b>Data</b>: open an example or a table of counts. Small counts are amber, with a dot; "
    "the risk list holds those of all layers.</li>\n<li><b>Protect</b>: tick what must stay true. "
    "Every method is tried on the table and ranked by that; choose one, and its steps stand below. For "
    "cyclic perturbation these are <b>Cycles</b>, which say what cells move together, and "
    "<b>Perturb</b>: for each cycle a coin decides whether it is added (alpha), subtracted (beta) or "
    "left alone. Every other method has its <b>Set-up</b>.</li>\n<li><b>Check</b>: what readers would "
    "know of each true count.</li>\n<li><b>Release</b>: a gate that says no where readers would know "
    "too much; then the public bundle and the confidential dossier.</li>\n</ol>\n<h3>Staff and "
    "public</h3>\n<p>The strip at the bottom says <b>CONFIDENTIAL</b> whenever anything of the "
    "original can be read off the screen, and <b>PUBLIC VIEW</b> when only what a reader of the bundle "
    "has is shown. <b>F9</b> switches every page between the two.</p>"
)

FORMULAS = say(
    "<h3>Formulas</h3>\n<p>Sums are chosen as chips; typed, <b>a:b</b> is the table of a by b, "
    "<b>a*b</b> that and its totals; <b>+</b> puts tables together, <b>-</b> takes one out; "
    "<b>(a + b + c)^2</b> is all pairs, <b>.</b> every variable, <b>1</b> the grand total. Nothing "
    "means every table.</p>"
)

WORDS: tuple[tuple[str, str], ...] = (
    (say("Small count"), say("a count in the range that the house calls small, usually 1 or 2")),
    (
        say("Would know"),
        say("a reader is surer of one true count than the house limit allows"),
    ),
    (
        say("Hidden"),
        say("not published, shown as x; some because they are small, some to protect these"),
    ),
    (say("Kept sums"), say("sums that are published exactly as they are")),
    (say("Margin"), say("a sum over some variables")),
    (say("Cycle"), say("a pattern of +1 and \u22121 that keeps the margins")),
    (say("Pass"), say("one round over all cycles")),
    (say("Blocked"), say("a cycle that touches a zero is not applied")),
    (say("Assumes"), say("what a reader thinks before seeing the release")),
    (
        say("Width"),
        say(
            "how far apart the highest and the lowest count are that a cell may have, given what is "
            "published"
        ),
    ),
)
"""The words of the window, and what each means."""

TOPICS = {
    "page": say("This page"),
    "walk": say("Five minutes"),
    "words": say("Words"),
    "keys": say("Keys"),
    "about": say("About"),
}

BARS, BAR = 8, 30
"""Counts of which the chance is drawn, and letters that a certain one has."""

WIDTH = 96 * GRID
"""Pixels that a text is wide at most: some 110 letters."""

NATIVE = QKeySequence.SequenceFormat.NativeText
"""Keys as they are called in the language in force, as the menus do."""

ON_PAGES = {
    "variables": say(
        "<p>Each variable with its kind, categories and levels. <i>Group</i> makes a coarser level: "
        "bands of a width, cut points, a code list from a file, or the categories that are selected; drag one "
        "onto another to put them together. What is grouped here is offered on every other page.</p>"
    ),
    "table": say(
        "<p>The table with its margins. Type to change a count; drag the variables between "
        "rows, columns and layers. The number behind a layer says how many small counts it "
        "holds. <b>Risk list</b> shows those of all layers and the rule that makes them so; F8 "
        "goes from one to the next.</p>"
    ),
    "protect": say(
        "<p>Tick what must stay true. The first figure of a card is the share of the small "
        "counts whose true count a reader would know, the second how much a count changes on "
        "average. Both come from trial runs on this very table, which nobody sees but staff. A "
        "method that does not keep what is ticked stands further down; a line says why.</p>"
    ),
    "compare": say(
        "<p>The same two figures over many runs as a map: left is safer, down more useful, so that the best "
        "corner is at the bottom left. Choose a setting and move its sliders; <b>More</b> shows the "
        "settings as they are written on the command line, and other figures for the axes.</p>"
    ),
    "cycles": say(
        "<p>Each cycle adds 1 to some cells and takes 1 from others, so that every margin stays as it is. "
        "Click a cell to change its sign; a margin that breaks glows.</p>"
    ),
    "perturb": say(
        "<p>The triangle sets how often a cycle is added, subtracted or left alone. What will happen stands "
        "beside it before it happens. The same set-up gives the same coins for ever.</p>"
    ),
    "methods": say(
        "<p>The form of the chosen method, and what it would do to this table. <b>Result</b> shows each "
        "published table beside the true counts.</p>"
    ),
    "check": say(
        "<p>What a reader can believe about each true count: the outline is what was believed before, the "
        "bars what is believed after seeing the release.</p>"
    ),
    "release": say(
        "<p>The gate looks at the release alone, as any reader can; the true figures beside it are staff's. "
        "What is over a limit takes a reason and a name.</p>"
    ),
    "register": say(
        "<p>Everything that has left, so that two releases of one table are not taken for one.</p>"
    ),
    "query_space": say(
        "<p>Which margins of one big table can be published together. Every table is shown as "
        "planned, releasable or too dangerous; look at one, then plan it.</p>"
    ),
    "tabulate": say(
        "<p>Counts records into a table. With record keys, cell keys give the same noise in every table of "
        "these records; keys <i>drawn now</i> are kept with this table, and serve it and its margins only.</p>"
    ),
}
"""What each page is for, by its name."""

KEYS = (
    (say("Return"), say("down; Ctrl+Return is the page's main action")),
    (say("F2 or typing"), say("change a count")),
    ("Ctrl+arrow", say("to the edge of the table")),
    (say("F8, Shift+F8"), say("next, previous small count")),
    (
        say("R, C, L on a variable"),
        say("put it into rows, columns, layers; arrows change the order"),
    ),
    (say("Esc"), say("cancel what is running; close a bar; go back from help")),
    (say("Menu key, right click"), say("what the page in front can do")),
)


ABOUT = say(
    """
<p><b>tabprotect {version}</b>: statistical disclosure control of contingency tables.</p>
<p>Free software under the MIT licence; its text comes with the program. It is built on Python, NumPy,
SciPy, DuckDB, HiGHS and Qt for Python (PySide6, LGPL), each under a licence of its own: all of them
stand below, with how to exchange Qt.</p>
<p>It works without a network, and sends nothing anywhere.</p>
""",
    __version__,
)


class HelpPage(Page):
    """What one needs to know, on one page."""

    name = "help"
    label = say("Help")
    icon = "help"

    main_label = say("Back")

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._actions: list[QAction] = []
        self._topic = "walk"
        self._front = ("", "", "", "")
        self._text = named(QTextBrowser(openExternalLinks=False), say("Help text"))
        self._text.document().setDocumentMargin(2 * GRID)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._text.setMaximumWidth(round(WIDTH * THEME.scale))
        self._faces = faces(TOPICS, self._turn)
        for button in self._faces.values():
            self.tools.addWidget(button)
        self.body.addWidget(self._text, 1)
        # Of long texts it lays out what is in sight.
        self.licences = named(QPlainTextEdit(readOnly=True), say("Licences"))
        self.licences.hide()
        self._licences = ""
        self.body.addWidget(self.licences, 3)
        self.begins = self._text

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    def shows_original(self) -> bool:
        # The figures of the page where help was asked.
        told_here = bool(self._front[3]) or bool(self._worked())
        return self._topic == "page" and told_here and super().shows_original()

    def list_actions(self, actions: list[QAction]) -> None:
        """The window's actions, for the table of keys."""
        self._actions = actions

    def tell(self, topic: str, front: Page) -> None:
        """Show a text: ``page`` (that in front), ``walk``, ``keys`` or ``about``."""
        self._topic = topic
        if front is not self:
            self._front = (front.name, front.label, front.hint, front.sentence)
        self._missed = frozenset()
        self.refresh(frozenset())

    def _turn(self, topic: str) -> None:
        self._topic = topic
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
            "page": (say("Help: {front}", told(self._front[1])), self._on_page),
            "walk": (say("Five minutes"), lambda: say("{WALK}", WALK)),
            "words": (say("Words"), self._words),
            "keys": (say("Keys"), self._keys),
            "about": (say("About tabprotect"), lambda: say("{ABOUT}", ABOUT)),
        }[topic]
        self._faces[topic].setChecked(True)
        self._faces["page"].setEnabled(bool(self._front[0]))
        self.set_heading(words)
        self._text.document().setDefaultStyleSheet(
            "h3 { margin-top: 16px; margin-bottom: 4px } p, li { line-height: 135% }"
            f" td {{ padding: 2px 24px 6px 0 }} .quiet {{ color: {THEME.colours.quiet} }}"
        )
        self._text.setHtml(told(text()))
        about = self._topic == "about"
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
        here = (
            say("<h3>On this table</h3><p>{figures}</p>", html.escape(figures)) if figures else ""
        )
        if worked := self._worked():
            here += say("<h3>One cell of it</h3><p>{worked}</p>", html.escape(told(worked)))
            here += self._believed()
        return say("<h3>{hint}</h3>{name}{here}", html.escape(hint), ON_PAGES.get(name, ""), here)

    def _words(self) -> str:
        rows = joined(
            say("<tr><td><b>{word}</b></td><td>{meaning}</td></tr>", word, meaning)
            for word, meaning in WORDS
        )
        return say("<table>{rows}</table>{FORMULAS}", rows, FORMULAS)

    def _cell(self) -> Index | None:
        """The selected cell, or the first small one."""
        table, project = self.document.shown_table, self.document.project
        if table is None or project is None:
            return None
        index = self.document.selection
        if index is not None and len(index) == table.domain.ndim:
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
            say(
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
        return say("<table>{rows}</table>", rows)

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
            rule = project.at_risk
            first = say(
                "{name}: the true count is {count}. It is small, as it lies from {low} to {high}.",
                name,
                shown,
                rule.low,
                rule.high,
            )
        elif house:
            first = say("{name}: the true count is {count}. It is not small.", name, shown)
        else:
            first = say("{name}: {count} is published.", name, shown)
        posterior = document.known_posterior("user")
        if posterior is None or posterior.domain != table.domain:
            return joined([first, say("Nothing is known yet of what readers would learn.")], " ")
        # Inference is not imported with the help page.
        from tabprotect.gui.base.believed.cell import cell_sentence, published_count

        out = published_count(posterior, index)
        parts = [first, cell_sentence(posterior, index, true=None)]
        if house and out is not None:
            parts.insert(1, say("{count} is published in its place.", count_text(out)))
        return joined(parts, " ")

    def _keys(self) -> str:
        rows = [
            # Step names ("Undo: set ... to 5") hold counts of the original: only the verb.
            (action.shortcut().toString(NATIVE), action.text().replace("&", "").split(":")[0])
            for action in self._actions
            if action.isVisible() and not action.shortcut().isEmpty()
        ]
        lines = joined(
            say(
                "<tr><td class='quiet'>{key}</td><td>{words}</td></tr>",
                key,
                words,
            )
            for key, words in (*rows, *KEYS)
        )
        return say("<table>{lines}</table>", lines)
