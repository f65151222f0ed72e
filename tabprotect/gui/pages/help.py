"""Help: on the page where it was asked, the five-minute walk, the keys, and about the program."""

from __future__ import annotations

import html

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QTextBrowser

from tabprotect import licences
from tabprotect.engine.progress import Progress
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import told
from tabprotect.version import __version__

WALK = say(
    "\n<ol>\n<li><b>Data</b>: open an example or a table of counts. Small counts "
    "are amber, with\na dot; the risk list holds those of all "
    "layers.</li>\n<li><b>Protect</b>: tick what must stay true. Every method is tried "
    "on the table and ranked by that;\nchoose one, and its steps stand below. For cyclic "
    "perturbation these are <b>Cycles</b>, which say\nwhat cells move together, and "
    "<b>Perturb</b>: for each cycle a coin decides whether it is added\n(alpha), "
    "subtracted (beta) or left alone. Every other method has its <b>Set-up</b>.</li>\n"
    "<li><b>Check</b>: what readers would know of each true "
    "count.</li>\n<li><b>Release</b>: a gate that says no where readers would know too "
    "much; then the public bundle and\nthe confidential dossier.</li>\n</ol>\n<h3>House "
    "and public</h3>\n<p>The strip at the bottom says <b>CONFIDENTIAL</b> whenever "
    "anything of the original can be read\noff the screen, and <b>PUBLIC VIEW</b> when "
    "only what a reader of the bundle has is shown. <b>F9</b>\nswitches every page "
    "between the two.</p>\n<h3>Formulas</h3>\n<p>Methods ask which tables are published. "
    "<b>a:b</b> is the table of a by b; <b>a*b</b> is that\nand its totals; <b>+</b> "
    "puts tables together, <b>-</b> takes one out; <b>(a + b + c)^2</b> is all\npairs, "
    "<b>.</b> every variable, <b>1</b> the grand total. An empty field means every "
    "table.\nA grouping is a variable of your own: "
    "<b>eu:country=Spain&gt;EU,Iceland&gt;outside</b>.</p>\n<h3>Words</h3>\n<p><b>Small "
    "count</b>: a count in the declared range (status U; all others S).\n"
    "<b>Would know</b>: a reader is surer of one true count than the house limit "
    "allows.\n<b>Hidden</b>: not published, shown as x; for staff U (small "
    "itself) or M\n(it would reveal another one), in public only x.\n"
    "<b>Margin</b>: a sum over some variables. <b>Cycle</b>: a pattern of +1 and −1 "
    "that keeps the\nmargins. <b>Pass</b>: one round over all cycles. <b>Blocked</b>: a "
    "cycle that touches a zero is not\napplied. <b>Assumes</b>: what a reader thinks "
    "before seeing the release.\n<b>Width</b>: how far apart the highest and the lowest count\nare that a "
    "cell may have, given what is published.</p>\n"
)

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
        "<p>The same two figures over many runs as a map: right is safer, up more useful. Choose a setting "
        "and move its sliders; <b>More</b> shows the settings as they are written on the command line, "
        "and other figures for the axes.</p>"
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
        "<p>Everything that has left the house, so that two releases of one table are not taken for one.</p>"
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
        words, text = {
            "page": (say("Help: {front}", told(self._front[1])), self._on_page()),
            "walk": (say("Five minutes"), WALK),
            "keys": (say("Keys"), self._keys()),
            "about": (say("About tabprotect"), ABOUT),
        }[self._topic if self._front[0] or self._topic != "page" else "walk"]
        self.set_heading(words)
        self._text.setHtml(told(text))
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
        return say(
            "<p><b>{hint}</b></p>{name}{here}{WALK}",
            html.escape(hint),
            ON_PAGES.get(name, ""),
            here,
            WALK,
        )

    def _worked(self) -> str:
        """The selected cell, or the first small one, from its true count to what is believed."""
        document = self.document
        table, project = document.shown_table, document.project
        if table is None or project is None:
            return ""
        index, house = document.selection, document.in_house
        if index is None or len(index) != table.domain.ndim:
            cells, counts = table.cells
            small = cells[project.at_risk.mask(counts)]
            at = int(small[0]) if len(small) else 0
            index = tuple(int(k) for k in np.unravel_index(at, table.domain.shape))
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
        from tabprotect.gui.base.believed_cell import cell_sentence, published_count

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
        quiet = THEME.colours.quiet
        lines = joined(
            say(
                "<tr><td style='padding-right: 24px; color: {quiet}'>{key}</td><td>{words}</td></tr>",
                quiet,
                key,
                words,
            )
            for key, words in (*rows, *KEYS)
        )
        return say("<table>{lines}</table>", lines)
