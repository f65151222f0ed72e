"""Chips for the variables in rows, columns and layers: dragged, or moved with the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QMimeData, QObject, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QComboBox, QFrame, QMenu, QSizePolicy, QWidget

from tabprotect.engine.arrays import Bools
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.variable import level_said
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import Scrolling, connected, named, silent
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, in_row
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

Zone = Literal["rows", "columns", "layers"]
ZONES: tuple[Zone, ...] = ("rows", "columns", "layers")
CAPTIONS: dict[Zone, str] = {
    "rows": message("Rows"),
    "columns": message("Columns"),
    "layers": message("Layers"),
}
MIME = "application/x-tabprotect-variable"
SHORT = 18
"""Characters of a name on a chip; the tooltip has all."""

PART = 7
"""Part of the window's height that chips may take; further rows scroll."""

LOW = 600
"""A window lower than this leaves them half of it: tables come first."""

KEYS = {Qt.Key.Key_R: "rows", Qt.Key.Key_C: "columns", Qt.Key.Key_L: "layers"}


def moved(placement: Placement, name: str, zone: Zone, at: int | None = None) -> Placement:
    """The placement with a variable put into a zone, at the end or before number ``at``."""
    zones = {z: [n for n in getattr(placement, z) if n != name] for z in ZONES}
    place = len(zones[zone]) if at is None else min(max(at, 0), len(zones[zone]))
    zones[zone].insert(place, name)
    return Placement(*(tuple(zones[z]) for z in ZONES))


class Chip(QFrame):
    """One variable. Arrow keys move it within its zone, R, C and L send it to another."""

    asked = Signal(str, str, object)

    def __init__(self, name: str, categories: int, zone: Zone, at: int) -> None:
        super().__init__()
        self.name, self.zone, self.at = name, zone, at
        self._pressed: QPoint | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setAccessibleName(
            tr("{name}, {categories} categories, in {zone}", level_said(name), categories, zone)
        )
        self.setToolTip(
            tip(
                message(
                    "{name}: {categories} categories. Drag, or: arrow keys change the order, R rows, C "
                    "columns, L layers.",
                    name,
                    categories,
                )
            )
        )
        self.setAccessibleDescription(
            tr("Drag, or: arrow keys change the order, R rows, C columns, L layers.")
        )
        words = translate(level_said(name))
        label = Label(words if len(words) <= SHORT else f"{words[: SHORT - 1]}\u2026")
        count = Label(str(categories), role="quiet")
        in_row(label, count, on=self, margins=(GRID, 2, GRID, 2), spacing=GRID // 2)
        c = THEME.colours
        self.setStyleSheet(
            f"Chip {{ background: {c.base}; border: 1px solid {c.border}; border-radius: 10px; }}"
            f" Chip:focus {{ border: 2px solid {c.focus}; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (key := Qt.Key(event.key())) in KEYS:
            self.asked.emit(self.name, KEYS[key], None)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.asked.emit(self.name, self.zone, self.at - 1)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.asked.emit(self.name, self.zone, self.at + 1)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for zone in ZONES:
            action = menu.addAction(tr("Put into {zone}", zone))
            action.setEnabled(zone != self.zone)
            action.triggered.connect(lambda _=False, z=zone: self.asked.emit(self.name, z, None))
        menu.popup(event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        away = (event.position().toPoint() - self._pressed).manhattanLength()
        if away < QApplication.startDragDistance():
            return
        drag = QDrag(self)
        data = QMimeData()
        data.setData(MIME, self.name.encode())
        drag.setMimeData(data)
        drag.setPixmap(self.grab())
        drag.setHotSpot(self._pressed)
        self._pressed = None
        drag.exec(Qt.DropAction.MoveAction)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None


class DropZone(QFrame):
    """Rows, columns or layers: a caption and its chips."""

    dropped = Signal(str, str, object)

    def __init__(self, zone: Zone) -> None:
        super().__init__()
        self.zone = zone
        self.chips: list[Chip] = []
        self.setAcceptDrops(True)
        self.setAccessibleName(tr("Variables in {zone}", zone))
        caption = Label(CAPTIONS[zone], role="quiet")
        caption.setMinimumHeight(caption.fontMetrics().height() + GRID // 2)
        self.row = FlowLayout(self, gap=GRID // 2)
        self.row.setContentsMargins(0, 4, GRID, 4)
        self.row.addWidget(caption)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        name = bytes(event.mimeData().data(MIME).data()).decode()
        x, y = event.position().x(), event.position().y()
        rest = [chip.geometry() for chip in self.chips if chip.name != name]
        at = sum(1 for box in rest if box.bottom() < y or (box.top() <= y and box.center().x() < x))
        event.acceptProposedAction()
        self.dropped.emit(name, self.zone, at)


class Layers(QObject):
    """The layer of a table that is shown, and a list for each variable that it takes a category of.

    ``chosen`` carries a cell of the layer that was picked.

    Parameters
    ----------
    stand
        Puts new lists where they stand.
    """

    chosen = Signal(object)

    def __init__(self, stand: Callable[[], None]) -> None:
        super().__init__()
        self.cell: Index = ()
        """A cell of the layer that is shown."""
        self.lists: dict[str, QComboBox] = {}
        self.table: tuple[Domain, Placement] | None = None
        self._stand = stand

    def lay_out(
        self, domain: Domain, placement: Placement, cell: Index | None = None, at_risk: Bools | None = None
    ) -> Layout:
        """Show which layer is shown, and return which cells stand where in it.

        Parameters
        ----------
        cell
            A cell of the layer; by default the layer stays as it is, or is the first one.
        at_risk
            In the shape of the table: how many such cells each layer holds is said, too.
        """
        layer = self.cell if cell is None else cell
        if len(layer) != domain.ndim or any(i >= n for i, n in zip(layer, domain.shape, strict=True)):
            layer = (0,) * domain.ndim
        self.cell = layer
        if (domain, placement) != self.table:
            self.table = domain, placement
            self.renew()
        self.count(at_risk)
        return Layout(domain, placement, layer)

    def renew(self) -> None:
        """Make the lists anew, where there is a table."""
        if self.table is not None:
            domain, placement = self.table
            self.lists = {name: self._list(domain, name) for name in placement.layers}
            self._stand()

    def count(self, at_risk: Bools | None) -> None:
        """Say how many at-risk cells each category has, the other layers as they are chosen."""
        if self.table is None:
            return
        domain, placement = self.table
        for name, combo in self.lists.items():
            words = list(domain[name].categories)
            if at_risk is not None:
                part = at_risk[
                    tuple(
                        at if n in placement.layers and n != name else slice(None)
                        for at, n in zip(self.cell, domain.names, strict=True)
                    )
                ]
                left = [n for n in domain.names if n == name or n not in placement.layers]
                numbers = part.sum(axis=tuple(a for a, n in enumerate(left) if n != name))
                words = [
                    message("{c}  \u2022{n}", c, count_text(int(n))) if n else c
                    for c, n in zip(words, numbers, strict=True)
                ]
            with silent(combo):
                for number, text in enumerate(words):
                    combo.setItemText(number, translate(text))
                combo.setCurrentIndex(self.cell[domain.axis(name)])

    def _list(self, domain: Domain, name: str) -> QComboBox:
        categories, at = domain[name].categories, domain.axis(name)
        combo = named(
            QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon),
            message("Layer: {name}", name),
        )
        combo.addItems(list(categories))
        # With room for the number of at-risk cells.
        combo.setMinimumContentsLength(min(max(map(len, categories)) + 6, 28))

        def choose(code: int) -> None:
            self.cell = (*self.cell[:at], code, *self.cell[at + 1 :])
            self.chosen.emit(self.cell)

        combo.currentIndexChanged.connect(choose)
        return combo


class PlacementBar(Scrolling):
    """``placed`` carries the placement that is asked for, ``layer_chosen`` a cell index."""

    placed = Signal(object)
    layer_chosen = Signal(object)

    def __init__(self) -> None:
        # Tab goes to the chips, and brings them into sight.
        super().__init__(
            name=message("Placement of the variables"), sideways=False, focus=Qt.FocusPolicy.NoFocus
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.layers = connected(Layers(self._build), chosen=self.layer_chosen)
        inner = QWidget()
        row = FlowLayout(inner, gap=GRID)
        self.zones: dict[str, DropZone] = {zone: DropZone(zone) for zone in ZONES}
        for zone in self.zones.values():
            zone.dropped.connect(self._move)
            row.addWidget(zone)
        self.setWidget(inner)
        THEME.follow(self, lambda bar: bar.layers.renew())

    def chip(self, name: str) -> Chip:
        """The chip of a variable."""
        return next(c for z in self.zones.values() for c in z.chips if c.name == name)

    def _build(self) -> None:
        assert self.layers.table is not None
        domain, placement = self.layers.table
        focused = next((c.name for z in self.zones.values() for c in z.chips if c.hasFocus()), None)
        for zone_name, zone in self.zones.items():
            while zone.row.count() > 1:
                item = zone.row.takeAt(1)
                widget = None if item is None else item.widget()
                if widget is not None:
                    widget.hide()
                    widget.deleteLater()
            zone.chips = []
            names = getattr(placement, zone_name)
            zone.setVisible(bool(names) or domain.ndim > 2)
            for at, name in enumerate(names):
                chip = connected(Chip(name, len(domain[name].categories), zone.zone, at), asked=self._move)
                zone.chips.append(chip)
                zone.row.addWidget(chip)
                chip.show()
                if zone_name == "layers":
                    zone.row.addWidget(self.layers.lists[name])
            if not names:
                zone.row.addWidget(Label(message("drop a variable here"), role="quiet"))
        self._take_height()
        if focused is not None:
            self.chip(focused).setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._take_height()

    def _take_height(self) -> None:
        """As many rows of chips as there are, unless the window is low."""
        inner = self.widget()
        flow = None if inner is None else inner.layout()
        if flow is None:
            return
        row = self.zones["rows"].row.sizeHint().height()
        height = self.window().height()
        most = max(row, height // (PART if height >= LOW else 2 * PART))
        self.setFixedHeight(min(flow.heightForWidth(self.viewport().width()), most) + 2)

    def _move(self, name: str, zone: Zone, at: int | None) -> None:
        if self.layers.table is None:
            return
        placement = self.layers.table[1]
        if (wanted := moved(placement, name, zone, at)) != placement:
            self.placed.emit(wanted)
