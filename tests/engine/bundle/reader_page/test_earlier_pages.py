"""A page that an earlier version made is told from one that somebody changed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.reader_page import earlier_pages, page
from tabprotect.engine.bundle.reader_page.naive_words import Words
from tabprotect.engine.bundle.verify import verify_bytes, with_verdict
from tabprotect.engine.errors import BundleError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.bundle.test_verify import Files, resealed

OLDER = ("<main id", '<main class="older" id')
"""What an earlier frame had otherwise, in these tests."""


@pytest.fixture(params=["random_rounding", "suppression"])
def older(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Release, Files]:
    """A release, exact in the page or kept, and its bundle with the page of an earlier version.

    That version had another frame, and did not tell yet what taking counts as true does.
    """
    table = Table.dense(Domain.of_shape((3, 4)), np.arange(12).reshape(3, 4) % 5)
    method = methods()[request.param]
    release = method.run(Problem(table), {}, Randomness.seeded(3)).release
    files: Files = public.files(release)
    text = files[page.PAGE].decode()
    then, number = re.subn(r',"naive":"(?:[^"\\]|\\.)*"', "", text.replace(*OLDER))
    assert number == 2
    frame = page.frame().replace(*OLDER)
    today = earlier_pages.sha256_of(page.frame())
    frames = {earlier_pages.sha256_of(frame): ("unsaid",), today: ("today",)}
    monkeypatch.setattr(earlier_pages, "FRAMES", frames)
    return release, files | {page.PAGE: then.encode()}


def test_an_earlier_page_passes_and_is_called_one(older: tuple[Release, Files]) -> None:
    _, files = older
    found = verify_bytes(resealed(files))
    assert found.checks[-1] == page.OF_EARLIER
    assert page.OF_EARLIER in with_verdict(found).checks


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b"default-src 'none'", b"default-src *"),
        (b"<main class", b"<p>Call us.</p><main class"),
        (b'"counts":[', b'"counts":[9'),
        (b'"promised":["', b'"promised":["Nobody is in it. '),
        (b"<title>", b"<title>Genuine: "),
        (b"</script>\n</body>", b"</script><script>alert(1)</script>\n</body>"),
    ],
)
def test_a_changed_one_is_refused(older: tuple[Release, Files], right: bytes, wrong: bytes) -> None:
    _, files = older
    changed = files[page.PAGE].replace(right, wrong, 1)
    assert changed != files[page.PAGE]
    with pytest.raises(BundleError, match=r"page\.html") as error:
        verify_bytes(resealed(files | {page.PAGE: changed}))
    assert error.value.exit_code == 6


def test_the_figures_of_an_earlier_page_are_worked_out_again(older: tuple[Release, Files]) -> None:
    release, files = older
    text = files[page.PAGE].decode()
    before, opened, model = text.partition(earlier_pages.OPENED[earlier_pages.MODEL])
    number = re.search(r"\d{4,}", model)
    assert number
    wrong = f"{before}{opened}{model[: number.start()]}1{model[number.start() :]}"
    with pytest.raises(BundleError, match=r"page\.html"):
        with_verdict(verify_bytes(resealed(files | {page.PAGE: wrong.encode()})))
    other = public.files(Release(release.tables, release.mechanism, "Another"))
    with pytest.raises(BundleError, match=r"page\.html"):
        verify_bytes(resealed(other | {page.PAGE: files[page.PAGE]}))


@pytest.mark.parametrize(
    ("method", "words"),
    [("cyclic_perturbation", "first"), ("suppression", "first"), ("discrete_laplace", "second")],
)
def test_an_earlier_page_says_the_figures_of_then(
    method: str, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table.dense(Domain.of_shape((3, 4)), np.arange(12).reshape(3, 4) % 5)
    release = methods()[method].run(Problem(table), {}, Randomness.seeded(3)).release
    files: Files = public.files(release)
    page_of = page.Page.of(release, files, None)
    text = files[page.PAGE].decode().replace(*OLDER)
    for code, then in page_of.then[words].items():
        said = page_of.told["said"][code]["naive"]  # type: ignore[index]
        assert said != then
        text = text.replace(earlier_pages.embedded(said), earlier_pages.embedded(then))
    frame = page.frame().replace(*OLDER)
    today = earlier_pages.sha256_of(page.frame())
    frames = {earlier_pages.sha256_of(frame): (words,), today: ("today",)}
    monkeypatch.setattr(earlier_pages, "FRAMES", frames)
    found = verify_bytes(resealed(files | {page.PAGE: text.encode()}))
    assert found.checks[-1] == page.OF_EARLIER
    changed = text.replace("misl", "misguid").replace("true", "so", 1)
    with pytest.raises(BundleError):
        verify_bytes(resealed(files | {page.PAGE: changed.encode()}))


def test_todays_frame_is_known_to_the_versions_to_come() -> None:
    """Whoever changes the page adds the new frame: bundles hold the one before."""
    assert list(earlier_pages.FRAMES)[-1] == earlier_pages.sha256_of(page.frame())


def test_bundles_of_earlier_versions_pass() -> None:
    """Bundles as they were written before the page told what taking counts as true does, or told it so."""
    folder = Path(__file__).with_name("earlier_bundles")
    bundles = sorted(folder.glob("*.zip"))
    assert len(bundles) == 3
    for path in bundles:
        checks = with_verdict(verify_bytes(archive.load(path))).checks
        assert page.OF_EARLIER in checks, path.name
