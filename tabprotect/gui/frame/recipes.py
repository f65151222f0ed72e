"""Next year in the window: save the work as a recipe, run a recipe on new data, land on the gate."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.formats.registered import patterns
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipe_text import next_year_text
from tabprotect.engine.project.recipes.last_year import (
    OtherCategories,
    SinceLastYear,
    UndecidedError,
    category_lines,
)
from tabprotect.engine.project.recipes.recipe_mapping import Renames
from tabprotect.engine.project.recipes.replay import prepared_recipe
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.base.question import tell_failure
from tabprotect.gui.frame.opening import OPEN_ANYHOW, RECIPE, Files
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.file_dialogs import ask_file, ask_place
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, MARGIN
from tabprotect.languages.said import joined, say
from tabprotect.languages.speaking import tell, told

RECIPES = say("Recipes (*{RECIPE})", RECIPE)


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
        title, save = say("Save as recipe"), lambda path: self.save(Path(path))
        ask_place(self.window, title, "recipe.toml", RECIPES, save)

    def save(self, path: Path) -> None:
        """Save the steps so far: without seeds and paths, the file a variable."""
        history = self.document.history
        text = next_year_text(history.trail, history.project)
        page = self.window.page
        exporter = Exporter(page)
        exporter.written.connect(
            lambda path: page.errors.show_note(
                say(
                    "Saved as {name}, without data, seeds and paths. Next year: File > Run a "
                    "recipe on new data.",
                    path.name,
                )
            )
        )
        content = text.encode()
        exporter.write(
            "recipe", path, lambda _: content, confidential=False, private=True, overwrite=True
        )

    def ask_run(self) -> None:
        """Ask for a recipe, then for the new data."""
        ask_file(self.window, say("Recipe"), RECIPES, self._ask_data)

    def _ask_data(self, recipe: str) -> None:
        shown = say("{patterns} {patterns2}", patterns("table"), patterns("records"))
        ask_file(
            self.window,
            say("New data for {name}", Path(recipe).name),
            say("Data ({shown});;All files (*)", shown),
            partial(self._choose, recipe),
        )

    def _choose(self, recipe: str, data: str) -> None:
        self.files.unless_unsaved(OPEN_ANYHOW, lambda: self.run(Path(recipe), Path(data)))

    def run(self, recipe: Path, data: Path, renames: Renames | None = None) -> None:
        """Run a recipe on new data up to the gate."""
        settings = {"source": str(data.absolute())}
        accept = renames is not None
        self.window.page.errors.clear()
        job = self.document.jobs.command(
            say("run {name} on {name2}", recipe.name, data.name),
            lambda p: prepared_recipe(recipe, settings, renames=renames, accept=accept, progress=p),
        )
        job.finished.connect(self._arrive)
        job.failed.connect(tell_failure(lambda error: self._refused(error, recipe, data)))

    def _arrive(self, found: tuple[History, SinceLastYear | None]) -> None:
        history, since = found
        self.files.take(history, history.project.name)
        self.window.go("table" if self.window.pages.why_not("release") else "release")
        if since is not None:
            LastYearSheet(self.window, since).open()

    def _refused(self, error: TabprotectError, recipe: Path, data: Path) -> None:
        if not isinstance(error, UndecidedError):
            self.window.page.show_error(error)
            return
        sheet = CategoriesSheet(self.window, error.categories)
        sheet.decided.connect(lambda renames: self.run(recipe, data, renames))
        sheet.open()


IS_NEW = say("is a new category")


class CategoriesSheet(QDialog):
    """Each new category: another name of one that is missing, or new. ``decided`` carries renames."""

    decided = Signal(object)

    def __init__(self, parent: QWidget, categories: tuple[OtherCategories, ...]) -> None:
        super().__init__(parent)
        self.setWindowTitle(tell("Categories of the new file"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.boxes: dict[tuple[str, str], QComboBox] = {}
        form = QFormLayout()
        for other in categories:
            form.addRow(heading(other.variable))
            for name in other.new:
                box = QComboBox()
                box.addItem(told(IS_NEW), None)
                for missing in other.missing:
                    box.addItem(tell("is {missing}", missing), missing)
                box.setCurrentIndex(max(box.findData(other.alike.get(name)), 0))
                box.setAccessibleName(tell("{variable}: {name}", other.variable, name))
                self.boxes[other.variable, name] = box
                form.addRow(name, box)
            if other.missing:
                form.addRow(
                    Label(
                        say("missing: {missing}", joined(other.missing, ", ")),
                        wordWrap=True,
                    )
                )
        inside = QWidget()
        inside.setLayout(form)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go_on = buttons.addButton(tell("Go on"), QDialogButtonBox.ButtonRole.AcceptRole)
        dress(self.go_on, "main")
        buttons.accepted.connect(self._decide)
        buttons.rejected.connect(self.reject)
        said = Label(
            say(
                "The recipe was made for other categories. Those that stay missing have no one this "
                "year; steps that name them will say so."
            ),
            wordWrap=True,
        )
        _lay_out(self, said, scroll, buttons)

    def _decide(self) -> None:
        chosen = {key: box.currentData() for key, box in self.boxes.items()}
        self.decided.emit({key: to for key, to in chosen.items() if to is not None})
        self.accept()


class LastYearSheet(QDialog):
    """What differs from last year. CONFIDENTIAL: it shows counts of both."""

    def __init__(self, parent: QWidget, since: SinceLastYear) -> None:
        super().__init__(parent)
        self.setWindowTitle(tell("Since last year (staff only)"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # A terminal writes the arrow with two signs.
        lines = [line.replace(" -> ", " \u2192 ") for line in map(told, since.lines())]
        said = Label(
            say("New and missing categories.")
            if category_lines(since.categories)
            else say("Same categories.")
        )
        self.text = QPlainTextEdit(joined(lines, "\n"), readOnly=True)
        self.text.setAccessibleName(tell("What differs from last year"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        _lay_out(self, said, self.text, buttons)


def _lay_out(sheet: QDialog, said: Label, middle: QWidget, buttons: QDialogButtonBox) -> None:
    in_column(said, (middle, 1), buttons, on=sheet, margins=MARGIN, spacing=GRID)
    sheet.resize(70 * GRID, 50 * GRID)
