"""The release bundle, which leaves the house, and its README for a reader who knows no program.

Everything in it is made from the release alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, signature
from tabprotect.engine.bundle.reader_page.page import PAGE, page_bytes
from tabprotect.engine.bundle.reader_text import column_note, reader_text
from tabprotect.engine.bundle.tables import data_package
from tabprotect.engine.bundle.verify import KIND, MECHANISM, readable, verify, verify_bytes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message


def files(release: Release, *, page: bool = True, progress: Progress = SILENT) -> dict[str, bytes]:
    """All files of the bundle by name, in order; the same release gives the same bytes.

    Parameters
    ----------
    page
        Whether there is a page to look at among them.
    """
    unlisted = bool(release.magnitudes) or release.table.domain != release.domain
    content = {
        archive.README: reader_text(release).encode(),
        data_package.PACKAGE: data_package.package_json(release, description=column_note(release)),
        **{
            data_package.table_name(number): data_package.table_csv(published)
            for number, published in enumerate(release.published)
        },
        MECHANISM: release.mechanism.to_text(categories=unlisted).encode(),
    }
    if page:
        content[PAGE] = page_bytes(release, content, readable(release) if release.tables else None, progress)
    return archive.sealed(content, KIND)


def page_of(release: Release, progress: Progress = SILENT) -> bytes:
    """The page to look at of a release, as in its bundle."""
    return files(release, progress=progress)[PAGE]


def page_of_bundle(path: Path, progress: Progress = SILENT) -> tuple[bytes, str]:
    """The page of a bundle, made anew, and its title.

    Raises
    ------
    BundleError
        When the bundle is damaged, forged or unsafe to open.
    InputError
        When there is no such file.
    """
    found = verify(path, progress=progress)
    content = archive.unpack(archive.load(path), allowed=lambda name: True)
    page = page_bytes(found.release, content, found.likelihood, progress)
    return page, found.release.title


def to_bytes(
    release: Release, *, signing: Sequence[Path] = (), page: bool = True, progress: Progress = SILENT
) -> bytes:
    """The bundle as one zip; ``signing`` names the files of the private keys that sign it.

    Raises
    ------
    InputError
        When there is no key to sign with.
    """
    keys = [signature.private_key(path) for path in signing]
    content = files(release, page=page, progress=progress)
    return archive.pack(signature.signed(content, keys) if keys else content)


def same_content(one: Release, other: Release) -> bool:
    """Return True if two releases publish the same: their bundles differ in page and signatures at most."""
    return (
        (one.title, one.metadata) == (other.title, other.metadata)
        and one.tables == other.tables
        and one.mechanism.to_text(categories=True) == other.mechanism.to_text(categories=True)
        and [data_package.table_csv(table) for table in one.magnitudes]
        == [data_package.table_csv(table) for table in other.magnitudes]
    )


def verified_bytes(
    release: Release, progress: Progress = SILENT, *, signing: Sequence[Path] = (), page: bool = True
) -> bytes:
    """The bundle as :func:`to_bytes`, checked as its readers will check it.

    Raises
    ------
    BundleError
        When it does not pass (a published count is impossible, or the bundle is too large).
    InputError
        When there is no key to sign with.
    """
    progress.report(message("packing the release"), 0.0)
    data = to_bytes(release, signing=signing, page=page, progress=progress)
    verify_bytes(data, progress=progress)
    return data


def write(release: Release, path: Path, *, overwrite: bool = True, progress: Progress = SILENT) -> str:
    """Write the bundle, whole or not at all, once it has passed :func:`verified_bytes`.

    Returns
    -------
    str
        The fingerprint: the SHA-256 of the zip.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    data = verified_bytes(release, progress)
    write_bytes(path, data, overwrite=overwrite)
    return archive.sha256(data)


def read(path: Path, progress: Progress = SILENT) -> Release:
    """Verify and open a bundle.

    Raises
    ------
    BundleError
        When it is damaged, forged or unsafe to open.
    InputError
        When there is no such file.
    """
    return verify(path, progress=progress).release
