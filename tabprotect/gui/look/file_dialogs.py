"""Asking for a file: to open, or to write to. Nothing waits for the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from tabprotect.languages.said import say
from tabprotect.languages.speaking import told

Taken = Callable[[str], object]
"""What is done with the path that was chosen."""


def ask_file(parent: QWidget, title: str, filters: str, then: Taken) -> QFileDialog:
    """Ask for a file that is there."""
    dialog = QFileDialog(parent, told(title), "", filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _opened(dialog, then)


def ask_files(
    parent: QWidget, title: str, filters: str, then: Callable[[list[str]], object]
) -> QFileDialog:
    """Ask for some files that are there."""
    dialog = QFileDialog(parent, told(title), "", filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(then)
    dialog.open()
    return dialog


def ask_folder(parent: QWidget, title: str, start: str, then: Taken) -> QFileDialog:
    """Ask for a folder."""
    dialog = QFileDialog(parent, told(title), start)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    return _opened(dialog, then)


def ask_place(
    parent: QWidget,
    title: str,
    place: str,
    filters: str,
    then: Taken,
    *,
    confirm: bool = True,
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
    dialog = QFileDialog(parent, told(title), "", filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not confirm)
    dialog.setDefaultSuffix(filters.partition("*.")[2].partition(")")[0].partition(" ")[0])
    dialog.selectFile(place)
    return _opened(dialog, then)


def ask_export(
    parent: QWidget, name: str, kind: str, write: Callable[[Path], object]
) -> QFileDialog:
    """Ask where to write a file of a kind; ``csv``, say."""
    filters = say("{upper} (*.{kind});;All files (*)", kind.upper(), kind)
    return ask_place(parent, say("Export"), name, filters, lambda path: write(Path(path)))


def _opened(dialog: QFileDialog, then: Taken) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    dialog.open()
    return dialog
