"""The release bundle, which leaves the house. Everything in it is made from the release alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, data_package, reader_text, signature
from tabprotect.engine.bundle.verify import KIND, MECHANISM, verify, verify_bytes
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release


def files(release: Release) -> dict[str, bytes]:
    """All files of the bundle by name, in order; the same release gives the same bytes."""
    mechanism = release.mechanism.to_text(categories=release.table.domain != release.domain)
    content = {
        reader_text.NAME: reader_text.reader_text(release).encode(),
        data_package.PACKAGE: data_package.package_json(
            release, description=reader_text.column_note(release)
        ),
        **{
            data_package.table_name(number): data_package.table_csv(published)
            for number, published in enumerate(release.tables)
        },
        MECHANISM: mechanism.encode(),
    }
    return archive.sealed(content, KIND)


def to_bytes(release: Release, *, signing: Sequence[Path] = ()) -> bytes:
    """The bundle as one zip; ``signing`` names the files of the private keys that sign it.

    Raises
    ------
    InputError
        When there is no key to sign with.
    """
    keys = [signature.private_key(path) for path in signing]
    content = files(release)
    return archive.pack(signature.signed(content, keys) if keys else content)


def verified_bytes(
    release: Release, progress: Progress = SILENT, *, signing: Sequence[Path] = ()
) -> bytes:
    """The bundle as :func:`to_bytes`, checked as its readers will check it.

    Raises
    ------
    BundleError
        When it does not pass (a published count is impossible, or the bundle is too large).
    InputError
        When there is no key to sign with.
    """
    progress.report("packing the release", 0.0)
    data = to_bytes(release, signing=signing)
    verify_bytes(data, progress=progress)
    return data


def write(
    release: Release, path: Path, *, overwrite: bool = True, progress: Progress = SILENT
) -> str:
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
