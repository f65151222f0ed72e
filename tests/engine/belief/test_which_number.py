"""Which number to use: twenty questions by brute force, over all originals that are possible."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.which_number import LEVEL, Law, Originals, Question, best_number, cells_of
from tabprotect.engine.bundle import public
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

DOMAIN = Domain.of({"v": ["a", "b"], "w": ["x", "y", "z"]})
TABLE = Table.dense(DOMAIN, np.array([[7, 2, 4], [3, 5, 9]]))

QUESTIONS = [
    "v=a",
    "v=b; w=y",
    "w=x,y",
    "v=a; w=x + v=b; w=z",
    "v=a - v=b",
    "v=a; w=x - v=b; w=x",
    "w=x - w=z",
    "v=a; w=x / v=a",
    "w=x,y / v=a,b",
    "v=b / v=a",
    "v=a; w=x",
    "w=z",
    "v=a; w=y,z",
    "v=b; w=x + v=a; w=y + v=a; w=z",
    "v=a; w=y - v=b; w=z",
    "v=a; w=x,y - v=b; w=x,y",
    "w=x - v=a",
    "w=z / v=a,b",
    "v=a; w=x + v=b; w=z / v=a,b",
    "v=b; w=z / v=b",
]


def release_of(method: str, **parameters: object) -> Release:
    return methods()[method].run(Problem(TABLE), parameters, Randomness.seeded(3)).release


KNOWN: dict[str, tuple[Ints, Floats]] = {}


def originals(release: Release) -> tuple[Ints, Floats]:
    """The originals of a release with their chances, worked out once."""
    key = json.dumps([release.mechanism.as_json(), release.table.counts.tolist()], default=str)
    if key not in KNOWN:
        KNOWN[key] = _originals(release)
    return KNOWN[key]


def _originals(release: Release) -> tuple[Ints, Floats]:
    """Every table of counts up to 12, weighed by the release's own likelihood: nothing of the engine's search."""
    posterior = believe([release]).posterior
    spans = [posterior.distribution(DOMAIN.unflat(cell))[0].tolist() for cell in range(DOMAIN.size)]
    tables = np.array([*itertools.product(*spans)])
    if release.mechanism.method == "random_rounding":
        weight = np.ones(len(tables))
        for one in release.tables:
            axes = tuple(k + 1 for k, name in enumerate(DOMAIN.names) if name not in one.table.domain.names)
            sums = tables.reshape(-1, *DOMAIN.shape).sum(axis=axes).reshape(len(tables), -1)
            # Unbiased rounding to base 3 goes to n with chance 1 - |n - m| / 3.
            weight *= np.maximum(0, 1 - np.abs(sums - one.table.counts.reshape(-1)) / 3).prod(axis=1)
        return tables, weight / weight.sum()
    found = posterior.list_originals()
    assert found is not None
    return found


def by_hand(release: Release, text: str) -> tuple[float, float, float]:
    tables, chances = originals(release)
    question = Question.parse(text)
    one = tables[:, cells_of(DOMAIN, question.cells)].sum(axis=1)
    values = one.astype(float)
    if question.other:
        two = tables[:, cells_of(DOMAIN, question.other)].sum(axis=1)
        values = one - two if question.kind == "difference" else one / two
    values = np.round(values, 12)
    mean = float(values @ chances)
    support = np.unique(values[chances > 0])
    weight = np.array([chances[values == one].sum() for one in support])
    runs = [
        (round(float(support[b] - support[a]), 12), -round(weight[a : b + 1].sum(), 12), a, b)
        for a in range(len(support))
        for b in range(a, len(support))
        if weight[a : b + 1].sum() >= LEVEL - 1e-9
    ]
    _, _, a, b = min(runs)
    return mean, float(support[a]), float(support[b])


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize(
    ("method", "parameters"), [("cyclic_perturbation", {}), ("random_rounding", {"base": 3})]
)
def test_twenty_questions(method: str, parameters: dict[str, object], text: str) -> None:
    release = release_of(method, **parameters)
    found = best_number(
        believe([release]).posterior, Question.parse(text), release=release, randomness=Randomness.seeded(1)
    )
    mean, low, high = by_hand(release, text)
    if not found.draws:
        assert (found.estimate, found.low, found.high) == pytest.approx((mean, low, high))
        return
    # A drawn answer says so, and by how much it may be off.
    assert abs(found.estimate - mean) <= 5 * found.error + 1e-9 and "standard error" in found.text
    assert found.kind != "sum"


def test_a_total_with_noise_of_its_own_and_its_parts_are_best_together() -> None:
    release = release_of("random_rounding", base=3)
    found = best_number(believe([release]).posterior, Question.parse("v=a"), release=release)
    total, parts, both = found.sources
    margin = next(one for one in release.tables if one.table.domain.names == ("v",))
    assert total.published == margin.table.counts[0] and parts.published == release.table.counts[0].sum()
    # Noise of variance V: the total V, the sum of three parts 3 V, both 3 V / 4.
    assert (parts.variance, both.variance) == pytest.approx((3 * total.variance, 0.75 * total.variance))
    assert both.estimate == pytest.approx((3 * total.estimate + parts.estimate) / 4)
    # The estimate takes in all published numbers, and what follows from them being whole.
    tables, chances = originals(release)
    sums = tables[:, :3].sum(axis=1)
    assert (found.estimate, found.variance) == pytest.approx(
        (float(chances @ sums), float(chances @ (sums - chances @ sums) ** 2))
    )
    assert found.variance < both.variance and "use both" in found.text


def test_a_total_that_the_posterior_leaves_out_is_taken_in() -> None:
    parts = Law.of(np.array([3, 4, 5, 6]), np.array([0.1, 0.4, 0.4, 0.1]))
    total = Law.of(np.array([5, 6, 7]), np.array([0.25, 0.5, 0.25]))
    both = parts.both(total)
    assert both.values.tolist() == [5, 6]
    assert both.chances.tolist() == pytest.approx([0.1 / 0.15, 0.05 / 0.15])


def test_noise_of_one_variance_leaves_what_the_rule_says() -> None:
    """V on each of n parts and on the total: n V, V, together V n / (n + 1)."""
    reach = np.arange(-60, 61)
    law = Law.of(reach, np.exp(-(reach**2) / 32) / np.exp(-(reach**2) / 32).sum())
    for number in (2, 5):
        chances = np.array([1.0])
        for _ in range(number):
            chances = np.convolve(chances, law.chances)
        parts = Law.of(np.arange(len(chances)) - len(chances) // 2, chances)
        assert parts.variance == pytest.approx(number * law.variance, rel=1e-6)
        assert parts.both(law).variance == pytest.approx(law.variance * number / (number + 1), rel=1e-3)


def moved_law(release: Release, cells: Ints) -> Floats:
    """The law of a sum of cells behind records that moved, from 0 up, every table being as likely.

    Records of cell i make the polynomial (sum_j p_ij x_j)^n: added up over all tables with a sum, these are
    complete homogeneous symmetric polynomials, of which the published table picks one coefficient.
    """
    published = release.table.counts.reshape(-1)
    stated = release.mechanism.parameters["transition"]
    assert isinstance(stated, dict)
    chances = np.ones((1, 1))
    for matrix in stated.values():
        chances = np.kron(chances, np.array(matrix))
    total, shape = int(published.sum()), tuple(published + 1)

    def added_up(some: Ints) -> Floats:
        found = np.zeros((total + 1, *shape))
        found[(0,) * found.ndim] = 1
        for cell in some.tolist():
            for number in range(1, total + 1):
                for to in range(len(shape)):
                    below = found[number - 1].swapaxes(0, to)[:-1]
                    found[number].swapaxes(0, to)[1:] += chances[cell, to] * below
        return found

    one, rest = added_up(cells), added_up(np.setdiff1d(np.arange(len(published)), cells))
    picked = tuple(slice(None, None, -1) for _ in shape)
    weights = np.array([(one[k] * rest[total - k][picked]).sum() for k in range(total + 1)])
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("text", ["v=a", "w=x,y"])
def test_sums_behind_moved_records_are_off_by_no_more_than_is_said(text: str) -> None:
    release = release_of("post_randomisation")
    posterior = believe([release]).posterior
    law = moved_law(release, cells_of(DOMAIN, Question.parse(text).cells))
    mean = float(law @ np.arange(len(law)))
    found = best_number(posterior, Question.parse(text), release=release)
    assert found.error > 0 and abs(found.estimate - mean) <= 4 * found.error
    assert found.variance == pytest.approx(float(law @ (np.arange(len(law)) - mean) ** 2), rel=0.1)


def test_what_chains_drew_is_worth_what_runs_of_it_say() -> None:
    """Of a figure of which each value is .95 of the one before, n are worth n (1 - .95) / (1 + .95)."""
    generator, number = np.random.default_rng(4), 64_000
    slow, fast = np.zeros(number), generator.normal(size=number)
    for k in range(1, number):
        slow[k] = 0.95 * slow[k - 1] + fast[k]
    tables = np.rint(10 * np.stack([slow, fast], axis=1)).astype(np.int64)
    drawn = Originals(tables, np.full(number, 1 / number), number, in_order=True)
    assert drawn.law(tables[:, 0]).draws == pytest.approx(number * 0.05 / 1.95, rel=0.6)
    assert drawn.law(tables[:, 1]).draws > number / 3
    assert drawn.least_worth(Domain.of({"v": ["a", "b"]})) == drawn.law(tables[:, 0]).draws
    assert replace(drawn, in_order=False).law(tables[:, 0]).draws == number


def test_the_command_answers_them_from_the_bundle_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = release_of("random_rounding", base=3)
    public.write(release, tmp_path / "r.zip")
    belief = tp.infer(tp.open_release(tmp_path / "r.zip"))
    for text in QUESTIONS:
        assert main(["infer", str(tmp_path / "r.zip"), "--of", text, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["estimate"], said["low"], said["high"]) == pytest.approx(by_hand(release, text)), text
        assert said == json.loads(json.dumps(belief.sum(text).as_json()))


def test_library_and_command_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tp.protect(tp.read_table("example:duncan-roehrig-4x4"), seed=7, accept="a test")
    done.publish(tmp_path / "r.zip", accept="a test")
    belief = tp.infer(tp.open_release(tmp_path / "r.zip"))
    assert main(["infer", str(tmp_path / "r.zip"), "--of", "v=v1; w=w1,w2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads(json.dumps(belief.sum(v="v1", w=["w1", "w2"]).as_json()))
    asked = belief.sum(v="v1", w=["w1", "w2"])
    assert asked == belief.sum("v=v1; w=w1,w2") == belief.sum({"v": "v1", "w": ["w1", "w2"]})
    assert belief.sum("v=v1; w=w1 - v=v2; w=w1") == belief.sum(v="v1", w="w1", minus="v=v2; w=w1")
    share = belief.sum(v="v1", w="w1", over={"v": "v1"})
    assert share.kind == "share" and share.draws == 0 and 0 <= share.low <= share.high <= 1
    for text, fault in (("v=v1 - w", ParameterError), ("v=zz", InputError), ("q=v1", InputError)):
        with pytest.raises(fault):
            belief.sum(text)
    with pytest.raises(ParameterError, match="may be 0"):
        belief.sum("v=v1 / v=v1; w=w2")
