"""The project file ``.tabprotect``: the whole history, in one zip, saved whole or not at all.

It is confidential: it holds the original, seeds and coins. Opening one never runs anything.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive
from tabprotect.engine.errors import BundleError, InputError, TabprotectError
from tabprotect.engine.project.commands import command
from tabprotect.engine.project.history import History, Step
from tabprotect.engine.project.snapshot import KINDS, Decoder, Encoder
from tabprotect.version import __version__

SUFFIX = ".tabprotect"
FORMAT = "tabprotect project, CONFIDENTIAL"
FORMAT_VERSION = 1

SAVED_BYTES = 2**27
"""Arrays of older snapshots beyond it are not saved (128 MiB): those steps keep their names."""

_PROJECT = "project.json"
_ARRAY = re.compile(r"arrays/[0-9a-f]{64}\.npy\Z")


def save(history: History, path: Path, *, overwrite: bool = True) -> None:
    """Write the project file.

    Raises
    ------
    InputError
        When it cannot be written; the old file is untouched.
    """
    write_bytes(path, to_bytes(history), overwrite=overwrite)


def to_bytes(history: History) -> bytes:
    """The project file's bytes; the same history gives the same bytes."""
    encoder = Encoder()
    now = encoder.project(history.project)
    numbers: list[int | None] = []
    for step in reversed(history.steps):
        keep = step.project is not None and encoder.size <= SAVED_BYTES
        numbers.append(encoder.project(step.project) if keep and step.project else None)
    steps = [
        {
            "command": step.command,
            "arguments": dict(step.arguments),
            "label": step.label,
            "time": step.time,
            "seed": None if step.seed is None else str(step.seed),
            "project": number,
        }
        for step, number in zip(history.steps, reversed(numbers), strict=True)
    ]
    if history.position:
        steps[history.position - 1]["project"] = now
    data = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": f"tabprotect {__version__}",
        "base": encoder.project(history.base) if history.position else now,
        "steps": steps,
        "position": history.position,
        "shared": encoder.shared,
    }
    files = {_PROJECT: json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()}
    for name in sorted(encoder.arrays):
        files[f"arrays/{name}.npy"] = encoder.arrays[name]
    return archive.pack(files)


def load(path: Path) -> History:
    """Open a project file.

    Raises
    ------
    InputError
        When it is none, is damaged, or comes from a newer program.
    """
    try:
        return from_bytes(archive.load(path))
    except BundleError as error:
        raise InputError(error.message, file=path, hint="is it a project file?") from None
    except InputError as error:
        raise error.in_file(path) from None


def from_bytes(content: bytes) -> History:
    """A history out of a project file's bytes (see :func:`load`)."""
    files = archive.unpack(
        content, allowed=lambda name: name == _PROJECT or bool(_ARRAY.match(name))
    )
    if _PROJECT not in files:
        raise InputError("this is no project file")
    data: Any = archive.parse_json(_PROJECT, files[_PROJECT])
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("this is no project file")
    if data.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"the project file has the unknown version {data.get('format_version')!r}",
            hint="open it with a newer tabprotect",
        )
    arrays = {n[7:-4]: d for n, d in files.items() if n != _PROJECT}
    try:
        decoder = Decoder({kind: list(data["shared"][kind]) for kind in KINDS}, arrays)
        steps = tuple(_step(entry, decoder) for entry in data["steps"])
        history = History(decoder.project(data["base"]), steps, int(data["position"]))
        if not 0 <= history.position <= len(steps):
            raise ValueError("the position lies outside the history")
        if history.position and steps[history.position - 1].project is None:
            raise ValueError("the present state is missing")
        return history
    except TabprotectError as error:
        raise InputError(f"the project file is damaged: {error.message}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        raise InputError(
            "the project file is damaged", hint="take an older copy, or the recovered one"
        ) from None


def _step(data: Any, decoder: Decoder) -> Step:
    number = data["project"]
    return Step(
        command(str(data["command"])).name,
        MappingProxyType(dict(data["arguments"])),
        str(data["label"]),
        str(data["time"]),
        None if number is None else decoder.project(number),
        None if data["seed"] is None else int(data["seed"]),
    )
