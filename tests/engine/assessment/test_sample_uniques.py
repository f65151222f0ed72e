"""Sample uniques that are population uniques: against populations that are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.assessment.sample_uniques import SampleUniques, sample_uniques
from tabprotect.engine.bundle.staff.release_findings import protection
from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

WIDE = Domain.of_shape((12, 10, 8))


def people(generator: np.random.Generator, *, paired: bool) -> np.ndarray:
    """A population whose variables are independent, or go together in pairs."""
    effects = [np.exp(generator.normal(0, 1, size)) for size in WIDE.shape]
    means = np.einsum("a,b,c->abc", *effects)
    if paired:
        means = means * np.exp(generator.normal(0, 1.8, WIDE.shape[:2]))[:, :, None]
    return generator.poisson(2500 * means / means.sum())


def surveyed(generator: np.random.Generator, population: np.ndarray, share: float) -> np.ndarray:
    return generator.binomial(population, share)


def looked(counts: np.ndarray, share: float) -> SampleUniques:
    return sample_uniques(Table.dense(WIDE, counts.astype(np.int64)), fraction=share)


@pytest.mark.parametrize("paired", [False, True])
def test_estimates_agree_with_known_populations(paired: bool) -> None:
    generator = np.random.default_rng(20)
    share, found, true = 0.2, np.zeros(2), np.zeros(2)
    pairs = []
    for _ in range(40):
        population = people(generator, paired=paired)
        counts = surveyed(generator, population, share)
        uniques = looked(counts, share)
        alone = population[counts == 1]
        assert uniques.number == len(alone)
        found += uniques.population_uniques, uniques.matches
        true += (alone == 1).sum(), (1 / alone).sum()
        pairs.append(len(uniques.pairs))
    assert found == pytest.approx(true, rel=0.12)
    assert np.mean(pairs) < 0.3 if not paired else np.mean(pairs) > 0.6


def test_the_error_of_a_model_that_holds_has_mean_0_and_variance_1() -> None:
    generator = np.random.default_rng(21)
    errors = []
    for _ in range(150):
        counts = surveyed(generator, people(generator, paired=False), 0.25)
        found = looked(counts, 0.25)
        errors.append(found.error)
    # Those that fail are fitted again by pairs, and the model is fitted to what it is tested on.
    assert abs(np.mean(errors)) < 0.35
    assert 0.6 < np.std(errors) < 1.2


def test_everybody_in_the_survey_is_what_the_survey_says() -> None:
    counts = people(np.random.default_rng(3), paired=True)
    found = looked(counts, 1.0)
    assert found.population_uniques == found.number == found.matches == (counts == 1).sum()


def test_weights_say_what_a_share_says() -> None:
    counts = surveyed(np.random.default_rng(4), people(np.random.default_rng(5), paired=True), 0.25)
    table = Table.dense(WIDE, counts.astype(np.int64))
    weights = DesignWeights(Table.dense(WIDE, table.counts * 4 * SCALE), 4 * SCALE, 4 * SCALE)
    by_weights, by_share = sample_uniques(table, weights), sample_uniques(table, fraction=0.25)
    assert by_weights.to_json() == by_share.to_json()


def test_what_is_missing_or_wrong_is_refused() -> None:
    table = Table.dense(Domain.of_shape((2, 2)), [[1, 2], [3, 0]])
    weights = DesignWeights(Table.dense(table.domain, table.counts * SCALE), SCALE // 2, SCALE)
    for given in ({}, {"fraction": 0.0}, {"fraction": 1.5}, {"weights": weights}):
        with pytest.raises(InputError):
            sample_uniques(table, **given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="beside design weights"):
        sample_uniques(table, weights, fraction=0.5)


def test_check_and_compare_say_it_of_records_with_design_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records.csv"
    rows = [(f"r{k % 7}", f"a{k % 5}", f"s{k % 3}", 8) for k in range(90)]
    rows += [("r0", "a1", "s0", 20), ("r6", "a4", "s2", 3)]
    records.write_text("region,age,state,w\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    project = tmp_path / "survey.tabprotect"
    assert main(["tabulate", str(records), "--by", "region,age,state", "--design-weight", "w",
                 "--out", str(project)]) == 0  # fmt: skip
    capsys.readouterr()
    main(["check", str(project), "--threshold", "1", "--json"])
    said = json.loads(capsys.readouterr().out)["sample_uniques"]
    assert said["sample_uniques"] == tp.read_table(str(project)).sample_uniques().number > 0
    assert 0 < said["population_uniques"] < said["right_matches"] < said["sample_uniques"]
    figures = tp.compare(
        tp.read_table(str(project)),
        ["post_randomisation", "cell_key"],
        measures=("population_uniques", "posterior_true"),
        runs=2,
    ).to_frame("dict")
    assert 0 < min(figures["population_uniques"]) <= max(figures["population_uniques"]) < 1
    main(["check", "example:adult-occupations", "--sampled", "0.1", "--threshold", "1"])
    assert "are expected to be alone in the population" in capsys.readouterr().out


def test_the_card_of_a_survey_says_what_both_readers_find_out() -> None:
    """In the window, the dossier and the report alike."""
    domain = Domain.of_shape((3, 3))
    counts = np.array([[9, 1, 4], [6, 7, 1], [8, 5, 6]])
    table = Table.dense(domain, counts)
    weights = DesignWeights(Table.dense(domain, counts * 4 * SCALE), 4 * SCALE, 4 * SCALE)
    method = methods()["random_rounding"]
    problems = Problem(table, weights=weights), Problem(table)
    cards = []
    for problem in problems:
        done = gate.protect(method, problem, {}, Randomness.seeded(1), accept="a test")
        cards.append(protection(done, summarise(done), done.record.verdict).findings)
    said = [one.text for one in cards[0] if one.staff and "alone in a cell of the survey" in one.text]
    assert said == [sample_uniques(table, weights).line()]
    assert "knows that they are in the survey" in said[0] and "one who does not" in said[0]
    assert not any("survey" in one.text for one in cards[1])
