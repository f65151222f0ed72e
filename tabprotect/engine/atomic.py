"""Files that are either wholly written or not touched at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tabprotect.engine.errors import InputError

_REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free some space or save elsewhere"),
    errno.EDQUOT: ("your disk quota is used up", "free some space or save elsewhere"),
    errno.EACCES: ("you may not write there", "save to a folder of your own"),
    errno.EPERM: ("you may not write there", "save to a folder of your own"),
    errno.EROFS: ("the disk is read-only", "save to another disk"),
    errno.ENOENT: ("there is no such folder", "create the folder first"),
    errno.ENOTDIR: ("there is no such folder", "create the folder first"),
    errno.EISDIR: ("this is a folder", "give the name of a file"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter name"),
    errno.EFBIG: ("the file is too large for this disk", "save to another disk"),
}


def unwritable(path: Path | str, error: OSError) -> InputError:
    """What an ``OSError`` while writing means, with its remedy."""
    cause, remedy = _REMEDIES.get(
        error.errno or 0, (error.strerror or "the disk reports a fault", "save elsewhere")
    )
    return InputError(
        f"cannot be written: {cause}", file=path, hint=f"{remedy}; nothing was changed"
    )


@contextlib.contextmanager
def replacing(path: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes ``path``'s place when the block ends without an error.

    It is written beside its target (so that the last step is one rename on one disk) and is
    flushed to the disk first. After any error the old file is as it was and nothing is left over.

    With ``private`` it is for its owner alone (mode 0600), whatever the old one was.

    Raises
    ------
    InputError
        When the place cannot be written, or ``overwrite`` is false and there is a file already.
    """
    exists = InputError("there is a file of that name already", file=path, hint="choose another")
    if path.is_dir():
        raise unwritable(path, IsADirectoryError(errno.EISDIR, "is a folder"))
    if path.exists() and not path.is_file():
        # Replacing a device or a pipe would destroy it.
        raise InputError(
            "cannot be written: this is no regular file", file=path, hint="give the name of a file"
        )
    if not overwrite and path.exists():
        raise exists
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    try:
        number, name = tempfile.mkstemp(prefix=f".{target.name[:60]}.", dir=target.parent)
    except OSError as error:
        raise unwritable(path, error) from None
    temporary = Path(name)
    try:
        try:
            with os.fdopen(number, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes private files; keep what the old one had, else the user's default.
            if not private:
                kept = target.stat().st_mode & 0o7777 if target.exists() else _default_mode()
                temporary.chmod(kept)
            if overwrite:
                os.replace(temporary, target)
            else:
                os.link(temporary, target)
        except FileExistsError:
            raise exists from None
        except OSError as error:
            raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def write_bytes(path: Path, data: bytes, *, overwrite: bool = True, private: bool = False) -> None:
    """Write a whole file, or leave the old one untouched (see :func:`replacing`)."""
    with replacing(path, overwrite=overwrite, private=private) as file:
        file.write(data)


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    # Makes the rename itself durable; some systems cannot open folders, and need not.
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
