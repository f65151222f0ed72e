"""The check page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage

KINDS: tuple[tuple[str, str, str, str], ...] = (
    ("map_svg", "Map as SVG\u2026", "posterior-map", "svg"),
    ("map_png", "Map as PNG\u2026", "posterior-map", "png"),
    ("cell_svg", "Histogram of the cell as SVG\u2026", "posterior-cell", "svg"),
    ("cell_png", "Histogram of the cell as PNG\u2026", "posterior-cell", "png"),
    ("draws_svg", "Spread of an analysis as SVG\u2026", "spread", "svg"),
    ("draws_png", "Spread of an analysis as PNG\u2026", "spread", "png"),
    ("draws_csv", "Draws of an analysis as CSV\u2026", "draws", "csv"),
    ("table_csv", "Numbers of all cells as CSV\u2026", "posterior-table", "csv"),
    ("cell_csv", "Distribution of the cell as CSV\u2026", "posterior-cell", "csv"),
)
"""What can be exported: kind, words, stem and suffix of the file."""


class CheckStage(Stage):
    """What a reader can believe."""

    name = "posterior"
    label = "Check"
    icon = "posterior"
    hint = "What does a reader learn?"
    main_label = "On to the release"
    entries = tuple(MenuEntry("Check", kind, words) for kind, words, _, _ in KINDS)

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table or a release bundle first."
        if document.release is None:
            return "Protect the table first: a posterior is what its release lets a reader believe."
        return ""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        return frozenset(kind for kind, *_ in KINDS)

    @classmethod
    def problems(cls, document: Document) -> int:
        """Cells that a reader would know."""
        verdict = document.judging.verdict(document.project)
        return 0 if verdict is None else verdict.known
