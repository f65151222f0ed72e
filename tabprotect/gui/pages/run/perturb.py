"""The perturb page: the coin, the rule, what will happen; then the run and its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QToolButton, QWidget

from tabprotect.engine.disclosure.before import Chance
from tabprotect.engine.errors import RefusedError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.foresight import foreseen
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.shell import as_command
from tabprotect.engine.protection.problem import Preview
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Changes, Page
from tabprotect.gui.forms.coin_form import CoinForm
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.placement_bar import PlacementBar
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.run.preview_panel import PreviewPanel
from tabprotect.gui.pages.run.replay import Replay
from tabprotect.gui.pages.run.run_panel import RunPanel
from tabprotect.gui.pages.run.run_words import remedies, result_sentence, setup_sentence

WAIT = 200
"""Milliseconds of rest before a mechanism is tried."""

CONFIDENTIAL = (
    "What the mechanism does to this very table is confidential. A reader sees the coin, the "
    "passes, the rule and the cycles."
)

JUDGED = frozenset({"table", "at_risk", "cycles", "parameters", "view", "everything"})


class PerturbPage(Page):
    """Two faces: the set-up with its preview, and the result with its coins."""

    name = "perturb"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
    main_label = "Run"

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._layer: Index = ()
        self._key: tuple[object, ...] = ()
        self._preview: Preview | None = None
        self._impossible = False
        self._replay: Replay | None = None
        self._seen: object = None
        self.form = CoinForm()
        self.preview = PreviewPanel()
        self.run = RunPanel(document)
        self.placement = PlacementBar()
        self._wait = QTimer(self, singleShot=True, interval=WAIT)
        self._faces: dict[str, QToolButton] = {}
        for name, text in (("setup", "Set-up"), ("result", "Result")):
            button = QToolButton(text=text, checkable=True, autoExclusive=True)
            button.setAccessibleName(f"Show the {text.lower()}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.clicked.connect(lambda _=False, n=name: self.show_face(n))
            self._faces[name] = button
            self.tools.addWidget(button)
        setup = QWidget()
        row = QHBoxLayout(setup)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3 * GRID)
        row.addWidget(self.form)
        row.addWidget(self.preview, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(setup)
        self.stack.addWidget(self.run)
        self.body.addWidget(self.placement)
        self.body.addWidget(self.stack, 1)
        self._copy = QPushButton("Copy as command", flat=True)
        self._copy.setAccessibleName("Copy the run as a command line")
        self._copy.clicked.connect(self.copy_command)
        self.footer.addWidget(self._copy)
        self.footer.addStretch(1)
        self._connect()
        self.show_face("setup")

    def _connect(self) -> None:
        document = self.document
        self._wait.timeout.connect(self._try)
        self.form.parameters_set.connect(
            lambda given: document.apply("set_parameters", page=self.name, **given)
        )
        self.form.seed_set.connect(
            lambda seed: document.apply("set_seed", page=self.name, seed=seed)
        )
        self.form.wrong.connect(self.show_error)
        self.preview.refusal.remedy_chosen.connect(self._mend)
        self.preview.refusal.accepted.connect(lambda: self.protect(accept_weak=True))
        self.preview.go_mend.clicked.connect(lambda: document.page_asked.emit("cycles"))
        self.run.chosen.connect(document.select)
        self.placement.placed.connect(self._place)
        self.placement.layer_chosen.connect(self._choose_layer)
        document.selection_changed.connect(self._selected)

    def menu_actions(self) -> list[tuple[str, QAction]]:
        rows: tuple[tuple[str, str, Callable[[], object]], ...] = (
            ("&Run the perturbation", "Ctrl+Shift+R", self.protect),
            ("Show the set-&up", "", lambda: self.show_face("setup")),
            ("Show the resu&lt", "", lambda: self.show_face("result")),
        )
        out = []
        for text, keys, run in rows:
            action = QAction(text, self)
            action.setShortcut(keys)
            action.triggered.connect(lambda _=False, r=run: r())
            out.append(("Protect", action))
        return out

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.project.takes_cycles:
            label = document.project.protection.label.lower()
            return f"The chosen method is {label}: choose cyclic perturbation under Methods."
        if document.project.domain.ndim < 2:
            return "A cycle needs at least two variables."
        return ""

    @property
    def editable(self) -> bool:
        """Whether the mechanism may be changed and run: in the house, in the house's view."""
        return self.document.has_original and not self.document.public

    def shows_original(self) -> bool:
        # The set-up shows the seed policy, the preview and what follows from them.
        return self.editable

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # What was set counts, however quickly one leaves; what was only to be tried can wait.
        self.form.flush()
        self.run.coins.stop()
        if self._wait.isActive():
            self._wait.stop()
            self._key = ()
            self._missed |= {"parameters"}

    # -- faces --------------------------------------------------------------------------------

    @property
    def face(self) -> str:
        """``setup`` or ``result``."""
        return "result" if self.stack.currentWidget() is self.run else "setup"

    def show_face(self, name: str) -> None:
        """Show the set-up, or the result where there is one."""
        if name == "result" and self.document.published is None:
            name = "setup"
        self.stack.setCurrentIndex(1 if name == "result" else 0)
        self._faces[name].setChecked(True)
        self._tell()

    # -- bringing up to date ------------------------------------------------------------------

    def refresh(self, changes: Changes) -> None:
        project = self.document.project
        if project is None or not project.takes_cycles:
            # Another method's result is on its own page; nothing of an earlier run stays here.
            self._replay, self._preview, self._key, self._seen = None, None, (), None
            self.run.show_run(None, None)
            return
        self.form.show_values(
            project.values, seed=project.seed if self.editable else None, house=self.editable
        )
        self.form.setEnabled(True)
        self._faces["result"].setEnabled(self.document.published is not None)
        self._copy.setVisible(self.editable)
        if changes & JUDGED:
            self._invalidate(project)
        self._take_run(project)
        self.run.coins.repaint_pictures()
        self._tell()

    def _take_run(self, project: Project) -> None:
        protected = project.protected if self.editable else None
        if protected is None:
            self._replay = None
        elif self._replay is None or self._replay.record is not protected.record:
            moves = cast(MoveSet, protected.release.mechanism.parameters["cycles"])
            self._replay = Replay(moves, protected.record)
        self._show_run()
        finished = project.release
        if finished is not None and finished is not self._seen:
            self.show_face("result")
        elif finished is None:
            self.show_face("setup")
        self._seen = finished

    def _show_run(self) -> None:
        project = self.document.project
        assert project is not None
        domain = project.domain
        if self.document.selection is not None:
            self._layer = self.document.selection
        elif len(self._layer) != domain.ndim or any(
            i >= n for i, n in zip(self._layer, domain.shape, strict=True)
        ):
            self._layer = (0,) * domain.ndim
        placement = project.placement or Placement.of(domain)
        self.placement.show_placement(domain, placement, self._layer)
        shown = self.document.published is not None
        self.run.show_run(Layout(domain, placement, self._layer) if shown else None, self._replay)

    def _tell(self) -> None:
        project = self.document.project
        result = self.face == "result"
        self.placement.setVisible(result and project is not None and project.domain.ndim > 2)
        self.main_button.setVisible(self.editable or result)
        self.main_button.setEnabled(result or not self._impossible)
        self.main_button.setText("See what a reader can believe" if result else "Run")
        if project is None:
            return
        published = self.document.published
        if not result:
            self.set_sentence(setup_sentence(project.values, self._preview))
        elif self._replay is not None and published is not None:
            self.set_sentence(result_sentence(self._replay.record, published))
        else:
            self.set_sentence("This is the published table, as every reader sees it.")

    # -- the preview --------------------------------------------------------------------------

    def _invalidate(self, project: Project) -> None:
        self._impossible = False
        self.preview.title.setVisible(self.editable)
        if not self.editable:
            self._key, self._preview = (), None
            self.preview.show_state(
                CONFIDENTIAL if self.document.has_original else "This is how the table was made."
            )
            return
        try:
            key = (project.table, project.cycles, project.at_risk, tuple(project.values.items()))
        except TabprotectError as error:
            self._key, self._preview = (), None
            self._refuse(error)
            return
        if len(key) == len(self._key) and all(
            a is b or (n > 1 and a == b)
            for n, (a, b) in enumerate(zip(key, self._key, strict=True))
        ):
            return
        self._key, self._preview = key, None
        self.preview.show_state("Trying the mechanism on this table\u2026")
        self._wait.start()

    def _try(self) -> None:
        project, key = self.document.project, self._key
        if project is None or not key or not self.editable:
            return

        def work(progress: Progress) -> tuple[Preview, Chance]:
            preview = project.protection.preview(project.problem, project.given, progress)
            return preview, foreseen(project, progress)

        job = self.document.jobs.question("try the mechanism", work, name="preview")
        job.finished.connect(lambda found: self._tried(key, project, *found))
        job.failed.connect(lambda error: self._not_tried(key, error))

    def _tried(
        self, key: tuple[object, ...], project: Project, preview: Preview, chance: Chance
    ) -> None:
        if key is not self._key:
            return
        self._preview = preview
        self.preview.show_preview(preview, project.domain, chance.sentence)
        if chance.unlikely:
            self.preview.refusal.refuse(f"Probably refused. {chance.sentence}", remedies(project))
        self._tell()

    def _not_tried(self, key: tuple[object, ...], error: Exception) -> None:
        if not isinstance(error, TabprotectError):
            raise error
        if key is self._key:
            self._refuse(error)

    def _refuse(self, error: TabprotectError) -> None:
        self._impossible = True
        self.preview.show_error(error)
        self._tell()

    def _mend(self, key: str) -> None:
        project = self.document.project
        if project is None:
            return
        if key in ("strips", "elementary") or key.startswith("order-"):
            self.document.apply("set_cycles", page=self.name, kind=key)
        elif key == "merge":
            self.document.page_asked.emit("table")
        else:
            offers: dict[str, dict[str, Any]] = {
                "negative": {"blocking": "negative"},
                "coin": {"alpha": 0.25, "beta": 0.25},
                "passes": {"passes": cast(int, project.values["passes"]) + 1},
            }
            self.document.apply("set_parameters", page=self.name, **offers[key])

    def show_error(
        self,
        error: TabprotectError,
        *,
        remedy_label: str = "",
        remedy: Callable[[], object] | None = None,
    ) -> None:
        project = self.document.project
        if isinstance(error, RefusedError) and project is not None:
            self.show_face("setup")
            self.preview.refusal.refuse(error.message, remedies(project))
            self.preview.refusal.setFocus()
            self.preview.ensureWidgetVisible(self.preview.refusal)
            return
        super().show_error(error, remedy_label=remedy_label, remedy=remedy)

    # -- doing --------------------------------------------------------------------------------

    def main_action(self) -> None:
        if self.face == "result":
            self.document.page_asked.emit("posterior")
        else:
            self.protect()

    def protect(self, *, accept_weak: bool = False) -> None:
        """Flip the coins; what the gate refuses goes out by an explicit decision only."""
        if not self.editable:
            return
        self.form.flush()
        given: dict[str, Any] = {"accept_weak": True} if accept_weak else {}
        self.document.apply("protect", page=self.name, **given)

    def copy_command(self) -> None:
        """Put the command line of this run onto the clipboard."""
        project = self.document.project
        if project is not None and self.editable:
            QGuiApplication.clipboard().setText(as_command(project, "protect"))

    # -- selection ----------------------------------------------------------------------------

    def _selected(self, index: Index | None) -> None:
        if not self.isVisible() or self.document.project is None:
            return
        layout = self.run.grids["published"].layout_
        if index is not None and layout is not None and not layout.same_layer(index):
            self._choose_layer(index)
        self.run.select(index)

    def _choose_layer(self, index: Index) -> None:
        selected = self.document.selection
        self._layer = tuple(int(i) for i in index)
        if selected is not None and selected != self._layer:
            self.document.select(self._layer)
        self._show_run()

    def _place(self, placement: Placement) -> None:
        self.document.apply(
            "place",
            page=self.name,
            rows=list(placement.rows),
            columns=list(placement.columns),
            layers=list(placement.layers),
        )
