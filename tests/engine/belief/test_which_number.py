"""Which number to use: twenty questions by brute force, over all originals that are possible."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.which_number import LEVEL, Law, Question, best_number, cells_of
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
]


def release_of(method: str, **parameters: object) -> Release:
    return methods()[method].run(Problem(TABLE), parameters, Randomness.seeded(3)).release


def originals(release: Release) -> tuple[Ints, Floats]:
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
