"""SDMX-ML (XML) 2.0, 2.1 and 3.0: generic and structure-specific data, as offices exchange them.

Dimensions are the variables, codes the categories, `_T` is a total; groups and attributes are left
out and told, as are statuses. Names and parents of codes stand in a structure message beside it (`t.structure.xml`). A structure-specific message says without its definition (which is
another file) of no name whether it is a dimension: what every observation has is one, unless it is
an attribute that everybody knows (`DECIMALS`, `TITLE` and their like). An observation without a value
is missing, or suppressed where `OBS_STATUS` or `CONF_STATUS` say so. Of several data sets the first is
read. Written as generic data, version 2.1, with `OBS_STATUS` A and `CONF_STATUS` N (true counts);
published counts with F, suppressed ones without a value, with Q and C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import rows_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError, asked
from tabprotect.engine.foreign.workbook_names import DATA_SET
from tabprotect.engine.formats.agencies.sdmx_identifiers import (
    AGENCY,
    TEXTS,
    UNIT,
    VALUE,
    VERSION,
    structure_id,
)
from tabprotect.engine.formats.agencies.sdmx_messages import (
    HINT,
    UNKNOWN,
    Observation,
    SdmxMessage,
    about_of,
    deletions,
    first_of,
    left_out,
    prepared,
    texts_beside,
)
from tabprotect.engine.formats.layouts.observations import cells_shown, texts_shown
from tabprotect.engine.formats.layouts.stated_multipliers import UNIT_MULT
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.statuses import CONF_STATUS, CONFIDENTIAL, NORMAL, OBS_STATUS, SUPPRESSED
from tabprotect.engine.formats.text.markup import escape, quoteattr
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.languages.messages import message

_HEAD = re.compile(rb"(\xef\xbb\xbf)?\s*<.*sdmx\.org/resources/sdmxml/", re.DOTALL | re.IGNORECASE)
_ATTRIBUTES = frozenset(
    {OBS_STATUS, CONF_STATUS, "OBS_FLAG", "OBS_CONF", "CONF_STATUS_OBS", "PRE_BREAK_VALUE", "DECIMALS",
     "UNIT_MULT", "TITLE", "TITLE_COMPL", "TIME_FORMAT", "COLL_METHOD", "COMMENT_OBS", "COMMENT_TS",
     "EMBARGO_TIME", "EMBARGO_DATE", "LAST_UPDATE"}
)  # fmt: skip
"""Attributes of series and observations in any structure-specific message."""

_NAMESPACE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"


class SdmxMl(SdmxMessage):
    label = message("SDMX-ML")
    suffixes = (".sdmx.xml", ".xml")
    media = "application/vnd.sdmx.genericdata+xml"
    begins = _HEAD

    def accepts(self, path: Path, head: bytes) -> bool:
        return not head or self.sniff(head)

    def observations(self, path: Path, reading: Reading) -> tuple[list[Observation], list[str]]:
        answer = _answer("xml", path, measure=reading.count or VALUE, attributes=sorted(_ATTRIBUTES))
        found = [
            replace(one, statuses={**self._alone(path), **one.statuses})
            for one in _observations(answer, path)
        ]
        above = rows_of(_answer("xml_texts", path, names=()), 0, 2, path)
        sets = [kind for kind, _ in above].count(DATA_SET)
        beside = [text(kind, path) for kind, _ in above if kind != DATA_SET]
        told = left_out(sorted(beside + [name for one in found for name in one.statuses])) + first_of(sets)
        shared = set.intersection(*(set(one.key) for one in found)) if found else set()
        further = sorted({name for one in found for name in one.key} - shared)
        if not further:
            return found, told
        kept = [replace(one, key={k: v for k, v in one.key.items() if k in shared}) for one in found]
        return kept, [
            *told,
            message("taken for attributes, as not all have them: {further}", ", ".join(further)),
        ]

    def _alone(self, path: Path) -> dict[str, str]:
        """Unit and multiplier where the message states one of each, at whatever level."""
        said: dict[str, list[str]] = {}
        for kind, told in rows_of(_answer("xml_texts", path, names=(UNIT, UNIT_MULT)), 0, 2, path):
            if text(kind, path) in (UNIT, UNIT_MULT):
                said.setdefault(text(kind, path), []).append(text(told, path))
        return {kind: codes[0] if len(codes) == 1 else UNKNOWN for kind, codes in said.items()}

    def about(self, path: Path, reading: Reading) -> About:
        said = rows_of(_answer("xml_texts", path, names=TEXTS), 0, 2, path)
        return about_of((text(kind, path), text(told, path)) for kind, told in said)

    def message(self, cube: Cube, status: str) -> bytes:
        table, hidden = cube.table, cube.hidden
        named = structure_id(table.domain)
        normal = _values({OBS_STATUS: NORMAL, CONF_STATUS: status})
        suppressed = _values({OBS_STATUS: SUPPRESSED, CONF_STATUS: CONFIDENTIAL})
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<m:GenericData xmlns:m="{_NAMESPACE}/message" xmlns:c="{_NAMESPACE}/common" '
            f'xmlns:g="{_NAMESPACE}/data/generic">',
            f"<m:Header><m:ID>{named}</m:ID><m:Test>false</m:Test>"
            f"<m:Prepared>{prepared(cube.about)}</m:Prepared>{_sender(cube.about)}"
            f'<m:Structure structureID="{named}" dimensionAtObservation="AllDimensions">'
            f'<c:Structure><Ref agencyID="{AGENCY}" id="{named}" version="{VERSION}"/>'
            "</c:Structure></m:Structure></m:Header>",
            f'<m:DataSet structureRef="{named}" action="Information">',
        ]
        if beside := texts_beside(cube.about):
            lines.append(f"<g:Attributes>{_values(beside)}</g:Attributes>")
        for (_, labels, count), shown in zip(cells_shown(table, hidden), texts_shown(cube), strict=True):
            key = _values(dict(zip(table.domain.names, labels, strict=True)))
            value = "" if count is None else f'<g:ObsValue value="{shown}"/>'
            said = suppressed if count is None else normal
            lines.append(
                f"<g:Obs><g:ObsKey>{key}</g:ObsKey>{value}<g:Attributes>{said}</g:Attributes></g:Obs>"
            )
        lines += ["</m:DataSet>", "</m:GenericData>"]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _answer(question: str, path: Path, **of: object) -> object:
    """What the reader answers to a question about a message.

    Raises
    ------
    InputError
        If it is no message that can be read.
    """
    try:
        return asked(question, of, path=path)[0]
    except RefusedFileError as refused:
        raise _refused(refused) from None


def _refused(refused: RefusedFileError) -> InputError:
    if refused.reason == "declarations":
        return InputError(message("a message with declarations of its own is not read"), hint=HINT)
    if refused.reason == "deletes":
        return deletions()
    if refused.reason == "structures":
        return InputError(message("the message holds structures, and no data"), hint=HINT)
    line, why = refused.said if type(refused.said) is list else (0, refused.said)
    return InputError(
        message("this is no XML: {partition}", str(why)[:200]),
        line=line if type(line) is int else None,
        hint=HINT,
    )


def _observations(answer: object, path: Path) -> Iterator[Observation]:
    """The observations as the reader tells them, in runs of the same names."""
    for run in rows_of(answer, 0, 3, path):
        names, statuses, listed = (texts(part, path) for part in run)
        width, step = len(names), len(names) + len(statuses) + 1
        for at in range(0, len(listed) - step + 1, step):
            key = dict(zip(names, listed[at : at + width], strict=True))
            said = dict(zip(statuses, listed[at + width : at + step - 1], strict=True))
            yield Observation(key, listed[at + step - 1], said)


def _values(pairs: Mapping[str, str]) -> str:
    return "".join(f"<g:Value id={quoteattr(name)} value={quoteattr(text)}/>" for name, text in pairs.items())


def _sender(about: About) -> str:
    name = about.metadata.get("publisher", "")
    if not name:
        return f'<m:Sender id="{AGENCY}"/>'
    return f'<m:Sender id="{AGENCY}"><c:Name xml:lang="en">{escape(name)}</c:Name></m:Sender>'


PLUGIN = SdmxMl()
