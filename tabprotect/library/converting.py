"""Tables and releases as files of any format."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.bundle.set_bundles import verify_set
from tabprotect.engine.bundle.tables import export as exporting
from tabprotect.engine.bundle.tables.export import Exporting
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.table_writing import format_to_write, write_table
from tabprotect.engine.paths import is_folder
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.release import open_release
from tabprotect.library.table import Table, read_table

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import ExportingKeywords


def convert(table: Table | str | Path, out: str | Path, *, format: str | None = None) -> None:
    """Write a table in another format. CONFIDENTIAL: for its owner's eyes alone (mode 0600).

    Parameters
    ----------
    table
        A table, or what :func:`read_table` opens.
    out
        The file.
    format
        Its format, where the name does not say it: ``"px"``, ``"jsonstat"``, ...

    Raises
    ------
    InputError
        Where the format cannot carry the table, or the file cannot be written.

    Warns
    -----
    UserWarning
        Before anything is written: for each thing that this table knows and the format leaves out.

    See Also
    --------
    export, read_table

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tabprotect as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tp.convert("example:duncan-roehrig-4x4", Path(folder) / "counts.csv")
    ...     tp.read_table(Path(folder) / "counts.csv").total
    135
    """
    path = Path(out)
    kind = format_to_write(path, format)
    given = table if isinstance(table, Table) else read_table(table)
    _warn_of_losses(kind, [given.table.domain])
    write_table(given.table, path, kind)


@asks(Exporting)
def export(
    release: Release | str | Path, out: str | Path, **asked: Unpack[ExportingKeywords]
) -> tuple[Path, ...]:
    """Write the published tables of a release in another format, suppressed counts marked.

    All tables are one cube with totals as categories, where the format can hold it; those of a set
    are sheets of one workbook.

    Parameters
    ----------
    release
        A release, or the path of its bundle, or of the folder of a set.
    out
        The file; apart, that of the main table: others stand beside it as ``NAME_2``, ``NAME_3``, ...
    **asked

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    InputError, BundleError

    Warns
    -----
    UserWarning
        As :func:`convert`.

    See Also
    --------
    convert, page, open_release

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> release = tp.protect(table, "cyclic_perturbation", alpha=0.25, seed=7).release
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (file,) = tp.export(release, Path(folder) / "counts.px")
    ...     tp.read_table(file, totals="T").domain.names
    ('v', 'w')
    """
    path, wanted = Path(out), taken(Exporting, asked)
    kind = format_to_write(path, wanted.format)
    if not isinstance(release, Release) and is_folder(Path(release)):
        found = verify_set(Path(release))
        _warn_of_losses(kind, [found.tables.domain])
        exporting.export(found.by_table, path, kind, wanted, title=found.title, check=found.fingerprint)
        return (path,)
    given = release if isinstance(release, Release) else open_release(release)
    if not wanted.apart and kind.cube:
        _warn_of_losses(kind, [given.domain])
        exporting.export_cube(given, path, kind, wanted)
        return (path,)
    _warn_of_losses(kind, [published.table.domain for published in given.tables])
    written = exporting.export(given, path, kind, wanted)
    return tuple(dict.fromkeys(file for file, _ in written))


def _warn_of_losses(kind: Format, domains: list[Domain]) -> None:
    for sentence in dict.fromkeys(lost for domain in domains for lost in kind.loses(domain)):
        # At the line that called convert or export.
        warnings.warn(sentence, UserWarning, stacklevel=3)
