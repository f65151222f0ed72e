"""The published release as one file of a house's format: a cube with its totals."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from tabprotect.engine.bundle.cube import cube_of
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.formats.table_writing import format_to_write
from tabprotect.engine.release.release import Release
from tabprotect.gui.base.exporter import Exporter
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.file_dialogs import ask_place
from tabprotect.languages.said import joined, say

OFFERED = ("xlsx", "px", "jsonstat", "sdmx-csv", "csv")
"""The formats that are offered, by what most ask for."""


class ReleaseFiles(QObject):
    """Writes what was published, or what a reader opened, in another format."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.window = window

    @property
    def release(self) -> Release | None:
        """What has left the house: nothing else is written."""
        project = self.window.document.project
        if project is None:
            return None
        if project.released is not None:
            return project.released
        return project.protected.release if project.published and project.protected else None

    def ask(self) -> None:
        """Ask for a file, and write the release there."""
        if self.release is None:
            self.window.page.errors.show_note(
                say("Only a published release is saved in another format: publish it first.")
            )
            return
        known = formats()
        filters = joined(
            (
                say("{label} (*{suffix})", known[name].label, known[name].suffixes[0])
                for name in OFFERED
            ),
            ";;",
        )
        ask_place(
            self.window,
            say("Save the release"),
            "release.xlsx",
            filters,
            lambda path: self.save(Path(path)),
        )

    def save(self, path: Path) -> None:
        """Write the release as one cube."""
        release = self.release
        if release is None:
            return
        page = self.window.page
        exporter = Exporter(page)
        exporter.written.connect(
            lambda written: page.errors.show_note(say("Saved as {name}.", written.name))
        )

        def content(_: object) -> bytes:
            kind = format_to_write(path)
            cube = cube_of(release)
            return kind.publish_cube(kind.as_held(cube), release.title)

        exporter.write("release", path, content, confidential=False, overwrite=True)
