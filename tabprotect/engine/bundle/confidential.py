"""The dossier: everything the house keeps about a release. It never leaves the house."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive, data_package, manifest, public
from tabprotect.engine.bundle.risk_report import risk_json, risk_text
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import BundleError, TabprotectError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount

KIND = "tabprotect dossier, CONFIDENTIAL"
FOLDER = "CONFIDENTIAL/"
"""Every file of a dossier lies in it, so that it says so wherever it is unpacked."""

README, ORIGINAL, RECORD, COINS, RELEASE = (
    "README.md",
    "original.csv",
    "record.json",
    "coins.csv",
    "release.zip",
)
OTHERS = ("risk_report.md", "risk_report.json", "audit_trail.json", "recipe.toml")

_README = """# CONFIDENTIAL

This dossier belongs to a release and must never leave the house. With it anybody can read the
original table and replay every coin.

- `original.csv`: the original counts.
- `record.json`: the seed, the rule for at-risk cells, the decisions taken.
- `coins.csv`: each coin (+1 add, -1 subtract, 0 leave), what was done, and what was blocked.
- `risk_report.md`, `risk_report.json`: what was at risk and what became of it.
- `audit_trail.json`, `recipe.toml`: every step that led here, and how to repeat them.
- `release.zip`: the public bundle this dossier belongs to.
"""


def suggested_name(release: Path) -> Path:
    """Where to put the dossier of a release bundle when nobody says."""
    return release.with_name(f"{release.stem}-CONFIDENTIAL-dossier.zip")


def files(
    protected: Protected,
    *,
    release: bytes | None = None,
    trail: Sequence[object] = (),
    recipe: str = "",
) -> dict[str, bytes]:
    """Every file of the dossier by name.

    Parameters
    ----------
    release
        The bundle it belongs to, where it is packed already.
    trail
        The steps that led here, JSON values.
    recipe
        The same as a recipe, TOML text.
    """
    record = protected.record
    # As text: other programs round whole numbers of 128 bits.
    stated = {
        "confidential": True,
        "seed": str(record.seed),
        "seed_given": record.seed_given,
        "at_risk": {"low": record.problem.at_risk.low, "high": record.problem.at_risk.high},
        "decisions": list(record.decisions),
    }
    content = {
        README: _README.encode(),
        ORIGINAL: data_package.table_csv(record.problem.table),
        RECORD: archive.dump_json(stated),
        COINS: _coins(protected),
        "risk_report.md": risk_text(protected).encode(),
        "risk_report.json": archive.dump_json(risk_json(protected)),
        "audit_trail.json": archive.dump_json(list(trail)),
        "recipe.toml": recipe.encode(),
        RELEASE: public.to_bytes(protected.release) if release is None else release,
    }
    return manifest.sealed({FOLDER + name: data for name, data in content.items()}, KIND)


def _coins(protected: Protected) -> bytes:
    record = protected.record
    passes, cycles = np.indices(record.coins.shape).reshape(2, -1) + 1
    columns = (passes, cycles, record.coins, record.effective, record.blocked)
    out = io.StringIO()
    rows = np.stack([np.asarray(c, dtype=np.int64).reshape(-1) for c in columns], axis=1)
    np.savetxt(
        out,
        rows,
        fmt="%d",
        delimiter=",",
        header="pass,cycle,coin,effective,blocked",
        comments="",
        newline="\n",
    )
    return out.getvalue().encode()


def write(
    protected: Protected,
    path: Path,
    *,
    trail: Sequence[object] = (),
    recipe: str = "",
    overwrite: bool = True,
) -> None:
    """Write the dossier, whole or not at all.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    data = archive.pack(files(protected, trail=trail, recipe=recipe))
    write_bytes(path, data, overwrite=overwrite)


def read(path: Path, *, progress: Progress = SILENT) -> Protected:
    """Open a dossier and replay it: the seed must give the coins and the release again.

    Raises
    ------
    BundleError
        When it is damaged, or original, seed and release do not belong together.
    InputError
        When there is no such file.
    """
    try:
        return _read(archive.load(path), progress)
    except BundleError as error:
        raise BundleError(f"{path.name}: {error.message}", hint=error.hint) from None


def _read(data: bytes, progress: Progress) -> Protected:
    names = {FOLDER + n for n in (README, ORIGINAL, RECORD, COINS, RELEASE, *OTHERS)}
    names.add(manifest.NAME)
    found = archive.unpack(data, allowed=names.__contains__)
    manifest.check(found, KIND)
    for name in (ORIGINAL, RECORD, COINS, RELEASE):
        if FOLDER + name not in found:
            raise BundleError(f"{name} is missing", hint=f"this is no {KIND}")
    release = verify_bytes(found[FOLDER + RELEASE]).release
    original = data_package.read_table(found[FOLDER + ORIGINAL], release.table.domain)
    seed, seed_given, at_risk, decisions = _record(found[FOLDER + RECORD])
    try:
        replayed = methods()[release.mechanism.method].protect(
            Problem(original, at_risk, release.title),
            release.mechanism.parameters,
            Randomness(seed, given=seed_given),
            accept_weak=True,
            progress=progress,
        )
    except TabprotectError as error:
        if error.kind == "interrupted":
            raise
        raise BundleError(f"the original cannot be replayed: {error.message}") from None
    if replayed.release.table != release.table:
        raise BundleError("the seed does not lead from the original to the release")
    if _coins(replayed) != found[FOLDER + COINS]:
        raise BundleError(f"{COINS}: these are not the coins of the seed")
    return Protected(release, replace(replayed.record, decisions=decisions))


def _record(data: bytes) -> tuple[int, bool, SmallCount, tuple[str, ...]]:
    stated = archive.parse_json(RECORD, data)
    try:
        assert isinstance(stated, dict)
        rule = stated["at_risk"]
        return (
            int(stated["seed"]),
            bool(stated["seed_given"]),
            SmallCount(int(rule["low"]), int(rule["high"])),
            tuple(map(str, stated["decisions"])),
        )
    except (AssertionError, KeyError, TypeError, ValueError, TabprotectError):
        raise BundleError(f"{RECORD}: the record is not as it was written") from None
