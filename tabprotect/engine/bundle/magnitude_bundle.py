"""Bundles of magnitude tables: what leaves the house, and the dossier that stays.

The public one holds nothing of the rules but that there are some: with their parameters readers would
come nearer to what is hidden.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.bundle import archive
from tabprotect.engine.decoding import decoded
from tabprotect.engine.errors import BundleError
from tabprotect.engine.magnitudes.axis import Axis
from tabprotect.engine.magnitudes.released_sums import HIDDEN, ReleasedSums
from tabprotect.engine.magnitudes.sensitive_cells import MOST_EMPTY
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.said import joined, say

KIND = say("tabprotect release of magnitudes")
DOSSIER = say("tabprotect dossier of magnitudes")
TABLE, MECHANISM, PACKAGE = "table.csv", "mechanism.json", "datapackage.json"
VALUE, STATUS = "value", "status"
FILES = (TABLE, MECHANISM, PACKAGE, archive.README, archive.MANIFEST)

PROMISES = {
    "suppression": say(
        "Sums that would tell too much of one contributor are hidden, and others with them, so "
        "that no single contributor that was tried can estimate another's value too closely from "
        "what is published and his own. How close is too close is not published."
    ),
    "multiplicative_noise": say(
        "Every contribution was multiplied by a secret factor near 1 before it was added up; the "
        "same contributor has the same factor in every table. All sums add up."
    ),
    "cell_key": say(
        "Every sum has noise that follows from its contributors: the same contributors always get "
        "the same noise. Sums do not add up exactly."
    ),
}
"""What each method promises its readers."""


@dataclass(frozen=True)
class _Stated:
    """What ``mechanism.json`` holds."""

    method: str
    measure: str
    decimals: int
    variables: tuple[Variable, ...]
    parameters: Mapping[str, float | str | bool]
    promise: str
    title: str


def public_bytes(release: ReleasedSums) -> bytes:
    """The bundle as one zip; the same release gives the same bytes."""
    stated = _Stated(
        release.method,
        release.measure,
        release.decimals,
        release.variables,
        release.parameters,
        str(PROMISES[release.method]),
        release.title,
    )
    content = {
        archive.README: _readme(release).encode(),
        PACKAGE: archive.dump_json(_package(release)),
        TABLE: table_csv(release),
        MECHANISM: archive.dump_json(asdict(stated)),
    }
    return archive.pack(archive.sealed(content, KIND))


def table_csv(release: ReleasedSums) -> bytes:
    """A row for each cell, totals among them: the variables, ``value`` and ``status``."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*(v.name for v in release.variables), VALUE, STATUS])
    names = [axis.written for axis in release.axes]
    sizes = tuple(axis.size for axis in release.axes)
    number = {key: n for n, key in enumerate(release.key.tolist())}
    whole = int(np.prod(sizes))
    for key in range(whole) if whole <= MOST_EMPTY else release.key.tolist():
        nodes = np.unravel_index(key, sizes)
        labels = [name[int(node)] for name, node in zip(names, nodes, strict=True)]
        at = number.get(key)
        if at is None:
            rows.writerow([*labels, "0", ""])
        else:
            rows.writerow([*labels, release.written(at), HIDDEN if release.hidden[at] else ""])
    return text.getvalue().encode()


def dossier_bytes(content: Mapping[str, object]) -> bytes:
    """The dossier as one zip. CONFIDENTIAL."""
    files = {"dossier.json": archive.dump_json(dict(content))}
    return archive.pack(archive.sealed(files, DOSSIER))


def is_release(path: Path) -> bool:
    """Return True if a file is a bundle of a magnitude table."""
    if not path.is_file() or path.read_bytes()[:2] != b"PK":
        return False
    try:
        files = archive.unpack(archive.load(path), allowed=lambda name: True)
        manifest = archive.parse_json(archive.MANIFEST, files[archive.MANIFEST])
    except (BundleError, KeyError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == str(KIND)


def read_release(path: Path) -> ReleasedSums:
    """Open a bundle after checking that it is whole.

    Raises
    ------
    BundleError
        When it is damaged, or no bundle of magnitudes.
    InputError
        When there is no such file.
    """
    files = archive.unpack(archive.load(path), allowed=FILES.__contains__)
    archive.check_manifest(files, KIND)
    stated = decoded(archive.parse_json(MECHANISM, files[MECHANISM]), _Stated)
    axes = [Axis(variable) for variable in stated.variables]
    places = [{name: node for node, name in enumerate(axis.written)} for axis in axes]
    sizes = tuple(axis.size for axis in axes)
    rows = list(csv.reader(io.StringIO(files[TABLE].decode())))
    key, value, hidden = [], [], []
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(axes) + 2:
            raise BundleError(say("{name}, line {line}: a field is missing", TABLE, line))
        try:
            nodes = [place[name] for place, name in zip(places, row, strict=False)]
            number = 0 if row[-1] == HIDDEN else _units(row[-2], stated.decimals)
        except (KeyError, ValueError):
            raise BundleError(
                say("{name}, line {line}: an unknown category, or no number", TABLE, line)
            ) from None
        key.append(int(np.ravel_multi_index(tuple(nodes), sizes)))
        value.append(number)
        hidden.append(row[-1] == HIDDEN)
    order = np.argsort(np.array(key, dtype=np.int64))
    return ReleasedSums(
        stated.variables,
        stated.measure,
        stated.decimals,
        np.array(key, dtype=np.int64)[order],
        np.array(value, dtype=np.int64)[order],
        np.array(hidden, dtype=bool)[order],
        stated.method,
        stated.parameters,
        stated.title,
    )


def _units(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    sign = -1 if whole.startswith("-") else 1
    scale: int = 10**decimals
    return int(whole) * scale + sign * int(part.ljust(decimals, "0") or "0")


def _package(release: ReleasedSums) -> dict[str, object]:
    fields: list[dict[str, object]] = [
        {"name": v.name, "type": "string"} for v in release.variables
    ]
    fields += [{"name": VALUE, "type": "number"}, {"name": STATUS, "type": "string"}]
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "magnitudes",
        **({"title": release.title} if release.title else {}),
        "resources": [
            {"name": "table", "path": TABLE, "format": "csv", "schema": {"fields": fields}},
            {"name": "mechanism", "path": MECHANISM, "format": "json"},
        ],
    }


def _readme(release: ReleasedSums) -> str:
    title = " ".join(release.title.split()) or say("A protected table of sums")
    hidden = int(release.hidden.sum())
    lines = [
        f"# {title}",
        "",
        say(
            "Sums of {measure} by {names}, totals among the rows as `Total`.",
            release.measure,
            joined((v.name for v in release.variables), ", "),
        ),
        "",
        PROMISES[release.method],
        "",
        say("`status` is `hidden` where a sum is not published ({hidden:,} cells).", hidden)
        if release.method == "suppression"
        else say("Every sum is published."),
        "",
        say("- `table.csv`: a row for each cell: variables, `value`, `status`."),
        say("- `mechanism.json`: the method, the variables with their levels, what is promised."),
        say("- `manifest.json`: SHA-256 of every file."),
    ]
    return joined(lines, "\n") + "\n"
