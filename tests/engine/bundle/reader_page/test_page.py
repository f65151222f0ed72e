"""The page of a bundle: its mathematics against ours, its bytes, and what verifying makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.belief.weighing import plain
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.reader_page import page, page_model
from tabprotect.engine.bundle.verify import verify_bytes, with_verdict
from tabprotect.engine.disclosure.cell_beliefs import believed_alone
from tabprotect.engine.errors import BundleError, InfeasibleError, InputError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import CellTable, Poisson, Positive, Prior, Uniform
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.version import RESOURCES
from tests.engine.bundle.test_verify import Files, resealed

SCRIPT = Path(__file__).with_name("page_in_node.js")

PRIORS: dict[str, Callable[[int], Prior]] = {
    "uniform": lambda cells: Uniform(),
    "positive": lambda cells: Positive(),
    "poisson:2.5": lambda cells: Poisson(np.full(cells, 2.5)),
}

Laws = dict[str, list[dict[str, float]]]


@dataclass
class Node:
    """The scripts of pages, run in node."""

    process: subprocess.Popen[str]
    folder: Path

    def laws(
        self, release: Release, text: str = "", priors: Sequence[str] = tuple(PRIORS)
    ) -> tuple[bool, Laws]:
        """Whether the page is exact, and its distributions of all cells under each prior."""
        domain = likelihood_of(release).domain
        cells = [list(map(int, domain.unflat(key))) for key in range(domain.size)]
        answer = self._asked(release, text, cells=cells, priors=list(priors))
        return answer["exact"], answer["laws"]

    def numbers(self, release: Release, questions: Sequence[object], text: str = "") -> list[dict[str, Any]]:
        """Which numbers the page says to use: kind, flat cells, and the others of each question."""
        found: list[dict[str, Any]] = self._asked(release, text, priors=[], questions=questions)["numbers"]
        return found

    def _asked(self, release: Release, text: str, **asked: object) -> dict[str, Any]:
        place = self.folder / "page.html"
        place.write_text(text or public.page_of(release).decode(), encoding="utf-8")
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"page": str(place), **asked}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    program = shutil.which("node")
    assert program, "install nodejs (apt-packages-test.txt)"
    started = [program, str(SCRIPT)]
    with subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Node(process, tmp_path_factory.mktemp("pages"))


LISTED = {"controlled_rounding", "controlled_tabular_adjustment", "post_randomisation", "publish_margins"}
"""Their readers go through every original: there are fewer."""


def protected_by(method: str, seed: int, **given: object) -> Release:
    """A small random table protected."""
    random = np.random.default_rng(seed)
    shape = SHAPES[seed % 4] if method not in LISTED else (2, 3)
    most = 8 if method not in LISTED else 5
    counts = random.choice([0, 1, 1, 2, 3, 5, 8, 13][:most], shape)
    domain = Domain.of({f"v{k}": [f"c{i}" for i in range(n)] for k, n in enumerate(shape)})
    problem = Problem(Table.dense(domain, counts))
    return methods()[method].run(problem, given, Randomness.seeded(seed + 2**70)).release


SHAPES = ((3, 3), (2, 4), (2, 2, 2), (4, 3))

METHODS = 15
"""Ways to protect among the random releases: every method, cycles once and twice."""

WHOLE = {2: "v0:v1", 3: "v0:v1:v2"}

RULES = ("any_zero", "negative", "reversible")


def release_of(number: int) -> Release:
    """One of many: every method, all rules of cycles, inner cells alone and beside totals."""
    whole = {"margins": WHOLE[3 if number % 4 == 2 else 2]}
    wanted = whole if number // METHODS % 2 else {}
    reversible = number // METHODS % 3 == 2
    cycles = {"blocking": RULES[number // METHODS % 3], "alpha": 0.3, "beta": 0.3 if reversible else 0.2}
    joined = "w:v0=c0>a,c1>a" + ",c2>b" * (number % 4 in (0, 3)) + ",c3>b" * (number % 4 == 3)
    choices: list[tuple[str, dict[str, object]]] = [
        ("cyclic_perturbation", cycles),
        ("cyclic_perturbation", cycles | {"passes": 2}),
        ("random_rounding", whole),
        ("discrete_laplace", whole),
        ("discrete_gaussian", whole),
        ("coarsening", {"groupings": joined}),
        ("small_count_rounding", {"choice": "open" if number // METHODS % 2 else "nearest"}),
        ("suppression", {"choice": "letters" if number // METHODS % 2 else "cheapest"}),
        ("cell_key", wanted),
        ("controlled_rounding", {"choice": "open" if wanted else "nearest"}),
        ("controlled_tabular_adjustment", {"margins": WHOLE[2]} if wanted else {}),
        ("publish_margins", {"margins": "v0 + v1"}),
        ("post_randomisation", {"pstay": "0.7"}),
        ("bootstrap", {}),
        ("binomial_compensated", {}),
    ]
    assert len(choices) == METHODS
    method, given = choices[number % METHODS]
    return protected_by(method, number, **given)


def difference(release: Release, exact: bool, laws: Laws, known: Likelihood | None = None) -> float | None:
    """The largest difference from what we infer; ``None`` where the page holds nothing."""
    likelihood, worst = known or likelihood_of(release), 0.0
    cells = likelihood.domain.size
    listed = exact and known is None and isinstance(likelihood, CellFactors) and likelihood.left_out
    for text, prior in PRIORS.items():
        if not exact and text != "uniform":
            assert all("no others" in law["error"] or "holds no" in law["error"] for law in laws[text])  # type: ignore[operator]
            continue
        try:
            given, evidence = prior(cells), Evidence(release)
            if not exact:
                found = believed_alone(evidence)
            elif listed:
                chance = OfRelease(release)
                found = believe([evidence], given, effort=VERDICT, randomness=chance).posterior
            else:
                found = infer(likelihood, given)
        except (InfeasibleError, InputError):
            assert any("error" in law for law in laws[text])
            continue
        if listed and "pattern_choice" in found.left_out:
            # None of the originals that the whole mechanism can have is as assumed: we leave a part out.
            assert all(law == {"error": "no original fits"} for law in laws[text])
            continue
        if not exact and "error" in laws[text][0]:
            return None
        if found.domain != likelihood.domain or (exact and found.way != "exact"):
            return None
        for key, law in enumerate(laws[text]):
            assert "error" not in law, (text, key, law)
            values, chances = found.distribution(likelihood.domain.unflat(key))
            mine = dict(zip(map(str, values.tolist()), chances.tolist(), strict=True))
            worst = max(worst, *(abs(mine.get(n, 0.0) - law.get(n, 0.0)) for n in {*mine, *law}))
    return worst


def test_a_cells_own_prior_is_ours(node: Node) -> None:
    """Weights for the counts of one cell; all others are believed evenly."""
    seen = 0
    for number in range(12):
        if seen == 3:
            break
        release = release_of(number)
        likelihood = likelihood_of(release)
        if release.tables[0].table.domain != likelihood.domain:
            continue
        cell = likelihood.domain.size // 2
        middle = int(release.tables[0].table.counts.reshape(-1)[cell])
        weights = {max(middle + off, 0): 1.0 + (off + 3) ** 2 for off in range(-3, 4)}
        own = json.dumps({"kind": "own", "cell": cell, "weights": weights})
        exact, laws = node.laws(release, priors=[own])
        if not exact:
            continue
        counts = np.array(list(weights), dtype=np.int64)
        prior = CellTable(np.full(len(counts), cell), counts, np.array(list(weights.values())))
        found, plain_one = infer(likelihood, prior), infer(likelihood, Uniform())
        for key, law in enumerate(laws[own]):
            values, chances = found.distribution(likelihood.domain.unflat(key))
            mine = dict(zip(map(str, values.tolist()), chances.tolist(), strict=True))
            assert all(abs(mine.get(n, 0.0) - law.get(n, 0.0)) < 1e-12 for n in {*mine, *law}), (number, key)
        index = likelihood.domain.unflat(cell)
        before = dict(zip(*map(np.ndarray.tolist, plain_one.distribution(index)), strict=True))
        after = dict(zip(*map(np.ndarray.tolist, found.distribution(index)), strict=True))
        seen += any(abs(after.get(n, 0.0) - chance) > 0.01 for n, chance in before.items())
    assert seen == 3


def test_kept_margins_are_named() -> None:
    table = Table.dense(Domain.of_shape((3, 3, 3)), np.arange(27).reshape(3, 3, 3) + 2)
    method = methods()["cyclic_perturbation"]
    release = method.run(Problem(table), {}, Randomness.seeded(1)).release
    page = public.page_of(release).decode()
    assert "adds up from them: A × B, A × C, B × C" in page and ": - A" not in page


def test_the_page_believes_what_we_believe(node: Node) -> None:
    exact_ones: dict[str, int] = {}
    for number in (*range(6), 15, 16, 17, 20, 26, 30, 31, 32, 35):
        release = release_of(number)
        exact, laws = node.laws(release)
        worst = difference(release, exact, laws)
        assert worst is None or worst < (1e-12 if exact else 1e-6), (number, worst)
        method = release.mechanism.method
        exact_ones[method] = exact_ones.get(method, 0) + (exact and worst is not None)
    known = {"cyclic_perturbation", "random_rounding", "coarsening"}
    assert all(exact_ones[method] >= 3 for method in known), exact_ones


@pytest.mark.parametrize("number", [6, 7, 9])
def test_listed_originals_are_weighed_by_what_is_assumed(node: Node, number: int) -> None:
    release = release_of(number)
    text = public.page_of(release).decode()
    assert '"way":"listed"' in text
    exact, laws = node.laws(release, text)
    worst = difference(release, exact, laws)
    assert exact and worst is not None and worst < 1e-12


def strip_of(number: int, monkeypatch: pytest.MonkeyPatch) -> Release:
    """A low strip whose page has trains: ours goes through all states of a column."""
    monkeypatch.setattr(page_model, "MOST_HELD", 0)
    rng, rule = np.random.default_rng(number), RULES[number % 2]
    counts = rng.poisson(rng.gamma(0.6, 5.0, size=(7, 6) if number % 3 else (4, 8))) + (rule == "any_zero")
    given = {"cycles": "strips", "height": min(counts.shape), "alpha": 0.3, "beta": 0.1, "blocking": rule}
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
    return methods()["cyclic_perturbation"].run(problem, given, Randomness.seeded(number)).release


@pytest.mark.parametrize("number", range(4))
def test_the_page_works_out_strips_as_high_as_their_table(
    node: Node, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = strip_of(number, monkeypatch)
    text = public.page_of(release).decode()
    assert '"way":"strip"' in text
    exact, laws = node.laws(release, text)
    worst = difference(release, exact, laws)
    assert exact and worst is not None and worst < 1e-7
    # A prior that the table contradicts is told apart: nothing is said of it.
    far = node.laws(release, text.replace("<= MOST_ERROR)", "< 0)"), ["uniform"])[1]
    assert all("too far" in str(law["error"]) for law in far["uniform"])


def test_a_fault_among_trains_is_found(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    release = strip_of(0, monkeypatch)
    text = public.page_of(release).decode()
    for right, wrong in (
        ("outside.set(start,x * 9 * go)", "outside.set(start,0)"),
        ("lap.right[bond]", "lap.right[k]"),
        ("law[above - y + REACH] += sum", "law[y - above + REACH] += sum"),
    ):
        assert right in text
        exact, laws = node.laws(release, text.replace(right, wrong))
        failed = any("error" in law for law in laws["uniform"])
        assert failed or (difference(release, exact, laws) or 0.0) > 1e-6


def test_the_page_of_the_default_takes_a_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    counts = rng.poisson(rng.gamma(0.36, 3 / 0.36, size=(12, 10)))
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
    method = methods()["cyclic_perturbation"]
    release = method.run(problem, {}, Randomness.seeded(1)).release
    made = page_model.model_of(release, likelihood_of(release))
    assert made is not None and made["way"] == "strip" and (made["columns"], made["rows"]) == (12, 10)
    # The program looks into the page of a large table no further than its size.
    monkeypatch.setattr(page_model, "TRAIN_CELLS", 100)
    assert page_model.model_of(release, likelihood_of(release)) is None


def without_choice(release: Release) -> tuple[Likelihood, str]:
    """What published sums say one by one, and the page of that: several sums join each cell."""
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, CellFactors)
    alone = plain(likelihood)

    made = page.Page.of(release, {}, alone)
    assert made.model is not None and made.model["way"] == "factors"
    return alone, made.whole(made.model).decode()


@pytest.mark.parametrize("number", [5, 12])
def test_cells_that_several_sums_join(node: Node, number: int) -> None:
    release = protected_by("publish_margins", number, margins="v0 + v1")
    alone, text = without_choice(release)
    exact, laws = node.laws(release, text)
    assert exact
    worst = difference(release, exact, laws, alone)
    assert worst is not None and worst < 1e-12


def test_a_fault_among_sums_is_found(node: Node) -> None:
    release = protected_by("publish_margins", 5, margins="v0 + v1")
    alone, text = without_choice(release)
    right, wrong = ("else if (one.last > n) state.push(holds)", "else if (one.last > n) state.push(0)")
    assert right in text
    exact, laws = node.laws(release, text.replace(right, wrong))
    failed = any("error" in law for law in laws["uniform"])
    assert failed or (difference(release, exact, laws, alone) or 0.0) > 1e-6


@pytest.mark.parametrize(
    ("number", "right", "wrong"),
    [
        (0, "plus <= 0 || minus <= 0 ? 1 : gamma", "plus <= 0 || minus <= 0 ? gamma : gamma"),
        (30, "Math.exp(Math.min(-plus,0))", "Math.exp(Math.min(plus,0))"),
    ],
)
def test_a_fault_in_the_page_is_found(node: Node, number: int, right: str, wrong: str) -> None:
    release = release_of(number)

    text = public.page_of(release).decode()
    assert right in text
    exact, laws = node.laws(release, text.replace(right, wrong))
    assert exact
    if not any("error" in law for law in laws["uniform"]):
        assert (difference(release, exact, laws) or 0.0) > 1e-6


def test_the_same_release_has_the_same_page_and_it_is_small(protected: Protected) -> None:
    made = public.page_of(protected.release)
    assert made == public.files(protected.release)[page.PAGE] == tp.page(protected.release).encode()
    held = re.findall(rb'<script type="application/json"[^>]*>(.*?)</script>', made, re.DOTALL)
    assert len(held) == 2 and len(made) - sum(map(len, held)) < 83_000


def test_nothing_in_the_page_asks_for_anything(protected: Protected) -> None:
    text = public.page_of(protected.release).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert not re.search(r"\son\w+=|\b(fetch|XMLHttpRequest|import|eval)\(|src=|href=", text)
    addresses = set(re.findall(r"https?://[^\"'\s]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_a_title_cannot_leave_its_place(protected: Protected) -> None:
    title = "[[MODEL]]</script><script>alert(1)</script>[[RELEASE]]"
    release = Release(protected.release.tables, protected.release.mechanism, title)
    data = public.to_bytes(release)
    text = public.page_of(release).decode()
    assert text.count("</script>") == 3 and "<script>alert" not in text
    assert verify_bytes(data).checks[-1] == page.MADE_AGAIN


FORGED: list[tuple[bytes, bytes]] = [
    (b"default-src 'none'", b"default-src *"),
    (b"<main id", b"<p>Call us.</p><main id"),
    (b'"counts":[', b'"counts":[9'),
    (b'"alpha":0.25', b'"alpha":0.26'),
]


@pytest.mark.parametrize(("right", "wrong"), FORGED)
def test_a_forged_page_is_refused(protected: Protected, right: bytes, wrong: bytes) -> None:
    files: Files = public.files(protected.release)
    assert verify_bytes(resealed(files)).checks[-1] == page.MADE_AGAIN
    changed = files[page.PAGE].replace(right, wrong, 1)
    assert changed != files[page.PAGE]
    with pytest.raises(BundleError, match=r"page\.html") as error:
        verify_bytes(resealed(files | {page.PAGE: changed}))
    assert error.value.exit_code == 6


def test_a_page_of_another_version_is_not_opened_either(protected: Protected) -> None:
    files: Files = public.files(protected.release)
    changed = files[page.PAGE].replace(b"<main id", b'<main class="v1" id', 1)
    bundle = resealed(files | {page.PAGE: changed})
    held = archive.unpack(bundle, allowed=lambda name: True)
    for by, said in ((b"tabprotect 0.0.7", True), (archive.written_by().encode(), False)):
        here = archive.written_by().encode()
        manifest = held[archive.MANIFEST].replace(here, by)
        with pytest.raises(BundleError) as error:
            verify_bytes(archive.pack(held | {archive.MANIFEST: manifest}))
        assert error.value.exit_code == 6
        assert ("tabprotect 0.0.7" in str(error.value.hint)) == said


def test_last_digits_that_another_processor_works_out_may_differ() -> None:
    release = protected_by("random_rounding", 1, margins="v0:v1")
    files: Files = public.files(release)
    whole = files[page.PAGE].decode()
    log = re.search(r"-\d\.\d{14,}", whole.partition('id="model">')[2])
    assert log
    for by, fine in ((1e-13, True), (1e-5, False)):
        other = whole.replace(log[0], repr(float(log[0]) * (1 + by)))
        assert other != whole
        data = resealed(files | {page.PAGE: other.encode()})
        if fine:
            verify_bytes(data)
        else:
            with pytest.raises(BundleError):
                verify_bytes(data)


@pytest.mark.parametrize(
    ("method", "way", "first"),
    [
        ("cell_key", b'"way":"kept"', rb'"rows":\[\[(\d+)'),
        ("suppression", b'"way":"listed"', rb'"tables":\[\[(\d+)'),
    ],
)
def test_a_posterior_in_a_page_is_worked_out_again_by_who_judges(
    method: str, way: bytes, first: bytes
) -> None:
    given = {"choice": "cheapest"} if method == "suppression" else {"margins": "v0 * v1"}
    release = protected_by(method, 0, **given)
    files: Files = public.files(release)
    whole = files[page.PAGE]
    model = whole.index(b'id="model">')
    found_at = re.compile(first).search(whole, model)
    assert way in whole[model:] and found_at
    at, end = found_at.span(1)
    changed = whole[:at] + b"%d" % (int(found_at[1]) + 5000) + whole[end:]
    found = verify_bytes(resealed(files | {page.PAGE: changed}))
    with pytest.raises(BundleError, match=r"page\.html"):
        with_verdict(found)
    assert with_verdict(verify_bytes(resealed(files))).checks


def test_a_bundle_may_be_without_a_page(tmp_path: Path) -> None:
    out, place = tmp_path / "a.zip", tmp_path / "page.html"
    asked = ["protect", "example:duncan-roehrig-4x4", "--seed", "7", "--out", str(out)]
    assert main([*asked, "--accept-weak", "--no-page"]) == 0
    assert page.PAGE not in archive.unpack(archive.load(out), allowed=lambda name: True)
    assert main(["verify", "--quick", str(out)]) in (0, 7)
    assert main(["page", str(out), "--out", str(place)]) == 0
    assert place.read_text("utf-8") == tp.page(out)


def test_the_scripts_ship_with_the_program() -> None:
    folder = RESOURCES / "page"
    assert all((folder / name).is_file() for name in (*page.SCRIPTS, "page.css", "frame.template"))
