"""A publication set as files: a release bundle for each table, and one manifest for all.

The bundles come from one run, so that common cells are the same in all of them; this is checked
when the set is written and when it is verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tabprotect.engine.atomic import make_folder
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.archive import dump_json, parse_json, sha256
from tabprotect.engine.bundle.verify import (
    QUICK,
    Verification,
    Verifying,
    announced,
    not_judged,
    verify_bytes,
    with_verdict,
)
from tabprotect.engine.errors import BundleError, InputError, of_system
from tabprotect.engine.paths import is_file
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.descriptions.run_summary import remarks_on_labels
from tabprotect.engine.protection.published_margins import rank
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Domain, domain_from_json, domain_json
from tabprotect.engine.tables.publication_set import PublicationSet, formula_of
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

KIND = message("tabprotect publication set")
SET = "set.json"
ALL = "all"
"""The name of the bundle of a set whose tables all follow from the one published."""


def releases_of_set(release: Release, tables: PublicationSet) -> dict[str, Release]:
    """Divide the release of a set into a release for each of its tables.

    A method that publishes the inner cells (cycles), or only the margins that no other margin implies
    (``publish_margins``), has one release: every table of the set adds up from it. So has one
    whose tables share a budget of privacy, of which no part is a mechanism of its own, and one that
    states letters of inner cells where some tables have none of these.

    Raises
    ------
    InputError
        When a sub-table of the set does not follow from the release.
    """
    stated = release.mechanism.parameters
    if "margins" not in stated or "cycles" in stated or release.mechanism.privacy is not None:
        return {ALL: release}
    by_names = {p.table.domain.names: p for p in release.tables}
    whole = tables.whole
    lacking = [m for m in whole.margins if m not in by_names]
    for margin in lacking:
        if not any(whole.determines(names, margin) for names in by_names):
            raise InputError(
                message("the release has no table {value}", " × ".join(margin) or "total"),
                hint=message(
                    "protect its tables as one: tabprotect protect-set RECORDS --table NAME=FORMULA"
                ),
            )
    inner = all(release.domain.names in publication.margins for publication in tables.tables.values())
    if lacking or ("letters" in stated and not inner):
        return {ALL: release}
    out = {}
    for name, publication in tables.tables.items():
        margins = [m for m in by_names if m in publication.margins]
        parameters = {**stated, "margins": formula_of(publication.margins)}
        # The verdict on all tables together is stated once, for the set.
        mechanism = replace(release.mechanism, parameters=MappingProxyType(parameters), gate=None)
        title = message("{title}: {name}", release.title, name) if release.title else name
        out[name] = replace(
            release, tables=tuple(by_names[m] for m in margins), mechanism=mechanism, title=title
        )
    return out


@dataclass(frozen=True)
class ReleaseFiles:
    """The files of a release that leave: its bundle, or a folder with a bundle for each table of a set.

    Attributes
    ----------
    release
        Everything that is published.
    tables
        The tables of the set; ``None`` for one bundle.
    parts
        The release of each bundle of the set, by name.
    """

    release: Release
    tables: PublicationSet | None
    parts: Mapping[str, Release]

    @classmethod
    def of(cls, release: Release, formulas: Mapping[str, str] | None = None) -> ReleaseFiles:
        """Make it from a release, as one bundle or divided by the formulas of its tables.

        Raises
        ------
        InputError
            When a sub-table of the set does not follow from the release.
        """
        if formulas is None:
            return cls(release, None, {})
        tables = PublicationSet(release.domain, dict(formulas))
        return cls(release, tables, releases_of_set(release, tables))

    def paths(self, place: Path) -> list[Path]:
        """The files to be written: ``place`` itself, or those in it."""
        if self.tables is None:
            return [place]
        return [place / name for name in (*(f"{n}.zip" for n in self.parts), SET, archive.MANIFEST)]

    def sealed(self, place: Path) -> Path:
        """The file whose bytes identify all of them: the bundle, or the manifest."""
        return place if self.tables is None else place / archive.MANIFEST

    def make_folder(self, place: Path) -> None:
        """Make the folder of a set.

        Raises
        ------
        InputError
            When it cannot be made.
        """
        if self.tables is None:
            return
        try:
            make_folder(place)
        except OSError as error:
            raise of_system(error, place) from None

    def files(
        self, place: Path, *, signing: Sequence[Path] = (), page: bool = True, progress: Progress = SILENT
    ) -> dict[Path, bytes]:
        """The bytes of each file, in the order of :meth:`paths`.

        Each bundle is verified as its readers will do, and common cells are compared.

        Parameters
        ----------
        signing
            The files of the private keys that sign each bundle.
        page
            Whether each bundle has a page to look at.

        Raises
        ------
        BundleError
            When a bundle does not pass, or common cells differ.
        InputError
            When there is no key to sign with.
        """
        if self.tables is None:
            whole = public.verified_bytes(self.release, progress, signing=signing, page=page)
            return {place: whole}
        found: dict[str, bytes] = {}
        for done, (name, part) in enumerate(self.parts.items()):
            progress.report(message("packing {name}", name), done / len(self.parts))
            found[f"{name}.zip"] = public.verified_bytes(part, signing=signing, page=page)
        found[SET] = dump_json(self._stated(self.tables))
        return {place / name: data for name, data in archive.sealed(found, KIND).items()}

    def _stated(self, tables: PublicationSet) -> dict[str, object]:
        """The contents of ``set.json``."""
        domain, gate = self.release.domain, self.release.mechanism.gate
        return {
            "title": self.release.title,
            "method": self.release.mechanism.method,
            "variables": list(domain.names),
            "categories": {v.name: list(v.categories) for v in domain.variables},
            "levels": {},
            **domain_json(domain),
            "tables": dict(tables.formulas),
            "common_cells": common_cells(self.parts),
            **({} if gate is None else gate.as_json()),
        }


def common_cells(releases: Mapping[str, Release]) -> int:
    """The number of published cells that several releases share, checked to be equal in all.

    Raises
    ------
    BundleError
        Naming the first cell that differs.
    """
    seen: dict[tuple[str, ...], tuple[str, PublishedTable]] = {}
    compared = 0
    for name, release in releases.items():
        for published in release.tables:
            domain = published.table.domain
            first, other = seen.setdefault(domain.names, (name, published))
            if first == name:
                continue
            compared += domain.size
            if other.table.domain != domain:
                raise BundleError(
                    message("{first} and {name} have other categories of {names}", first, name, domain.names)
                )
            differ = (other.table.counts != published.table.counts) | (other.hidden != published.hidden)
            if differ.any():
                index = tuple(int(i) for i in np.argwhere(differ)[0])
                raise BundleError(
                    message("{first} and {name} differ at {index}", first, name, domain.cell_text(index)),
                    hint=message("the tables of a set come from one run"),
                )
    return compared


@dataclass(frozen=True)
class VerifiedSet:
    """A set that passed verification.

    Attributes
    ----------
    fingerprint
        SHA-256 of the manifest.
    releases
        The release of each table, by name.
    common_cells
        The number of cells compared between tables.
    tables
        The tables that the set states.
    signers
        Public keys that signed every bundle, in hexadecimal.
    verdict
        What readers of all tables learn; ``None`` if that was not judged.
    gate
        The limits of all tables together and what came of them, as the set states them.
    """

    fingerprint: str
    releases: Mapping[str, Release]
    common_cells: int
    tables: PublicationSet
    signers: tuple[str, ...] = ()
    verdict: Verdict | None = None
    gate: Gate | None = None
    signer: str | None = None
    """The public key that was asked for."""

    @property
    def title(self) -> str:
        """The title that all tables have before their names."""
        name, first = next(iter(self.releases.items()))
        return first.title if name == ALL else first.title.removesuffix(name).removesuffix(": ")

    @property
    def by_table(self) -> Mapping[str, Release]:
        """The release of each table that the set states; of one bundle for all, what adds up from it."""
        if set(self.releases) != {ALL}:
            return self.releases
        (whole,) = self.releases.values()
        known = {one.table.domain.names: one for one in whole.tables}

        def table(margin: tuple[str, ...]) -> PublishedTable:
            names = next(names for names in known if self.tables.whole.determines(names, margin))
            counts, hidden = known[names].table.margin(margin), known[names].suppressed
            if hidden is None:
                return PublishedTable(counts)
            gone = Table.dense(known[names].table.domain, hidden.astype(np.int64)).margin(margin)
            return PublishedTable.hiding(counts, gone.counts > 0)

        return {
            name: replace(
                whole,
                tables=tuple(known.get(m) or table(m) for m in one.margins),
                title=message("{title}: {name}", whole.title, name) if whole.title else name,
            )
            for name, one in self.tables.tables.items()
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """The same as of a single bundle."""
        return tuple(one.message for one in remarks_on_labels(self.tables.domain))

    @property
    def left_out(self) -> tuple[Omission, ...]:
        """The same as of a single bundle."""
        return not_judged(self.verdict, self.gate)


def verify_set(folder: Path, asked: Verifying = QUICK, *, progress: Progress = SILENT) -> VerifiedSet:
    """Check the folder of a set: its manifest, every bundle, and that common cells agree.

    A fingerprint is that of the manifest; a key must have signed every bundle.

    Raises
    ------
    BundleError
        With what is wrong and where.
    """
    files = [path for path in sorted(folder.iterdir()) if is_file(path)]
    mine = [path for path in files if path.suffix == ".zip" or path.name in (SET, archive.MANIFEST)]
    found = {path.name: path.read_bytes() for path in mine}
    archive.check_manifest(found, KIND)
    if SET not in found:
        raise BundleError(message("{SET} is missing", SET), hint=message("this is no {KIND}", KIND))
    stated = parse_json(SET, found[SET])
    tables = stated_set(stated)
    stamp = sha256(found[archive.MANIFEST])
    announced(stamp, asked.fingerprint)
    bundles = {n.removesuffix(".zip"): data for n, data in found.items() if n.endswith(".zip")}
    checked = {}
    for done, (name, data) in enumerate(bundles.items()):
        progress.report(message("checking {name}", name), done / len(bundles))
        try:
            checked[name] = verify_bytes(data, replace(asked, fingerprint=None))
        except BundleError as error:
            text = message("{name}.zip: {message}", name, error.message)
            raise BundleError(text, hint=error.hint, detail=error.detail) from None
    releases = {name: one.release for name, one in checked.items()}
    for name, release in releases.items():
        if not release.tables or release.domain != tables.domain or name not in (*tables.formulas, ALL):
            raise BundleError(message("{name}.zip is no table of this set", name))
    if set(releases) not in ({ALL}, set(tables.formulas)):
        raise BundleError(message("a table of the set is missing"))
    compared, verdict = common_cells(releases), None
    if not asked.quick:
        whole = Verification(_whole(releases, tables, stated), stamp, ())
        judged = with_verdict(whole, progress).verdict
        verdict = judged if isinstance(judged, Verdict) else None
    every = tuple(sorted(set.intersection(*(set(one.signers) for one in checked.values()))))
    gate = _stated_gate(releases, stated)
    return VerifiedSet(stamp, releases, compared, tables, every, verdict, gate, asked.key)


def _stated_gate(releases: Mapping[str, Release], stated: object) -> Gate | None:
    """The gate of a set: of its one bundle, or of ``set.json``."""
    first = next(iter(releases.values())).mechanism
    if set(releases) == {ALL}:
        return first.gate
    return Gate.from_json(stated, first.domain) if isinstance(stated, Mapping) else None


def _whole(releases: Mapping[str, Release], tables: PublicationSet, stated: object) -> Release:
    """The single release that was divided into these."""
    if set(releases) == {ALL}:
        return releases[ALL]
    published = {p.table.domain.names: p for r in releases.values() for p in r.tables}
    first = next(iter(releases.values())).mechanism
    if any(
        {**r.mechanism.parameters, "margins": ""} != {**first.parameters, "margins": ""}
        or r.mechanism.method != first.method
        or (r.mechanism.coins, r.mechanism.nonce) != (first.coins, first.nonce)
        for r in releases.values()
    ):
        raise BundleError(message("the tables of the set have different mechanisms"))
    parameters = {**first.parameters, "margins": tables.formula}
    mechanism = replace(first, parameters=MappingProxyType(parameters), gate=_stated_gate(releases, stated))
    ordered = sorted(published.values(), key=lambda p: rank(p.table.domain, tables.domain))
    return Release(tuple(ordered), mechanism)


def stated_set(stated: object) -> PublicationSet:
    """The tables named in ``set.json``.

    Raises
    ------
    BundleError
        When it is no ``set.json``.
    """
    try:
        assert isinstance(stated, dict)
        categories, tables = stated["categories"], stated["tables"]
        domain = Domain.of({str(n): [str(c) for c in categories[n]] for n in stated["variables"]})
        domain = domain_from_json(stated, domain)
        return PublicationSet(domain, {str(name): str(tables[name]) for name in tables})
    except (AssertionError, KeyError, TypeError) as error:
        raise BundleError(message("{SET}: it is not as it was written", SET)) from error
    except InputError as error:
        raise BundleError(message("{SET}: {message}", SET, error.message)) from None
