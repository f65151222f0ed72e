"""Release bundles as their readers open them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import verify as checking
from tabprotect.engine.bundle.verify import Verification, Verifying
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.languages.messages import message
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.shown.frames import made
from tabprotect.library.table import cell_columns

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import VerifyingKeywords


@asks(Verifying)
def verify(
    path: str | Path, *, progress: Progress = SILENT, **asked: Unpack[VerifyingKeywords]
) -> Verification:
    """Check a release bundle: safe to open, undamaged, consistent, possible, and what it tells.

    Parameters
    ----------
    path
        The zip.
    **asked

    Raises
    ------
    BundleError
        With what is wrong and where.

    See Also
    --------
    open_release, infer

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tabprotect as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = Path(folder) / "release.zip"
    ...     published = tp.protect(tp.read_table("example:duncan-roehrig-4x4")).publish(release)
    ...     len(tp.verify(release).fingerprint)
    64
    """
    found = checking.verify(Path(path), taken(Verifying, asked), progress=progress)
    if not isinstance(found.verdict, Verdict):
        return found
    # Late: opening a release takes nothing that protects.
    from tabprotect.library.verdicts import ReadersVerdict

    return replace(found, verdict=ReadersVerdict.of(found.verdict))


def open_release(path: str | Path, *, progress: Progress = SILENT) -> Release:
    """Return what is in a release bundle, once it is verified.

    Raises
    ------
    BundleError
        With what is wrong and where.

    See Also
    --------
    verify, infer, page

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tabprotect as tp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = Path(folder) / "release.zip"
    ...     published = tp.protect(tp.read_table("example:duncan-roehrig-4x4")).publish(release)
    ...     tp.open_release(release).mechanism.method
    'cyclic_perturbation'
    """
    return verify(path, quick=True, progress=progress).release


def page(release: Release | str | Path, out: str | Path | None = None, *, progress: Progress = SILENT) -> str:
    """The page of a release, one file of HTML to look at in any browser.

    Parameters
    ----------
    release
        A release, or the file of its bundle.
    out
        The file to write it to, if any.

    Raises
    ------
    BundleError
        With what is wrong with the bundle.

    See Also
    --------
    open_release, export

    Examples
    --------
    >>> import tabprotect as tp
    >>> release = tp.protect(tp.read_table("example:duncan-roehrig-4x4")).release
    >>> tp.page(release)[:15]
    '<!doctype html>'
    """
    # Imported late: it imports what posteriors take.
    from tabprotect.engine.bundle.public import page_of, page_of_bundle

    if isinstance(release, Release):
        made = page_of(release, progress)
    else:
        made, _ = page_of_bundle(Path(release), progress)
    if out is not None:
        write_bytes(Path(out), made)
    return made.decode()


def published_frame(release: Release, kind: str) -> Any:
    """The published inner cells as a data frame."""
    inner = release.inner
    if inner is None:
        raise InfeasibleError(
            message("the inner cells are not published"), hint=message("release.tables holds what is")
        )
    counts = inner.table.counts.reshape(-1).astype(object)
    if inner.suppressed is not None:
        counts[np.asarray(inner.suppressed).reshape(-1)] = None
    return made(cell_columns(inner.table.domain) | {"count": counts}, kind)
