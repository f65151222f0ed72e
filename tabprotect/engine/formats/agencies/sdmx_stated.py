"""What a structure message beside SDMX data states: trees and names of codes, own names of our variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.foreign.answers import rows_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError, asked
from tabprotect.engine.formats.agencies.sdmx_identifiers import AGENCY
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.stated_trees import StatedTree
from tabprotect.engine.paths import is_file


@dataclass(frozen=True)
class StatedStructure:
    """By dimension the parent and the name of each code; and the names that our own variables had."""

    parents: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    own: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, cells: CellList) -> CellList:
        """The cells with what is stated of their codes, under their own names."""
        trees = {
            name: StatedTree.of_parents(codes, self.parents[name])
            for name, codes in zip(cells.names, cells.categories, strict=True)
            if self.parents.get(name)
        }
        own = {name: self.own.get(name) or name for name in cells.names}
        if len(set(own.values())) < len(own):
            own = {name: name for name in cells.names}
        return replace(
            cells,
            names=tuple(own.values()),
            labels={
                own[name]: said
                for name in cells.names
                if (said := cells.labels.get(name) or self._labels(name))
            },
            trees={own[name]: tree for name, tree in trees.items()},
        )

    def _labels(self, name: str) -> dict[str, str]:
        """Code -> name, where any code has another name."""
        said = self.labels.get(name, {})
        return dict(said) if any(label not in ("", code) for code, label in said.items()) else {}


def structure_of(path: Path) -> StatedStructure:
    """What the structure message beside a file of data states; nothing where there is none that can be read."""
    beside = path.with_name(f"{path.name.partition('.')[0]}.structure.xml")
    if not is_file(beside):
        return StatedStructure()
    try:
        answer = asked("xml_structure", {}, path=beside)[0]
    except RefusedFileError:
        return StatedStructure()
    parents: dict[str, dict[str, str]] = {}
    own: dict[str, str] = {}
    labels: dict[str, dict[str, str]] = {}
    for identifier, agency, name, codes in rows_of(answer, 0, 4, beside):
        listed, one = texts(codes, beside), text(identifier, beside)
        parents[one] = {code: above for code, above in zip(listed[::3], listed[1::3], strict=False) if above}
        labels[one] = dict(zip(listed[::3], listed[2::3], strict=False))
        if text(agency, beside) == AGENCY:
            own[one] = text(name, beside)
    return StatedStructure(parents, own, labels)
