"""What the window writes by itself: settings, autosaved work. All in the folder that the house names."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings, QStandardPaths

from tabprotect.engine import agency


def state_folder() -> Path:
    """Return where autosaved work of this user lies: with the house's own files, where their folder is
    named."""
    if (named := agency.named_folder()) is not None:
        return named / "autosave"
    where = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppLocalDataLocation)
    return Path(where) / "autosave"


def stored_settings() -> QSettings:
    """Return what a person set: where the system keeps such things, or with the house's own files."""
    if (named := agency.named_folder()) is None:
        return QSettings()
    # What Qt keeps of its own file dialogs goes there, too, where the system keeps that in files.
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(named.absolute()))
    return QSettings(str(named.absolute() / "window.ini"), QSettings.Format.IniFormat)
