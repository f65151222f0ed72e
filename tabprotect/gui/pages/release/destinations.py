"""Where a release and its dossier go: the folders and names that are offered, and what is wrong with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from tabprotect.engine.errors import InputError
from tabprotect.gui.base.exporter import MARK
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Destination:
    """The places of release and dossier; no dossier is ``None``."""

    release: Path
    dossier: Path | None

    @property
    def taken(self) -> list[Path]:
        """Files that are there already."""
        return [p for p in (self.release, self.dossier) if p is not None and os.path.exists(p)]

    def check(self) -> None:
        """Before anything is asked.

        Raises
        ------
        InputError
            For no name, a public one that says it is confidential, a folder that is not there, or one
            name for both files.
        """
        if self.release.name in ("", ".."):
            raise InputError(
                message("the bundle has no name"), hint=message("name the file that is published")
            )
        if MARK in self.release.name.upper():
            raise InputError(
                message("the name of a public bundle says {MARK}", MARK),
                file=self.release,
                hint=message("give the release another name"),
            )
        for path in (self.release, self.dossier):
            if path is not None and not os.path.isdir(path.parent):
                raise InputError(
                    message("there is no such folder"), file=path.parent, hint=message("choose another place")
                )
        if self.release == self.dossier:
            raise InputError(
                message("release and dossier would be one file"),
                file=self.release,
                hint=message("give the release another name"),
            )


def default_folder(source: str, preferred: Path | None) -> Path:
    """The preferred one, else beside the table's file, else among the user's documents."""
    if preferred is not None and os.path.isdir(preferred):
        return preferred
    folder = Path(source).parent if source and not source.startswith("example:") else None
    if folder is not None and os.path.isdir(folder):
        return folder
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return Path(place) if place and os.path.isdir(place) else Path.home()


def unused(folder: Path, name: str) -> Path:
    """A name of its own: next year's release does not replace last year's, nor its dossier."""
    names = (f"{name}{ending}" for ending in ("", *(f"-{n}" for n in range(2, 1000))))
    free = (n for n in names if not any(os.path.exists(folder / f) for f in (n, f"{n}.zip")))
    return folder / f"{next(free, name)}.zip"
