"""The queue of a project's outputs: each with what was flagged, and a decision with its comment. CONFIDENTIAL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFormLayout, QLineEdit

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.output_checking import output_queue
from tabprotect.engine.output_checking.output_queue import OutputQueue
from tabprotect.engine.progress import Progress
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import Dialog, decision, named, push_button
from tabprotect.gui.look.file_dialogs import ask_file, ask_folder
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import translate


class QueueDialog(Dialog):
    """All outputs of a queue; the chosen one is approved or rejected, by somebody and with a comment."""

    def __init__(self, page: Page, path: Path) -> None:
        super().__init__(page.window(), message("Queue of outputs, CONFIDENTIAL"))
        self._path, self._note = path, ""
        self.queue = OutputQueue()
        self._task: BackgroundTask[OutputQueue] = BackgroundTask(
            self, page.document.jobs, self._show, self._failed
        )
        self._task.outlives = True
        self.list = RowList(message("Outputs"), sortable=False, compact=True)
        self.list.chosen.connect(lambda _: self._enable())
        self.who = named(QLineEdit(), message("Who decides"), textChanged=lambda _: self._enable())
        self.comment = named(QLineEdit(), message("Comment"), textChanged=lambda _: self._enable())
        self.said = Label(wordWrap=True, role="quiet", name=message("What is open"))
        self.buttons = {
            "approve": push_button(message("Approve"), lambda: self.decide("approve")),
            "reject": push_button(message("Reject"), lambda: self.decide("reject")),
        }
        form = QFormLayout(verticalSpacing=GRID)
        for text, box in ((message("Who decides"), self.who), (message("Comment"), self.comment)):
            form.addRow(Label(text, buddy=box), box)
        ends, self.leave, _ = decision(self, "", self.ask_folder, back=message("Close"))
        row = in_row(*self.buttons.values(), 1, ends, spacing=GRID)
        in_column((self.list, 1), self.said, form, row, on=self)
        self.resize(100 * GRID, 50 * GRID)
        self._enable()
        self._ask(lambda _: output_queue.read(path))

    def _ask(self, work: Callable[[Progress], OutputQueue]) -> None:
        self._task.ask(message("the queue of outputs"), work)

    def decide(self, decision: str) -> None:
        """Decide on the chosen output, and write the queue."""
        at, path = self.list.current, self._path
        who, comment = self.who.text().strip(), self.comment.text().strip()
        if at is None or not who or not comment:
            return
        self._note = ""
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

        def work(_: Progress) -> OutputQueue:
            # As it is now: somebody else may have decided meanwhile.
            found = output_queue.read(path).decided(at + 1, decision, comment=comment, who=who, when=when)
            output_queue.write(found, path)
            return found

        self._ask(work)

    def ask_folder(self) -> None:
        """Ask where the outputs that are ready go."""
        ask_folder(self, message("Publish into"), "", self.publish, kind="published")

    def publish(self, folder: str) -> None:
        """Copy every output that is ready into a folder, as the queue is now."""
        path = self._path

        def work(_: Progress) -> OutputQueue:
            found = output_queue.read(path)
            self._note = message(
                "{n} published into {folder}.", output_queue.publish(found, Path(folder)), folder
            )
            return found

        self._ask(work)

    def _show(self, queue: OutputQueue) -> None:
        kept, self.queue = self.list.current, queue
        columns = (
            ("No.", [str(one.number) for one in queue.outputs], True),
            (message("File"), [one.file for one in queue.outputs], True),
            (message("Rules say"), [translate(one.status) for one in queue.outputs], False),
            (message("Flagged"), [str(one.flagged) for one in queue.outputs], True),
            (message("Decision"), [translate(one.said) for one in queue.outputs], False),
        )
        self.list.show_rows(
            [ListColumn(head, texts, str, right=False, data=own) for head, texts, own in columns],
            stretch=(4,),
            current=kept if kept is not None else 0 if queue.outputs else None,
        )
        still = message("{open} of {outputs} outputs may not leave yet.", queue.open, len(queue.outputs))
        self.said.setText(translate(joined(filter(None, (self._note, still)), " ")))
        ready = len(queue.ready)
        words = plural(
            ready, "Publish the one that is ready\u2026", "Publish the {n} that are ready\u2026", ready
        )
        self.leave.setText(translate(words))
        self.comment.clear()
        self._enable()

    def _failed(self, error: TabprotectError) -> None:
        self.said.setText(translate(joined([str(error), error.hint], "\n")))

    def _enable(self) -> None:
        able = bool(self.list.current is not None and self.who.text().strip() and self.comment.text().strip())
        for button in self.buttons.values():
            button.setEnabled(able)
        self.leave.setEnabled(bool(self.queue.ready))


def ask_queue(page: Page) -> None:
    """Ask for the file of a queue, and show it."""
    filters = message("Queue of outputs (*.json);;All files (*)")
    ask_file(page, message("Queue of outputs"), filters, lambda path: QueueDialog(page, Path(path)).open())
