"""What a person sets once for this program: name, folders, autosave. Not the house policy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSettings


@dataclass(frozen=True)
class Preferences:
    """The choices of one person.

    Attributes
    ----------
    name
        The name with which the person signs releases.
    public_folder, confidential_folder
        The default folders of release bundles and of dossiers; ``None`` puts both beside the
        table.
    autosave
        True if work is saved every minute beside the program's settings.
    """

    name: str = ""
    public_folder: Path | None = None
    confidential_folder: Path | None = None
    autosave: bool = True

    @property
    def apart(self) -> bool:
        """True if public and confidential files go into separate folders."""
        public, confidential = self.public_folder, self.confidential_folder
        return (
            public is None
            or confidential is None
            or os.path.realpath(public) != os.path.realpath(confidential)
        )

    @classmethod
    def load(cls, settings: QSettings | None) -> Preferences:
        """The stored preferences; the defaults if there are none."""
        if settings is None:
            return cls()
        public, confidential = (
            str(settings.value(f"preferences/{name}", "") or "")
            for name in ("public_folder", "confidential_folder")
        )
        return cls(
            str(settings.value("preferences/name", "") or ""),
            Path(public) if public else None,
            Path(confidential) if confidential else None,
            str(settings.value("preferences/autosave", "true")).lower() != "false",
        )

    def store(self, settings: QSettings | None) -> None:
        """Store them for the next start."""
        if settings is None:
            return
        settings.setValue("preferences/name", self.name)
        settings.setValue("preferences/public_folder", str(self.public_folder or ""))
        settings.setValue("preferences/confidential_folder", str(self.confidential_folder or ""))
        settings.setValue("preferences/autosave", "true" if self.autosave else "false")
