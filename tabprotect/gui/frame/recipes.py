"""Next year in the window: save the work as a recipe, run a recipe on new data, land on the gate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.formats.registered import patterns
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipe_text import next_year_text
from tabprotect.engine.project.recipes.last_year import (
    SinceLastYear,
    UndecidedError,
    category_lines,
    expected_categories,
)
from tabprotect.engine.project.recipes.recipe_mapping import Renames, remember_mapping
from tabprotect.engine.project.recipes.replay import prepared_recipe
from tabprotect.engine.tables.groupings.unlisted_codes import UnlistedError
from tabprotect.gui.base.background.background_task import tell_failure
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.frame.opening import OPEN_ANYHOW, RECIPE, Files
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import Dialog, connected, named
from tabprotect.gui.look.file_dialogs import ask_file, ask_place
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, MARGIN
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.gui.forms.mapping_sheet import MappingSheet

RECIPES = message("Recipes (*{RECIPE})", RECIPE)


class Recipes(QObject):
    """Recipes of one window."""

    def __init__(self, window: Window, files: Files) -> None:
        super().__init__(window)
        self.window = window
        self.files = files
        self.document = window.document
        files.recipe.connect(self._ask_data)

    def ask_save(self) -> None:
        """Ask for a file and save the steps so far as a recipe for next year."""
        if self.document.project is None:
            return
        title, save = message("Save as recipe"), lambda path: self.save(Path(path))
        ask_place(self.window, title, "recipe.toml", RECIPES, save)

    def save(self, path: Path) -> None:
        """Save the steps so far: without seeds and paths, the file a variable."""
        history = self.document.history
        text = next_year_text(history.trail, history.project)
        page = self.window.page
        exporter = Exporter(page)
        exporter.written.connect(
            lambda path: page.errors.show_note(
                message(
                    "Saved as {name}, without data, seeds and paths. Next year: File > Run a "
                    "recipe on new data.",
                    path.name,
                )
            )
        )
        content = text.encode()
        exporter.write("recipe", path, lambda _: content, confidential=False, private=True, overwrite=True)

    def ask_run(self) -> None:
        """Ask for a recipe, then for the new data."""
        ask_file(self.window, message("Recipe"), RECIPES, self._ask_data, kind="recipe")

    def _ask_data(self, recipe: str) -> None:
        shown = message("{patterns} {patterns2}", patterns("table"), patterns("records"))
        ask_file(
            self.window,
            message("New data for {name}", Path(recipe).name),
            message("Data ({shown});;All files (*)", shown),
            partial(self._choose, recipe),
            kind="table",
        )

    def _choose(self, recipe: str, data: str) -> None:
        self.files.recent.remember(recipe)
        self.files.unless_unsaved(OPEN_ANYHOW, lambda: self.run(Path(recipe), Path(data)))

    def run(self, recipe: Path, data: Path, renames: Renames | None = None, *, accept: bool = False) -> None:
        """Run a recipe on new data up to the gate.

        ``accept`` after somebody has seen which of its categories are missing.
        """
        settings = {"source": str(data.absolute())}
        self.window.page.errors.clear()
        job = connected(
            self.document.jobs.command(
                message("run {name} on {name2}", recipe.name, data.name),
                lambda p: prepared_recipe(recipe, settings, renames=renames, accept=accept, progress=p),
            ),
            finished=self._arrive,
        )
        again = partial(self._decided, (recipe, data), dict(renames or {}))
        job.failed.connect(tell_failure(lambda error: self._refused(error, recipe, again, accept)))

    def _arrive(self, found: tuple[History, SinceLastYear | None]) -> None:
        history, since = found
        self.files.take(history, history.project.name)
        self.window.go("table" if self.window.pages.why_not("release") else "release")
        if since is not None:
            LastYearSheet(self.window, since).open()

    def _refused(
        self,
        error: TabprotectError,
        recipe: Path,
        again: Callable[[MappingSheet, bool, Renames], None],
        accept: bool,
    ) -> None:
        """Ask what categories are that the recipe, or a code list that it reads, lacks."""
        # With the first recipe that leaves a doubt, not with the window.
        from tabprotect.gui.forms.mapping_sheet import MappingSheet, Unlisted

        if isinstance(error, UndecidedError):
            expects, to, accept = expected_categories(recipe), recipe.name, True
            asked = [
                Unlisted(
                    one.variable,
                    one.new,
                    tuple(dict.fromkeys((*one.missing, *expects[one.variable]))),
                    one.alike,
                    one.missing,
                )
                for one in error.categories
            ]
        elif isinstance(error, UnlistedError):
            asked, to = [Unlisted.of(error)], Path(str(error.file)).name
        else:
            self.window.page.show_error(error)
            return
        sheet = MappingSheet(self.window, asked, to=to, remembers=True)
        sheet.decided.connect(partial(again, sheet, accept))
        sheet.open()

    def _decided(
        self, files: tuple[Path, Path], before: Renames, sheet: MappingSheet, accept: bool, said: Renames
    ) -> None:
        if sheet.remember.isChecked() and said:
            try:
                remember_mapping(files[0], said)
            except TabprotectError as error:
                self.window.page.show_error(error)
                return
        self.run(*files, {**before, **said}, accept=accept)


class LastYearSheet(Dialog):
    """A sheet of what differs from last year. CONFIDENTIAL: it shows counts of both."""

    def __init__(self, parent: QWidget, since: SinceLastYear) -> None:
        super().__init__(parent, message("Since last year (staff only)"))
        # A terminal writes the arrow with two signs.
        lines = [line.replace(" -> ", " \u2192 ") for line in map(translate, since.lines())]
        said = Label(
            message("New and missing categories.")
            if category_lines(since.categories)
            else message("Same categories.")
        )
        self.text = named(
            QPlainTextEdit(joined(lines, "\n"), readOnly=True), message("What differs from last year")
        )
        buttons = connected(QDialogButtonBox(QDialogButtonBox.StandardButton.Close), rejected=self.reject)
        in_column(said, (self.text, 1), buttons, on=self, margins=MARGIN, spacing=GRID)
        self.resize(70 * GRID, 50 * GRID)
