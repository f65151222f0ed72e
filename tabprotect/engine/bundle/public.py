"""The release bundle: what leaves the house. Everything in it is made from the release alone."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, data_package, manifest, reader_text
from tabprotect.engine.bundle.verify import KIND, MECHANISM, verify, verify_bytes
from tabprotect.engine.release.release import Release


def files(release: Release) -> dict[str, bytes]:
    """Every file of the bundle by name, in order; the same release gives the same bytes."""
    content = {
        reader_text.NAME: reader_text.reader_text(release).encode(),
        data_package.PACKAGE: data_package.package_json(release.table.domain, release.title),
        data_package.TABLE: data_package.table_csv(release.table),
        MECHANISM: release.mechanism.to_text().encode(),
    }
    return manifest.sealed(content, KIND)


def to_bytes(release: Release) -> bytes:
    """The bundle as one zip."""
    return archive.pack(files(release))


def write(release: Release, path: Path, *, overwrite: bool = True) -> str:
    """Write the bundle, whole or not at all, after verifying it as its readers will.

    Returns
    -------
    str
        Its fingerprint, the SHA-256 of the zip.

    Raises
    ------
    InputError
        When it cannot be written there.
    BundleError
        When it would not pass (a published count is impossible, or it is too large).
    """
    data = to_bytes(release)
    fingerprint = verify_bytes(data).fingerprint
    write_bytes(path, data, overwrite=overwrite)
    return fingerprint


def read(path: Path) -> Release:
    """Open a bundle, verified first.

    Raises
    ------
    BundleError
        When it is damaged, forged or unsafe to open.
    InputError
        When there is no such file.
    """
    return verify(path).release
