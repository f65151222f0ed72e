"""Whether a path may be opened for reading at all."""

from __future__ import annotations

import stat
from pathlib import Path

from tabprotect.engine.errors import InputError


def check_file(path: Path) -> None:
    """Refuse what is no regular file: a pipe could be read once only, a device for ever.

    Raises
    ------
    InputError
        Naming the path and the remedy.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            "there is no such file", file=path, hint="check its name and folder"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(mode):
        raise InputError("this is a folder", file=path, hint="choose a file")
    if not stat.S_ISREG(mode):
        raise InputError("this is no regular file", file=path, hint="save it to a file first")


def unreadable(path: Path, error: OSError) -> InputError:
    """What an ``OSError`` while reading means."""
    return InputError(
        f"cannot be read: {error.strerror}",
        file=path,
        hint="check that you may read it, and that its disk is there",
    )
