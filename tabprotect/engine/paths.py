"""What a path is: the one place that asks the system, and says what it answers.

``Path.exists`` and its like raise for all but a file that is not there: no permission, a name that is
too long, a disk with a fault. Where something that cannot be looked at counts as not there,
``os.path`` says so.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tabprotect.engine.errors import of_system


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
