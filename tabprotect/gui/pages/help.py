"""Help: the five-minute walk, the pages beside it, the keys, and what the words mean."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QTextBrowser

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Changes, Page
from tabprotect.gui.look.theme import THEME

WALK = """
<h3>Five minutes</h3>
<ol>
<li><b>Open</b> an example or a table of counts. Cells with small counts are at risk: amber, with
a dot.</li>
<li><b>Cycles</b> say which cells move together. Each adds 1 to some cells and takes 1 from
others, so that every margin stays exactly as it is.</li>
<li><b>Perturb</b>: for each cycle a coin decides whether it is added (alpha), subtracted (beta)
or left alone. What that will do is shown before it happens.</li>
<li><b>Posterior</b>: what a reader, or an intruder, can believe about each true count.</li>
<li><b>Release</b>: writes the public bundle and the confidential dossier.</li>
</ol>
<h3>Beside the walk</h3>
<ul>
<li><b>Methods</b>: every other way to protect the table, among them cell keys, rounding and
suppression. Choose one at the left; its form and its help stand beside it, with what it promises
and what it needs. Run it: <i>Result</i> shows each published table beside the true counts. A
posterior and a release follow as for cycles.</li>
<li><b>Compare</b>: several methods, each with several settings, run many times on this very table:
what each gives away against what it keeps, as a map and as a table. Click a point to open that
release.</li>
<li><b>Query space</b>: which margins of one big table can be published together. Every sub-table
is shown as released, releasable or too dangerous; look at one, then plan it. <i>Publish the
planned margins</i> takes the plan to Methods.</li>
<li><b>Tabulate microdata</b> (on the start page): counts records into a table. With record keys,
cell keys give the same noise in every table of these records; keys <i>drawn now</i> are kept with
this table, and serve it and its margins only.</li>
</ul>
<h3>Formulas</h3>
<p>Methods ask which sub-tables are published. <b>a:b</b> is the table of a by b; <b>a*b</b> is that
and its totals; <b>+</b> puts tables together, <b>-</b> takes one out; <b>(a + b + c)^2</b> is all
pairs, <b>.</b> every variable, <b>1</b> the grand total. An empty field means every sub-table.
A grouping is a variable of your own: <b>eu:country=Spain&gt;EU,Iceland&gt;outside</b>.</p>
<h3>House and public</h3>
<p>The strip at the bottom says <b>CONFIDENTIAL</b> whenever anything of the original can be read
off the screen, and <b>PUBLIC VIEW</b> when only what a reader of the bundle has is shown. <b>F9</b>
switches every page between the two.</p>
<h3>Words</h3>
<p><b>At risk</b>: a count in the declared small range (status U; all others are safe, S).
<b>Suppressed</b>: not published, shown as x; in the house U (primary: sensitive itself) or M
(secondary: it would reveal another one), in public only x.
<b>Margin</b>: a sum over some variables. <b>Cycle</b>: a pattern of +1 and \u22121 that keeps the
margins. <b>Pass</b>: one round over all cycles. <b>Blocked</b>: a cycle that touches a zero is not
applied. <b>Prior</b>: what somebody believes before seeing the release; <b>posterior</b>: after.
<b>Mode</b>: the most probable count. <b>Width</b>: how far apart the highest and the lowest count
are that a cell may have, given what is published.</p>
"""

KEYS = (
    ("Return", "down; Ctrl+Return is the page's main action"),
    ("F2 or typing", "change a count"),
    ("Ctrl+arrow", "to the edge of the table"),
    ("F8, Shift+F8", "next, previous at-risk cell"),
    ("R, C, L on a variable", "put it into rows, columns, layers; arrows change the order"),
    ("Esc", "cancel what is running; close a bar"),
)


class HelpPage(Page):
    """What one needs to know, on one page."""

    name = "help"
    label = "Help"
    icon = "help"

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._actions: list[QAction] = []
        self._text = QTextBrowser(openExternalLinks=False)
        self._text.setAccessibleName("Help text")
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.body.addWidget(self._text, 1)
        self.setFocusProxy(self._text)

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    def shows_original(self) -> bool:
        return False

    def list_actions(self, actions: list[QAction]) -> None:
        """The window's actions, for the table of keys."""
        self._actions = actions

    def refresh(self, changes: Changes) -> None:
        rows = [
            # Step names ("Undo: set ... to 5") hold counts of the original: only the verb.
            (action.shortcut().toString(), action.text().replace("&", "").split(":")[0])
            for action in self._actions
            if not action.shortcut().isEmpty()
        ]
        quiet = THEME.colours.quiet
        keys = "".join(
            f"<tr><td style='padding-right: 24px; color: {quiet}'>{key}</td><td>{words}</td></tr>"
            for key, words in (*rows, *KEYS)
        )
        self._text.setHtml(f"{WALK}<h3>Keys</h3><table>{keys}</table>")
