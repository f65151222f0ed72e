"""The import sheet: the file's first lines left, what was recognised right, what comes of it below."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QLabel, QWidget

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.formats.file_preview import FilePreview, preview
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.background.jobs import Jobs
from tabprotect.gui.forms.reading.column_roles import FileLines, with_role
from tabprotect.gui.forms.reading.mark_choices import MarkChoices
from tabprotect.gui.forms.reading.reading_inputs import ReadingForm, said_of, set_value, value_of
from tabprotect.gui.forms.reading.refusal_choices import RefusalChoices
from tabprotect.gui.look.buttons import Dialog, ScrollsDown, connected, decision
from tabprotect.gui.look.drawn.icons import pixmap
from tabprotect.gui.look.error_strip import ErrorStrip, without_options
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import translate

REST = 300
"""Milliseconds of rest before the file is looked at again."""

RESULT = 12 * GRID
"""Pixels that what comes of it is high at least: nothing moves when it is a question."""


TOLD = 5
"""Remarks that are shown; all of them stay with the table."""

NAMED = 4
"""Variables that a sentence names."""

FORM = 52 * GRID
"""Pixels that the choices are wide, in letters of the usual size."""

SHARE = 0.36
"""The share of the sheet that the choices have at most: the file's lines are what one looks at."""


class ImportSheet(Dialog):
    """A sheet on how a file is to be read. ``chosen`` carries its path, the reading, and the look at it."""

    chosen = Signal(str, object, object)

    def __init__(self, parent: QWidget, jobs: Jobs, path: Path, given: Mapping[str, object]) -> None:
        super().__init__(parent, message("Read {name}", path.name))
        self.path = path
        self.seen: FilePreview | None = None
        self._given = dict(given)
        self._suggested = set(given)
        self._question: BackgroundTask[FilePreview] = BackgroundTask(self, jobs, self._show, self._failed)
        self._question.outlives = True
        self._rest = connected(QTimer(self, singleShot=True, interval=REST), timeout=self.look_again)
        self.finding = Label(message("The file is being read."), role="section", wordWrap=True)
        self.told = Label(wordWrap=True, role="quiet", name=message("Said of the file"))
        self.errors = connected(ErrorStrip(), place_clicked=self._go_to)
        self.lines = FileLines()
        self.roles = self.lines.roles
        self.roles.chosen.connect(self._role_chosen)
        self.choices = RefusalChoices(self._take)
        self.lines.cellDoubleClicked.connect(self._header_chosen)
        self.form = connected(ReadingForm(), changed=self._changed)
        self.inputs = self.form.inputs
        self.tick = QLabel()
        self.sums = Label(wordWrap=True, role="section", name=message("Sums"))
        self.again = Label(message("A file of this look opens the same way the next time."), role="quiet")
        self.buttons, self.open_button, _ = decision(self, message("Open"), self._accept)
        self.open_button.setEnabled(False)
        room, scale = parent.size(), THEME.scale
        wide = min(round(156 * GRID * scale), room.width() - 2 * GRID)
        self._lay_out(min(round(FORM * scale), round(wide * SHARE)))
        self.finished.connect(lambda _: self._question.drop())
        self.resize(wide, min(round(90 * GRID * scale), room.height()))
        self.look_again()

    def _lay_out(self, form: int) -> None:
        scroll = ScrollsDown()
        scroll.setWidget(self.form)
        left = QWidget()
        hint = Label(message("say above each column what it is"), role="quiet")
        in_column(
            in_row(heading(message("The file")), hint, 1, margins=0, spacing=GRID),
            (self.lines, 1),
            on=left,
            margins=0,
            spacing=GRID,
        )
        scroll.setFixedWidth(form)
        result = QWidget(minimumHeight=RESULT)
        sums = in_row(self.tick, (self.sums, 1), margins=0, spacing=GRID)
        in_column(1, self.errors, sums, self.choices, self.again, 1, on=result, margins=0, spacing=GRID // 2)
        in_column(
            in_column(
                Label(message("Open {name}", self.path.name), role="heading"),
                self.finding,
                self.told,
                margins=0,
                spacing=GRID // 2,
            ),
            (in_row((left, 1), scroll, margins=0, spacing=3 * GRID), 1),
            in_row((result, 1), self.buttons, margins=0, spacing=2 * GRID),
            on=self,
            margins=3 * GRID,
            spacing=2 * GRID,
        )

    # -- what is chosen -----------------------------------------------------------------------

    @property
    def given(self) -> dict[str, object]:
        """The options as the inputs say them."""
        out = dict(self._given)
        for name, box in self.inputs.items():
            if (value := said_of(name, value_of(box))) in (None, "", False):
                out.pop(name, None)
            else:
                out[name] = value
        if "=suppressed" in str(out.get("marks", "")):
            # What a sign hides is worked out, or it cannot be read at all.
            out.setdefault("missing", "suppressed")
        return out

    def set_option(self, name: str, value: object) -> None:
        """Set one option, as its input does."""
        set_value(self.inputs[name], value)

    def _header_chosen(self, row: int) -> None:
        if (item := self.lines.item(row, 0)) is not None and "header_row" in self.inputs:
            self.set_option("header_row", item.text())

    def _go_to(self, error: TabprotectError) -> None:
        """Go to the line that an error names, where it is one of those shown."""
        if (line := getattr(error, "line", None)) is not None and 0 < line <= self.lines.rowCount():
            self.lines.selectRow(line - 1)
            self.lines.setFocus()

    def _role_chosen(self, chosen: dict[str, str]) -> None:
        for name, role in chosen.items():
            self._take(with_role(self.given, name, role))

    def _take(self, options: Mapping[str, object]) -> None:
        """Set several options, as their inputs do."""
        for name, value in options.items():
            box = self.inputs.get(name)
            if isinstance(box, MarkChoices):
                # Of other signs stays what was said.
                value = f"{box.text()} {value}".strip()
            if box is not None:
                self.set_option(name, value)
            else:
                # An answer to a question that the form does not ask by itself.
                self._given[name] = value
                self._changed()

    def look_again(self) -> None:
        """Ask what the file would be read as."""
        given = self.given
        path = self.path
        self._question.ask(
            message("look into {name}", path.name), lambda p: preview(path, Reading.of(given), p)
        )

    def _changed(self) -> None:
        self.open_button.setEnabled(False)
        self._rest.start()

    # -- what is shown ------------------------------------------------------------------------

    def _show(self, seen: FilePreview) -> None:
        if self.seen is None:
            self.form.build(seen, self._given)
        self.seen = seen
        self._suggest(seen)
        if self._rest.isActive():
            # What is likely meant is shown at once, not the question that it answers.
            self._rest.stop()
            self.look_again()
            return
        self.form.show_found(seen)
        marks = self.inputs.get("marks")
        hidden = seen.table is not None and self.given.get("missing") == "suppressed"
        if hidden and isinstance(marks, MarkChoices):
            # The totals told every cell without a count, whatever its sign.
            marks.take_rest("suppressed")
        self.lines.show_lines(seen, self.given)
        self.sums.setText(translate(seen.sums))
        told = _told(seen)
        self.told.setText("\n".join(capital(without_options(translate(note))) for note in told))
        self.told.setVisible(bool(told))
        self.finding.setText(translate(_finding(seen)))
        self.open_button.setText(
            translate(message("Choose variables\u2026") if seen.records else message("Open the table"))
        )
        self.open_button.setEnabled(seen.table is not None or seen.records)
        asked = None if seen.records else seen.error
        self.choices.show_choices(asked)
        # What has answers is a question; what has none is a fault of the file.
        answers = bool(self.choices.buttons)
        self.sums.setVisible(asked is None or answers)
        if asked is not None and answers:
            self.sums.setText(translate(_question(asked)))
        self.tick.setPixmap(pixmap("tick", 2 * GRID, colour=THEME.colours.released))
        self.tick.setVisible(asked is None and seen.table is not None)
        self.again.setVisible(self.tick.isVisibleTo(self))
        if asked is None or answers:
            self.errors.clear()
        else:
            self.errors.show_error(asked)

    def _suggest(self, seen: FilePreview) -> None:
        """Fill in the likely answer to a question, once, to be seen and changed.

        That missing cells are 0 is for a person to say.
        """
        for name, value in seen.suggested.items():
            box = self.inputs.get(name)
            key = f"{name} {value}" if isinstance(box, MarkChoices) else name
            if box is None or name == "missing" or {name, key} & self._suggested:
                continue
            self._suggested.add(key)
            # What a sign other than a dash means is not guessed.
            if not isinstance(box, MarkChoices) or str(value).endswith("=zero"):
                self._take({name: value})

    def _failed(self, error: TabprotectError) -> None:
        self.open_button.setEnabled(False)
        self.errors.show_error(error)

    def _accept(self) -> None:
        if self.seen is None or self._rest.isActive() or self._question.running:
            return
        try:
            reading = Reading.of(self.given)
        except InputError as error:
            self._failed(error)
            return
        self.chosen.emit(str(self.path), reading, self.seen)
        self.accept()


def _told(seen: FilePreview) -> list[str]:
    """What the file says beside its counts, and what became of it; how its lines lie is said elsewhere."""
    laid_out = {part.option for part in seen.parts} | {"form", "columns", "marks"}
    notes = [note for note in seen.notes if note.partition(": ")[0] not in laid_out]
    rest = len(notes) - TOLD
    return notes if rest <= 0 else [*notes[:TOLD], message("and {rest} more, in the table's notes", rest)]


def _question(error: InputError) -> str:
    """Say what is asked, in a sentence; the buttons beside it are the answers."""
    if "--count COLUMN" in error.hint:
        return message("Which column says how many?")
    where = "" if error.line is None else message(" (line {line})", error.line)
    said = message("{message}{where}.", capital(error.message), where)
    hint = without_options(translate(error.hint))
    return message("{said} {hint}.", said, capital(hint)) if hint and hint != error.hint else said


def _finding(seen: FilePreview) -> str:
    """Say what becomes of the columns, in a sentence."""
    if seen.records:
        return message("Each row is a person or a firm. What to count them by comes next.")
    if seen.table is None:
        asked = "" if seen.error is None else seen.error.hint
        if "--count COLUMN" in asked:
            return message("Say above one column that it is the count; the others split the table.")
        return message("One question is open below: answer it first.")
    names = seen.table.domain.names
    split = message("{n} variables", len(names))
    if len(names) <= NAMED:
        last = names[-1]
        split = last if len(names) < 2 else message("{first} and {last}", joined(names[:-1], ", "), last)
    here = (
        message("The column \u201c{count}\u201d says how many there are, by {split}.", seen.counted, split)
        if seen.counted
        else message("The cells say how many there are, by {split}.", split)
    )
    out = [p.value for p in seen.parts if p.option == "drop"]
    if not out:
        return here
    return message("{here} Left out, as it holds percentages: {names}.", here, joined(out, ", "))
