"""Bundles of magnitude tables: what leaves the house, and the dossier that stays.

The public one holds nothing of the rules but that there are some: with their parameters readers would
come nearer to what is hidden.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from tabprotect.engine.bundle import archive, public, signature
from tabprotect.engine.bundle.reader_page.page import PAGE
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.sums.kinds import DOSSIER, KIND, is_release
from tabprotect.engine.decoding import Between, decoded
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.magnitudes.tables.axis import Axis
from tabprotect.engine.magnitudes.tables.equations import Equations, has_all_sums
from tabprotect.engine.magnitudes.tables.magnitude_table import PLACES
from tabprotect.engine.magnitudes.tables.released_sums import HIDDEN, ReleasedSums, SumsGate
from tabprotect.engine.magnitudes.tables.sensitive_cells import MOST_EMPTY
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import joined, message

RECORD, ORIGINAL = "dossier.json", "original.parquet"
TABLE, MECHANISM, PACKAGE = "table.csv", "mechanism.json", "datapackage.json"
VALUE, STATUS = "value", "status"
FILES = (TABLE, MECHANISM, PACKAGE, archive.README, archive.MANIFEST)


@dataclass(frozen=True)
class _Stated:
    """What ``mechanism.json`` holds."""

    method: str
    measure: str
    decimals: Annotated[int, Between(0, PLACES)]
    variables: tuple[Variable, ...]
    parameters: Mapping[str, float | str | bool]
    promise: str
    title: str
    weighted: bool = False
    gate: SumsGate | None = None
    beside: tuple[Literal["n", "mean"], ...] = ()


def public_bytes(release: ReleasedSums, signing: Sequence[Path] = (), *, page: bool = True) -> bytes:
    """The bundle as one zip; the same release gives the same bytes.

    Parameters
    ----------
    page
        Whether there is a page to look at among its files.

    Raises
    ------
    InputError
        When there is no key to sign with.
    """
    keys = [signature.private_key(path) for path in signing]
    stated = _Stated(
        release.method,
        release.measure,
        release.decimals,
        release.variables,
        release.parameters,
        str(magnitude_methods()[release.method].promise),
        release.title,
        release.weighted,
        release.gate,
        tuple(release.beside),  # type: ignore[arg-type]
    )
    content = {
        archive.README: _readme(release).encode(),
        PACKAGE: archive.dump_json(_package(release)),
        TABLE: table_csv(release),
        MECHANISM: archive.dump_json(
            {name: said for name, said in asdict(stated).items() if name != "beside" or said}
        ),
    }
    if page:
        content[PAGE] = page_of(release, content)
    files = archive.sealed(content, KIND)
    return archive.pack(signature.signed(files, keys) if keys else files)


def page_of(release: ReleasedSums, content: Mapping[str, bytes]) -> bytes:
    """The page to look at of a release, beside the other files of its bundle."""
    # Imported late: it imports what posteriors take.
    from tabprotect.engine.bundle.reader_page.sums_page import page_of_sums

    page, model = page_of_sums(release, content, magnitude_methods()[release.method].promise)
    return page.whole(model)


def page_of_bundle(path: Path, progress: Progress = SILENT) -> tuple[bytes, str]:
    """The page of a bundle of counts or sums, made anew, and its title.

    Raises
    ------
    BundleError
        When the bundle is damaged, forged or unsafe to open.
    InputError
        When there is no such file.
    """
    if not is_release(path):
        return public.page_of_bundle(path, progress)
    data = archive.load(path)
    release = release_within(data).release
    return page_of(release, archive.unpack(data, allowed=lambda name: True)), release.title


def check_page(data: bytes, release: ReleasedSums) -> list[str]:
    """Make the page of a bundle again, and compare; none is fine too.

    Raises
    ------
    BundleError
        When it is another page.
    """
    files = archive.unpack(data, allowed=lambda name: True)
    if PAGE not in files:
        return []
    from tabprotect.engine.bundle.reader_page.sums_page import page_of_sums

    page, model = page_of_sums(release, files, magnitude_methods()[release.method].promise)
    return [page.check(files[PAGE], model)]


def table_csv(release: ReleasedSums) -> bytes:
    """A row for each cell, totals among them: the variables, ``value`` and ``status``."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*(v.name for v in release.variables), VALUE, STATUS, *release.beside])
    rows.writerows([*labels, *figures] for labels, figures in sum_rows(release))
    return text.getvalue().encode()


def sum_rows(release: ReleasedSums) -> Iterator[tuple[list[str], list[str]]]:
    """The names of every sum; its value, its status and what is published beside it."""
    names = [axis.written for axis in release.axes]
    sizes = tuple(axis.size for axis in release.axes)
    number = {key: n for n, key in enumerate(release.key.tolist())}
    whole = int(np.prod(sizes))
    for key in range(whole) if whole <= MOST_EMPTY else release.key.tolist():
        nodes = np.unravel_index(key, sizes)
        labels = [name[int(node)] for name, node in zip(names, nodes, strict=True)]
        at = number.get(key)
        if at is None:
            yield labels, ["0", "", *("0" if name == "n" else "" for name in release.beside)]
        else:
            status = HIDDEN if release.hidden[at] else ""
            yield labels, [release.written(at), status, *release.figures(at)]


def dossier_bytes(
    content: Mapping[str, object],
    release: bytes,
    original: bytes,
    register: Mapping[str, object] | None = None,
    *,
    trail: Sequence[object] = (),
    recipe: str = "",
) -> bytes:
    """The dossier as one zip, with the bundle, and the contributions as a Parquet file. CONFIDENTIAL.

    Parameters
    ----------
    register
        The head of the register in which the release is entered; ``None`` for none.
    trail
        The steps that led to the release, as JSON values.
    recipe
        The same steps as a recipe, TOML text.
    """
    head = archive.dump_json({"confidential": True, "register": register})
    files = {
        RECORD: archive.dump_json({"confidential": True, **content}),
        ORIGINAL: original,
        confidential.RELEASE: release,
        confidential.REGISTER: head,
        confidential.TRAIL: archive.dump_json(list(trail)),
        "recipe.toml": recipe.encode(errors="replace"),
    }
    named = {confidential.FOLDER + name: data for name, data in files.items()}
    return archive.pack(archive.sealed(named, DOSSIER))


def read_dossier(data: bytes) -> tuple[Mapping[str, object], bytes]:
    """What a dossier says of its release, and the bundle.

    Raises
    ------
    BundleError
        When it is damaged, or no dossier of magnitudes.
    """
    files = archive.unpack(data, allowed=lambda name: True)
    archive.check_manifest(files, DOSSIER)
    record = archive.parse_json(RECORD, files[confidential.FOLDER + RECORD])
    if not isinstance(record, dict):
        raise BundleError(message("{name}: an object is expected", RECORD))
    return record, files[confidential.FOLDER + confidential.RELEASE]


def read_release(path: Path) -> ReleasedSums:
    """Open a bundle after checking that it is whole.

    Raises
    ------
    BundleError
        When it is damaged, or no bundle of magnitudes.
    InputError
        When there is no such file.
    """
    return release_within(archive.load(path)).release


@dataclass(frozen=True)
class ReadRelease:
    """A bundle that is whole: what it publishes, and the public keys that signed it."""

    release: ReleasedSums
    signers: tuple[str, ...] = ()


def release_within(data: bytes) -> ReadRelease:
    """The same of a bundle's bytes."""
    files = archive.unpack(data, allowed=lambda name: name in (*FILES, PAGE, signature.NAME))
    archive.check_manifest(files, KIND, beside=signature.NAME)
    signers = signature.signers(files) if signature.NAME in files else ()
    return ReadRelease(_release(files), signers)


def _release(files: Mapping[str, bytes]) -> ReleasedSums:
    try:
        stated = decoded(archive.parse_json(MECHANISM, files[MECHANISM]), _Stated)
    except InputError as error:
        raise BundleError(message("{name}: {why}", MECHANISM, error.message)) from None
    axes = [Axis(variable) for variable in stated.variables]
    places = [{name: node for node, name in enumerate(axis.written)} for axis in axes]
    sizes = tuple(axis.size for axis in axes)
    key, value, hidden = [], [], []
    beside: dict[str, list[int]] = {name: [] for name in stated.beside}
    at = len(axes)
    for line, row in enumerate(_rows(files[TABLE])[1:], 2):
        if len(row) != at + 2 + len(beside):
            raise BundleError(message("{name}, line {line}: a field is missing", TABLE, line))
        gone = row[at + 1] == HIDDEN
        try:
            nodes = [place[name] for place, name in zip(places, row, strict=False)]
            number = 0 if gone else _units(row[at], stated.decimals)
            key.append(int(np.ravel_multi_index(tuple(nodes), sizes)))
            for (name, column), text in zip(beside.items(), row[at + 2 :], strict=True):
                decimals = 0 if name == "n" else stated.decimals
                column.append(0 if gone or not text else _units(text, decimals))
        except (KeyError, ValueError):
            raise BundleError(
                message("{name}, line {line}: an unknown category, or no number", TABLE, line)
            ) from None
        value.append(number)
        hidden.append(gone)
    order = np.argsort(np.array(key, dtype=np.int64))
    found = ReleasedSums(
        stated.variables,
        stated.measure,
        stated.decimals,
        np.array(key, dtype=np.int64)[order],
        np.array(value, dtype=np.int64)[order],
        np.array(hidden, dtype=bool)[order],
        stated.method,
        stated.parameters,
        stated.title,
        stated.weighted,
        stated.gate,
        *(
            np.array(beside[name], dtype=np.int64)[order] if name in beside else None
            for name in ("n", "mean")
        ),
    )
    if len(set(key)) < len(key) or not has_all_sums(found.axes, found.key, found.nodes):
        raise BundleError(message("{name}: a sum is missing, or a cell occurs twice", TABLE))
    return found


def _rows(data: bytes) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(data.decode())))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BundleError(message("{name} cannot be read", TABLE), detail=str(error)) from None


def adds_up(release: ReleasedSums) -> list[str]:
    """The check that published sums add up, in words; none for a method that does not promise it.

    Raises
    ------
    BundleError
        When one that is published with all its parts does not.
    """
    if not magnitude_methods()[release.method].adds_up:
        return []
    sums = Equations.of(release.axes, release.key, release.nodes)
    known = release.value.copy()
    open_now = ~release.hidden
    for equation in range(len(sums)):
        children, parent = sums.children(equation), int(sums.parent[equation])
        if not (open_now[parent] and open_now[children].all()):
            continue
        if int(known[children].sum()) != int(known[parent]):
            raise BundleError(
                message("{name}: a sum is not that of its parts", TABLE),
                detail=message("the cell {index}", release.index(parent)),
            )
    return [message("Sums that are published with all their parts add up.")]


def _units(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    sign = -1 if whole.startswith("-") else 1
    scale: int = 10**decimals
    number = int(whole) * scale + sign * int(part.ljust(decimals, "0") or "0")
    if abs(number) > INT64_MAX:
        raise ValueError
    return number


def _package(release: ReleasedSums) -> dict[str, object]:
    fields: list[dict[str, object]] = [{"name": v.name, "type": "string"} for v in release.variables]
    fields += [{"name": VALUE, "type": "number"}, {"name": STATUS, "type": "string"}]
    fields += [{"name": name, "type": "number"} for name in release.beside]
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
    title = " ".join(release.title.split()) or message("A protected table of sums")
    hidden = int(release.hidden.sum())
    said = {
        "n": message("- `n` in it: how many contribute to a sum that is published."),
        "mean": message("- `mean` in it: the sum over how many contribute, rounded."),
    }
    lines = [
        f"# {title}",
        "",
        message(
            "Sums of {measure} by {names}, totals among the rows as `Total`.",
            release.measure,
            joined((v.name for v in release.variables), ", "),
        ),
        "",
        magnitude_methods()[release.method].promise,
        "",
        message("`status` is `hidden` where a sum is not published ({hidden:,} cells).", hidden)
        if release.method == "suppression"
        else message("Every sum is published."),
        "",
        message("- `table.csv`: a row for each cell: variables, `value`, `status`."),
        *(said[name] for name in release.beside),
        message("- `mechanism.json`: the method, the variables with their levels, what is promised."),
        message("- `manifest.json`: SHA-256 of every file."),
    ]
    return joined(lines, "\n") + "\n"
