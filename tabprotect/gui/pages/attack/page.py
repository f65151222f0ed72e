"""Attack published files: what they tell together, with a proof or a chance for each count."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QLineEdit, QSplitter, QStackedWidget, QWidget

from tabprotect.engine.bundle.attacked_files import PublishedFile, attack_files, publisher_could, read_file
from tabprotect.engine.formats.published_rows import TOTAL, PublishedReading
from tabprotect.engine.formats.registered import patterns
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.progress import PartialProgress, Progress
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import Scrolling, card, connected, faces, named, push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.empty import Empty
from tabprotect.gui.look.file_dialogs import ask_files, ask_place
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import (
    filled,
    front_sets_height,
    held,
    in_column,
    in_grid,
    in_row,
    set_enabled,
    set_visible,
    split,
)
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, chance_text, count_text
from tabprotect.gui.pages.attack.file_list import FileList
from tabprotect.gui.pages.attack.findings import Among, Findings
from tabprotect.gui.pages.attack.why_panel import WhyPanel
from tabprotect.gui.pages.stages import ATTACK
from tabprotect.gui.plots.heat_map import HeatMap, Scale
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

EMPTY = message(
    "Put published files here: tables of any office over common variables, with the "
    "code of the total where one is summed over, or a release of this program."
)
START = message("Which counts can somebody work out who puts published tables together?")

TYPING = 600
"""Milliseconds without a key before what was typed is attacked with."""

FIGURES = (
    ("proved", message("proved, whatever one assumes")),
    ("likely", message("more are over 95 in 100 sure")),
    ("left", message("stay open")),
    ("told", message("published as they are")),
)


class AttackPage(Page):
    """The attack page: what published files of any office tell together."""

    stage = ATTACK

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.among: Among = "known"
        self.set_heading(message("What published files tell"))
        self.set_sentence(START)
        self._note = Label(role="quiet", wordWrap=True, name=message("What is done"))
        self._reading: BackgroundTask[list[PublishedFile]] = BackgroundTask(
            self, document.jobs, lambda files: self.files.show_files(files), self.show_error
        )
        self._attacking: BackgroundTask[Findings] = BackgroundTask(
            self, document.jobs, self._answered, self._failed, stopped=self._stopped
        )
        self._trying: BackgroundTask[list[tuple[str, Findings]]] = BackgroundTask(
            self, document.jobs, lambda ways: self.why.show_could(ways), self.show_error
        )
        for task in (self._reading, self._attacking, self._trying):
            task.outlives = True
        self._attacking.went.connect(lambda stage: self._note.setText(stage))
        self._exporter = Exporter(self)
        self.add_button = push_button(message("Add\u2026"), self._ask_files, name=message("Add files"))
        self.add_button.setIcon(icons.icon("add"))
        self.files = connected(FileList(), changed=self._files_changed)
        self.total = named(QLineEdit(TOTAL), message("Code of a variable that is summed over"))
        self.count = named(QLineEdit(COUNT), message("Column of the counts"))
        for field in (self.total, self.count):
            field.setMaximumWidth(14 * GRID)
            field.editingFinished.connect(self._read_again)
        self.stop = push_button(message("Stop"), self._attacking.cancel, name=message("Stop the attack"))
        self.again = push_button(message("Attack again"), self._attack_again)
        self.why = WhyPanel()
        self.empty = Empty(EMPTY, message("Add\u2026"), self._ask_files, name=message("Add the first files"))
        self.parts = self._split()
        filled(self.body, (self.empty, 1), (self.parts, 1))
        self._save = push_button(
            message("Save as JSON\u2026"), self._ask_json, tip=message("Every count with all its chances.")
        )
        self._command = self.command_button()
        filled(self.footer, self._save, self._command, (self._note, 1), self.stop, self.again)
        self.setAcceptDrops(True)
        self._enable()

    # -- building -----------------------------------------------------------------------------

    def _split(self) -> QSplitter:
        head = in_row(
            heading(message("Published files")),
            Label(message("or drop them here"), role="quiet"),
            1,
            self.add_button,
            spacing=GRID,
        )
        words = in_row(
            Label(message("Total is written"), role="quiet"),
            self.total,
            Label(message("counts stand under"), role="quiet"),
            self.count,
            1,
            spacing=GRID,
        )
        area = named(
            Scrolling(
                held(
                    in_column(
                        head,
                        self.files,
                        words,
                        self._figures(),
                        self._list_head(),
                        (self._stack(), 1),
                        margins=(0, 0, GRID, 0),
                        spacing=GRID,
                    )
                )
            ),
            focus=Qt.FocusPolicy.NoFocus,
        )
        return split((area, 3), (self.why, 2), sizes=(60 * GRID, 40 * GRID))

    def _figures(self) -> QWidget:
        grid = in_grid(margins=(GRID + 4, GRID, GRID + 4, GRID), down=0)
        self.figures: dict[str, Label] = {}
        for at, (name, words) in enumerate(FIGURES):
            figure = self.figures[name] = Label(role="figure", name=words)
            grid.addWidget(figure, 0, at)
            grid.addWidget(Label(words, role="quiet", wordWrap=True), 1, at, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(at, 1)
        self.card = card(grid)
        return self.card

    def _list_head(self) -> QWidget:
        self.choices_among = faces(
            {"known": message("Known"), "proved": message("Proved"), "all": message("All")},
            self._choose_among,
        )
        self.choices_among["known"].setChecked(True)
        self.views = faces(
            {"list": message("List"), "map": message("Map")},
            lambda name: self.stack.setCurrentIndex(("list", "map").index(name)),
        )
        self.views["list"].setChecked(True)
        self.search = connected(Finder(message("Find counts by their labels")), textChanged=self._sift)
        self.list_head = held(
            in_row(
                heading(message("What can be known")),
                1,
                *self.choices_among.values(),
                self.search,
                *self.views.values(),
                margins=0,
                spacing=4,
            )
        )
        return self.list_head

    def _stack(self) -> QStackedWidget:
        self.list = connected(RowList(message("Counts that can be known")), chosen=self.show_cell)
        self.list.setMinimumHeight(18 * GRID)
        self.map = connected(HeatMap(message("How sure one can be of each count")), chosen=self._cell_of_map)
        self.stack = filled(QStackedWidget(), self.list, self.map)
        front_sets_height(self.stack)
        return self.stack

    def choices(self) -> Mapping[str, Callable[[], object]]:
        return {"add": self._ask_files}

    def shows_original(self) -> bool:
        """Only what is published stands here."""
        return False

    def refresh(self, changes: PageChanges) -> None:
        """Do nothing: what the window has open is of no matter here."""

    # -- the files ----------------------------------------------------------------------------

    def take(self, source: str) -> None:
        self.add([source])

    def add(self, paths: Sequence[str]) -> None:
        """Read files and put them to the others."""
        before = self.files.files
        there = {file.path for file in before}
        new = [Path(path) for path in dict.fromkeys(paths) if Path(path) not in there]
        self._ask_reading(new, before)

    def _read_again(self) -> None:
        asked = (self.total.text(), self.count.text())
        if self.files.files and asked != self._asked:
            self._ask_reading([file.path for file in self.files.files], [])

    _asked: tuple[str, str] = (TOTAL, COUNT)

    def _ask_reading(self, paths: Sequence[Path], before: Sequence[PublishedFile]) -> None:
        if not paths:
            return
        self._asked = total, count = self.total.text(), self.count.text()
        asked = PublishedReading(total=total, count=count)
        self.errors.clear()

        def work(progress: Progress) -> list[PublishedFile]:
            return [
                *before,
                *(
                    read_file(path, asked, progress=PartialProgress(progress, n, len(paths)))
                    for n, path in enumerate(paths)
                ),
            ]

        self._reading.ask(message("reading published files"), work)

    def _ask_files(self) -> None:
        ask_files(
            self,
            message("Add published files"),
            message("Published tables and releases ({patterns})", f"{patterns('table')} *.zip"),
            self.add,
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.add([url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()

    # -- the attack ---------------------------------------------------------------------------

    def _files_changed(self) -> None:
        if not self.files.rows:
            self._attacking.drop()
            self._trying.drop()
            self._show()
            self.set_sentence(START)
            return
        files, said = self.files.files, self.files.said
        key = (*files, *said)

        def work(progress: Progress) -> Findings:
            return Findings.of(attack_files(files, said, progress=progress))

        if self._attacking.ask(message("attacking published files"), work, key, wait=TYPING):
            self._trying.drop()
            self.errors.clear()
            self._show()
            self.set_sentence(message("Putting the published numbers together\u2026"))

    def _attack_again(self) -> None:
        self._attacking.drop()
        self._files_changed()

    def _try_others(self, files: list[PublishedFile], said: tuple[str, ...]) -> None:
        """Try what the publisher could have done."""

        def work(progress: Progress) -> list[tuple[str, Findings]]:
            return [
                (words, Findings.of(found))
                for words, found in publisher_could(files, said, progress=progress)
            ]

        self._trying.ask(message("trying what the publisher could do"), work, (*files, *said))

    def _answered(self, findings: Findings) -> None:
        self._try_others(self.files.files, self.files.said)
        self._note.setText(" ".join(map(translate, findings.attacked.found.notes)))
        self.set_sentence(findings.sentence)
        self._show()

    def _failed(self, error: Exception) -> None:
        self.set_sentence("")
        self._note.clear()
        self.show_error(error)  # type: ignore[arg-type]
        self._enable()

    def _stopped(self) -> None:
        self.set_sentence(message("The attack was stopped."))
        self._note.clear()
        self._enable()

    # -- what is shown ------------------------------------------------------------------------

    def _enable(self) -> None:
        some, running = self.findings is not None, self._attacking.running
        set_visible(some, self.card, self.list_head, self.stack)
        there = bool(self.files.rows)
        self.empty.setVisible(not there)
        set_visible(there, self.parts, self.main_button, self._save, self._command)
        self.show_foot_line(there)
        self.begins = self.add_button if there else self.empty.button
        set_enabled(some, self.main_button, self._save)
        self.stop.setVisible(running)
        self.again.setVisible(bool(self.files.rows) and not some and not running)

    @property
    def findings(self) -> Findings | None:
        """The findings of the attack; ``None`` before it has ended."""
        return self._attacking.answer

    def _show(self) -> None:
        findings = self.findings
        self._enable()
        self.why.show_cell(None, 0)
        if findings is None:
            self.why.show_could(())
            return
        proved, known = int(findings.proved.sum()), int((findings.known | findings.proved).sum())
        told_ = int(findings.open.sum())
        numbers = (proved, known - proved, len(findings.count) - known - told_, told_)
        for figure, number in zip(self.figures.values(), numbers, strict=True):
            figure.setText(count_text(number))
        for name, number in (("known", known), ("proved", proved)):
            words = message("Known {number}") if name == "known" else message("Proved {number}")
            self.choices_among[name].setText(tr(words, count_text(number)))
        domain = findings.attacked.found.numbers.domain
        self.map.show_values(
            domain,
            Placement.of(domain),
            np.where(findings.open, 0.0, findings.belief).reshape(domain.shape),
            scale=Scale(chance_text, 1.0),
            selection=None,
        )
        if not known:
            self.among = "all"
            self.choices_among["all"].setChecked(True)
        self._fill_list()

    def _choose_among(self, name: str) -> None:
        self.among = cast(Among, name)
        self._fill_list()

    def _fill_list(self) -> None:
        if (found := self.findings) is None:
            return
        every = np.arange(len(found.count))
        self.list.show_rows(
            [
                ListColumn(message("Count"), every, found.label, right=False),
                ListColumn(message("published"), every, found.published, found.attacked.shown),
                ListColumn(message("likeliest count"), every, found.likely, found.count),
                ListColumn(message("how sure"), every, found.sure, found.belief + found.proved),
            ],
            found.cells(self.among),
        )
        self._show_first()

    def _sift(self, words: str) -> None:
        self.list.sift(words)
        self._show_first()

    def _show_first(self) -> None:
        """Go to the first cell that is listed."""
        if len(cells := self.list.rows.rows):
            self.list.set_current(int(cells[0]))
            self.show_cell(int(cells[0]))
        else:
            self.why.show_cell(None, 0)

    def show_cell(self, cell: int) -> None:
        """Show why one can know a cell."""
        if (found := self.findings) is not None:
            self.why.show_cell(found, cell)
            self.map.set_selection(found.attacked.found.numbers.domain.unflat(cell))

    def _cell_of_map(self, index: Index) -> None:
        if self.findings is not None:
            cell = self.findings.attacked.found.numbers.domain.flat(index)
            self.list.set_current(cell)
            self.why.show_cell(self.findings, cell)

    # -- what is written ----------------------------------------------------------------------

    def command_line(self) -> str:
        if not self.files.rows:
            return ""
        words = ["tabprotect", "attack", *(str(file.path) for file in self.files.files)]
        said = self.files.said
        for one in dict.fromkeys(said) if len(set(said)) == 1 else said:
            words += ["--method", one]
        for option, text, usual in (
            ("--total", self.total.text(), TOTAL),
            ("--count", self.count.text(), COUNT),
        ):
            if text != usual:
                words += [option, text]
        return line(words)

    def main_action(self) -> None:
        """Ask where to write the report."""
        if self.findings is not None:
            folder = self.document.preferences.public_folder
            ask_place(
                self,
                message("Write the report"),
                str(Path(folder or "") / "attack-report.html"),
                message("Report (*.html *.pdf)"),
                lambda path: self.save_report(Path(path)),
            )

    def save_report(self, path: Path) -> None:
        """Write the report, as a page to read or as PDF by the suffix."""
        if (found := self.findings) is None:
            return

        def content(progress: Progress) -> bytes:
            # Templates come with the first report.
            from tabprotect.engine.report.attack_report import attack_report

            return attack_report(found.attacked).as_bytes(path)

        self._exporter.write("report", path, content, confidential=False, overwrite=True)

    def _ask_json(self) -> None:
        place = Path(self.document.preferences.public_folder or "") / "attack.json"
        self._exporter.ask(place, self.save_json, confidential=False)

    def save_json(self, path: Path, *, overwrite: bool = False) -> None:
        """Write every count with its chances, as the command line prints them."""
        if (found := self.findings) is not None:
            self._exporter.write(
                "json",
                path,
                lambda _: json.dumps(found.attacked.as_json(), ensure_ascii=False).encode(),
                confidential=False,
                overwrite=overwrite,
            )
