"""Files that are either written whole or not touched at all, singly or together; in a rehearsal, not kept."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

PART = ".tabprotect-part"
"""Suffix of files that are being written, or were when their program was killed."""

LIVE = 600.0
"""Seconds after which a part counts as abandoned."""


class Rehearsal:
    """All that a command would write: it lies in a folder that goes when the command ends."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: dict[Path, Path] = {}
        self.files: dict[Path, Path] = {}
        """Where each file is that would be written, by its path, in order."""

    def folder(self, path: Path) -> Path:
        """The folder that stands for another, made there."""
        real = Path(os.path.realpath(path))
        self._made[real] = self._root / sha256(os.fsencode(real)).hexdigest()[:16]
        self._made[real].mkdir(exist_ok=True)
        return self._made[real]

    def place(self, path: Path) -> Path:
        """Return where a file is written in place of its target.

        Raises
        ------
        OSError
            If the target could not be written.
        """
        if path.parent not in self._made:
            os.stat(os.path.join(path.parent, "."))
            if not os.access(path.parent, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self.files[path] = self.folder(path.parent) / path.name
        return self.files[path]

    def found(self, path: Path) -> Path:
        """Return where a file or a folder is now."""
        real = Path(os.path.realpath(path))
        return self.files.get(real) or self._made.get(real, path)


_rehearsal: Rehearsal | None = None


@contextlib.contextmanager
def rehearsing() -> Iterator[Rehearsal]:
    """Let nothing be kept of what is written meanwhile: neither files nor entries of databases."""
    global _rehearsal
    with tempfile.TemporaryDirectory() as root:
        _rehearsal = Rehearsal(Path(root))
        try:
            yield _rehearsal
        finally:
            _rehearsal = None


@contextlib.contextmanager
def not_rehearsed() -> Iterator[None]:
    """Write meanwhile as without a rehearsal: files that are read back and removed at once."""
    global _rehearsal
    held, _rehearsal = _rehearsal, None
    try:
        yield
    finally:
        _rehearsal = held


def is_kept(path: Path) -> bool:
    """Tell whether a change of this file may stay: in a rehearsal, of none but its own."""
    return _rehearsal is None or path in _rehearsal.files.values()


def place_to_write(path: Path) -> Path:
    """Return where a new file is written by a library that makes it itself: elsewhere in a rehearsal."""
    return path if _rehearsal is None else _rehearsal.place(Path(os.path.realpath(path)))


def written_at(path: Path) -> Path:
    """Return where a file or folder is that was written: elsewhere in a rehearsal."""
    return path if _rehearsal is None else _rehearsal.found(path)


def make_folder(path: Path, *, private: bool = False) -> None:
    """Make a folder and those above it where there are none; in a rehearsal, one that stands for it.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    if _rehearsal is not None:
        _rehearsal.folder(path)
    else:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)


_REMEDIES = {
    errno.ENOSPC: (message("the disk is full"), message("free some space or save elsewhere")),
    errno.EDQUOT: (message("your disk quota is used up"), message("free some space or save elsewhere")),
    errno.EACCES: (message("you may not write there"), message("save to a folder of your own")),
    errno.EPERM: (message("you may not write there"), message("save to a folder of your own")),
    errno.EROFS: (message("the disk is read-only"), message("save to another disk")),
    errno.ENOENT: (message("there is no such folder"), message("create the folder first")),
    errno.ENOTDIR: (message("there is no such folder"), message("create the folder first")),
    errno.EISDIR: (message("this is a folder"), message("give the name of a file")),
    errno.ENAMETOOLONG: (message("the name is too long"), message("choose a shorter name")),
    errno.EFBIG: (message("the file is too large for this disk"), message("save to another disk")),
}


def unwritable(path: Path | str, error: OSError) -> InputError:
    """The error for an ``OSError`` while writing, with its remedy."""
    cause, remedy = _REMEDIES.get(
        error.errno or 0, (error.strerror or "the disk reports a fault", "save elsewhere")
    )
    return InputError(
        message("cannot be written: {cause}", cause),
        file=path,
        hint=message("{remedy}; nothing was changed", remedy),
    )


@dataclass(frozen=True)
class Whole:
    """A file to be written with others (see :func:`write_together`).

    Attributes
    ----------
    path, data
    overwrite
        Whether an existing file of that name may be replaced.
    private
        Whether only its owner may read it (mode 0600), whatever the old mode was.
    kept
        A free name beside it that the replaced file is kept under.
    """

    path: Path
    data: bytes = field(repr=False)
    overwrite: bool = True
    private: bool = False
    kept: Path | None = None


class _Staged:
    """A file under a temporary name beside its target, to be renamed."""

    def __init__(self, whole: Whole) -> None:
        path = whole.path
        if os.path.isdir(path):
            raise unwritable(path, IsADirectoryError(errno.EISDIR, message("is a folder")))
        if os.path.exists(path) and not os.path.isfile(path):
            # Replacing a device or a pipe would destroy it.
            raise InputError(
                message("cannot be written: this is no regular file"),
                file=path,
                hint=message("give the name of a file"),
            )
        if not whole.overwrite and os.path.exists(path):
            raise self._taken(path)
        # A link stays a link: its target is replaced.
        self.target = Path(os.path.realpath(path))
        if _rehearsal is not None:
            whole = replace(whole, kept=None)
            with _words(path):
                self.target = _rehearsal.place(self.target)
        self.whole = whole
        self.aside: Path | None = None
        self._renamed = False
        try:
            number, name = tempfile.mkstemp(PART, self._prefix, self.target.parent)
        except OSError as error:
            raise unwritable(path, error) from None
        self.temporary = Path(name)
        self.file: BinaryIO = os.fdopen(number, "wb")

    @property
    def _prefix(self) -> str:
        return f".{self.target.name[:60]}."

    @staticmethod
    def _taken(path: Path) -> InputError:
        return InputError(
            message("there is a file of that name already"), file=path, hint=message("choose another")
        )

    def finish(self) -> None:
        """Flush all of it to disk and set its mode."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        # mkstemp makes private files; keep the mode of the old one, else take the user's default.
        if not self.whole.private:
            there = os.path.exists(self.target)
            self.temporary.chmod(self.target.stat().st_mode & 0o7777 if there else _default_mode())

    def rename(self, *, may_be_undone: bool) -> None:
        """Take the target's place."""
        if os.path.exists(self.target) and (may_be_undone or self.whole.kept is not None):
            kept = self.whole.kept or self.target.with_name(f"{self._prefix}{secrets.token_hex(4)}{PART}")
            _same_file(self.target, kept)
            self.aside = kept
        try:
            if self.whole.overwrite:
                os.replace(self.temporary, self.target)
            else:
                os.link(self.temporary, self.target)
        except FileExistsError:
            raise self._taken(self.whole.path) from None
        self._renamed = True

    def undo(self) -> None:
        """Restore the old file, or remove the file if there was none."""
        if self.aside is not None:
            if self._renamed:
                os.replace(self.aside, self.target)
            # Two names of one file are not renamed into each other.
            self.aside.unlink(missing_ok=True)
            self.aside = None
        elif self._renamed:
            self.target.unlink()

    def clean(self) -> None:
        """Remove everything but the target and the file to be kept."""
        with contextlib.suppress(OSError):
            # What a full disk did not take is tried again; the fault has been told.
            self.file.close()
        self.temporary.unlink(missing_ok=True)
        if self.aside is not None and self.whole.kept is None:
            self.aside.unlink(missing_ok=True)
        _sync_folder(self.target.parent)


@contextlib.contextmanager
def _all_or_none(files: Sequence[Whole]) -> Iterator[list[_Staged]]:
    staged: list[_Staged] = []
    try:
        for whole in files:
            staged.append(_Staged(whole))
        yield staged
        begun: list[_Staged] = []
        try:
            for one in staged:
                with _words(one.whole.path):
                    one.finish()
            for one in staged:
                begun.append(one)
                with _words(one.whole.path):
                    one.rename(may_be_undone=one is not staged[-1])
        except BaseException:
            for one in reversed(begun):
                one.undo()
            raise
    finally:
        for one in staged:
            one.clean()


@contextlib.contextmanager
def _words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from None


@contextlib.contextmanager
def replacing(path: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes ``path``'s place if the block ends without an error.

    It is written beside its target (so that the last step is one rename on one disk) and flushed to
    disk first. After any error the old file is as it was and nothing is left over.

    With ``private`` only its owner may read it (mode 0600), whatever the old mode was.

    Raises
    ------
    InputError
        If the place cannot be written, or the file exists and ``overwrite`` is false.
    """
    with _all_or_none([Whole(path, b"", overwrite, private)]) as (staged,), _words(path):
        yield staged.file


def write_bytes(path: Path, data: bytes, *, overwrite: bool = True, private: bool = False) -> None:
    """Write a whole file, or leave the old one untouched (see :func:`replacing`)."""
    write_together([Whole(path, data, overwrite, private)])


def write_together(files: Sequence[Whole]) -> None:
    """Write all of the given files, or leave all of them as they were.

    Each is written beside its target and flushed first; then they are renamed, in order. If a
    rename fails, those before it are undone. (A kill between two renames can leave the first
    ones; see :func:`leftovers`.)

    Raises
    ------
    InputError
        Names the file that cannot be written.
    """
    with _all_or_none(files) as staged:
        for one in staged:
            with _words(one.whole.path):
                one.file.write(one.whole.data)


def make_private(path: Path) -> None:
    """Create an empty file for its owner alone (mode 0600) if there is none.

    For libraries that fill it themselves, and report the fault if it cannot be created.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def leftovers(folder: Path) -> tuple[Path, ...]:
    """Parts left in a folder by programs that were killed while writing, in order.

    Parts that may still be written (younger than ``LIVE`` seconds) do not count.
    """
    found = []
    with contextlib.suppress(OSError):
        for path in sorted(folder.glob(f".*{PART}")):
            if os.path.isfile(path) and time.time() - path.stat().st_mtime > LIVE:
                found.append(path)
    return tuple(found)


def _same_file(old: Path, name: Path) -> None:
    """The file under a second name; a copy of it if the disk has no hard links."""
    try:
        os.link(old, name)
    except FileExistsError:
        raise
    except OSError:
        with old.open("rb") as source, name.open("xb") as copy:
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
        shutil.copystat(old, name)


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
