"""SDMX structure messages: what a table's dimensions and codes are, and which codes are parts of others.

Source: SDMX-ML 2.1, structure messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from tabprotect.engine.formats.agencies.sdmx_identifiers import (
    AGENCY,
    PREPARED,
    TEXTS,
    VALUE,
    VERSION,
    structure_id,
)
from tabprotect.engine.formats.statuses import CONF_STATUS, OBS_STATUS
from tabprotect.engine.formats.text.markup import escape, quoteattr
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable

MEDIA = "application/vnd.sdmx.structure+xml"

Kind = Literal["dataflow", "codelist", "conceptscheme", "datastructure"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_NAMESPACE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
_OWNED = f'agencyID="{AGENCY}" version="{VERSION}"'


@dataclass(frozen=True)
class Structure:
    """A table's structure.

    Attributes
    ----------
    domain
        The table's, with names that are identifiers.
    label
        What the table is called.
    own
        Identifier -> the variable's own name, where it has another one.
    parents
        Of each variable: code -> the code that it is part of.
    """

    domain: Domain
    label: str
    own: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parents: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def id(self) -> str:
        """The identifier in every message of this table."""
        return structure_id(self.domain)

    @property
    def dimensions(self) -> Iterable[tuple[Variable, str]]:
        """Each variable, under its identifier, with its own name."""
        return ((v, self.own.get(v.name, v.name)) for v in self.domain.variables)


def structure_beside(cube: Cube, path: Path) -> dict[str, bytes]:
    """The structure of a cube as a file beside its data, where these do not tell all of it."""
    if not any(_says_more(cube, variable) for variable in cube.table.domain.variables):
        return {}
    whole = Structure(cube.table.domain, cube.about.title or path.name, cube.own, cube.parents)
    return {f"{path.name.partition('.')[0]}.structure.xml": structure_message([whole], KINDS)}


def _says_more(cube: Cube, variable: Variable) -> bool:
    """True if a variable has another name, groups, or labels beside that of its total."""
    name, total = variable.name, cube.totals.get(variable.name)
    labelled = any(
        code not in (label, total) for code, label in zip(variable.categories, variable.labels, strict=False)
    )
    return cube.own.get(name, name) != name or cube.has_levels(name) or labelled


def structure_message(structures: Sequence[Structure], kinds: Collection[Kind]) -> bytes:
    """A message with these kinds of artefacts of some structures."""
    made = {
        "dataflow": ("Dataflows", _dataflow),
        "codelist": ("Codelists", _codelists),
        "conceptscheme": ("Concepts", _concepts),
        "datastructure": ("DataStructures", _data_structure),
    }
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<m:Structure xmlns:m="{_NAMESPACE}/message" xmlns:c="{_NAMESPACE}/common" '
        f'xmlns:s="{_NAMESPACE}/structure">',
        f"<m:Header><m:ID>STRUCTURES</m:ID><m:Test>false</m:Test>"
        f'<m:Prepared>{PREPARED}</m:Prepared><m:Sender id="{AGENCY}"/></m:Header>',
        "<m:Structures>",
    ]
    for kind, (element, make) in made.items():
        if kind in kinds and structures:
            lines.append(f"<s:{element}>")
            lines += [line for one in structures for line in make(one)]
            lines.append(f"</s:{element}>")
    return ("\n".join([*lines, "</m:Structures>", "</m:Structure>"]) + "\n").encode("utf-8")


def _name(text: str) -> str:
    return f'<c:Name xml:lang="en">{escape(text)}</c:Name>'


def _ref(name: str, package: str, kind: str) -> str:
    return f'<Ref id="{name}" {_OWNED} package="{package}" class="{kind}"/>'


def _dataflow(one: Structure) -> list[str]:
    ref = _ref(one.id, "datastructure", "DataStructure")
    return [
        f'<s:Dataflow id="{one.id}" {_OWNED}>{_name(one.label)}<s:Structure>{ref}</s:Structure></s:Dataflow>'
    ]


def _codelists(one: Structure) -> list[str]:
    lines = []
    for variable, name in one.dimensions:
        parents = one.parents.get(variable.name, {})
        lines.append(f'<s:Codelist id="CL_{one.id}_{variable.name}" {_OWNED}>{_name(name)}')
        for place, code in enumerate(variable.categories):
            parent = parents.get(code)
            above = f"<s:Parent><Ref id={quoteattr(parent)}/></s:Parent>" if parent else ""
            lines.append(f"<s:Code id={quoteattr(code)}>{_name(variable.label(place))}{above}</s:Code>")
        lines.append("</s:Codelist>")
    return lines


def _concepts(one: Structure) -> list[str]:
    named = {variable.name: name for variable, name in one.dimensions}
    named |= {name: name for name in (VALUE, OBS_STATUS, CONF_STATUS, *TEXTS)}
    concepts = (f'<s:Concept id="{own}">{_name(name)}</s:Concept>' for own, name in named.items())
    head = f'<s:ConceptScheme id="CS_{one.id}" {_OWNED}>{_name(one.label)}'
    return [head, *concepts, "</s:ConceptScheme>"]


def _data_structure(one: Structure) -> list[str]:
    def concept(name: str) -> str:
        return (
            f'<s:ConceptIdentity><Ref maintainableParentID="CS_{one.id}" '
            f'maintainableParentVersion="{VERSION}" agencyID="{AGENCY}" id="{name}" '
            'package="conceptscheme" class="Concept"/></s:ConceptIdentity>'
        )

    lines = [
        f'<s:DataStructure id="{one.id}" {_OWNED}>{_name(one.label)}',
        '<s:DataStructureComponents><s:DimensionList id="DimensionDescriptor">',
    ]
    for place, (variable, _) in enumerate(one.dimensions, start=1):
        codes = _ref(f"CL_{one.id}_{variable.name}", "codelist", "Codelist")
        lines.append(
            f'<s:Dimension id="{variable.name}" position="{place}">{concept(variable.name)}'
            f"<s:LocalRepresentation><s:Enumeration>{codes}</s:Enumeration>"
            "</s:LocalRepresentation></s:Dimension>"
        )
    lines.append('</s:DimensionList><s:AttributeList id="AttributeDescriptor">')
    lines += [
        f'<s:Attribute id="{name}" assignmentStatus="Conditional">{concept(name)}'
        f"<s:AttributeRelationship>{of}</s:AttributeRelationship></s:Attribute>"
        for names, of in (
            ((OBS_STATUS, CONF_STATUS), f'<s:PrimaryMeasure><Ref id="{VALUE}"/></s:PrimaryMeasure>'),
            (TEXTS, "<s:None/>"),
        )
        for name in names
    ]
    lines.append(
        '</s:AttributeList><s:MeasureList id="MeasureDescriptor">'
        f'<s:PrimaryMeasure id="{VALUE}">{concept(VALUE)}</s:PrimaryMeasure></s:MeasureList>'
        "</s:DataStructureComponents></s:DataStructure>"
    )
    return lines
