"""Files that were opened before, latest first: what the page Start and the menu list."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings

from tabprotect.engine.project.examples import PREFIX
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import Project

RECENT = 10
"""Recent files that are remembered."""


@dataclass(frozen=True)
class RecentFile:
    """A file as far as it is known without reading it again.

    Attributes
    ----------
    title
        What it was called when it was last open; empty where nobody said.
    shape
        The categories of each variable; empty of what is no table.
    opened
        When it was last opened, in seconds since 1970; 0 where that is not known.
    released
        Whether a release of it has left.
    """

    path: str
    title: str = ""
    shape: tuple[int, ...] = ()
    opened: float = 0.0
    released: bool = False

    @classmethod
    def said(cls, path: str, about: Mapping[str, Any]) -> RecentFile:
        """Read it as settings keep it; what they do not keep is as where nothing is known."""
        return cls(
            path,
            str(about.get("title", "")),
            tuple(map(int, about.get("shape", ()))),
            float(about.get("opened", 0)),
            bool(about.get("released", False)),
        )


class RecentFiles:
    """The list in the settings of one window."""

    def __init__(self, settings: Callable[[], QSettings | None]) -> None:
        self._settings = settings
        self._open: tuple[str, object] | None = None

    def files(self) -> list[RecentFile]:
        """The files that are still there, latest first."""
        if (settings := self._settings()) is None:
            return []
        value = settings.value("recent", [])
        paths = value if isinstance(value, list) else [value] if value else []
        about = self._about()
        return [RecentFile.said(p, about.get(p, {})) for p in map(str, paths) if os.path.exists(p)]

    def remember(self, path: str, history: History | None = None) -> None:
        """Put a file at the head, with what the project that was made of it says."""
        if (settings := self._settings()) is None or path.startswith(PREFIX):
            self._open = None
            return
        path = str(Path(path).absolute())
        rest = [one.path for one in self.files() if one.path != path]
        settings.setValue("recent", [path, *rest][:RECENT])
        self._open = None if history is None else (path, _begun(history))
        self._tell(path, None if history is None else history.project, opened=time.time())

    def follow(self, history: History) -> None:
        """Keep what the open project says of its file, as long as it is the same one."""
        if self._open is not None and self._open[1] == _begun(history):
            self._tell(self._open[0], history.project)

    def _about(self) -> dict[str, Any]:
        settings = self._settings()
        try:
            found = json.loads(str(settings.value("recent_about", "") or "{}")) if settings else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _tell(self, path: str, project: Project | None, *, opened: float = 0.0) -> None:
        settings, about = self._settings(), self._about()
        before = RecentFile.said(path, about.get(path, {}))
        after = replace(before, opened=opened or before.opened)
        if project is not None and project.kind != "empty":
            after = replace(
                after,
                title=project.title,
                shape=project.domain.shape,
                released=before.released or project.published,
            )
        if settings is None or after == before:
            return
        listed = {one.path for one in self.files()}
        said = {known: what for known, what in about.items() if known in listed}
        said[path] = {name: value for name, value in asdict(after).items() if name != "path"}
        settings.setValue("recent_about", json.dumps(said))


def _begun(history: History) -> object:
    """Return what a document began with: the same as long as it is the same one."""
    first = history.trail[:1]
    return (first[0].time, first[0].label) if first else None
