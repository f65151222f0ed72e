"""The independence graph of what is released: decomposable or not, its cliques and separators."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from tabprotect.engine.query_space.graphs.independence_graph import independence_graph
from tabprotect.gui.lattice.graph_figure import GraphFigure, queries_named
from tabprotect.gui.lattice.space import Space
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.listing import ListColumn, Listing
from tabprotect.gui.look.theme import GRID


class GraphPanel(QWidget):
    """The graph, and a list of its parts; the part gone to is lifted out."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self._parts: list[tuple[str, tuple[str, ...]]] = []
        self._sentence = Label(wordWrap=True, name="Decomposable or not")
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figure = GraphFigure()
        self.list = Listing("Cliques and separators", sortable=False)
        self.list.chosen.connect(self._lift)
        note = Label(
            "A line joins two variables that some released table has together. Without a line "
            "they are independent, given the rest, for all a reader can tell.",
            wordWrap=True,
            role="quiet",
        )
        side = QWidget()
        in_column(note, (self.list, 1), on=side, margins=(GRID, 0, 0, 0), spacing=GRID)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self.figure)
        split.addWidget(side)
        split.setStretchFactor(0, 1)
        split.setSizes([66 * GRID, 38 * GRID])
        in_column(self._sentence, (split, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID)

    @property
    def sentence(self) -> str:
        """Whether it is decomposable, in words."""
        return self._sentence.text()

    def refresh(self) -> None:
        """Show the released set's graph anew."""
        regions = self.space.regions
        if regions is None:
            self._sentence.clear()
            self.figure.show_graph(None, None)
            self.list.show_rows(())
            return
        state, letters = regions.state, regions.letters
        graph = independence_graph(letters.lattice, state.released.members)
        self._sentence.setText(
            graph.sentence if graph.edges else "No two variables are released together yet."
        )
        self.figure.show_graph(graph, letters)
        self._parts = [("clique", names) for names in graph.cliques if names]
        self._parts += [("separator", names) for names in graph.separators]
        if not graph.chordal:
            self._parts = [
                ("released", letters.lattice.names_of(query)) for query in state.released if query
            ]
        self.list.show_rows(
            (
                ListColumn("part", [kind for kind, _ in self._parts], str, right=False),
                ListColumn(
                    "letters",
                    [queries_named(letters, names) for _, names in self._parts],
                    str,
                    right=False,
                ),
                ListColumn(
                    "variables",
                    [" × ".join(names) or "none" for _, names in self._parts],
                    str,
                    right=False,
                ),
            ),
            stretch=(2,),
        )

    def _lift(self, row: int) -> None:
        self.figure.lift(self._parts[row][1])
