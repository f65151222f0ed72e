"""What a reader can believe of counts: the whole table as a heat map, one cell as a histogram."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QSplitter, QTabWidget, QWidget

from tabprotect.engine.errors import InfeasibleError, TabprotectError
from tabprotect.engine.posterior.how_found import how_found
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import PRIORS, Project, Who
from tabprotect.engine.project.verbs.publish_verbs import infer
from tabprotect.engine.project.verbs.release_verbs import set_prior
from tabprotect.engine.release.verdict_figures import READER
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.background.background_task import same
from tabprotect.gui.base.believed.cell import cell_sentence
from tabprotect.gui.base.document import Document, Total
from tabprotect.gui.base.exporter import MARK, Content, Files
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.look.buttons import Scrolling, choice, connected, named, offer, present, push_button
from tabprotect.gui.look.drawn.drawing import Sheet, figure_font
from tabprotect.gui.look.label import ElidedLabel, Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, in_row, split
from tabprotect.gui.look.theme import GRID, TURNS
from tabprotect.gui.pages.check.cell_figures import FIGURES, CellFigure, View, figures_shown, most_exposed
from tabprotect.gui.pages.check.cell_panel import PERSONS, CellPanel
from tabprotect.gui.pages.check.draws_panel import DrawsPanel
from tabprotect.gui.pages.check.exposed_list import ExposedList
from tabprotect.gui.pages.check.groups_panel import GroupsPanel
from tabprotect.gui.pages.check.magnitude_belief import MagnitudeBelief
from tabprotect.gui.pages.check.posterior_files import HeatFigure, cell_csv, draws_csv, table_csv
from tabprotect.gui.pages.check.priors_panel import PriorsPanel
from tabprotect.gui.pages.check.readers_said import ReadersSaid
from tabprotect.gui.pages.check.table_choice import TableChoice
from tabprotect.gui.pages.check.which_panel import WhichPanel
from tabprotect.gui.pages.check.words import release_sentence
from tabprotect.gui.pages.stages import CHECK_FILES
from tabprotect.gui.plots.heat_map import HeatMap, Scale
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.belief.believed import Believed


class Beliefs(QWidget):
    """What a reader can believe of counts: map, list, and one cell."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page, self.document = page, page.document
        document = page.document
        self._figure: dict[bool, str] = {}
        self._failed: dict[str, str] = {}
        self._view: tuple[object, View] | None = None
        self._figure_box = choice(message("Figure shown on the map"), changed=self._figure_chosen)
        self.who_box = choice(
            message("Which reader the map and the list are about"),
            {who: READER[who] for who in PERSONS},
            self._who_chosen,
        )
        figure_label = Label(message("Map of"), buddy=self._figure_box)
        self.exposed = connected(ExposedList(), chosen=self._go_to)
        self.map = connected(HeatMap(message("What can be believed of every cell")), chosen=self._go_to)
        self._meaning = ElidedLabel(role="quiet", name=message("What the figure means"))
        self._figure_box.setSizeAdjustPolicy(self._figure_box.SizeAdjustPolicy.AdjustToContents)
        self.table = connected(TableChoice(document, PERSONS), changed=self._table_changed)
        self.readers = connected(ReadersSaid(document, self), counted=self._judged)
        self.cell, self.magnitude = CellPanel(), MagnitudeBelief(document)
        self.draws = DrawsPanel(document)
        self.which = WhichPanel(document)
        self.groups = connected(GroupsPanel(document), chosen=self._go_to)
        self.files = PosteriorFiles(self)
        self._priors = connected(PriorsPanel(PERSONS), asked=self._set_prior)
        self.priors = self._priors.choices
        self._again = push_button(message("Work out what readers would know"), self._ask_again)
        self._again.hide()
        self._way = Label(wordWrap=True, role="quiet", name=message("How it was computed"))
        # Where there is little height the pictures scroll; verdict and main action stay.
        pictures = held(in_column((self._middle(figure_label), 1), margins=(0, 0, GRID, 0)))
        area = named(Scrolling(pictures), focus=Qt.FocusPolicy.NoFocus)
        in_column((area, 1), on=self, margins=0, spacing=GRID)
        foot = in_row(
            self.files.button(message("Export figures and numbers")),
            self._again,
            (self._way, 1),
            margins=0,
            spacing=GRID,
        )
        self.around = (held(foot),)
        page.footer.addWidget(self.around[0], 1)
        self._connect(document)

    def _connect(self, document: Document) -> None:
        document.judging.changed.connect(self._judged)
        connected(
            document,
            posterior_ready=self._ready,
            posterior_failed=self._not_ready,
            originals_counted=lambda *_: self._show_way(),
            selection_changed=self._selected,
            total_selected=self._selected,
        )
        connected(document.jobs, ended=lambda _: self._offer_again(), started=lambda _: self._offer_again())

    # -- building -----------------------------------------------------------------------------

    def _middle(self, figure_label: QLabel) -> QSplitter:
        head = FlowLayout(gap=GRID)
        filled(head, figure_label, self._figure_box, Label(message("for")), self.who_box)
        self._left = held(
            in_column(
                in_row(self.table, 1),
                head,
                (self.map, 2),
                in_row(self.map.scale, (self._meaning, 1), spacing=2 * GRID),
                (self.exposed, 1),
                margins=(0, 0, GRID, 0),
                spacing=GRID,
            )
        )
        self.tabs = QTabWidget(documentMode=True)
        for tab, words in (
            (held(in_column((self.cell, 3), (self.magnitude, 2), margins=0)), tr("The cell")),
            (self.which, tr("Which number?")),
            (self.groups, tr("Groups")),
            (self.draws, tr("Analyses")),
        ):
            self.tabs.addTab(tab, words)
        self.tabs.setAccessibleName(tr("The cell, the best number, groups, or analyses of drawn tables"))
        self.tabs.currentChanged.connect(lambda _: self._show_tab())
        right = held(in_column((self.tabs, 1), self._priors, margins=0, spacing=2 * GRID))
        return split((self._left, 5), (right, 4))

    def pieces(self) -> Iterator[object]:
        """Build the picture of the cell."""
        self.cell.histogram.make_canvas()
        yield self.cell.histogram

    def choices(self) -> Mapping[str, Callable[[], object]]:
        """The exports."""
        return {kind: action.trigger for kind, action in self.files.actions.items()}

    def without_work(self) -> frozenset[str]:
        """The exports of what is not shown."""
        return frozenset(kind for kind in self.files.actions if self.files.missing(kind))

    # -- what is shown ------------------------------------------------------------------------

    @property
    def figure(self) -> CellFigure:
        """The figure on the map."""
        return next(one for one in FIGURES if one.name == self._figure_box.currentData())

    @property
    def who(self) -> Who:
        """Return whose belief the map, the list and the sentence are about."""
        found: Who = self.who_box.currentData()
        return found

    def view(self) -> View | None:
        """Return what the figures come from; ``None`` while the posterior is not known."""
        found, project = self.table.known(self.who), self.document.project
        if found is None or project is None:
            return None
        original = None if self.document.public else found.original
        rule = self._rule(project)
        asked = (found, rule.low, rule.high, original)
        if self._view is None or not same(self._view[0], asked):
            self._view = (asked, View(found.believed.posterior, rule, original))
        return self._view[1]

    def known(self, who: Who) -> Believed | None:
        """Return what somebody believes of the table shown, if it is known."""
        found = self.table.known(who)
        return None if found is None else found.believed

    @property
    def cell_shown(self) -> Index | None:
        """The selected cell of the table shown."""
        found, (inner, total) = self.table.known(self.who), self.document.counts_selected
        if found is None:
            return None
        of_table = total is not None and set(total.names) == set(found.names)
        selected = total.cell if total is not None and of_table else inner
        inside = selected is not None and len(selected) == found.publication.domain.ndim
        return found.place(selected) if selected is not None and inside else None

    def _go_to(self, cell: Index) -> None:
        """Select a cell of the table shown: inside the original, or a total of it."""
        if (found := self.table.known(self.who)) is not None:
            self.document.select_count(Total(found.names, found.member(cell)))

    def _rule(self, project: Project) -> SmallCount:
        """Return what counts as small: the house's rule in the house, the usual one for a reader."""
        return SmallCount() if self.document.hiding else project.at_risk

    def refresh(self, changes: PageChanges) -> None:
        """Bring it up to date with the release and the priors."""
        if changes == {"theme"}:
            # Map, plots and cards follow it by themselves.
            return
        if changes & {"release", "priors", "table", "everything"}:
            self._failed.clear()
        for who in PERSONS:
            self.document.posterior(who)
        assert self.document.project is not None
        self.document.judging.ask(self.document.project)
        self.table.refresh()
        self._fill_figures()
        self._show_all()
        self.draws.refresh(changes)

    def _fill_figures(self) -> None:
        house, project = not self.document.public, self.document.project
        assert project is not None
        figures = {one.name: one.label_for(self._rule(project)) for one in figures_shown(house=house)}
        offer(self._figure_box, figures, current=self._figure.get(house))

    def _show_all(self) -> None:
        self._show_verdict()
        self._show_priors()
        self._show_map()
        self._show_cell()
        view = self.view()
        self.exposed.show_view(view, self.cell_shown)
        self._show_tab()
        # Without a posterior there is one thing to say, and it stands in the middle.
        self._left.setVisible(view is not None)
        if view is None:
            self._way.clear()
            return
        self._show_way()

    def _show_tab(self) -> None:
        self.which.refresh(self.who)
        self.groups.show_view(self.view())

    def _show_way(self) -> None:
        if (view := self.view()) is not None:
            found = self.known(self.who)
            left_out = "" if found is None else found.left_out
            # What the sentence above says already is not said again.
            again = bool(left_out) and left_out in self.readers.sentence
            self._way.setText(
                translate(
                    joined(
                        filter(
                            None,
                            (
                                how_found(view.posterior, self.document.originals(self.who)).text,
                                "" if again else left_out,
                            ),
                        ),
                        " ",
                    )
                )
            )
            self._way.setToolTip(tip(message("{reason}. {left_out}", view.posterior.reason, left_out)))

    def _show_map(self) -> None:
        view, project = self.view(), self.document.project
        if view is None or project is None:
            return
        domain = view.posterior.domain
        self._meaning.setText(translate(self.figure.meaning))
        self._meaning.setToolTip(tip(self.figure.meaning))
        self.map.show_values(
            domain,
            project.shown_placement if domain == project.domain else Placement.of(domain),
            self.figure.compute(view),
            scale=Scale(self.figure.text, self.figure.top, self.figure.flip, among=self.figure.house),
            selection=self.cell_shown,
            dots=None if view.original is None else view.rule.mask(view.original.counts),
        )

    def _show_cell(self) -> None:
        view, selection = self.view(), self.cell_shown
        if view is None:
            why = (
                self._failed.get(self.who)
                or self.table.fault(self.who)
                or (
                    message("Cancelled. The button below works out what readers would know.")
                    if self._can_ask_again()
                    else message(
                        "Working out what a reader can believe: progress and cancel are at the bottom."
                    )
                )
            )
            self.cell.show_nothing(why)
            return
        sentence = ""
        if selection is None:
            # Nobody chose one: the most exposed cell is the one to look at.
            among = view.at_risk
            if not (worst := most_exposed(view, among=among, limit=1)):
                self.cell.show_nothing(message("Choose a cell on the map or in the list."))
                return
            selection = view.posterior.published.domain.unflat(worst[0])
            at_risk = 0 if among is None else int(among.sum())
            sentence = release_sentence(view, at_risk=at_risk, worst=selection)
        posteriors: dict[Who, Posterior] = {
            who: found.posterior for who in self._persons() if (found := self.known(who)) is not None
        }
        self.cell.show_cell(selection, posteriors, rule=view.rule, original=view.original)
        true = None if view.original is None else view.original[selection]
        self.cell.say(sentence or cell_sentence(view.posterior, selection, true=true))
        if self.document.of_magnitudes and (table := self.table.known(self.who)) is not None:
            self.magnitude.show_cell(self.document.as_nodes(Total(table.names, table.member(selection))))

    # -- the verdict --------------------------------------------------------------------------

    def _judged(self) -> None:
        if self.isVisible() and self.document.tells_counts:
            self._show_verdict()

    def _show_verdict(self) -> None:
        """The sentence with its number."""
        project = present(self.document.project)
        intruder = "intruder" in self._persons()
        if self.readers.refresh(project, self._rule(project), intruder=intruder):
            self.page.set_sentence(self.readers.sentence)
        self._show_way()

    def _persons(self) -> tuple[Who, ...]:
        """An intruder who assumes what any reader does is no second one."""
        project = self.document.project
        alike = project is not None and len(set(project.priors.values())) == 1
        return PERSONS[:1] if alike else PERSONS

    def _show_priors(self) -> None:
        self._priors.show_priors(
            present(self.document.project),
            self.document.counts_selected[0],
            self._failed,
            named=not self.document.hiding,
        )

    # -- what happens -------------------------------------------------------------------------

    def _figure_chosen(self) -> None:
        self._figure[not self.document.public] = self.figure.name
        self._show_map()

    def _who_chosen(self) -> None:
        if self.document.tells_counts:
            self._show_all()
            self._offer_again()

    def _selected(self, _: object) -> None:
        """Show the selected cell; of a total that the table shown does not have, the best number."""
        if not self.isVisible() or not self.document.tells_counts:
            return
        found, total = self.table.known(self.who), self.document.counts_selected[1]
        self.map.set_selection(self.cell_shown)
        elsewhere = total is not None and (found is None or set(found.names) != set(total.names))
        if elsewhere and self.tabs.currentWidget() is self.which:
            # It is looked for to be marked.
            return
        if total is not None and elsewhere:
            self.tabs.setCurrentWidget(self.which)
            self.which.show_selected()
            return
        self.exposed.set_selection(self.cell_shown)
        self._show_priors()
        self._show_cell()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.document.counts_selected[1] is not None:
            self._selected(None)

    def words(self, project: Project) -> list[str]:
        """The command line that works it out."""
        return infer(project, self.who)

    def _set_prior(self, who: str, text: str) -> None:
        self.page.do(set_prior, who=who, prior=text)
        # After an error the choice goes back to the prior that is still in force.
        self._show_priors()

    def _ready(self, who: str, posterior: Posterior) -> None:
        self._failed.pop(who, None)
        self._again.hide()
        # What two readers would know often comes in one turn: it is shown once.
        TURNS.later(self, self._show_found)

    def _show_found(self) -> None:
        if self.isVisible() and self.document.tells_counts:
            self.table.refresh()
            self._show_all()
            self.draws.refresh(frozenset({"release"}))

    def _table_changed(self) -> None:
        if self.isVisible() and self.document.tells_counts:
            self._show_all()

    def _not_ready(self, who: Who, error: TabprotectError) -> None:
        if (project := self.document.project) is None:
            return
        self._failed[who] = error.sentence
        # The prior nobody chose is not the user's mistake: a quiet note will do.
        if project.priors[who] != PRIORS[who]:
            self.page.show_error(
                error,
                remedy_label=message("Let {who} assume nothing", READER[who]),
                remedy=lambda: self._set_prior(who, "uniform"),
            )
        if self.isVisible() and self.document.tells_counts:
            self._show_all()

    def _can_ask_again(self) -> bool:
        """Return True if nothing is known, nothing failed, and nothing is on its way."""
        known = self.document.known_posterior(self.who) is not None
        busy = any(job.running for job in self.document.jobs.running)
        open_ = self.document.tells_counts and self.who not in self._failed
        return open_ and not known and not busy

    def _offer_again(self) -> None:
        can, before = self._can_ask_again(), self._again.isVisibleTo(self)
        self._again.setVisible(can)
        # What is said of the button changes with it.
        if self.isVisible() and (can or before):
            self._show_cell()

    def _ask_again(self) -> None:
        self._again.hide()
        for who in PERSONS:
            self.document.ask_again(who)
            self.document.posterior(who)
        self._show_all()


class PosteriorFiles(Files):
    """The export actions of the check page."""

    def __init__(self, part: Beliefs) -> None:
        super().__init__(part.page, CHECK_FILES)
        self._part = part

    def confidential(self, kind: str) -> bool:
        if (view := self._part.view()) is None or view.original is None:
            return False
        return self._part.figure.house if kind.startswith("map") else True

    def missing(self, kind: str) -> InfeasibleError | None:
        if self._part.view() is None:
            return InfeasibleError(
                message("it is not worked out yet"), hint=message("export again once it is shown")
            )
        if kind.startswith("cell") and self._part.cell_shown is None:
            return InfeasibleError(
                message("no cell is selected"), hint=message("select one on the map first")
            )
        if kind.startswith("draws") and self._part.draws.result is None:
            return InfeasibleError(message("nothing was drawn yet"), hint=message("draw on the page first"))
        return None

    def content(self, kind: str) -> Content:
        view, selection = self._part.view(), self._part.cell_shown
        assert view is not None
        if kind == "table_csv":
            return partial(table_csv, self._known(), rule=view.rule, original=view.original)
        if kind.startswith("map"):
            sheet = self._map(self._part.figure.label_for(view.rule), self._caption(kind))
            return lambda _: sheet.svg() if kind == "map_svg" else sheet.png()
        if kind.startswith("draws"):
            data = self._draws(kind)
        elif kind == "cell_csv":
            assert selection is not None
            true = None if view.original is None else view.original[selection]
            data = cell_csv(self._known(), selection, true=true)
        else:
            histogram = self._part.cell.histogram
            write = histogram.svg if kind == "cell_svg" else histogram.png
            data = write(caption=self._caption(kind))
        return lambda _: data

    def _map(self, name: str, caption: str) -> Sheet:
        part = self._part
        shown, figure = part.map, part.figure
        assert shown.layout_shown is not None
        picture = HeatFigure(
            name, shown.layout_shown, shown.values_shown, text=figure.text, top=shown.top, flip=shown.flip
        )
        return picture.sheet(font=figure_font(part.font()), dpi=part.logicalDpiX(), caption=caption)

    def _draws(self, kind: str) -> bytes:
        draws = self._part.draws
        assert draws.result is not None
        if kind == "draws_csv":
            return draws_csv(draws.result[0], true=draws.true_value())
        write = draws.plot.svg if kind == "draws_svg" else draws.plot.png
        return write(caption=self._caption(kind))

    def _known(self) -> dict[str, Posterior]:
        found = {who: self._part.known(who) for who in self._part.priors}
        return {who: known.posterior for who, known in found.items() if known is not None}

    def _caption(self, kind: str) -> str:
        view, selection = self._part.view(), self._part.cell_shown
        assert view is not None
        posterior = view.posterior
        parts = [message("{MARK}: shows the original.", MARK)] if self.confidential(kind) else []
        title = self.page.document.public_title
        if title:
            parts.append(f"{title}.")
        if kind.startswith("map"):
            layout = self._part.map.layout_shown
            domain = posterior.published.domain
            if layout is not None and layout.placement.layers:
                parts.append(
                    message(
                        "Layer {layer}.",
                        joined(
                            (
                                f"{n} = {domain[n].categories[layout.layer[domain.axis(n)]]}"
                                for n in layout.placement.layers
                            ),
                            ", ",
                        ),
                    )
                )
            parts.append(
                message("{meaning} The reader: {label}.", self._part.figure.meaning, posterior.prior.label)
            )
        elif kind.startswith("draws"):
            parts.append(self._part.draws.sentence.text())
        elif selection is not None:
            true = None if view.original is None else view.original[selection]
            name = posterior.published.domain.cell_text(selection)
            parts += [message("Cell {name}.", name), cell_sentence(posterior, selection, true=true)]
        found = self._part.known(self._part.who)
        left_out = "" if found is None else found.left_out
        originals = self.page.document.originals(self._part.who)
        return joined(filter(None, (*parts, how_found(posterior, originals).text, left_out)), " ")
