"""The keywords of the library's functions, typed: ``python packaging/library_keywords.py``.

Editors complete what this writes into ``tabprotect/library/arguments/keywords.pyi``, and type checkers hold a
script to it: the options of reading, counting, protecting and publishing, and the parameters of
each method. ``--check`` changes nothing and exits 1 where something would change.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from tabprotect.engine.assessment.comparing.run_spec import Comparing
from tabprotect.engine.bundle.inferring import Inferring
from tabprotect.engine.bundle.tables.export import Exporting
from tabprotect.engine.bundle.verify import Verifying
from tabprotect.engine.cycles.designing import Designing
from tabprotect.engine.formats.published_rows import PublishedReading
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import Options
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.project.options import (
    DEFAULT_METHOD,
    MagnitudeTabulation,
    Protecting,
    Publishing,
    Tabulation,
)
from tabprotect.engine.protection.registered import methods
from tabprotect.library.arguments.asking import keywords

TARGET = Path(__file__).resolve().parents[1] / "tabprotect" / "library" / "arguments" / "keywords.pyi"

HEAD = '''"""What each function of the library takes by name, for editors and type checkers.

Written by ``packaging/library_keywords.py``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.options import WeightsReading
from tabprotect.engine.release.tuned import Use
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.workers.spreading import Workers

Table = TypeVar("Table", contravariant=True)
Protection = TypeVar("Protection", covariant=True)
Found = TypeVar("Found", covariant=True)


class Designed(Protocol):
    """A cycle set of :func:`tabprotect.design`."""

    @property
    def moves(self) -> MoveSet: ...
'''

WIDER = {
    "code_lists": "Mapping[str, str | Path] | None",
    "cycles": "str | Path | Designed | None",
    "dossier": "str | Path | None",
    "header_row": "str | int | None",
    "like": "str | Path | None",
    "marks": "str | Mapping[str, str] | None",
    "policy": "AgencyPolicy | str | Path | None",
    "sheet": "str | int | None",
    "sign": "str | Path | None",
    "signer": "str | Path | None",
    "sign_too": "str | Path | None",
    "texts_of": "str | Path | None",
    "zeros": "str | Path | None",
}
"""Where the library takes more than the command: files as paths, its own cycle sets."""

KINDS = {"real": "float", "integer": "int", "flag": "bool"}


def _options(asked: type[Options]) -> str:
    types = {one.name: str(one.type) for one in fields(asked)}
    lines = [f"    {one.name}: {WIDER.get(one.name, types[one.name])}" for one in keywords(asked)]
    head = f"class {asked.__name__}Keywords(TypedDict, total=False):"
    return "\n".join([head, f'    """The options of {asked.__name__}."""', "", *lines])


def _types(parameter: Parameter[object]) -> list[str]:
    if parameter.choices is not None:
        said = f"Literal[{', '.join(map(repr, parameter.choices))}]"
    else:
        said = KINDS.get(parameter.kind, "str")
    return [said, *(["None"] if parameter.default is None else [])]


def _names() -> list[str]:
    return sorted({*methods(), *methods("magnitudes")})


def _class(method: str) -> str:
    return "".join(part.capitalize() for part in method.split("_"))


def _method(name: str) -> str:
    # ``lambda`` is no keyword of a call.
    own = {one.name for one in keywords(Protecting)} | {"lambda"}
    # A method of both measures takes the parameters of either.
    of_either = [every[name] for every in (methods(), methods("magnitudes")) if name in every]
    types: dict[str, dict[str, None]] = {}
    for one in (parameter for method in of_either for parameter in method.parameters):
        if one.name not in own:
            types.setdefault(one.name, {}).update(dict.fromkeys(_types(one)))
    lines = [
        f"    {parameter}: {' | '.join(sorted(of, key='None'.__eq__))}" for parameter, of in types.items()
    ]
    head = f"class {_class(name)}(ProtectingKeywords, total=False):"
    return "\n".join([head, f'    """The parameters of ``{name}``."""', "", *lines])


PROTECTS = {
    "Protects": ("table: Table, /", "", "Protection"),
    "ProtectsSet": (
        "table: Table | Mapping[str, Table], /",
        "tables: Mapping[str, str] | None",
        "Protection",
    ),
    "ProtectsAll": ("tables: Mapping[str, Table], /", "", "Found"),
}
"""What is called to protect: what it takes first, what before the method, what it gives."""


def _protects(name: str) -> str:
    given, between, gives = PROTECTS[name]
    workers = "workers: int | None = ..., " if name == "ProtectsAll" else ""
    generic = {"Found": "Table, Found"}.get(gives, "Table, Protection")
    lines = [
        f"class {name}(Protocol[{generic}]):",
        '    """An overload for each method; one that a variable names takes what all methods take."""',
    ]
    options = {
        **{f'Literal["{one}"]': _class(one) for one in _names()},
        "Method | None": "ProtectingKeywords",
    }
    for method, asked in options.items():
        default = " = ..." if method == f'Literal["{DEFAULT_METHOD}"]' else ""
        ways = (
            [f"{between}{default}, method: {method}{default}, *"]
            if between
            else [f"method: {method}{default}, *"]
        )
        # Several tables need no formulas: then the method is named.
        if between and not default:
            ways.append(f"{between} = ..., *, method: {method}")
        for way in ways:
            lines += [
                "",
                "    @overload",
                f"    def __call__(self, {given}, {way}, {workers}progress: Progress = ..., "
                f"**asked: Unpack[{asked}]) -> {gives}: ...",
            ]
    return "\n".join(lines)


METHOD = """Method = Literal[{}]
\"\"\"The names of the methods; that of a plug-in is checked by nobody if its type is ``Any``.\"\"\"
"""


def written() -> str:
    """The module, before the formatter lays it out."""
    parts = [
        HEAD,
        *map(
            _options,
            (
                Reading,
                Tabulation,
                MagnitudeTabulation,
                Protecting,
                Publishing,
                Exporting,
                Verifying,
                PublishedReading,
                Inferring,
                Designing,
                Comparing,
            ),
        ),
        *map(_method, _names()),
        METHOD.format(", ".join(map(repr, _names()))),
        *map(_protects, PROTECTS),
    ]
    return "\n\n".join(parts) + "\n"


def formatted(text: str) -> str:
    """A module as the formatter leaves it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def same(one: str, other: str) -> bool:
    """Return True if two modules differ in their layout at most: the check needs no formatter."""
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def main() -> int:
    """Write the module, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = written()
    if same(TARGET.read_text(), text):
        return 0
    if parser.parse_args().check:
        print(f"{TARGET.name} is not up to date: python packaging/library_keywords.py")
        return 1
    TARGET.write_text(formatted(text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
