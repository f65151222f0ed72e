"""What is proposed for the open table: one number, one way with three facts, one button."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from tabprotect.engine.formats.layouts.count_marks import BLANK
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.document import AskedSigns, Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.stage import setup_page
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import card, push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.gui.pages.protect.taking import protect_by
from tabprotect.gui.pages.protect.ways import EXACT, Way, proposed
from tabprotect.gui.pages.stages import PROPOSAL
from tabprotect.languages.messages import capital, joined, message, plural
from tabprotect.languages.translation import translate

USUAL = "p=10"
"""The rule that is offered where a house says none."""

GREEN = ("tick", "open-eye")
"""Icons of facts that are good news."""


class ProposalPage(Page):
    """The panel beside a table that is not protected yet."""

    stage = PROPOSAL

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.way: Way | None = None
        self._job: Job | None = None
        self._coming = AfterPress(self, self._show)
        self._lead = Label(role="quiet")
        self._tried = Label(role="quiet")
        self.title = Label(wordWrap=True, role="title", name=message("Proposed"))
        self.facts: list[Label] = []
        self._icons: list[QLabel] = []
        rows = []
        for number in range(3):
            icon, fact = Label(), Label(wordWrap=True, name=message("Fact {number}", number + 1))
            self._icons.append(icon)
            self.facts.append(fact)
            icon.setFixedWidth(3 * GRID)
            rows.append(held(in_row((icon, 0, Qt.AlignmentFlag.AlignTop), (fact, 1), margins=0)))
        self._rows = rows
        self.about = Label(wordWrap=True, role="quiet", name=message("About the way"))
        self.card = card(
            in_column(
                in_row((self._lead, 1), self._tried),
                self.title,
                *rows,
                self.about,
                margins=(2 * GRID, GRID + 4, 2 * GRID, 2 * GRID),
                spacing=GRID,
            ),
            message("Proposed"),
        )
        flow = FlowLayout(gap=GRID)
        self.links = QWidget()
        self.links.setLayout(flow)
        self.otherwise = push_button(message("Something else\u2026"), self._otherwise, flat=True)
        for words, page in (
            (message("Other ways"), lambda: "protect"),
            (message("Tune"), lambda: setup_page(document)),
            (message("What must stay true?"), lambda: "requirements"),
        ):
            flow.addWidget(push_button(words, partial(self._open, page), flat=True))
        filled(self.body, self.card, self.links, (self.otherwise, 0, Qt.AlignmentFlag.AlignLeft), 1)
        self.begins = self.main_button
        document.trying.changed.connect(self._more)

    def _open(self, page: object) -> None:
        name = page() if callable(page) else str(page)
        if name == setup_page(self.document) and self.way is not None:
            protect_by(self, self.way, run=False)
        self.document.page_asked.emit(name)

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self, changes: PageChanges) -> None:
        project = self.document.project
        if project is None or not self.document.in_house:
            self.document.trying.leave()
            self.way = None
            set_visible(False, self.card, self.links, self.otherwise, self.main_button, self.note)
            self.set_heading(message("Nothing is published yet"))
            self.set_sentence(message("F9 goes back to the staff view.") if project is not None else "")
            for label in (self.title, *self.facts, self.about, self._tried):
                label.clear()
            return
        if project.release is None and self.document.working is None:
            self.document.trying.ask(project)
        self._show()

    def _more(self) -> None:
        self.when_seen(self._coming.go)

    def _show(self) -> None:
        if (project := self.document.project) is None or not self.document.in_house:
            return
        unruled = project.magnitudes is not None and not project.magnitudes.rules
        working, trying = self.document.working, self.document.trying
        running = trying.running and working is None
        asked = self.document.asked
        set_visible(True, self.main_button, self.note)
        self.card.setVisible(not unruled)
        self.links.setVisible(not unruled and asked is None)
        self.otherwise.setVisible(asked is not None)
        self._tell(project, unruled=unruled)
        self._follow(working)
        if working is not None:
            self._put(message("Protecting"), "", None)
            self.main_button.setText(translate(message("Stop")))
            self.title.setText(translate(capital(working.label)))
            return
        if asked is not None:
            self._ask(asked)
            return
        if unruled:
            self.main_button.setText(translate(message("Use {rule}", USUAL.replace("=", " = "))))
            return
        measure = project.measure
        if running:
            self.main_button.setText(translate(message("Stop")))
            of = len(methods(measure)) if methods(measure).loaded else 0
            self.way = None
            said = message("Trying {i} of {m} ways", trying.number, of) if of else message("Trying the ways")
            self._put(said, "", None)
            return
        self.way = proposed(project, trying)
        hides = project.of_magnitudes and self.way.group == EXACT
        self.main_button.setText(
            translate(message("Hide what is unsafe") if hides else self.stage.main_label)
        )
        tried = message("{n} ways tried", count_text(trying.number)) if trying.number else ""
        self._put(message("Proposed"), tried, self.way)

    def _ask(self, asked: AskedSigns) -> None:
        """Ask for a word on what the totals leave for the signs of the file."""
        signs = list(dict.fromkeys(message("\u201c{sign}\u201d", one.sign or BLANK) for one in asked.cells))
        self.set_heading(
            message("What does {sign} mean?", signs[0])
            if len(signs) == 1
            else message("What do {signs} mean?", joined(signs, message(" and ")))
        )
        self.set_sentence(
            plural(
                len(asked.cells),
                "The file's totals leave one answer.",
                "The file's totals leave one answer for each.",
            )
        )
        said = [
            ("tick", message("{cell}: {count}", joined(one.cell, ", "), count_text(one.count)))
            for one in asked.cells[: len(self.facts)]
        ]
        self._put(message("Must be"), "", Way("", "", "", "", "", tuple(said)))
        rest = len(asked.cells) - len(said)
        show_text(self.about, message("and {n} more", count_text(rest)) if rest else "")
        counts = joined((count_text(one.count) for one in asked.cells[: len(self.facts)]), message(" and "))
        self.main_button.setText(translate(message("Use them") if rest else message("Use {counts}", counts)))

    def _otherwise(self) -> None:
        if (asked := self.document.asked) is not None:
            asked.otherwise()

    def _tell(self, project: Project, *, unruled: bool) -> None:
        number = self.document.at_risk_cells
        n = count_text(number)
        if project.of_magnitudes:
            self.set_heading(
                message("No rule yet")
                if unruled
                else plural(number, "{n} sum may not be shown", "{n} sums may not be shown", n)
            )
            self.set_sentence(
                message("A rule says which sums tell too much of one contributor.")
                if unruled
                else plural(
                    number, "It tells too much of one contributor.", "Each tells too much of one contributor."
                )
            )
            return
        self.set_heading(
            plural(number, "{n} small count", "{n} small counts", n) if number else message("No small counts")
        )
        self.set_sentence(
            plural(
                number,
                "Published as it is, a reader knows it.",
                "Published as it is, a reader knows all {n}.",
                n,
            )
            if number
            else message("It may leave as it is.")
        )

    def _put(self, lead: str, tried: str, way: Way | None) -> None:
        """Fill the card; every row keeps its place while nothing is known yet."""
        self._lead.setText(translate(lead))
        self._tried.setText(translate(tried))
        self.title.setText(translate("" if way is None else way.name))
        self.title.setVisible(way is None or bool(way.name))
        facts = () if way is None else way.facts
        for number, (icon, fact, row) in enumerate(zip(self._icons, self.facts, self._rows, strict=True)):
            picture, words = facts[number] if number < len(facts) else ("", "")
            fact.setText(translate(words))
            c = THEME.colours
            ink = c.released if picture in GREEN else c.minus if picture == "warning" else c.quiet
            if picture:
                icon.setPixmap(icons.pixmap(picture, 16, colour=ink))
            else:
                icon.clear()
            row.setVisible(bool(words) or way is None)
        show_text(self.about, "" if way is None or facts else way.why)

    def _follow(self, job: Job | None) -> None:
        """Show a command's own words as it goes on."""
        if job is self._job:
            return
        self._job = job
        if job is not None:
            job.progressed.connect(self._went)
            job.ended.connect(self._ended)

    def _went(self, stage: str, fraction: float, partial_: object) -> None:
        job = self._job
        if job is None or self.document.working is not job:
            return
        left = job.seconds_left
        self._tried.setText(
            translate("" if left is None else message("{t} s left", count_text(max(1, round(left)))))
        )

    def _ended(self) -> None:
        self._job = None
        self._more()

    # -- what happens -------------------------------------------------------------------------

    def main_action(self) -> None:
        document = self.document
        if document.working is not None:
            document.working.cancel()
        elif (asked := document.asked) is not None and document.in_house:
            asked.agree()
            self._show()
        elif document.magnitudes is not None and not document.magnitudes.rules:
            self.do(set_rules, rules=[USUAL])
        elif document.trying.running:
            document.trying.stop()
        elif self.way is not None and document.in_house:
            protect_by(self, self.way)
            self._show()
