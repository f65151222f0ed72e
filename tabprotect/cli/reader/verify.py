"""``verify``: what a reader checks of a bundle, or of a publication set, before believing anything in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.options import position
from tabprotect.engine.paths import is_folder
from tabprotect.engine.workers.threads import threads_field
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.bundle.set_bundles import VerifiedSet

NOT_WHOLE = 7
"""Exit code: intact, and not judged whole."""


@dataclass(frozen=True, kw_only=True)
class Verify(bundle.Verifying):
    """Arguments of ``verify``."""

    release: Path = position(metavar="RELEASE.zip|FOLDER", help=message("or the folder of a publication set"))
    workers: int | None = threads_field()


@command("verify", example="tabprotect verify release.zip")
def run(asked: Verify, console: Console) -> int:
    """Print what was checked of a bundle, or of a publication set, which is a folder."""
    dossier: dict[str, object] = {}
    if is_folder(asked.release):
        # Late: bundles of one table, which are most, do not wait for it.
        from tabprotect.engine.bundle.set_bundles import verify_set

        found: VerifiedSet | bundle.Verification = verify_set(asked.release, asked, progress=console)
    else:
        with bundle.named(asked.release):
            content = archive.load(asked.release)
            if archive.begins_as_dossier(content):
                dossier, content = _opened(content, console)
            found = bundle.verify_content(content, asked, progress=console)
    if not isinstance(found, bundle.Verification):
        data, checks = _set_checked(found)
        stamp = message("Check number of the manifest (SHA-256)")
    else:
        data, checks = _bundle_checked(found), found.checks
        stamp = message("Check number (SHA-256)")
    data |= {
        "ok": True,
        "fingerprint": found.fingerprint,
        "signers": found.signers,
        "remarks": found.remarks,
        "quick": asked.quick,
        "left_out": found.left_out,
        "verdict": found.verdict,
        **dossier,
    }
    lines = [
        *([message("ok  {check}", _trail_said(dossier["trail_lines"]))] if dossier else []),
        *(message("ok  {check}", check) for check in checks),
        *(message("mind  {remark}", remark) for remark in found.remarks),
        message("What readers learn was left out (--quick).")
        if found.verdict is None
        else message("Verdict: {sentence}", found.verdict.sentence),
        message("{stamp}: {fingerprint}", stamp, found.fingerprint),
        message(
            "Compare it with the one its publisher names elsewhere, or ask for the publisher's own key "
            "(--signer): hashes inside a zip find damage, not a forger."
        ),
        *(
            [message("What a contributor learns: infer --as-contributor says it.")]
            if data.get("measure")
            else []
        ),
    ]
    console.result(data, lines)
    return NOT_WHOLE if found.left_out else 0


def _trail_said(lines: object) -> str:
    """What was checked of a dossier, in words; ``None`` lines are those of a version that hashed none."""
    if lines is None:
        return message("The dossier leads from its original to this release; its trail has no hashes.")
    return message(
        "The dossier leads from its original to this release; its audit trail has all of its {lines} "
        "lines, in order. CONFIDENTIAL",
        lines,
    )


def _opened(content: bytes, console: Console) -> tuple[dict[str, object], bytes]:
    """What is told of a dossier, and the bundle in it."""
    # Late: readers have none.
    from tabprotect.engine.bundle.staff.confidential import open_dossier

    found = open_dossier(content, progress=console)
    lines = None if found.trail is None else found.trail.lines
    return {"confidential": True, "dossier": True, "trail_lines": lines}, found.bundle


def _bundle_checked(found: bundle.Verification) -> dict[str, object]:
    release = found.release
    data: dict[str, object] = {
        "title": release.title,
        "method": release.mechanism.method,
        "variables": release.domain.names,
        "checks": found.checks,
    }
    if release.tables:
        domain = release.table.domain
        return data | {"variables": domain.names, "shape": domain.shape}
    table = release.magnitude_table
    hidden = int(table.hidden.sum())
    return data | {"measure": table.measure, "shape": table.shape, "cells": len(table.key), "hidden": hidden}


def _set_checked(found: VerifiedSet) -> tuple[dict[str, object], tuple[str, ...]]:
    cells = (
        message("1 cell stands in several tables and is the same")
        if found.common_cells == 1
        else message("{common_cells:,} cells stand in several tables and are the same", found.common_cells)
    )
    signed = (
        message("Every bundle is signed by the key that was asked for: {key}.", key)
        if key == found.signer
        else message(
            "Every bundle is signed by a key that you have to compare with its publisher's: {key}.", key
        )
        for key in found.signers
    )
    checks = (*(f"{name}.zip" for name in found.releases), cells, *signed)
    return {"tables": found.tables.formulas, "common_cells": found.common_cells}, checks
