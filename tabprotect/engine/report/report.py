"""Reports of a release: PDF, or a single HTML file that loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from jinja2 import Environment
from markupsafe import Markup

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.confidential import Dossier
from tabprotect.engine.bundle.verify import Verification, verify_bytes
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.report.public_edition import plain, public_edition
from tabprotect.languages.messages import message
from tabprotect.languages.page_texts import environment
from tabprotect.languages.translation import figures_apart, language, translate
from tabprotect.version import RESOURCES


def pdf_bytes(html: str) -> bytes:
    """The page as PDF; nothing that it names is fetched.

    Raises
    ------
    InputError
        When weasyprint, or a library that it needs, is not installed.
    """
    try:
        # An extra: HTML needs none of it.
        import weasyprint
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        raise InputError(
            message("a PDF takes weasyprint, which is not installed or not complete"),
            hint=message('install it with: pip install "tabprotect[report]"; or write an .html file'),
            detail=str(error),
        ) from None
    data = weasyprint.HTML(string=html, url_fetcher=URLFetcher(allowed_protocols=())).write_pdf()
    assert isinstance(data, bytes)
    return data


def page_bytes(html: str, path: Path) -> bytes:
    """A page as HTML or PDF by the suffix of the file that it is for; raises as ``Report.as_bytes``."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            message("a report is written as HTML or PDF"),
            file=path,
            hint=message("end the name in .html or .pdf"),
        )
    return pdf_bytes(html) if suffix == ".pdf" else html.encode()


Edition = Literal["staff", "public"]

EDITIONS: tuple[Edition, ...] = get_args(Edition)

SUFFIXES = (".html", ".htm", ".pdf")


@dataclass(frozen=True)
class Report:
    """A report as one page of HTML.

    Attributes
    ----------
    edition
        The readership; the staff edition is confidential.
    title
        The title of the release.
    verdict
        The sentence at the top.
    fingerprint
        The SHA-256 of the release bundle it is about.
    html
        The page.
    """

    edition: Edition
    title: str
    verdict: Finding
    fingerprint: str
    html: str

    def write(self, path: Path) -> None:
        """Write the report as HTML or PDF by the file suffix; the staff edition readable by its owner alone.

        Raises
        ------
        InputError
            As :meth:`as_bytes`, or when it cannot be written there.
        """
        write_bytes(path, self.as_bytes(path), private=self.edition == "staff")

    def as_bytes(self, path: Path) -> bytes:
        """The report as HTML or PDF by the suffix of the file that it is for.

        Raises
        ------
        InputError
            When the file has another suffix.
        InputError
            When a PDF is asked for and weasyprint is not installed.
        """
        return page_bytes(self.html, path)


@figures_apart()
def make_report(
    path: Path, edition: Edition, made: date, progress: Progress = SILENT, *, register: str | None = None
) -> Report:
    """Make the report of a release bundle or a dossier.

    The public edition of a dossier is made from the bundle in it alone.

    Parameters
    ----------
    made
        The date that the report states.
    register
        The register in which the staff edition looks up earlier releases: a file, a URL or ``none``;
        by default the house's own.

    Raises
    ------
    BundleError
        When the file is damaged, forged or unsafe to open.
    InputError
        When there is no such file, or the staff edition of a release bundle is asked for.
    """
    data = archive.load(path)
    try:
        is_dossier = confidential.is_dossier(data)
        if edition == "public":
            bundle = confidential.bundle_within(data) if is_dossier else data
            return public_report(bundle, made, progress)
        if not is_dossier:
            raise InputError(
                message("the staff edition tells of the original, which is not in a release bundle"),
                file=path,
                hint=message("name the dossier; or make the edition for readers: --edition public"),
            )
        dossier = confidential.open_dossier(data, progress=progress)
    except BundleError as error:
        text = message("{name}: {message}", path.name, error.message)
        raise BundleError(text, hint=error.hint, detail=error.detail) from None
    return staff_report(dossier, made, progress, register=register)


def public_bundle(path: Path, progress: Progress = SILENT) -> Verification:
    """A release bundle, or the one in a dossier, verified.

    Raises
    ------
    BundleError
        When the file is damaged, forged or unsafe to open.
    """
    data = archive.load(path)
    try:
        bundle = confidential.bundle_within(data) if confidential.is_dossier(data) else data
        return verify_bytes(bundle, progress=progress)
    except BundleError as error:
        text = message("{name}: {message}", path.name, error.message)
        raise BundleError(text, hint=error.hint, detail=error.detail) from None


@figures_apart()
def public_report(bundle: bytes, made: date, progress: Progress = SILENT) -> Report:
    """The public edition: a function of the bundle's bytes alone.

    Raises
    ------
    BundleError
        When the bytes are damaged, forged or unsafe to open.
    """
    found = verify_bytes(bundle, progress=progress)
    # Readers get the same bytes whenever it is printed.
    public = public_edition(found, None)
    html = rendered("public.html", public)
    return Report("public", public.title, public.verdict, found.fingerprint, html)


@figures_apart()
def staff_report(
    dossier: Dossier, made: date, progress: Progress = SILENT, *, register: str | None = None
) -> Report:
    """The staff edition of a dossier, opened or not yet written."""
    from tabprotect.engine.report.register_section import register_section
    from tabprotect.engine.report.staff_edition import staff_edition

    found = verify_bytes(dossier.bundle)
    section = register_section(dossier.protected, found.fingerprint, register, progress)
    staff = staff_edition(dossier, found, section, made, progress)
    html = rendered("staff.html", staff)
    return Report("staff", staff.public.title, staff.verdict, found.fingerprint, html)


def rendered(template: str, edition: object) -> str:
    """A template of ``resources/report`` filled in, as one page of HTML."""
    page = _environment(language()).get_template(template)
    return page.render(r=edition, css=Markup(_source("report.css")))


def _source(name: str) -> str:
    return (RESOURCES / "report" / name).read_text("utf-8")


def _printed(value: object) -> object:
    """Remove control characters from every text that is not markup; escaping follows."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment(language: str) -> Environment:
    """The templates in the current language."""
    return environment(_source, translate, language, finalize=_printed)
