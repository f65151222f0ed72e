"""Checking that a source is a file that may be opened, and reading whole text files."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message


def check_file(path: Path) -> None:
    """Refuse anything but a regular file: a pipe could be read only once, a device for ever.

    Raises
    ------
    InputError
        Naming the path and the remedy.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            message("there is no such file"), file=path, hint=message("check its name and folder")
        ) from None
    except ValueError:
        raise InputError(message("no file can have this name")) from None
    except OSError as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(mode):
        raise InputError(message("this is a folder"), file=path, hint=message("choose a file"))
    if not stat.S_ISREG(mode):
        raise InputError(
            message("this is no regular file"), file=path, hint=message("save it to a file first")
        )


def read_text(path: Path, *, most: int = MOST_TEXT) -> str:
    """Read a whole text file in UTF-8, with or without byte order mark.

    Raises
    ------
    InputError
        When it is no regular file, no text, or longer than ``most`` bytes.
    """
    check_file(path)
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > most:
        raise InputError(
            message("the file is larger than {most:,} bytes", most),
            file=path,
            hint=message("is it the right one?"),
        )
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(
            message("not valid UTF-8 (byte {start})", error.start + 1),
            file=path,
            hint=message("save it as UTF-8"),
        ) from None


def unreadable(path: Path, error: OSError) -> InputError:
    """The error for an ``OSError`` while reading."""
    return InputError(
        message("cannot be read: {strerror}", error.strerror),
        file=path,
        hint=message("check that you may read it, and that its disk is there"),
    )


def is_url(source: str) -> bool:
    """Return True for records in an engine that Ibis reaches: ``postgresql://host/base#table``."""
    return re.match(r"[a-z][a-z0-9+]{1,20}://", source) is not None
