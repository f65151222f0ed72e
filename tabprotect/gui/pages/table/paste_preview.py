"""What a paste would change: read from the clipboard, painted before anything happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QGuiApplication

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.table_verbs import pasted
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.grid.clipboard import read_block
from tabprotect.gui.grid.layout import Layout


@dataclass(frozen=True)
class Pending:
    """A block that waits to be pasted.

    Attributes
    ----------
    at, counts
        Where it begins, and its lines.
    changes
        The count that each cell would get.
    """

    at: Index
    counts: list[list[int]]
    changes: Mapping[Index, int]


def from_clipboard(project: Project, at: Index) -> Pending:
    """The clipboard's block at a cell.

    Raises
    ------
    InputError
        For text that is no block of counts, or one that does not fit.
    """
    names = [c for v in project.domain.variables for c in v.categories]
    counts = read_block(QGuiApplication.clipboard().text(), headers=names)
    return Pending(at, counts, pasted(project, at=at, counts=counts))


def changed_cells(
    layout: Layout, original: Table, changes: Mapping[Index, int]
) -> npt.NDArray[np.uint8]:
    """1 for every shown cell that would change."""
    ground = np.zeros(layout.shape, dtype=np.uint8)
    for index, count in changes.items():
        at = layout.position(index)
        if at is not None and original[index] != count:
            ground[at] = 1
    return ground
