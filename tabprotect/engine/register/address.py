"""Where the register of the house is: a file beside the settings unless another address is named."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.house import folder

REGISTER = "TABPROTECT_REGISTER"
"""The environment variable that names the house's register: a file, a URL, or ``none``."""

NONE = "none"
"""In place of a register: publish without one."""


def address(said: str | None = None) -> str | None:
    """The address of the register in force; ``None`` where there is to be none."""
    found = said or os.environ.get(REGISTER) or str(folder() / "register.sqlite")
    return None if found == NONE else found


def is_missing(url: str) -> bool:
    """Whether a register is a file that nobody has made yet: it has no entries then."""
    return ("://" not in url or url.startswith("sqlite:///")) and not Path(
        url.removeprefix("sqlite:///")
    ).exists()


def prepared_address(url: str) -> str:
    """The same address, with a file of its owner alone (mode 0600) where it names a new one.

    Raises
    ------
    InputError
        When the file cannot be made.
    """
    path = Path(url.removeprefix("sqlite:///"))
    if "://" in url and not url.startswith("sqlite:///"):
        return url
    try:
        if path.parent == folder():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The database's library would make it with everybody's rights.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(
            f"the register cannot be made: {error.strerror}",
            file=path,
            hint=f"name another with --register or {REGISTER}, or publish with --register none",
        ) from None
    return url
