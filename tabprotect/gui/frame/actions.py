"""Menus: every action with its shortcut; nothing can be done only with a mouse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu

from tabprotect.gui.base.stage import MenuEntry
from tabprotect.gui.frame.opening import Files
from tabprotect.gui.frame.recipes import Recipes
from tabprotect.gui.frame.stages import PAGES
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.layouts import set_enabled
from tabprotect.gui.look.theme import THEME, Mode
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

MENUS = (
    message("File"),
    message("Edit"),
    message("Table"),
    message("Protect"),
    message("Readers"),
    message("Releases"),
    message("Plan"),
    message("View"),
    message("Help"),
)

LETTERS = {"Releases": message("Re&leases"), "Plan": message("Pl&an")}
"""Menus whose first letter is another's."""

ROLES = {
    "settings": QAction.MenuRole.PreferencesRole,
    "help_about": QAction.MenuRole.AboutRole,
    "quit": QAction.MenuRole.QuitRole,
}
"""What macOS moves into the program's own menu. By default it guesses that from English words."""


@dataclass(frozen=True)
class MenuItem:
    """An entry of a menu of the window's own; ``picture`` is the name of its icon."""

    name: str
    text: str
    run: Callable[[], object]
    keys: str | tuple[str, ...] = ()
    picture: str = ""
    checkable: bool = False


class Actions(QObject):
    """The menus of one window. ``self["undo"]`` is the action of that name."""

    def __init__(self, window: Window, files: Files) -> None:
        super().__init__(window)
        self.window = window
        self.files = files
        self.document = window.document
        self._by_name: dict[str, QAction] = {}
        self._front = ""
        self._pictures: dict[str, str] = {}
        self.menus: dict[str, QMenu] = {}
        for name in MENUS:
            self.menus[name] = window.menuBar().addMenu(translate(LETTERS.get(name) or tr("&{name}", name)))
            # A page may have found something since.
            self.menus[name].aboutToShow.connect(self._offer)
            self.menus[name].aboutToShow.connect(self._repaint)
        self._file()
        undo, redo = self.document.undo, self.document.redo
        self._add(
            "Edit",
            MenuItem("undo", message("&Undo"), undo, "Ctrl+Z", "undo"),
            MenuItem("redo", message("&Redo"), redo, ("Ctrl+Y", "Ctrl+Shift+Z"), "redo"),
            None,
            MenuItem(
                "copy_command",
                message("Copy as co&mmand"),
                lambda: self.window.page.copy_command(),
                "Ctrl+Alt+C",
            ),
            MenuItem(
                "copy_said",
                message("Copy what the panel &says"),
                lambda: QGuiApplication.clipboard().setText(
                    (self.window.decision or self.window.page).head_said
                ),
                "Ctrl+Alt+S",
            ),
            MenuItem("palette", message("&Find a command\u2026"), lambda: self._palette(), "Ctrl+K", "find"),
        )
        for stage in PAGES:
            for entry in stage.entries:
                name, run = f"{stage.name}_{entry.name}", partial(self._choose, stage.name, entry)
                self._add(entry.menu, MenuItem(name, entry.text, run, keys=entry.keys))
        self._view()
        self._help()
        connected(
            self.document, project_changed=lambda _: self.refresh(), view_changed=lambda _: self.refresh()
        )
        self.refresh()

    def __getitem__(self, name: str) -> QAction:
        return self._by_name[name]

    def _add(self, menu: str, *items: MenuItem | None) -> None:
        """Put items into a menu, in this order; ``None`` is a line between them."""
        for item in items:
            if item is None:
                self.menus[menu].addSeparator()
                continue
            action = QAction(
                translate(item.text),
                self.window,
                menuRole=ROLES.get(item.name, QAction.MenuRole.NoRole),
                checkable=item.checkable,
            )
            keys = (item.keys,) if isinstance(item.keys, str) else item.keys
            action.setShortcuts([QKeySequence(key) for key in keys if key])
            action.triggered.connect(lambda _checked=False, run=item.run: run())
            self.menus[menu].addAction(action)
            self._by_name[item.name] = action
            if item.picture:
                self._pictures[item.name] = item.picture

    def _choose(self, page: str, entry: MenuEntry) -> None:
        if self.window.page.name != page:
            self.window.go(page)
        self.window.pages[page].choices()[entry.name]()

    def show_current(self, page: str) -> None:
        """Let the keys that each page has for itself mean the page in front."""
        self._front = page
        self._offer()

    def _offer(self) -> None:
        """Offer what can be done now: entries of pages that can be used, keys of the one in front."""
        pages, project = self.window.pages, self.document.project
        for stage in PAGES:
            standing = pages.standings[stage]
            able = not standing.why
            # What a magnitude table lacks is idle whatever its page has found.
            built = None if self.document.of_magnitudes else pages.built.get(stage.name)
            idle = standing.idle if built is None else built.without_work()
            for entry in stage.entries:
                action = self[f"{stage.name}_{entry.name}"]
                at_hand = not entry.here or stage.name == self._front
                action.setEnabled(able and at_hand and entry.name not in idle)
                # The steps of a method that was not chosen would only be in the way.
                action.setVisible(project is None or able or standing.applies)
            self[f"page_{stage.name}"].setEnabled(able)

    def of_page(self, page: str) -> list[QAction]:
        """Return what the page in front can do now, for its context menu."""
        self._offer()
        own = (self[f"{page}_{entry.name}"] for entry in self.window.pages.stages[page].entries)
        return [action for action in own if action.isEnabled() and action.isVisible()]

    def every(self) -> list[QAction]:
        """All actions, in the order of the menus."""
        return [action for menu in self.menus.values() for action in menu.actions()]

    # -- menus --------------------------------------------------------------------------------

    def _file(self) -> None:
        window, files = self.window, self.files
        recipes = self.recipes = Recipes(window, files)
        self._add(
            "File",
            MenuItem("open", message("&Open\u2026"), files.ask_open, "Ctrl+O", "open"),
            MenuItem("open_with", message("Open &with choices\u2026"), files.ask_reading_of, "Ctrl+Shift+O"),
        )
        self.recent_menu = connected(
            self.menus["File"].addMenu(tr("Open &recent")), aboutToShow=self._fill_recent
        )
        self._add(
            "File",
            MenuItem(
                "tabulate",
                message("&Count records\u2026"),
                lambda: window.go("tabulate"),
                "Ctrl+T",
                "microdata",
            ),
            MenuItem("start", message("Start &page"), lambda: window.go("start"), "Ctrl+0"),
            MenuItem("window", message("New &window"), window.another, "Ctrl+Shift+N"),
            None,
            MenuItem("run_recipe", message("Run a recipe on &new data\u2026"), recipes.ask_run),
            MenuItem("save_recipe", message("Save as recipe for next &year\u2026"), recipes.ask_save),
            MenuItem("save", message("&Save"), files.save, "Ctrl+S", "save"),
            MenuItem("save_as", message("Save &as\u2026"), files.save_as, "Ctrl+Shift+S"),
            MenuItem(
                "save_release",
                message("Save the re&lease as\u2026"),
                lambda: self._save_in_a_format("release"),
            ),
            MenuItem(
                "save_table", message("Save the ta&ble as\u2026"), lambda: self._save_in_a_format("table")
            ),
            MenuItem("about_table", message("Ab&out this table\u2026"), self._about),
            None,
            MenuItem("queue", message("Q&ueue of outputs\u2026"), self._queue),
            None,
            MenuItem("print", message("&Print\u2026"), self._print, "Ctrl+P"),
            None,
            MenuItem("settings", message("S&ettings\u2026"), self._settings, "Ctrl+,"),
            None,
            MenuItem("close", message("&Close window"), window.close, "Ctrl+W"),
            MenuItem("quit", message("&Quit"), QApplication.closeAllWindows, "Ctrl+Q"),
        )

    def _save_in_a_format(self, what: Literal["release", "table"]) -> None:
        # Imported late: the first paint needs no form.
        from tabprotect.gui.forms import save_as

        (save_as.ask_release if what == "release" else save_as.ask_table)(self.window.page)

    def _about(self) -> None:
        # Imported late: the first paint needs no form.
        from tabprotect.gui.forms.about_sheet import ask_about

        ask_about(self.window.page)

    def _settings(self) -> None:
        # Imported late: the first paint needs no form.
        from tabprotect.gui.frame.settings_dialog import SettingsDialog

        SettingsDialog(self.window).open()

    def _queue(self) -> None:
        # Imported late: the first paint needs no form.
        from tabprotect.gui.forms.queue_sheet import ask_queue

        ask_queue(self.window.page)

    def _print(self) -> None:
        # Imported late: the first paint needs no printer.
        from tabprotect.gui.frame.printing import ask_print

        ask_print(self.window)

    def _palette(self) -> None:
        # Imported late: the first paint needs no list of everything.
        from tabprotect.gui.frame.palette import Palette

        palette = Palette(self.window, self.menus.values())
        palette.open()
        palette.field.setFocus()

    def _view(self) -> None:
        window = self.window
        self._add(
            "View",
            MenuItem(
                "public",
                message("&See what a reader sees"),
                lambda: self.document.set_public(not self.document.public),
                "F9",
                "open-eye",
                checkable=True,
            ),
            None,
        )
        for number, page in enumerate(PAGES, 1):
            keys = "" if page.under else f"Ctrl+{number}"
            go = partial(window.go, page.name)
            self._add("View", MenuItem(f"page_{page.name}", page.label, go, keys, page.icon))
        self._add("View", None)
        for name, keys in (("contributors", "Ctrl+I"), ("history", "Ctrl+H"), ("recipe", "Ctrl+R")):
            action = window.docks[name].toggleViewAction()
            action.setShortcut(keys)
            self.menus["View"].addAction(action)
            self._by_name[f"panel_{name}"] = action
        self._add("View", MenuItem("reset_layout", message("Reset &layout"), window.reset_layout), None)
        self._colours()
        for name, text, factor, zooming in (
            ("zoom_in", message("Larger text"), 1.1, ("Ctrl+=", "Ctrl++")),
            ("zoom_out", message("Smaller text"), 1 / 1.1, ("Ctrl+-",)),
            ("zoom_reset", message("Normal text"), 0.0, ("Ctrl+Shift+0",)),
        ):
            self._add("View", MenuItem(name, text, partial(_zoom, factor), zooming))

    def _colours(self) -> None:
        group = QActionGroup(self)
        modes: tuple[tuple[Mode, str], ...] = (
            ("system", message("Colours of the system")),
            ("light", message("Light")),
            ("dark", message("Dark")),
            ("contrast", message("High contrast")),
        )
        for mode, text in modes:
            run = partial(THEME.apply, mode=mode)
            self._add("View", MenuItem(f"mode_{mode}", text, run, checkable=True))
            self[f"mode_{mode}"].setChecked(THEME.mode == mode)
            group.addAction(self[f"mode_{mode}"])
        self._add("View", None)

    def _help(self) -> None:
        for name, text, keys, picture in (
            ("page", message("&Help on this page"), "F1", "help"),
            ("walk", message("&Five minutes"), "", ""),
            ("keys", message("&Keys"), "Ctrl+F1", ""),
            ("about", message("&About tabprotect"), "", ""),
        ):
            run = partial(self._help_on, name)
            self._add("Help", MenuItem(f"help_{name}", text, run, keys, picture))
            if name == "walk":
                self._add("Help", MenuItem("tour", message("&Guided tour of this window"), self._tour))

    def _tour(self) -> None:
        # Imported late: the first paint needs no tour.
        from tabprotect.gui.frame.tour import Tour

        if self.document.project is not None and not self.window.page.stage.beside:
            self.window.go("table")
        Tour(self.window)

    def _help_on(self, topic: str) -> None:
        """Show one of the help page's texts; it goes back to where it was asked."""
        self.window.pages["help"].tell(topic, self.window.page)
        self.window.go("help")

    # -- state --------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Names and availability after a change."""
        history, project = self.document.history, self.document.project
        for name, label, verb in (
            ("undo", history.undo_label, message("Undo")),
            ("redo", history.redo_label, message("Redo")),
        ):
            # Step names hold counts that were typed: in public view they stay unsaid.
            named = label and not self.document.public
            self[name].setText(
                translate(message("&{verb}: {label}", verb, label) if named else message("&{verb}", verb))
            )
            self[name].setEnabled(bool(label))
        self._offer()
        self["copy_command"].setEnabled(project is not None)
        self["save_recipe"].setEnabled(self.document.has_original)
        set_enabled(project is not None, self["save"], self["save_as"])
        self["public"].setChecked(self.document.public)
        self["public"].setEnabled(project is not None and self.document.has_original)

    def _repaint(self) -> None:
        """Icons in the colours in force: nobody sees them before a menu opens."""
        for name, picture in self._pictures.items():
            self[name].setIcon(icons.icon(picture))

    def _fill_recent(self) -> None:
        self.recent_menu.clear()
        # Names of the house's files are not for whoever looks on in public view.
        for one in () if self.document.hiding else self.files.recent.files():
            self.recent_menu.addAction(one.path, partial(self.files.open, one.path))
        if self.recent_menu.isEmpty():
            none = message("Not shown in the public view") if self.document.hiding else message("None yet")
            self.recent_menu.addAction(none).setEnabled(False)


def _zoom(factor: float) -> None:
    """Larger or smaller text by a factor; 0 for the normal size."""
    THEME.apply(zoom=THEME.zoom * factor if factor else 1.0)
