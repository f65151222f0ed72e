"""Menus: every action with its shortcut; nothing can be done only with a mouse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu

from tabprotect.engine.errors import InfeasibleError
from tabprotect.gui.base.shell_lines import command_line
from tabprotect.gui.base.stage import MenuEntry
from tabprotect.gui.frame.opening import Files
from tabprotect.gui.frame.recipes import Recipes
from tabprotect.gui.frame.settings_dialog import SettingsDialog
from tabprotect.gui.frame.stages import PAGES
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look import icons
from tabprotect.gui.look.theme import THEME, Mode
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told

MENUS = (
    say("File"),
    say("Edit"),
    say("Data"),
    say("Protect"),
    say("Check"),
    say("Release"),
    say("View"),
    say("Help"),
)


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
            self.menus[name] = window.menuBar().addMenu(tell("&{name}", name))
            # A page may have found something since.
            self.menus[name].aboutToShow.connect(self._offer)
            self.menus[name].aboutToShow.connect(self._repaint)
        self._file()
        self._edit()
        for stage in PAGES:
            for entry in stage.entries:
                self._page_entry(stage.name, entry)
        self._view()
        self._help()
        self.document.project_changed.connect(lambda _: self.refresh())
        self.document.view_changed.connect(lambda _: self.refresh())
        self.refresh()

    def __getitem__(self, name: str) -> QAction:
        return self._by_name[name]

    def _add(
        self,
        menu: str,
        name: str,
        text: str,
        keys: str | QKeySequence.StandardKey,
        run: Callable[[], object],
        *,
        picture: str = "",
        checkable: bool = False,
    ) -> QAction:
        action = QAction(told(text), self.window)
        action.setShortcut(QKeySequence(keys))
        action.setCheckable(checkable)
        action.triggered.connect(lambda _checked=False: run())
        self.menus[menu].addAction(action)
        self._by_name[name] = action
        if picture:
            self._pictures[name] = picture
        return action

    def _page_entry(self, page: str, entry: MenuEntry) -> None:
        self._add(
            entry.menu,
            f"{page}_{entry.name}",
            entry.text,
            entry.keys,
            partial(self._choose, page, entry.name),
        )

    def _choose(self, page: str, name: str) -> None:
        if self.window.page.name != page:
            self.window.go(page)
        self.window.pages[page].choices()[name]()

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
            built = pages.built.get(stage.name)
            idle = standing.idle if built is None else built.without_work()
            for entry in stage.entries:
                action = self[f"{stage.name}_{entry.name}"]
                at_hand = not entry.here or stage.name == self._front
                action.setEnabled(able and at_hand and entry.name not in idle)
                # The steps of a method that was not chosen would only be in the way.
                action.setVisible(project is None or able or standing.applies)
            self[f"page_{stage.name}"].setEnabled(able)

    def of_page(self, page: str) -> list[QAction]:
        """What the page in front can do now, for its context menu."""
        self._offer()
        entries = self.window.pages.stages[page].entries
        own = (self[f"{page}_{entry.name}"] for entry in entries)
        return [action for action in own if action.isEnabled() and action.isVisible()]

    def every(self) -> list[QAction]:
        """All actions, in the order of the menus."""
        return [action for menu in self.menus.values() for action in menu.actions()]

    # -- menus --------------------------------------------------------------------------------

    def _file(self) -> None:
        self._add(
            say("File"), "open", say("&Open\u2026"), "Ctrl+O", self.files.ask_open, picture="open"
        )
        self._add(
            say("File"),
            "open_with",
            say("Open &with choices\u2026"),
            "Ctrl+Shift+O",
            self.files.ask_reading_of,
        )
        self.recent_menu = self.menus["File"].addMenu(tell("Open &recent"))
        self.recent_menu.aboutToShow.connect(self._fill_recent)
        self._add(
            say("File"),
            "tabulate",
            say("&Tabulate microdata\u2026"),
            "Ctrl+T",
            lambda: self.window.go("tabulate"),
            picture="microdata",
        )
        self._add(
            say("File"), "start", say("Start &page"), "Ctrl+0", lambda: self.window.go("start")
        )
        self._add(say("File"), "window", say("New &window"), "Ctrl+Shift+N", self.window.another)
        self.menus["File"].addSeparator()
        recipes = self.recipes = Recipes(self.window, self.files)
        self._add(
            say("File"), "run_recipe", say("Run a recipe on &new data\u2026"), "", recipes.ask_run
        )
        self._add(
            say("File"),
            "save_recipe",
            say("Save as recipe for next &year\u2026"),
            "",
            recipes.ask_save,
        )
        self._add(say("File"), "save", say("&Save"), "Ctrl+S", self.files.save, picture="save")
        self._add(say("File"), "save_as", say("Save &as\u2026"), "Ctrl+Shift+S", self.files.save_as)
        self.menus["File"].addSeparator()
        self._add(say("File"), "settings", "S&ettings\u2026", "Ctrl+,", self._settings)
        self.menus["File"].addSeparator()
        self._add(say("File"), "close", say("&Close window"), "Ctrl+W", self.window.close)
        self._add(say("File"), "quit", say("&Quit"), "Ctrl+Q", QApplication.closeAllWindows)

    def _edit(self) -> None:
        self._add(say("Edit"), "undo", say("&Undo"), "Ctrl+Z", self.document.undo, picture="undo")
        self._add(say("Edit"), "redo", say("&Redo"), "Ctrl+Y", self.document.redo, picture="redo")
        self["redo"].setShortcuts([QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z")])
        self.menus["Edit"].addSeparator()
        self._add(
            say("Edit"), "copy_command", say("Copy as co&mmand"), "Ctrl+Alt+C", self.copy_command
        )

    def _view(self) -> None:
        window = self.window
        self._add(
            say("View"),
            "public",
            say("&See what a reader sees"),
            "F9",
            lambda: self.document.set_public(not self.document.public),
            picture="open-eye",
            checkable=True,
        )
        self.menus["View"].addSeparator()
        for number, page in enumerate(PAGES, 1):
            self._add(
                say("View"),
                f"page_{page.name}",
                page.label,
                f"Ctrl+{number}" if number < 10 else "",
                partial(window.go, page.name),
                picture=page.icon,
            )
        self.menus["View"].addSeparator()
        for name, dock in window.docks.items():
            action = dock.toggleViewAction()
            self.menus["View"].addAction(action)
            self._by_name[f"panel_{name}"] = action
        self["panel_history"].setShortcut("Ctrl+H")
        self["panel_recipe"].setShortcut("Ctrl+R")
        self["panel_inspector"].setShortcut("Ctrl+I")
        self._add(say("View"), "reset_layout", say("Reset &layout"), "", window.reset_layout)
        self.menus["View"].addSeparator()
        group = QActionGroup(self)
        modes: tuple[tuple[Mode, str], ...] = (
            ("system", say("Colours of the system")),
            ("light", say("Light")),
            ("dark", say("Dark")),
        )
        for mode, text in modes:
            action = self._add(
                say("View"),
                f"mode_{mode}",
                text,
                "",
                partial(THEME.apply, mode=mode),
                checkable=True,
            )
            action.setChecked(THEME.mode == mode)
            group.addAction(action)
        self.menus["View"].addSeparator()
        self._add(
            say("View"),
            "zoom_in",
            say("Larger text"),
            "Ctrl++",
            lambda: THEME.apply(zoom=THEME.zoom * 1.1),
        )
        self["zoom_in"].setShortcuts([QKeySequence("Ctrl+="), QKeySequence("Ctrl++")])
        self._add(
            say("View"),
            "zoom_out",
            say("Smaller text"),
            "Ctrl+-",
            lambda: THEME.apply(zoom=THEME.zoom / 1.1),
        )
        self._add(
            say("View"),
            "zoom_reset",
            say("Normal text"),
            "Ctrl+Shift+0",
            lambda: THEME.apply(zoom=1.0),
        )

    def _help(self) -> None:
        for name, text, keys in (
            ("page", say("&Help on this page"), "F1"),
            ("walk", say("&Five minutes"), ""),
            ("keys", say("&Keys"), "Ctrl+F1"),
            ("about", say("&About tabprotect"), ""),
        ):
            self._add(
                say("Help"),
                f"help_{name}",
                text,
                keys,
                partial(self._help_on, name),
                picture="help" if name == "page" else "",
            )

    def _help_on(self, topic: str) -> None:
        """Show one of the help page's texts; it goes back to where it was asked."""
        front = self.window.page
        self.window.pages["help"].tell(topic, front)
        self.window.go("help")

    def _settings(self) -> None:
        SettingsDialog(self.window).open()

    def copy_command(self) -> None:
        """Put the command line that does what the page in front does onto the clipboard."""
        line = self.command_line()
        if line:
            QGuiApplication.clipboard().setText(told(line))
        else:
            self.window.page.show_error(
                InfeasibleError(
                    say("no command line does what this page shows"),
                    hint=say("F9 goes back to the house's view") if self._hiding else "",
                )
            )

    def command_line(self) -> str:
        """The command line that does what the page in front does; empty where there is none."""
        return command_line(self.document, self.window.page.words)

    @property
    def _hiding(self) -> bool:
        """Whether the house looks through a reader's eyes."""
        return self.document.public and self.document.has_original

    # -- state --------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Names and availability after a change."""
        history, project = self.document.history, self.document.project
        for name, label, verb in (
            ("undo", history.undo_label, say("Undo")),
            ("redo", history.redo_label, say("Redo")),
        ):
            # Step names hold counts that were typed: in public view they stay unsaid.
            named = label and not self.document.public
            self[name].setText(
                told(say("&{verb}: {label}", verb, label) if named else say("&{verb}", verb))
            )
            self[name].setEnabled(bool(label))
        self._offer()
        self["copy_command"].setEnabled(project is not None)
        self["save_recipe"].setEnabled(self.document.has_original)
        self["save"].setEnabled(project is not None)
        self["save_as"].setEnabled(project is not None)
        self["public"].setChecked(self.document.public)
        self["public"].setEnabled(project is not None and self.document.has_original)

    def _repaint(self) -> None:
        """Icons in the colours in force: nobody sees them before a menu opens."""
        for name, picture in self._pictures.items():
            self[name].setIcon(icons.icon(picture))

    def _fill_recent(self) -> None:
        self.recent_menu.clear()
        # Names of the house's files are not for whoever looks on in public view.
        for path in () if self._hiding else self.files.recent():
            self.recent_menu.addAction(path, partial(self.files.open, path))
        if self.recent_menu.isEmpty():
            none = say("Not shown in the public view") if self._hiding else say("None yet")
            self.recent_menu.addAction(none).setEnabled(False)
