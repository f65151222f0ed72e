"""Reports: nothing of the original in the public edition, nothing from outside in either."""

from __future__ import annotations

import re
import stat
import sys
import zlib
from collections.abc import Iterator
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.errors import BundleError, InputError
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.report.report import Report, make_report
from tabprotect.engine.report.svg_figures import count_text
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.bundle.test_public import secrets

DAY = date(2026, 5, 3)


def pdf_streams(data: bytes) -> Iterator[bytes]:
    """A PDF as it is, and each of its packed streams."""
    yield data
    for found in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            yield zlib.decompress(found[1])
        except zlib.error:
            continue


def pages(report: Report, folder: Path) -> list[bytes]:
    """Every byte stream of a report in both formats."""
    report.write(folder / "report.html")
    report.write(folder / "report.pdf")
    streams = list(pdf_streams((folder / "report.pdf").read_bytes()))
    assert len(streams) > 5
    return [(folder / "report.html").read_bytes(), *streams]


def rows(protected: Protected, table: Table) -> set[bytes]:
    """The rows of a table as a report would print them."""
    return {"".join(f"<td>{count_text(n)}</td>" for n in row).encode() for row in table.counts.tolist()}


# It names a library of the system that only its later versions need.
@pytest.mark.filterwarnings("ignore:HarfBuzz-Subset:DeprecationWarning")
def test_nothing_confidential_is_in_the_public_edition(
    protected: Protected, release: Path, dossier: Path, tmp_path: Path
) -> None:
    hidden = secrets(protected)
    original = rows(protected, protected.record.problem.table)
    printed = rows(protected, protected.release.table)
    for source in (release, dossier):
        report = make_report(source, "public", DAY)
        streams = pages(report, tmp_path)
        found = [name for name, secret in hidden.items() if any(secret in s for s in streams)]
        assert found == []
        assert not any(row in streams[0] for row in original - printed)
        # The search would see a row: it finds the published ones.
        assert all(row in streams[0] for row in printed)
        assert b"CONFIDENTIAL" not in streams[0]


def test_the_public_edition_is_a_function_of_the_bundle(release: Path, dossier: Path) -> None:
    later = date(DAY.year + 1, 1, 1)
    assert make_report(dossier, "public", DAY).html == make_report(release, "public", later).html


def test_the_staff_edition_shows_before_and_after(protected: Protected, dossier: Path) -> None:
    report = make_report(dossier, "staff", DAY)
    before, after = protected.record.problem.table.counts, protected.release.table.counts
    changed = [(b, a) for b, a in zip(before.flat, after.flat, strict=True) if a != b]
    assert changed
    for old, new in changed:
        assert f"{old} → {new}</td>" in report.html
    assert report.html.count('class="risk') == int(((before > 0) & (before < 3)).sum())
    assert "CONFIDENTIAL" in report.html and "3 May 2026" in report.html
    assert "2026-05-03 09:00:00" in report.html and "open health.csv" in report.html
    # The dossier has them; a printed page lies about.
    assert str(protected.record.seed) not in report.html


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "</style><b>",
    "`<i>`**a**",
    "a\u202eb",
    "nul\x00",
    "{{ r }}",
)


@pytest.mark.parametrize("edition", ["public", "staff"])
def test_labels_are_escaped_and_nothing_is_loaded(edition: str, tmp_path: Path) -> None:
    domain = Domain.of({"<u>v</u>": list(HOSTILE), "<a href=x>": ["x", "javascript:"]})
    counts = [[5 + i, 20 - i] for i in range(len(HOSTILE))]
    title = "<iframe src=//x></iframe>"
    done = methods()["cyclic_perturbation"].run(
        Problem(Table.dense(domain, counts), title=title), {}, Randomness.seeded(3)
    )
    path = tmp_path / "a.zip"
    if edition == "public":
        public.write(done.release, path)
    else:
        confidential.write(done, path)
    html = make_report(path, edition, DAY).html  # type: ignore[arg-type]
    seen = _Seen()
    seen.feed(html)
    assert not seen.tags & {"script", "img", "iframe", "a", "b", "i", "u", "link", "object"}
    assert not {n for n in seen.attributes if n.startswith("on")}
    assert not seen.attributes & {"src", "href", "srcset", "data", "action", "style"}
    assert "url(" not in html and "@import" not in html and "http:" not in html
    assert "https:" not in html and "\x00" not in html
    assert "&lt;script&gt;" in html and "{{ r }}" in html
    assert seen.attributes <= {
        *("lang", "charset", "http-equiv", "content", "name", "class", "scope", "colspan", "role"),
        *("viewbox", "aria-label", "fill", "stroke", "font-size", "text-anchor", "font-family"),
        *("x", "y", "width", "height", "x1", "x2", "y1", "y2"),
    }


def test_the_staff_edition_is_for_its_owner_alone(dossier: Path, tmp_path: Path) -> None:
    out = tmp_path / "staff.html"
    out.write_text("")
    out.chmod(0o644)
    make_report(dossier, "staff", DAY).write(out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_release_bundle_has_no_staff_edition(release: Path) -> None:
    with pytest.raises(InputError, match="tells of the original") as error:
        make_report(release, "staff", DAY)
    assert "dossier" in error.value.hint


def test_a_damaged_file_is_named(release: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_bytes(release.read_bytes()[:-5])
    with pytest.raises(BundleError, match=r"bad\.zip"):
        make_report(bad, "public", DAY)


def test_without_weasyprint_the_extra_is_named(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    report, out = make_report(release, "public", DAY), tmp_path / "r.pdf"
    with pytest.raises(InputError, match="weasyprint") as error:
        report.write(out)
    assert "tabprotect[report]" in error.value.hint and not out.exists()
    report.write(out.with_suffix(".html"))


def test_other_endings_are_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="HTML or PDF"):
        make_report(release, "public", DAY).write(tmp_path / "r.docx")
