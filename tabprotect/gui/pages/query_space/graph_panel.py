"""The independence graph of what is released: decomposable or not, its cliques and separators."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSplitter

from tabprotect.engine.query_space.graphs.independence_graph import IndependenceGraph, independence_graph
from tabprotect.engine.tables.bit_sets import bits
from tabprotect.gui.lattice.names import VariableLetters
from tabprotect.gui.lattice.space import Space
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.drawn.drawing import Drawing
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, held, in_column
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, Colours, inked
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate


class GraphPanel(SpacePanel):
    """The graph, and a list of its parts; the part gone to is lifted out."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._parts: list[tuple[str, tuple[str, ...]]] = []
        self._sentence = Label(wordWrap=True, name=message("Decomposable or not"), selectable=True)
        self.figure = GraphFigure()
        self.list = connected(
            RowList(message("Cliques and separators"), sortable=False),
            chosen=lambda row: self.figure.lift(self._parts[row][1]),
        )
        note = Label(
            message(
                "A line joins two variables that some released table has together. Without a line "
                "they are independent, given the rest, for all a reader can tell."
            ),
            wordWrap=True,
            role="quiet",
        )
        side = held(in_column(note, (self.list, 1), margins=(GRID, 0, 0, 0), spacing=GRID))
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        filled(split, self.figure, side)
        split.setStretchFactor(0, 1)
        split.setSizes([66 * GRID, 38 * GRID])
        in_column(self._sentence, (split, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID)

    @property
    def sentence(self) -> str:
        """Say whether it is decomposable, in words."""
        return self._sentence.text()

    def refresh(self) -> None:
        """Show the released set's graph anew."""
        if (regions := self.space.regions) is None:
            self._sentence.clear()
            self.figure.show_graph(None, None)
            self.list.show_rows(())
            return
        state, letters = regions.state, regions.letters
        graph = independence_graph(letters.lattice, state.released.members)
        self._sentence.setText(
            translate(
                graph.sentence if graph.edges else message("No two variables are released together yet.")
            )
        )
        self.figure.show_graph(graph, letters)
        self._parts = [("clique", names) for names in graph.cliques if names]
        self._parts += [("separator", names) for names in graph.separators]
        if not graph.chordal:
            self._parts = [("released", letters.lattice.names_of(query)) for query in state.released if query]
        self.list.show_rows(
            (
                ListColumn(message("part"), [kind for kind, _ in self._parts], str, right=False),
                ListColumn(
                    message("letters"),
                    [queries_named(letters, names) for _, names in self._parts],
                    str,
                    right=False,
                ),
                ListColumn(
                    message("variables"),
                    [joined(names, " × ") or "none" for _, names in self._parts],
                    str,
                    right=False,
                ),
            ),
            stretch=(2,),
        )


class GraphFigure(Drawing):
    """A clique can be lifted out: filled, its lines heavy."""

    def __init__(self) -> None:
        super().__init__(message("Independence graph of what is released"))
        self._graph: IndependenceGraph | None = None
        self._letters: VariableLetters | None = None
        self._lifted: tuple[str, ...] = ()

    def show_graph(self, graph: IndependenceGraph | None, letters: VariableLetters | None) -> None:
        """Show a graph; ``None`` shows nothing."""
        self._graph, self._letters, self._lifted = graph, letters, ()
        if graph is None:
            self.say("")
            return
        lines = joined((message("{a} with {b}", a, b) for a, b in graph.edges), ", ")
        self.say(message("Lines: {value}.", lines or "none"))

    def lift(self, names: tuple[str, ...]) -> None:
        """Lift a clique or a separator out."""
        self._lifted = names
        self.update()

    def _points(self, area: QRectF, size: float) -> dict[str, QPointF]:
        assert self._letters is not None
        names = self._letters.lattice.names
        across = (area.width() - size) / 2 - GRID
        reach = min(across, (area.height() - size) / 2 - GRID)
        across = min(across, reach * 1.5)
        out = {}
        for v, name in enumerate(names):
            turn = 2 * math.pi * v / len(names) - math.pi / 2
            out[name] = area.center() + QPointF(across * math.cos(turn), reach * math.sin(turn))
        return out

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if self._graph is None or self._letters is None:
            return
        painter.fillRect(area, QColor(colours.base))
        size = max(QFontMetricsF(painter.font()).height() * 2, 4.0 * GRID)
        points = self._points(area, size)
        letters = dict(zip(self._letters.lattice.names, self._letters.letters, strict=True))
        lifted = set(self._lifted)
        if len(lifted) > 2:
            ground = QColor(colours.released)
            ground.setAlphaF(0.18)
            inked(painter, Qt.PenStyle.NoPen, ground)
            # Ring order is the table's order: the corners go round.
            painter.drawPolygon(QPolygonF([p for n, p in points.items() if n in lifted]))
        for a, b in self._graph.edges:
            heavy = a in lifted and b in lifted
            ink = colours.released if heavy else colours.quiet
            painter.setPen(QPen(QColor(ink), 3.5 if heavy else 1.6))
            painter.drawLine(points[a], points[b])
        for name, point in points.items():
            box = QRectF(0, 0, size, size)
            box.moveCenter(point)
            inside = name in self._graph.variables
            inked(
                painter,
                QPen(
                    QColor(colours.text if name in lifted else colours.quiet),
                    3 if name in lifted else 1.4,
                    Qt.PenStyle.SolidLine if inside else Qt.PenStyle.DashLine,
                ),
                QColor(colours.released if inside else colours.base),
            )
            painter.drawEllipse(box)
            painter.setPen(QColor(colours.base if inside else colours.quiet))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), letters[name])


def queries_named(letters: VariableLetters, names: tuple[str, ...]) -> str:
    """A clique in letters; the empty separator in words."""
    query = letters.lattice.query(names)
    return joined(letters.letters[v] for v in bits(letters.lattice.finest(query))) or "nothing"
