"""tau-ARGUS's description of a data file (.rda): its separator, its variables and their options.

Each variable has a main line with its name, then lines with its options in angle brackets. Main
lines are ``Name start width [missing ...]`` for fixed columns, ``Name width [missing ...]`` for
separated records, ``Name [missing]`` for tables (tau-ARGUS 4.2, User's manual, section 4.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os.path import isfile
from pathlib import Path
from types import MappingProxyType

from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.paths import check_file, is_there, unreadable
from tabprotect.languages.messages import joined, message

RDA_BYTES = 2**22
"""The most bytes of a tau-ARGUS description."""


LONGEST_PLACE = 9
"""The most figures of a position in a line."""

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_LABEL = re.compile(r'\s*(?:"([^"]*)"\s*|([^,]*)),(.*)')
_BESIDE = re.compile(r"<[A-Za-z_]+>")
_OPTION = re.compile(r"<([A-Za-z_]+)>\s*(.*)")
_NO_CATEGORY = frozenset(
    {"NUMERIC", "FREQUENCY", "WEIGHT", "HOLDING", "REQUEST", "SHADOW", "COST", "COSTVAR", "STATUS",
     "MAXSCORE", "LOWERPL", "UPPERPL", "RECORDKEY"}
)  # fmt: skip


@dataclass(frozen=True)
class TauVariable:
    """One variable of a description.

    Attributes
    ----------
    name
    place
        The numbers of the main line: start and width, width, or none.
    missing
        Codes of missing values.
    options
        Option -> the words after it.
    """

    name: str
    place: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def classifies(self) -> bool:
        """True if it is a classifying variable, and no number, status or identifier."""
        return not _NO_CATEGORY & set(self.options)

    @property
    def total(self) -> str | None:
        """The code of its total."""
        return next(iter(self.options.get("TOTCODE", ())), None)


@dataclass(frozen=True)
class TauMetadata:
    """A description.

    Attributes
    ----------
    variables
        In the order of the file.
    separator
        The separator between fields; empty if columns are fixed.
    statuses
        Letter -> ``SAFE``, ``UNSAFE`` or ``PROTECT``.
    """

    variables: tuple[TauVariable, ...]
    separator: str = ""
    statuses: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def read_metadata(path: Path, beside: Path) -> TauMetadata:
    """Read the description ``beside`` that belongs to a data file.

    Raises
    ------
    InputError
        If there is none, or with the line that cannot be understood.
    """
    if not is_there(beside):
        raise InputError(
            message("its description {name} is not beside it", beside.name),
            file=path,
            hint=message(
                "tau-ARGUS files come in pairs: put the .rda file into the same folder, or name it: "
                "--metadata FILE"
            ),
        )
    check_file(beside)
    try:
        with beside.open("rb") as file:
            data = file.read(RDA_BYTES + 1)
    except OSError as error:
        raise unreadable(beside, error) from None
    with in_file(beside):
        return parsed(decoded(data))


def decoded(data: bytes) -> str:
    """Decode text as tau-ARGUS writes it: UTF-8, or Windows-1252 in older versions."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def parsed(text: str) -> TauMetadata:
    """Parse a description from its text."""
    if len(text) > RDA_BYTES:
        raise InputError(message("the description is too long"), hint=message("is it the right file?"))
    separator = ""
    statuses: dict[str, str] = {}
    variables: list[TauVariable] = []
    options: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("//"):
            continue
        found = _OPTION.fullmatch(stripped)
        if found is None:
            options = {}
            variables.append(_variable(stripped, number, options))
            continue
        name, words = found[1].upper().replace("RECODABLE", "RECODEABLE"), _words(found[2])
        if variables:
            # Several options may share a line: <NUMERIC> <SHADOW>.
            beside = [word for word in words if _BESIDE.fullmatch(word)]
            options |= {word[1:-1].upper(): () for word in beside}
            options[name] = tuple(word for word in words if word not in beside)
        elif name == "SEPARATOR":
            separator = words[0] if words else ","
            if len(separator) != 1:
                raise InputError(message("{separator} is no separator", repr(separator)), line=number)
        elif name in ("SAFE", "UNSAFE", "PROTECT") and words:
            statuses[words[0].upper()] = name
        elif name == "SPSS":
            raise InputError(
                message("the description is of an SPSS file"), hint=message("open the .sav file itself")
            )
    names = [v.name for v in variables]
    if not names or len(set(names)) < len(names):
        raise InputError(message("the description does not name its variables, each once"))
    return TauMetadata(tuple(variables), separator, statuses)


def _words(text: str) -> tuple[str, ...]:
    return tuple(found[1] if found[1] is not None else found[2] for found in _WORD.finditer(text))


def _variable(line: str, number: int, options: Mapping[str, tuple[str, ...]]) -> TauVariable:
    words = [(found[1], found[2]) for found in _WORD.finditer(line)]
    texts = [quoted if quoted is not None else bare for quoted, bare in words]
    place: list[int] = []
    for quoted, bare in words[1:3]:
        if quoted is not None or not bare.isdecimal() or len(bare) > LONGEST_PLACE:
            break
        place.append(int(bare))
    if not texts or "<" in texts[0]:
        raise InputError(message("{line} names no variable", repr(line[:40])), line=number)
    # The options are read from the lines that follow.
    view = MappingProxyType(options)
    return TauVariable(texts[0], tuple(place), tuple(texts[1 + len(place) :]), view)


def read_labels(variable: TauVariable, path: Path) -> dict[str, str]:
    """Code -> label, from the list (.cdl: ``code,label``) that it names beside the data; else empty."""
    named = next(iter(variable.options.get("CODELIST", ())), "")
    # Only the file name is used: the description is not to be trusted.
    file = path.with_name(Path(named.replace("\\", "/")).name) if named else None
    if file is None or not isfile(file):
        return {}
    check_file(file)
    with file.open("rb") as stream:
        text = decoded(stream.read(RDA_BYTES))
    pairs = filter(None, map(_LABEL.fullmatch, text.splitlines()))
    return {(found[1] or found[2]).strip(): found[3].strip().strip('"') for found in pairs}


def description(
    names: Iterable[str],
    lists: Mapping[str, Mapping[str, str]],
    *,
    separator: str,
    count: str,
    status: str,
    total: str,
) -> str:
    """The description of a table to be written: its variables, counts, statuses and separator.

    ``lists`` names the files of variables that have a hierarchy or labels, by suffix.
    """
    lines = [f'<SEPARATOR> "{separator}"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for name in names:
        plain = re.fullmatch(r"[^\W\d][\w.-]*", name)
        lines += [name if plain else f'"{name}"', "  <RECODEABLE>", f'  <TOTCODE> "{total}"']
        of = lists.get(name, {})
        if ".cdl" in of:
            lines.append(f'  <CODELIST> "{of[".cdl"]}"')
        if ".hrc" in of:
            lines += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{of[".hrc"]}"']
            lines += ['  <HIERLEADSTRING> "@"']
    lines += [count, "  <NUMERIC>", "  <DECIMALS> 0", status, "  <STATUS>"]
    return joined(lines, "\n") + "\n"
