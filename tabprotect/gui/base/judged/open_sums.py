"""What a document says of a magnitude table, or of a release of one."""

from __future__ import annotations

from abc import abstractmethod

from tabprotect.engine.disclosure.protected_magnitudes import ChosenSums
from tabprotect.engine.project.project import Project
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.hierarchy import Axis
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import joined, plural


def risk_text(number: int, *, sums: bool) -> str:
    """Say how many sums are unsafe, or how many counts small."""
    shown = count_text(number)
    return (
        plural(number, "{number} unsafe sum", "{number} unsafe sums", shown)
        if sums
        else plural(number, "{number} small count", "{number} small counts", shown)
    )


class OpenSums:
    """The part of a document that is about sums."""

    @property
    @abstractmethod
    def project(self) -> Project | None:
        """The current project."""

    @property
    @abstractmethod
    def release(self) -> Release | None:
        """The release of counts."""

    @property
    def of_sums(self) -> bool:
        """True if a magnitude table is open, or a release of one."""
        return self.project is not None and self.project.of_sums

    @property
    def sums(self) -> ChosenSums | None:
        """The confidential magnitude table with what was chosen for it; ``None`` for counts, and readers."""
        return None if self.project is None else self.project.sums

    @property
    def release_of_sums(self) -> Release | None:
        """The release of sums, published or about to be; ``None`` before a table is protected."""
        return None if self.project is None else self.project.release_of_sums

    @property
    def has_release(self) -> bool:
        """True if there is a release, of counts or of sums."""
        return self.release is not None or self.release_of_sums is not None

    @property
    def public_title(self) -> str:
        """The title that readers see; empty before there is a release."""
        release = self.release or self.release_of_sums
        return "" if release is None else release.title

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The variables of the magnitude table that is open, or of a release of one."""
        if self.sums is not None:
            return self.sums.table.axes
        return () if self.release_of_sums is None else self.release_of_sums.magnitude_table.axes

    def sums_cell_text(self, nodes: Index) -> str:
        """A cell of a magnitude table by what it is called."""
        named = (axis.written[node] for axis, node in zip(self.axes, nodes, strict=True))
        return joined(named, ", ")
