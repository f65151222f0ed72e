"""Stub."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from tabprotect.gui.document import Document


class DrawsPanel(QWidget):
    def __init__(self, document: Document) -> None:
        super().__init__()

    def refresh(self, changes: frozenset[str]) -> None:
        pass
