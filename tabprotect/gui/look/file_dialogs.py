"""Asking for a file: to open, or to write to. Nothing waits for the answer.

Each kind of file has the folder where the last one of it was chosen; kept with what a person sets, in
no project and no recipe.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from tabprotect.languages.messages import message
from tabprotect.languages.translation import translate

Taken = Callable[[str], object]
"""What is done with the path that was chosen."""

LONG = 60
"""Letters of a filter up to which its endings are shown."""


class LastFolders:
    """The folder of the last file of each kind, in ``settings``; without any, nothing is kept."""

    def __init__(self) -> None:
        self.settings: QSettings | None = None

    def of(self, kind: str) -> str:
        """Say where to begin; empty where nothing was chosen yet, or the folder is gone."""
        kept = "" if self.settings is None else str(self.settings.value(f"folders/{kind}", "") or "")
        return kept if kept and os.path.isdir(kept) else ""

    def keep(self, kind: str, path: str) -> None:
        """Begin in the folder of a path the next time."""
        if self.settings is not None:
            chosen = Path(path)
            folder = chosen if os.path.isdir(chosen) else chosen.parent
            self.settings.setValue(f"folders/{kind}", str(folder.absolute()))


FOLDERS = LastFolders()
"""Those of this program; whoever starts it says where they are kept."""


def ask_file(parent: QWidget, title: str, filters: str, then: Taken, *, kind: str = "") -> QFileDialog:
    """Ask for a file that is there; ``kind`` names the files that share a folder."""
    kind = kind or _ending(filters)
    dialog = QFileDialog(
        parent, translate(title), FOLDERS.of(kind), filters, fileMode=QFileDialog.FileMode.ExistingFile
    )
    return _opened(dialog, then, kind)


def ask_files(
    parent: QWidget, title: str, filters: str, then: Callable[[list[str]], object], *, kind: str = ""
) -> QFileDialog:
    """Ask for some files that are there."""
    kind = kind or _ending(filters)
    dialog = QFileDialog(
        parent, translate(title), FOLDERS.of(kind), filters, fileMode=QFileDialog.FileMode.ExistingFiles
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    _shorten(dialog)
    dialog.filesSelected.connect(lambda paths: FOLDERS.keep(kind, paths[0]))
    dialog.filesSelected.connect(then)
    dialog.open()
    return dialog


def ask_folder(parent: QWidget, title: str, start: str, then: Taken, *, kind: str = "folder") -> QFileDialog:
    """Ask for a folder; without a ``start`` it begins where the last one of its kind lies."""
    dialog = QFileDialog(
        parent, translate(title), start or FOLDERS.of(kind), fileMode=QFileDialog.FileMode.Directory
    )
    return _opened(dialog, then, kind)


def ask_place(
    parent: QWidget, title: str, place: str, filters: str, then: Taken, *, confirm: bool = True
) -> QFileDialog:
    """Ask where to write.

    Parameters
    ----------
    place
        A path, or a name, to begin with.
    filters
        The first ending that they name is that of what is typed without one.
    confirm
        Whether the dialog asks before the very name that was typed is overwritten.
    """
    kind = _ending(filters)
    dialog = QFileDialog(
        parent,
        translate(title),
        FOLDERS.of(f"{kind} written"),
        filters,
        acceptMode=QFileDialog.AcceptMode.AcceptSave,
    )
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirm)
    dialog.setDefaultSuffix(kind)
    dialog.selectFile(place)
    return _opened(dialog, then, f"{kind} written")


def ask_export(parent: QWidget, name: str, kind: str, write: Callable[[Path], object]) -> QFileDialog:
    """Ask where to write a file of a kind; ``csv``, say."""
    filters = message("{upper} (*.{kind});;All files (*)", kind.upper(), kind)
    return ask_place(parent, message("Export"), name, filters, lambda path: write(Path(path)))


def _ending(filters: str) -> str:
    """The first ending that filters name."""
    return filters.partition("*.")[2].partition(")")[0].partition(" ")[0]


def _shorten(dialog: QFileDialog) -> None:
    """Filters by their names alone, where they have many endings."""
    option = QFileDialog.Option.HideNameFilterDetails
    dialog.setOption(option, any(len(words) > LONG for words in dialog.nameFilters()))


def _opened(dialog: QFileDialog, then: Taken, kind: str) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    _shorten(dialog)
    dialog.fileSelected.connect(lambda path: FOLDERS.keep(kind, path))
    dialog.fileSelected.connect(then)
    dialog.open()
    return dialog
