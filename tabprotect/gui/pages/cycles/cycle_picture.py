"""A cycle as a small picture: for the list of cycles and for the cards of templates."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from tabprotect.engine.arrays import Signs
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.look.theme import colour, inked
from tabprotect.languages.messages import joined, message

BOTH = 2
"""In a pattern: + and - fall together (the picture is coarser than the table)."""

WHOLE = 14
"""Tables up to so many rows and columns are drawn whole."""

COARSE = 20
"""Rows and columns of the picture of a long cycle."""


LONGEST_CODE = 4


def pattern(moves: MoveSet, cycle: int, placement: Placement) -> Signs:
    """The cycle as a small matrix of +1, -1, 0 (and :data:`BOTH`).

    The whole table where it is small, else only the rows and columns the cycle touches, else a
    coarser picture.
    """
    domain = moves.domain
    cells, signs = moves.entries(cycle)
    index = np.unravel_index(cells, domain.shape)
    place = []
    sizes = []
    for names in ((*placement.layers, *placement.rows), placement.columns):
        number = np.zeros(len(cells), dtype=np.int64)
        size = 1
        for name in names:
            axis = domain.axis(name)
            number = number * domain.shape[axis] + index[axis]
            size *= domain.shape[axis]
        place.append(number)
        sizes.append(size)
    if max(sizes) > WHOLE:
        for side in (0, 1):
            unique, number = np.unique(place[side], return_inverse=True)
            place[side], sizes[side] = number.reshape(-1), len(unique)
    for side in (0, 1):
        if sizes[side] > WHOLE:
            place[side] = place[side] * COARSE // sizes[side]
            sizes[side] = COARSE
    plus = np.zeros(sizes, dtype=np.bool_)
    minus = np.zeros(sizes, dtype=np.bool_)
    plus[place[0][signs > 0], place[1][signs > 0]] = True
    minus[place[0][signs < 0], place[1][signs < 0]] = True
    out = plus.astype(np.int8) - minus.astype(np.int8)
    out[plus & minus] = BOTH
    return out


def paint_pattern(painter: QPainter, area: QRectF, matrix: Signs) -> None:
    """Draw a pattern: + filled squares, - hollow ones, 0 dots (readable without colour)."""
    rows, columns = matrix.shape
    step = min(area.width() / columns, area.height() / rows)
    left = area.center().x() - step * columns / 2
    top = area.center().y() - step * rows / 2
    gap = 0.5 if step < 6 else 1.0
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for r, c in np.ndindex(rows, columns):
        sign = int(matrix[r, c])
        box = QRectF(left + c * step, top + r * step, step, step).adjusted(gap, gap, -gap, -gap)
        if not sign:
            if step >= 4:
                inked(painter, Qt.PenStyle.NoPen, colour("border"))
                painter.drawEllipse(box.center(), 1.0, 1.0)
            continue
        if sign == BOTH:
            inked(painter, Qt.PenStyle.NoPen, colour("minus"))
            painter.drawRect(box)
            painter.setBrush(colour("plus"))
            painter.drawPolygon(QPolygonF([box.topLeft(), box.topRight(), box.bottomLeft()]))
            continue
        ink = colour("plus" if sign > 0 else "minus")
        if step < 7:
            painter.fillRect(box, ink)
            continue
        if sign > 0:
            painter.fillRect(box, ink)
        else:
            inked(painter, QPen(ink, 1.5), colour("minus_fill"))
            painter.drawRect(box.adjusted(0.75, 0.75, -0.75, -0.75))
        middle, arm = box.center(), box.width() * 0.26
        painter.setPen(QPen(colour("base") if sign > 0 else ink, 1.5))
        painter.drawLine(middle - QPointF(arm, 0), middle + QPointF(arm, 0))
        if sign > 0:
            painter.drawLine(middle - QPointF(0, arm), middle + QPointF(0, arm))
    painter.restore()


def extent(moves: MoveSet, cycle: int, *, briefly: bool = False) -> tuple[str, ...]:
    """Say which categories a cycle touches, variable by variable: ``v1, v2``; where it is all of them, how
    many cells.

    Parameters
    ----------
    briefly
        Categories by their codes, where names begin with one.
    """
    domain = moves.domain
    cells = moves.entries(cycle)[0]
    index = np.unravel_index(cells, domain.shape)
    parts = []
    for variable, codes in zip(domain.variables, index, strict=True):
        found = sorted(set(codes.tolist()))
        if len(found) == len(variable.categories) and len(found) > 2:
            parts.append(message("all {name}", variable.name))
        elif len(found) <= 2:
            names = (variable.categories[i] for i in found)
            parts.append(joined((code_of(name) if briefly else name for name in names), ", "))
        else:
            parts.append(message("{found} {name}", len(found), variable.name))
    if all(part.startswith("all ") for part in parts):
        return (message("{cells} cells", len(cells)),)
    return tuple(parts)


def code_of(name: str) -> str:
    """The code that a category's name begins with; the name where it begins with none."""
    first, _, rest = name.partition(" ")
    return first if rest and len(first) <= LONGEST_CODE else name
