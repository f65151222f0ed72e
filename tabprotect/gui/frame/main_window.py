"""The window's frame: rail, table with its panel or another page, docks and the confidentiality strip."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QPoint, QSettings, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QWidget,
)

from tabprotect.engine.bundle.staff.release_findings import counted, magnitude_headline
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.how_found import how_found
from tabprotect.engine.project.history import History
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.frame.actions import Actions
from tabprotect.gui.frame.contributors import ContributorsView
from tabprotect.gui.frame.history_panel import HistoryPanel, RecipePanel
from tabprotect.gui.frame.opening import Files
from tabprotect.gui.frame.rail import Rail
from tabprotect.gui.frame.stages import OTHERS, Pages
from tabprotect.gui.frame.strip import Strip
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import Scrolling, connected, named, present
from tabprotect.gui.look.drawn.drawing import Drawing
from tabprotect.gui.look.drawn.icons import icon
from tabprotect.gui.look.empty import way_on
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, held, in_column, in_row, set_visible, tab_follows_layout
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message, plural, uncapital
from tabprotect.languages.translation import tr, translate

RAIL_FOLDS = 1100
"""Pixels, at normal text, below which the rail shows icons only."""

PANEL, LOW, ROOMY = 400, 344, 1200
"""Pixels, at normal text, that the panel is wide which decides; in windows narrower than the last the second."""

LEAST = 480
"""Pixels, at normal text, below which the table gives its place to the panel, or shares it by turns."""

SMALLEST = (800, 480)
FIRST = (1280, 720)
FRAME = QSize(16, 48)
"""What window managers put around a window, at the most."""


OPEN: list[MainWindow] = []
"""Windows that were made by others: somebody has to hold them."""

"""What is at risk, in the strip."""


class MainWindow(Window):
    """One window, one document. ``closed`` after it was, ``made`` carries another one."""

    closed = Signal()
    made = Signal(object)

    def __init__(self, document: Document, settings: QSettings | None = None) -> None:
        super().__init__()
        self.document = document
        self.settings = settings
        document.preferences = Preferences.load(settings)
        document.setParent(self)
        self.setObjectName("main")
        self.setAcceptDrops(True)
        self.setMinimumSize(*SMALLEST)
        self.resize(QSize(*FIRST).boundedTo(self.screen().availableSize() - FRAME))
        self._ground = ""
        self._front: Page | None = None
        self._others = {page.stage.name for page in OTHERS}
        self._deciding = AfterPress(self, self._decide)
        self.stack = QStackedWidget()
        self._areas: dict[Page, QScrollArea] = {}
        self.pages = Pages(document, self._add)
        self.rail = connected(Rail(document, self.pages.standings), chosen=self.go)
        self.beside = filled(QStackedWidget())
        self._beside_line = _divider()
        self._turn = connected(
            named(QTabBar(expanding=False), message("Table or decision")),
            currentChanged=lambda _: self._fold(),
        )
        for words in (message("Table"), message("Decision")):
            self._turn.addTab(translate(words))
        sides = in_row((self.stack, 1), self._beside_line, self.beside, margins=0, spacing=0)
        content = in_column(self._turn, (sides, 1), margins=0, spacing=0)
        self.setCentralWidget(held(in_row(self.rail, _divider(), (content, 1), margins=0, spacing=0)))
        self.contributors = ContributorsView(document)
        self.history = HistoryPanel(document)
        self.recipe = RecipePanel(document)
        right = Qt.DockWidgetArea.RightDockWidgetArea
        self.docks = {
            "contributors": self._dock(message("Contributors"), self.contributors, right),
            "history": self._dock(message("History"), self.history, right),
            "recipe": self._dock(message("Recipe"), self.recipe, Qt.DockWidgetArea.BottomDockWidgetArea),
        }
        for dock in self.docks.values():
            dock.hide()
        self.resizeDocks([self.docks["recipe"]], [20 * GRID], Qt.Orientation.Vertical)
        self.strip = Strip(document.jobs)
        self.statusBar().addPermanentWidget(self.strip, 1)
        self.statusBar().setSizeGripEnabled(False)
        self.files = connected(Files(self), opened=self._tell, saved=self._tell)
        self.actions_ = Actions(self, self.files)
        self._connect(document)
        self.go("start")
        self._restore()

    def _connect(self, document: Document) -> None:
        connected(
            document,
            project_changed=self._project_changed,
            view_changed=self._tell,
            selection_changed=self._selected,
            total_selected=self._selected,
            error_raised=self.show_error,
            page_asked=self.go,
            next_asked=self._next,
        )
        document.judging.changed.connect(self._tell)
        document.judged_magnitudes.changed.connect(self._tell)
        connected(document, posterior_ready=self._tell, originals_counted=self._tell)
        for dock in self.docks.values():
            dock.visibilityChanged.connect(self._tell)
        THEME.changed.connect(self._tell)
        THEME.changed.connect(self._fold)

    # -- going about --------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        """The page in front."""
        return present(self._front)

    @property
    def area(self) -> QScrollArea:
        """Return what the page in front scrolls in."""
        return self._areas[self.page]

    def go(self, name: str) -> None:
        """Bring a page to the front, unless it cannot be used (then the rail says why)."""
        if (why := self.pages.why_not(name)) and name not in self._others:
            self.rail.refuse(name, why)
            return
        page = self._front = self.pages[name]
        behind = self.pages["table"] if page.stage.beside else page
        self.stack.setCurrentWidget(self._areas[behind])
        self._decide()
        self.rail.show_current(name)
        self.actions_.show_current(name)
        self._tell()
        (way_on(page) or page.begins).setFocus(Qt.FocusReason.OtherFocusReason)

    def _decide(self) -> None:
        """Show beside the table what was asked for, or what decides."""
        page = self.page
        if name := self._decides():
            page = self.pages[name]
        if page.stage.beside:
            self.pages["table"].follow("beside")
            page.open_out(wide=page is self.page)
            self.beside.setCurrentWidget(self._areas[page])
        self._fold()

    def _decides(self) -> str:
        """The page that decides on the table while nothing else is asked for."""
        document = self.document
        if self.page.name != "table" or document.project is None:
            return ""
        return "release" if document.has_release else "proposal" if document.has_original else ""

    @property
    def decision(self) -> Page | None:
        """What stands beside the table; ``None`` for a page that has the window."""
        if not (self.page.stage.beside or self._decides()):
            return None
        area = self.beside.currentWidget()
        page = area.widget() if isinstance(area, QScrollArea) else None
        return page if isinstance(page, Page) else None

    def _next(self) -> None:
        """Do what comes next, as Ctrl+Return on the table."""
        if (page := self.decision) is not None:
            page.main_button.click()

    def _add(self, page: Page) -> None:
        # Each page scrolls by itself where it does not fit (200 % scale, a small screen).
        area = named(Scrolling(), focus=Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        page.announced.connect(self._tell)
        page.list_actions(self.actions_.every())
        self._areas[page] = area
        if page.stage.beside:
            for part in (page, area):
                part.setBackgroundRole(QPalette.ColorRole.Base)
        (self.beside if page.stage.beside else self.stack).addWidget(area)

    def focusNextPrevChild(self, following: bool, /) -> bool:
        # Asked at every Tab: what a page shows changes while one works on it.
        tab_follows_layout(self.page)
        if self.decision is not None:
            for part in (self.stack, self.beside):
                tab_follows_layout(part)
        return super().focusNextPrevChild(following)

    def show_error(self, error: TabprotectError, page: str = "") -> None:
        """Show an error on the page where it belongs (default: the page in front)."""
        target = self.pages.get(page, self.page)
        target.show_error(error)
        if target is not self.page and not self.pages.why_not(target.name):
            self.go(target.name)

    def _project_changed(self, changes: frozenset[str]) -> None:
        for page in self.pages.every():
            page.errors.clear()
        front, document = self.page, self.document
        # Counts have no contributors.
        self.docks["contributors"].toggleViewAction().setVisible(document.of_magnitudes)
        self.docks["contributors"].setVisible(document.of_magnitudes and self.contributors.isVisible())
        protected = front.stage.beside and "release" in changes and document.has_release
        if self.pages.why_not(front.name):
            onward = "table" if front.stage.beside else front.stage.back
            self.go((onward or "table") if document.project is not None else "start")
        elif protected and front.name not in ("release", "proposal"):
            # What was asked for over the panel is done.
            self.go("table")
        elif front.name == "start" and "table" in changes:
            self.go("table")
        elif front is not self.pages[front.name]:
            # Sums in place of counts, or counts in place of sums.
            self.go(front.name)
        else:
            self._deciding.go()
        self._tell()

    def another(self) -> MainWindow:
        window = MainWindow(Document(), self.settings)
        OPEN.append(window)
        window.closed.connect(lambda: OPEN.remove(window))
        # Beside this one, not upon it, and wholly on the screen.
        room = self.screen().availableGeometry()
        window.resize(self.size().boundedTo(room.size() - FRAME - QSize(4 * GRID, 4 * GRID)))
        last = room.bottomRight() - QPoint(window.width(), window.height())
        last -= QPoint(FRAME.width(), FRAME.height())
        at = self.pos() + QPoint(4 * GRID, 4 * GRID)
        window.move(max(room.left(), min(at.x(), last.x())), max(room.top(), min(at.y(), last.y())))
        self.made.emit(window)
        window.show()
        return window

    def show_reader(self, history: History, path: str) -> None:
        self.another().files.arrived(history, path)

    # -- room ---------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        """Give the table the room that rail and panel can spare."""
        scale, wide = THEME.scale, self.width()
        self.rail.fold(wide < RAIL_FOLDS * scale)
        if self._front is None:
            return
        page = self.decision
        if page is None:
            set_visible(False, self.beside, self._beside_line, self._turn)
            self.stack.show()
            return
        room = wide - self.rail.width()
        asked = page.stage.beside if page is self.page else PANEL
        least = LOW if asked == PANEL else 0
        width = round((least if least and wide < ROOMY * scale else asked) * scale)
        alone = room - width < LEAST * scale
        # What was opened over the panel has the window where both have no room.
        decides = page is not self.page
        self._turn.setVisible(alone and decides)
        front = alone and (not decides or self._turn.currentIndex() == 1)
        self.stack.setVisible(not front)
        self.beside.setVisible(front or not alone)
        self._beside_line.setVisible(not alone)
        policy = QSizePolicy.Policy.Expanding if front else QSizePolicy.Policy.Fixed
        self.beside.setSizePolicy(policy, QSizePolicy.Policy.Expanding)
        self.beside.setMaximumWidth(wide if front else width)
        self.beside.setMinimumWidth(0 if front else width)

    def _selected(self, index: object) -> None:
        self._tell()

    # -- what the window shows ----------------------------------------------------------------

    def shows_original(self) -> bool:
        """Return True if anything visible comes from the original."""
        document = self.document
        # The strip and the rail count the at-risk cells, whatever page is in front.
        if document.in_house:
            return True
        confidential = (self.page, self.contributors, self.history, self.recipe)
        return any(part.shows_original() for part in confidential)

    def _tell(self, *_: object) -> None:
        # A bound method, not a lambda, wherever this is connected: it goes when the window goes.
        document = self.document
        if document.project is None:
            secret = self.page.shows_original()
            words = message("What is shown is not published.") if secret else message("Nothing is open.")
            self.strip.show_state(True if secret else None, words)
        else:
            self.strip.show_state(self.shows_original(), joined(self._facts(), " \u2502 "))
        self._paint_ground(self.strip.colours()[0])
        name = self._name()
        self.setWindowTitle(
            translate(
                message("{name} \u2013 as its readers see it \u2013 tabprotect", name)
                if document.project is not None and not document.has_original
                else message("{name}[*] \u2013 tabprotect", name)
                if name
                else "tabprotect"
            )
        )
        self.setWindowModified(document.modified)

    def _paint_ground(self, ground: str) -> None:
        if ground == self._ground:
            return
        self._ground = ground
        self.statusBar().setStyleSheet(
            f"QStatusBar {{ background: {THEME.colours.raised}; border-top: 2px solid {ground}; }}"
            " QStatusBar::item { border: none; }"
        )

    def _facts(self) -> list[str]:
        document = self.document
        project = present(document.project)
        facts = []
        if document.in_house:
            facts.append(message("original open"))
            number, magnitudes = document.at_risk_cells, document.magnitudes
            n = count_text(number)
            if magnitudes is None:
                facts.append(plural(number, "{n} small count", "{n} small counts", n))
            elif not magnitudes.rules:
                facts.append(message("no rule yet"))
            else:
                facts.append(
                    message("{n} of {cells} sums unsafe", n, count_text(len(magnitudes.table.cells)))
                )
        elif document.has_original:
            # True in both views; the reader of the bundle is not the one looking here.
            facts.append(message("as a reader sees it (F9 goes back)"))
        else:
            facts.append(message("opened as a reader: no original here"))
        if not document.has_release:
            facts.append(message("not protected yet"))
        if (verdict := document.judging.verdict(project)) is not None:
            # The headline's own words: the panel says the same.
            of_sums, staff = document.of_magnitudes, document.in_house
            line = (
                magnitude_headline(verdict, staff=staff) if of_sums else counted(verdict, public=not staff)[0]
            )
            facts.append(uncapital(line.heading))
            if not verdict.complete and not project.published:
                facts.append(message("one question open"))
        posterior = None if document.of_magnitudes else document.known_posterior()
        if posterior is not None:
            facts.append(uncapital(how_found(posterior, document.originals()).heading))
        return facts

    def _name(self) -> str:
        """Say what to call the project; its source is the house's own business."""
        document = self.document
        if document.project is None:
            return ""
        if document.hiding:
            return document.public_title or "release"
        return document.project.name

    # -- frame --------------------------------------------------------------------------------

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = named(QDockWidget(translate(title), self), title)
        # By which its place is kept, in every language.
        dock.setObjectName(title)
        dock.setWidget(widget)
        dock.setMinimumWidth(27 * GRID)
        self.addDockWidget(area, dock)
        return dock

    def reset_layout(self) -> None:
        """Panels as at the first start."""
        right = Qt.DockWidgetArea.RightDockWidgetArea
        for name, dock in self.docks.items():
            dock.setFloating(False)
            self.addDockWidget(right if name != "recipe" else Qt.DockWidgetArea.BottomDockWidgetArea, dock)
            dock.hide()

    def _restore(self) -> None:
        self.setWindowIcon(icon("tabprotect"))
        if self.settings is None:
            return
        for key, restore in (("geometry", self.restoreGeometry), ("state", self.restoreState)):
            value = self.settings.value(f"window/{key}")
            if isinstance(value, QByteArray):
                restore(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            running, working = self.document.jobs.running, self.document.working
            if working is None and self.page.stage.back:
                self.go(self.page.stage.back)
            elif working is not None or running:
                (working or running[-1]).cancel()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # What no control of the page has taken.
        drawing = words = self.childAt(self.mapFromGlobal(event.globalPos()))
        while drawing is not None and not isinstance(drawing, Drawing):
            drawing = drawing.parentWidget()
        here = self.area.geometry().contains(self.stack.mapFromGlobal(event.globalPos()))
        own = self.actions_.of_page(self.page.name) if here else []
        said = words.text() if isinstance(words, Label) else ""
        if not own and drawing is None and not said:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if drawing is not None:
            menu.addAction(tr("Copy picture and words"), drawing.copy)
        if said:
            menu.addAction(tr("Copy these words"), lambda: QGuiApplication.clipboard().setText(said))
        menu.addActions(own)
        menu.popup(event.globalPos())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.files.open(files[0])
            for further in files[1:]:
                self.another().files.open(further)

    def closeEvent(self, event: QCloseEvent) -> None:
        # What is still being typed ends first: it may be unsaved work.
        if (typing := self.focusWidget()) is not None:
            typing.clearFocus()
        if not self.files.may_close():
            event.ignore()
            return
        if self.settings is not None:
            self.settings.setValue("window/geometry", self.saveGeometry())
            self.settings.setValue("window/state", self.saveState())
            self.document.preferences.store(self.settings)
        self.document.close()
        self.files.close()
        super().closeEvent(event)
        self.closed.emit()


def _divider() -> QFrame:
    line = QFrame(frameShape=QFrame.Shape.VLine, frameShadow=QFrame.Shadow.Plain)
    line.setForegroundRole(QPalette.ColorRole.Mid)
    return line
