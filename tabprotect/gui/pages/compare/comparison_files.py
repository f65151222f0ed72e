"""A comparison as files: every run as CSV, the risk-utility map as SVG; always CONFIDENTIAL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from tabprotect.engine.assessment.comparing.comparison import Comparison
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InfeasibleError, TabprotectError
from tabprotect.gui.base.confidential_files import MARK, marked
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.file_dialogs import ask_export

STEMS = {"csv": "comparison", "svg": "risk-utility-map"}


class ComparisonFiles(QObject):
    """The exports of the compare page."""

    def __init__(
        self,
        page: Page,
        comparison: Callable[[], Comparison | None],
        picture: Callable[[str], bytes],
    ) -> None:
        """``comparison`` gives the finished one; ``picture`` the map under a caption, as SVG."""
        super().__init__(page)
        self._page = page
        self._comparison = comparison
        self._picture = picture

    @property
    def _editable(self) -> bool:
        return self._page.document.has_original and not self._page.document.public

    def _possible(self) -> bool:
        if self._comparison() is not None and self._editable:
            return True
        if self._editable:
            self._page.show_error(
                InfeasibleError("nothing was compared yet", hint="press Compare first")
            )
        return False

    def ask(self, kind: str = "csv") -> None:
        """Ask where to write a kind of ``STEMS``."""
        if not self._possible():
            return
        name = f"{STEMS[kind]}-{MARK}.{kind}"
        # The dialog asks before overwriting the very name that was typed, no other.
        ask_export(self._page, name, kind, lambda path: self.write(kind, path, overwrite=True))

    def write(self, kind: str, path: Path, *, overwrite: bool = False) -> None:
        """Write a kind of ``STEMS``; the file says CONFIDENTIAL in its name and inside."""
        if not self._possible():
            return
        if marked(path) != path:
            path, overwrite = marked(path), False
        try:
            write_bytes(path, self.content(kind), overwrite=overwrite)
        except TabprotectError as error:
            self._page.show_error(error)

    def content(self, kind: str) -> bytes:
        """The bytes of a kind."""
        found = self._comparison()
        assert found is not None
        if kind == "csv":
            head, _, rows = found.as_csv().partition("\n")
            return f"{head.replace('run', f'run_{MARK}', 1)}\n{rows}".encode()
        caption = f"{MARK}: depends on the original. {self._page.sentence}"
        return self._picture(caption)
