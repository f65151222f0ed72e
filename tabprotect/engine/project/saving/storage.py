"""The project file ``.tabprotect``: the whole history, in one zip, saved whole or not at all.

It is confidential: it holds the original, seeds and coins. Opening a file never runs anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.budgets import SAVED_BYTES
from tabprotect.engine.bundle import archive
from tabprotect.engine.errors import BundleError, InputError, TabprotectError
from tabprotect.engine.plain_values.decoding import decoded
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.engine.project.circumstances import Circumstances
from tabprotect.engine.project.history import History, Step
from tabprotect.engine.project.saving.codec import Decoder, Encoder
from tabprotect.languages.messages import message
from tabprotect.version import __version__

SUFFIX = archive.PROJECT_SUFFIX
FORMAT = message("tabprotect project, CONFIDENTIAL")
FORMAT_VERSION = 5

_PROJECT = archive.PROJECT
_ARRAY = re.compile(r"arrays/[0-9a-f]{64}\.npy\Z")


def save(history: History, path: Path, *, overwrite: bool = True) -> None:
    """Write the project file.

    Raises
    ------
    InputError
        When it cannot be written; the old file is untouched.
    """
    write_bytes(path, to_bytes(history), overwrite=overwrite, private=True)


def to_bytes(history: History) -> bytes:
    """The project file's bytes; the same history gives the same bytes.

    Undone steps are left out: a file holds what its owner kept, and nothing that was dropped.
    """
    history = replace(history, steps=history.steps[: history.position])
    encoder = Encoder()
    now = encoder.put(history.project)
    numbers: list[int | None] = []
    for step in reversed(history.steps):
        keep = step.project is not None and encoder.size <= SAVED_BYTES
        numbers.append(encoder.put(step.project) if keep else None)
    steps = [
        {
            "command": step.command,
            "arguments": dict(step.arguments),
            "label": step.label,
            "time": step.time,
            "seed": step.seed,
            "at": step.at,
            "project": number,
        }
        for step, number in zip(history.steps, reversed(numbers), strict=True)
    ]
    if history.position:
        steps[history.position - 1]["project"] = now
    data = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": message("tabprotect {version}", __version__),
        "base": encoder.put(history.base) if history.position else now,
        "steps": steps,
        "position": history.position,
        "shared": encoder.shared,
    }
    files = {_PROJECT: json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=as_json).encode()}
    for name in sorted(encoder.arrays):
        files[f"arrays/{name}.npy"] = encoder.arrays[name]
    return archive.pack(files)


def load(path: Path) -> History:
    """Open a project file.

    Raises
    ------
    InputError
        When it is no project file, is damaged, or comes from another version of the program.
    """
    try:
        return from_bytes(archive.load(path))
    except BundleError as error:
        raise InputError(error.message, file=path, hint=message("is it a project file?")) from None
    except InputError as error:
        raise error.in_file(path) from None


def from_bytes(content: bytes) -> History:
    """Read a history from a project file's bytes (see :func:`load`)."""
    files = archive.unpack(content, allowed=lambda name: name == _PROJECT or bool(_ARRAY.match(name)))
    if _PROJECT not in files:
        raise InputError(message("this is no project file"))
    data = archive.parse_json(_PROJECT, files[_PROJECT])
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(message("this is no project file"))
    if data.get("format_version") != FORMAT_VERSION:
        raise _other(message("the unknown version {get}", repr(data.get("format_version"))))
    arrays = {n[7:-4]: d for n, d in files.items() if n != _PROJECT}
    try:
        decoder = Decoder(data["shared"], arrays)
        steps = tuple(_step(entry, decoder) for entry in data["steps"])
        history = History(decoder.project(data["base"]), steps, int(data["position"]))
        if not 0 <= history.position <= len(steps):
            raise ValueError(message("the position lies outside the history"))
        if history.position and steps[history.position - 1].project is None:
            raise ValueError(message("the present state is missing"))
        return history
    except TabprotectError as error:
        raise InputError(message("the project file is damaged: {message}", error.message)) from None
    except NotImplementedError as error:
        raise _other(str(error)) from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        raise InputError(
            message("the project file is damaged"), hint=message("take an older copy, or the recovered one")
        ) from None


def _other(what: str) -> InputError:
    return InputError(
        message("the project file has {what}", what),
        hint=message("open it with the version of tabprotect that wrote it"),
    )


def _step(data: Any, decoder: Decoder) -> Step:
    # Late: what is opened is most often a table.
    from tabprotect.engine.project.commands import spelled

    number = data["project"]
    command, arguments = spelled(str(data["command"]), data["arguments"])
    return Step(
        command.order(arguments),
        str(data["label"]),
        str(data["time"]),
        None if data["seed"] is None else int(data["seed"]),
        # Projects of earlier versions have none.
        decoded(data.get("at", {}), Circumstances),
        None if number is None else decoder.project(number),
    )
