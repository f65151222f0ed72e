"""The register of what left the house, and the house's key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.progress import SILENT, Progress

if TYPE_CHECKING:
    from tabprotect.engine.project.releasing.rotating import Rotation
    from tabprotect.engine.register.register import NewRegister


def new_register(place: str | Path) -> NewRegister:
    """Make a register of releases. CONFIDENTIAL.

    Parameters
    ----------
    place
        The path of an SQLite file, or any SQLAlchemy URL.

    Returns
    -------
    NewRegister
        Its ``name``, and the ``mark`` of the key of the house that it belongs to.

    Raises
    ------
    InputError
        If there is one already, or it cannot be made.
    ParameterError
        If it belongs to another key of the house.

    See Also
    --------
    rotate_key

    Examples
    --------
    >>> import os, tempfile, unittest.mock
    >>> import tabprotect as tp
    >>> with (
    ...     tempfile.TemporaryDirectory() as house,
    ...     unittest.mock.patch.dict(os.environ, TABPROTECT_HOME=house),
    ... ):
    ...     len(tp.new_register(f"{house}/releases.sqlite").mark)
    16
    """
    # Imported late: the library behind the register takes as long to load as all else here.
    from tabprotect.engine.register import register

    return register.new_register(place)


def rotate_key(
    register: str | Path | None = None, *, originals: Sequence[str | Path] = (), progress: Progress = SILENT
) -> Rotation:
    """Make another key of the house, and mark again what the register has the originals of.

    From then on the same table gets other coins. The old key is kept: what is not marked again is
    found under it alone.

    Parameters
    ----------
    register
        Its file or URL, or ``"none"``; by default the house's own.
    originals
        Dossiers, tables and folders of these, beside the dossiers that the register names.

    Returns
    -------
    Rotation
        The numbers of the releases that were ``marked`` again and of those ``unmarked``; where the old
        key is ``kept`` (CONFIDENTIAL); the ``mark`` of the new one.

    Raises
    ------
    InputError, ParameterError
        If the key or the register cannot be read or written, or do not belong together.
    Interrupted
        If cancelled: nothing is changed.

    See Also
    --------
    new_register

    Examples
    --------
    >>> import os, tempfile, unittest.mock
    >>> import tabprotect as tp
    >>> with (
    ...     tempfile.TemporaryDirectory() as house,
    ...     unittest.mock.patch.dict(os.environ, TABPROTECT_HOME=house),
    ... ):
    ...     first = tp.new_register(f"{house}/releases.sqlite")
    ...     done = tp.rotate_key(first.name)
    >>> done.mark != first.mark, done.unmarked
    (True, ())
    """
    # Imported late, as above.
    from tabprotect.engine.project.releasing.rotating import rotate

    place = None if register is None else str(register)
    return rotate(place, [Path(one) for one in originals], progress)
