"""The secret that signs sessions and forms: a file of its owner's alone, never in the database."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from tabprotect.engine.agency import folder
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.paths import is_there
from tabprotect.languages.messages import message

SECRET = "TABPROTECT_SERVER_SECRET"
"""The environment variable that holds the secret instead of a file."""

LEAST = 32
"""Characters of a secret."""


def secret_file(named: str) -> Path:
    """The file that is named, else one beside the program's settings."""
    return Path(named) if named else folder() / "table-server.secret"


def server_secret(named: str) -> bytes:
    """The secret of a server; a file is made where there is none.

    Parameters
    ----------
    named
        A path; empty for the file beside the settings.

    Raises
    ------
    InputError
        If it cannot be read or made, may be read by others, or is short.
    """
    said = os.environ.get(SECRET, "")
    if said:
        if len(said) < LEAST:
            raise InputError(message("{SECRET} is short: at least {LEAST} characters", SECRET, LEAST))
        return said.encode()
    path = secret_file(named)
    try:
        if not is_there(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Another process may have made one meanwhile: the first one counts.
            with contextlib.suppress(InputError):
                text = secrets.token_hex(LEAST) + "\n"
                write_bytes(path, text.encode(), overwrite=False, private=True)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise InputError(
                message("the secret of the server may be read by others than its owner"),
                file=path,
                hint=message("chmod 600 ends that; remove the file where others may have read it"),
            )
        found = path.read_bytes().strip()
    except OSError as error:
        raise InputError(
            message("the secret of the server cannot be read or made: {strerror}", error.strerror),
            file=path,
            hint=message("name another file with secret_file, or set {SECRET}", SECRET),
        ) from None
    if len(found) < LEAST:
        raise InputError(message("this is no secret of a server: it is short"), file=path)
    return found
