"""Changing a cycle set: every change is a command, so that undo and the recipe know it."""

from __future__ import annotations

from pathlib import Path
from typing import ParamSpec

from PySide6.QtCore import QObject, Signal

from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.project.command import Command
from tabprotect.engine.project.verbs.cycle_verbs import (
    add_cycle,
    flip_cycle_cell,
    mend_cycle,
    move_cycle,
    remove_cycle,
    set_cycles,
    split_cycles,
)
from tabprotect.engine.project.verbs.release_verbs import set_mechanism
from tabprotect.engine.protection.cycle_runs.cycle_parameters import emptied_designs
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.file_dialogs import ask_file, ask_place
from tabprotect.languages.messages import message

PAGE = "cycles"
P = ParamSpec("P")

FILES = message("Cycle sets (*.json);;4ti2 matrices (*.mat *.mar *.gra);;All files (*)")


class CycleEditor(QObject):
    """The editor of the document's cycles. Nothing in public view.

    ``begun`` tells that an empty one is to be drawn.
    """

    begun = Signal()

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.document = page.document
        self._window = page
        self._exporter = Exporter(page)
        self.drawing = False
        """Whether the next sign begins a cycle of one's own: until then it is empty."""

    @property
    def allowed(self) -> bool:
        """Return True if cycles may be changed: in the house, in the house's view."""
        return self.document.in_house

    def _do(self, command: Command[P], /, *args: P.args, **given: P.kwargs) -> None:
        if self.allowed:
            self.document.run(command(*args, **given), page=PAGE)

    def _moves(self) -> MoveSet | None:
        project = self.document.project
        try:
            return None if project is None else project.cycles
        except TabprotectError:
            return None

    def flip(self, index: Index, sign: int) -> None:
        """Give one cell of the selected cycle another sign."""
        if self.drawing and sign:
            self.drawing = False
            first = [list(index)]
            self._do(add_cycle, plus=first if sign > 0 else None, minus=None if sign > 0 else first)
            moves = self._moves()
            self.document.select_cycle(None if moves is None else len(moves) - 1)
        elif (cycle := self.document.selected_cycle) is not None and not self.drawing:
            self._do(flip_cycle_cell, cycle=cycle, index=list(index), sign=sign)

    def mend(self) -> None:
        """Complete the selected cycle, so that it breaks no kept sum."""
        if (cycle := self.document.selected_cycle) is not None and not self.drawing:
            self._do(mend_cycle, cycle=cycle)

    def add(self) -> None:
        """Begin a cycle at the end: empty, until a cell of it has a sign."""
        if self.allowed and self._moves() is not None:
            self.document.select_cycle(None)
            self.drawing = True
            self.begun.emit()

    def duplicate(self) -> None:
        """Put a copy after the selected cycle and select it."""
        cycle, moves = self.document.selected_cycle, self._moves()
        if not self.allowed or moves is None or cycle is None:
            return
        cells, signs = moves.entries(cycle)
        unflat = moves.domain.unflat
        self._do(
            add_cycle,
            plus=[list(unflat(int(c))) for c in cells[signs > 0]],
            minus=[list(unflat(int(c))) for c in cells[signs < 0]],
            at=cycle + 1,
        )
        self.document.select_cycle(cycle + 1)

    def remove(self) -> None:
        """Take the selected cycle out."""
        if (cycle := self.document.selected_cycle) is not None:
            self._do(remove_cycle, cycle=cycle)

    def move(self, cycle: int, to: int) -> None:
        """Give a cycle another place; it stays selected."""
        if self.allowed:
            self._do(move_cycle, cycle=cycle, to=to)
            self.document.select_cycle(to)

    def split(self) -> None:
        """Cut each cycle into its connected parts."""
        self._do(split_cycles)

    def take_template(self, kind: str) -> None:
        """Take the cycles of a template, without what was said of another one."""
        self.document.select_cycle(0)
        project = self.document.project
        said = {} if project is None else emptied_designs(project.parameters)
        if said:
            self._do(set_mechanism, cycles=kind, **said)
        else:
            self._do(set_cycles, kind=kind)

    # -- files --------------------------------------------------------------------------------

    def ask_import(self) -> None:
        """Ask for a file; the window stays alive meanwhile."""
        if self.allowed:
            ask_file(self._window.window(), message("Import cycles"), FILES, self.import_file)

    def import_file(self, path: str) -> None:
        """Take the cycle set of a file; a bad one leaves everything as it was."""
        self._do(set_cycles, file=path)

    def ask_export(self) -> None:
        """Ask for a file to write to."""
        window = self._window.window()
        ask_place(window, message("Export cycles"), "cycles.json", FILES, self.export_file)

    def export_file(self, path: str) -> None:
        """Write the cycle set: JSON, or 4ti2 by the ending."""
        moves, place = self._moves(), Path(path)
        if moves is not None:
            self._exporter.write(
                "cycles",
                place,
                lambda _: cycle_files.as_bytes(moves, place.suffix),
                confidential=False,
                overwrite=True,
            )
