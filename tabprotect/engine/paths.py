"""What a path is, and what is in a file of text: the one place that asks the system, and says what it answers.

``Path.exists`` and its like raise for all but a file that is not there: no permission, a name that is
too long, a disk with a fault. Where something that cannot be looked at counts as not there,
``os.path`` says so.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError, of_system
from tabprotect.languages.messages import message


def _mode(path: Path | str) -> int:
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # Python refuses a name with a NUL character before the system sees it.
        return 0
    except OSError as error:
        raise of_system(error, path) from None


def is_there(path: Path | str) -> bool:
    """Tell whether there is anything of that name.

    Raises
    ------
    InputError
        If the system does not say so.
    """
    return _mode(path) != 0


def is_file(path: Path | str) -> bool:
    """Tell whether it is a regular file, as :func:`is_there`."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: Path | str) -> bool:
    """Tell whether it is a folder, as :func:`is_there`."""
    return stat.S_ISDIR(_mode(path))


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


_OF_WINDOWS = re.compile(r'(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*[<>:"|?*\x00-\x1f].*|\s.*|.*[. ]')


def remark_on_name(path: Path) -> str:
    """Say that Windows takes no file of that name, where bundles are handed on to; else an empty text."""
    if not _OF_WINDOWS.fullmatch(path.name):
        return ""
    return message("{name}: a file of that name cannot be opened on Windows", repr(path.name))


def remark_on_versions(path: Path) -> str:
    """Say that a confidential file lies where versions are kept, which are handed on; else an empty text."""
    for folder in path.absolute().parents:
        kept = next((name for name in (".git", ".hg", ".svn") if os.path.exists(folder / name)), "")
        if not kept:
            continue
        ignored: list[str] = []
        with suppress(OSError, UnicodeDecodeError):
            ignored = (folder / ".gitignore").read_text(encoding="utf-8").split()
        if any(fnmatch(path.name, pattern.strip("/")) for pattern in ignored):
            return ""
        return message(
            "{name} is confidential, and {folder} is under version control: keep it out of there, or ignore "
            "it (CONFIDENTIAL-* in .gitignore)",
            path.name,
            folder,
        )
    return ""
