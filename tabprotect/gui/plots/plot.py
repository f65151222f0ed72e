"""A figure that is a pyqtgraph plot: hover for numbers, zoom and pan where it helps."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QToolButton, QToolTip

from tabprotect.gui.look.buttons import connected, named, present
from tabprotect.gui.look.drawn.drawing import Drawing
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import THEME, Colours
from tabprotect.gui.plots.canvas import Canvas
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

STEP = 0.8
"""What a key press leaves of the part that is seen."""


class Plot(Drawing):
    """Base of all plots: what they show, they put on a canvas.

    Wheel, drag, and + - Left Right zoom and pan the value axis where it is wide; a double click,
    Home and the button go back to the whole of it.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.empty = ""
        self._canvas: Canvas | None = None
        in_column(on=self, margins=2)
        self.whole = named(
            QToolButton(self),
            message("Show the whole range"),
            tip=message("Show the whole range (Home, or a double click)"),
        )
        self.whole.setText(tr("All"))
        self.whole.clicked.connect(self.reset)
        self.whole.hide()
        THEME.follow(self, lambda plot: plot.refresh(), slow=True)

    # -- what a plot says of itself -----------------------------------------------------------

    @property
    @abstractmethod
    def filled(self) -> bool:
        """Return True if there is anything to plot; else ``empty`` says why not."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Say what the lower axis counts; empty where it needs no word."""

    @abstractmethod
    def span(self) -> tuple[float, float]:
        """Ends of the lower axis."""

    @property
    def narrowest(self) -> float | None:
        """The shortest part zooming may show; ``None`` where it would not help."""
        return None

    @property
    def keyed(self) -> bool:
        """Return True if the plot takes the keyboard."""
        return self.narrowest is not None

    @property
    def numbers(self) -> str:
        """The widest text along the left axis."""
        return "0.000"

    @abstractmethod
    def arrange(self, canvas: Canvas) -> None:
        """Put the part that is seen on the canvas."""

    def tip(self, value: float, height: float) -> str:
        """The numbers at a point of the plane; empty where there is nothing to say."""
        return ""

    def pressed(self, at: QPointF, *, twice: bool) -> None:
        """React to a click (or a double click) at a point of the plane."""
        if twice:
            self.reset()

    # -- showing ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the whole of what there is to show."""
        if self._canvas is None:
            return
        keyed = self.filled and self.keyed
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if keyed else Qt.FocusPolicy.ClickFocus)
        self.whole.hide()
        # Nothing that was shown may stay behind, not even out of sight.
        with self._canvas.holding():
            self._canvas.widget.setVisible(self.filled)
            if self.filled:
                self._fill(self._canvas, THEME.colours)
        self._show_button()
        self.update()

    def _put(self, canvas: Canvas) -> None:
        if self.filled:
            self.arrange(canvas)

    def _fill(self, canvas: Canvas, colours: Colours) -> None:
        with canvas.holding():
            canvas.dress(colours, self.figure_font(), title=self.title, numbers=self.numbers)
            canvas.limit(*self.span(), narrowest=self.narrowest)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.make_canvas()

    def make_canvas(self) -> None:
        """Make what bars and lines are put on, when the plot is first shown, or before."""
        if self._canvas is None:
            self._canvas = Canvas(self._put)
            connected(self._canvas.widget.scene(), sigMouseMoved=self._hover, sigMouseClicked=self._clicked)
            self._canvas.box.sigXRangeChanged.connect(lambda *_: self._show_button())
            layout = present(self.layout())
            layout.addWidget(self._canvas.widget)
            self.refresh()

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if not self.filled:
            painter.setPen(QColor(colours.quiet))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(area.adjusted(24, 0, -24, 0), flags, translate(self.empty))
            return
        # Nothing is put in place before the size is known.
        canvas = Canvas(self._put, held=True)
        self._fill(canvas, colours)
        if self.zoomed:
            canvas.look(*self.seen)
        canvas.paint(painter, area)
        canvas.widget.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.filled:
            super().paintEvent(event)
        elif self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(QColor(THEME.colours.focus), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # -- zoom, pan, hover ---------------------------------------------------------------------

    @property
    def seen(self) -> tuple[float, float]:
        """The part of the value axis that is seen."""
        return self.span() if self._canvas is None else (self._canvas.low, self._canvas.high)

    @property
    def zoomed(self) -> bool:
        """Return True if that is only a part."""
        (low, high), (first, last) = self.seen, self.span()
        return self._canvas is not None and high - low < (last - first) * (1 - 1e-6)

    def reset(self) -> None:
        """Show the whole value axis again."""
        if self._canvas is not None and self.filled:
            self._canvas.look(*self.span())

    def zoom(self, share: float, shift: float = 0.0) -> None:
        """Show ``share`` of what is seen, moved by ``shift`` of its width."""
        if self._canvas is None or self.narrowest is None:
            return
        (low, high), (first, last) = self.seen, self.span()
        wide = min(max((high - low) * share, self.narrowest), last - first)
        middle = (low + high) / 2 + shift * wide
        left = min(max(middle - wide / 2, first), last - wide)
        self._canvas.look(left, left + wide)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {
            Qt.Key.Key_Plus: (STEP, 0.0),
            Qt.Key.Key_Equal: (STEP, 0.0),
            Qt.Key.Key_Minus: (1 / STEP, 0.0),
            Qt.Key.Key_Left: (1.0, STEP - 1),
            Qt.Key.Key_Right: (1.0, 1 - STEP),
        }
        if (key := Qt.Key(event.key())) in moves:
            self.zoom(*moves[key])
        elif key == Qt.Key.Key_Home:
            self.reset()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_button()

    def _show_button(self) -> None:
        self.whole.setVisible(self.filled and self.narrowest is not None and self.zoomed)
        self.whole.adjustSize()
        corner = self.rect().bottomRight() - self.whole.rect().bottomRight()
        self.whole.move(corner - self.rect().topLeft())
        self.whole.raise_()

    def _clicked(self, click: Any) -> None:
        canvas = self._canvas
        if canvas is None or not self.filled or click.button() != Qt.MouseButton.LeftButton:
            return
        self.pressed(canvas.box.mapSceneToView(click.scenePos()), twice=click.double())

    def _hover(self, at: QPointF) -> None:
        if (canvas := self._canvas) is None or not self.filled:
            return
        if not canvas.box.sceneBoundingRect().contains(at):
            QToolTip.hideText()
            return
        point = canvas.box.mapSceneToView(at)
        if not (text := self.tip(point.x(), point.y())):
            QToolTip.hideText()
            return
        place = canvas.widget.mapToGlobal(canvas.widget.mapFromScene(at))
        QToolTip.showText(place, text, canvas.widget)
