"""The bases of every page (heading, sentence, errors, main action) and of the panels beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, ParamSpec

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QAction,
    QGuiApplication,
    QKeySequence,
    QPalette,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QFrame, QLayout, QPushButton, QSpacerItem, QTabBar, QWidget

from tabprotect.engine.errors import InfeasibleError, TabprotectError
from tabprotect.engine.project.command import Command
from tabprotect.engine.project.project import Project
from tabprotect.gui.base.background.jobs import Job
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.shell_lines import command_line
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.look.buttons import connected, named, push_button, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.error_strip import ErrorStrip
from tabprotect.gui.look.label import Finding, Label, show_text, tip
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, MARGIN, THEME
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

PageChanges = frozenset[str]
"""The project's changes by name, and the window's own: "view", "theme", "everything"."""

P = ParamSpec("P")


HIGH = 82 * GRID
"""Pixels, at normal text, that a page is high at least that has room around its body."""


class Page(QWidget):
    """Base of all pages.

    A subclass fills ``self.body`` (a vertical layout), may put controls into ``self.tools`` (the
    row at the right of the heading) and ``self.footer`` (the row at the left of the main
    action), and overrides :meth:`refresh`. ``refresh`` runs only while the page is shown:
    changes made meanwhile are collected and handed over when the page is shown again.
    """

    stage: ClassVar[Stage]

    announced = Signal()
    """Emitted when the page shows something else although the project is the same."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.begins: QWidget = self
        """The widget that gets the focus when the page is shown. No focus proxy: Tab would skip all before it."""
        self._missed: PageChanges = frozenset({"everything"})
        self.setAccessibleName(tr("{label} page", self.stage.label))
        self._heading = Label(
            self.stage.label, role="heading", wordWrap=bool(self.stage.beside) or self.name == "table"
        )
        self._sentence = Finding(name=message("In one sentence"))
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sentence.hide()
        self.tools: QLayout = in_row(spacing=GRID)
        self.errors = connected(ErrorStrip(), place_clicked=self.go_to_error)
        self.body = in_column(spacing=GRID)
        self.footer = in_row(spacing=GRID)
        self.main_button = QPushButton(translate(self.stage.main_label))
        dress(self.main_button, "action")
        if not self.stage.main_label:
            self.main_button.hide()
        self.main_button.clicked.connect(lambda: self.main_action())
        self._line = QFrame(frameShape=QFrame.Shape.HLine, frameShadow=QFrame.Shadow.Plain)
        self._room = QSpacerItem(0, GRID)
        self._line.setForegroundRole(QPalette.ColorRole.Mid)
        self._back = tool_button(icons.icon("close"), self._leave, name=message("Back"), flat=True)
        self._back.setToolTip(tip(message("Back (Esc)")))
        if not self.stage.back:
            self._back.hide()
        self._head = held(in_row((self._heading, 1), self.tools, self._back, margins=0, spacing=GRID))
        self.note = Label(message("Ctrl+Enter"), role="quiet")
        foot: QBoxLayout
        if self.stage.beside:
            last = in_row((self.main_button, 1), self.note, spacing=GRID)
            foot = in_column(self.footer, last, spacing=GRID)
        else:
            right = Qt.AlignmentFlag.AlignRight
            foot = in_row((self.footer, 1), (self.main_button, 0, right), spacing=GRID)
        # A link's words begin where those of the page do.
        foot.setContentsMargins(MARGIN, 0, MARGIN, 0)
        self._above = column = in_column(self._head, self._sentence, spacing=GRID)
        if self.stage.together:
            column.addWidget(self._tabbed())
        column.addItem(self._room)
        column.addLayout(self.body, 1)
        # Beside the main action: above the body it would push away what somebody is about to click.
        column.addWidget(self.errors)
        in_column((column, 1), self._line, foot, on=self, margins=(0, 0, 0, GRID), spacing=GRID)
        self._footed = bool(self.stage.main_label)
        self._space_out()
        # Ctrl+Return is the page's main action wherever the focus is on the page.
        connected(
            QShortcut(
                QKeySequence("Ctrl+Return"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut
            ),
            activated=self.main_button.click,
        )
        connected(document, project_changed=self._changed, view_changed=self._view_changed)
        THEME.changed.connect(self._theme_changed)

    @property
    def name(self) -> str:
        """The name of its stage."""
        return self.stage.name

    def _leave(self) -> None:
        self.document.page_asked.emit(self.stage.back)

    def _tabbed(self) -> QTabBar:
        """The pages that share this one's place as tabs; each is a page of its own."""
        bar = named(QTabBar(expanding=False, drawBase=True), message("Pages of {label}", self.stage.label))
        names = [name for name, _ in self.stage.together]
        for _, words in self.stage.together:
            bar.addTab(translate(words))
        here = names.index(self.name)
        bar.setCurrentIndex(here)

        def turned(number: int) -> None:
            if number != here:
                bar.setCurrentIndex(here)
                self.document.page_asked.emit(names[number])

        bar.currentChanged.connect(turned)
        return bar

    def shows_original(self) -> bool:
        """True if the page currently shows anything of the original."""
        return self.document.in_house

    def refresh(self, changes: PageChanges) -> None:
        """Bring the page up to date.

        ``changes`` are the names the commands report ("table", "cycles", ...), "view" for the
        F9 switch, "theme", or "everything" at first.
        """

    def pieces(self) -> Iterator[object]:
        """Build, step by step, what would otherwise be built when the page is first shown."""
        return iter(())

    def choices(self) -> Mapping[str, Callable[[], object]]:
        """The functions behind the menu entries, by name.

        They are called with the page in front, unless it cannot be used.
        """
        return {}

    def without_work(self) -> frozenset[str]:
        """The names of :meth:`choices` that have nothing to work on now."""
        return self.stage.idle(self.document)

    def take(self, source: str) -> None:
        """Open a file that belongs to this page."""

    def tell(self, topic: str, front: Page) -> None:
        """Show help: its text, and the page it is about."""

    def list_actions(self, actions: list[QAction]) -> None:
        """Take the list of the window's actions, once all are made."""

    def do(self, command: Command[P], /, *args: P.args, **given: P.kwargs) -> Job | None:
        """Run a command; errors are shown on this page."""
        return self.document.run(command(*args, **given), page=self.name)

    def words(self, project: Project) -> list[str]:
        """The command line that does what the page does, as words; empty if there is none."""
        return []

    def command_line(self) -> str:
        """The command line that does what the page does; empty where there is none."""
        return command_line(self.document, self.words)

    def copy_command(self) -> None:
        """Put the command line that does what the page does onto the clipboard."""
        if line := self.command_line():
            QGuiApplication.clipboard().setText(translate(line))
            return
        hint = message("F9 goes back to the staff view") if self.document.hiding else ""
        self.show_error(InfeasibleError(message("no command line does what this page shows"), hint=hint))

    def command_button(self, *, name: str = "", tip: str = "") -> QPushButton:
        """A button that copies the command line."""
        return push_button(message("Copy as command"), self.copy_command, name=name, tip=tip, flat=True)

    def open_out(self, *, wide: bool) -> None:
        """Show all that it has, or beside the table what decides."""

    def main_action(self) -> None:
        """Do what the main button (and Ctrl+Return) does."""

    def go_to_error(self, error: TabprotectError) -> None:
        """Go to the place that an error names."""

    def show_foot_line(self, shown: bool) -> None:
        """Show the line above the foot where there is anything in it."""
        self._footed = shown
        self._space_out()

    def _space_out(self) -> None:
        """Room around the body where the window is high enough for it."""
        high = self.height() >= HIGH * THEME.scale
        self._line.setVisible(high and self._footed)
        dress(self.main_button, "action" if high else "main")
        self._room.changeSize(0, GRID if high else 0)
        self._above.setContentsMargins(MARGIN, GRID if high else GRID // 2, MARGIN, 0)
        self._above.invalidate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self._space_out()

    def set_heading(self, text: str) -> None:
        """Set the page's heading."""
        self._heading.setText(translate(text))

    def set_sentence(self, text: str) -> None:
        """Set the sentence above the page's figures that sums them up."""
        show_text(self._sentence, text)

    @property
    def sentence(self) -> str:
        """The page's sentence."""
        return self._sentence.text()

    def texts(self) -> list[tuple[str, str]]:
        """What can be read here besides, for whoever looks for words: what each text is about, and it."""
        return []

    @property
    def head_said(self) -> str:
        """What the page says at its head, to be copied: its heading and its sentence."""
        return joined(filter(None, (self._heading.text(), self.sentence)), "\n")

    def show_error(
        self, error: TabprotectError, *, remedy_label: str = "", remedy: Callable[[], object] | None = None
    ) -> None:
        """Show an error in the page's strip."""
        self.errors.show_error(error, remedy_label=remedy_label, remedy=remedy)

    def _theme_changed(self) -> None:
        self.follow("theme")

    def follow(self, *changes: str) -> None:
        """Bring it up to date with these changes, now or when it is next shown."""
        self._changed(frozenset(changes))

    def when_seen(self, show: Callable[[], object], change: str = "release") -> None:
        """Show what has come; out of sight it is shown, as a change, when the page is next."""
        if self.isVisible():
            show()
        else:
            self._missed |= {change}

    def _view_changed(self, public: bool) -> None:
        if public:
            self.errors.clear()
        self._missed |= {"view"}
        # A hidden page forgets the original at once, not only when it is next shown.
        if self.isVisible() or (public and "everything" not in self._missed):
            self._catch_up()

    def _changed(self, changes: PageChanges) -> None:
        self._missed |= changes
        if self.isVisible():
            self._catch_up()

    def _catch_up(self) -> None:
        changes, self._missed = self._missed, frozenset()
        if changes:
            self.refresh(changes)

    def heightForWidth(self, width: int) -> int:
        # Asked by the scroll area around the page: the least the page needs, not its preferred size,
        # so that a message does not push the main action out of sight while there is room to spare.
        layout = self.layout()
        return -1 if layout is None else layout.minimumHeightForWidth(width)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._catch_up()


class Panel(QWidget):
    """Base of what stands beside the pages: brought up to date only while it is shown."""

    def __init__(self, document: Document, name: str) -> None:
        super().__init__(accessibleName=translate(name))
        self.document = document
        connected(document, project_changed=lambda _: self.catch_up(), view_changed=self._view_changed)

    def shows_original(self) -> bool:
        """True if anything of the original is on it now."""
        return self.isVisible() and self.document.in_house

    def refresh(self) -> None:
        """Bring the panel up to date."""

    def catch_up(self) -> None:
        """Bring it up to date if it is shown; else that waits until it is."""
        if self.isVisible():
            self.refresh()

    def _view_changed(self, public: bool) -> None:
        # A hidden panel forgets the original at once, not only when it is next shown.
        if public or self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()
