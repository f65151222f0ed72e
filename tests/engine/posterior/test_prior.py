"""Priors: weights, files, and what is said about files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.posterior.prior import CellTable, NegativeBinomial, Poisson, Positive, Uniform
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.tables.domain import Domain

DOMAIN = Domain.of({"sex": ["f", "m"], "town": ["A, inner", "B"]})
VALUES = np.arange(12)


def test_weights_are_the_distributions() -> None:
    means = np.array([0.0, 0.5, 3.0, 12.0])
    keys = np.arange(4)[:, None]
    assert np.allclose(
        np.exp(Poisson(means).log_weight(keys, VALUES)), stats.poisson.pmf(VALUES, means[:, None])
    )
    r = 2.5
    expected = stats.nbinom.pmf(VALUES, r, r / (r + means[:, None]))
    assert np.allclose(np.exp(NegativeBinomial(means, r).log_weight(keys, VALUES)), expected)
    assert Poisson(means).log_weight(0, [0, 1]).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize("prior", [Uniform(), Positive(), Poisson(np.ones(4))])
def test_negative_counts_are_impossible(prior: Uniform | Positive | Poisson) -> None:
    assert (prior.log_weight(1, [-1, -5]) == -np.inf).all()


def test_positive_in_chosen_cells_only() -> None:
    prior = Positive(np.array([2]))
    assert prior.log_weight([1, 2], 0).tolist() == [0.0, -np.inf]
    assert Positive().log_weight([1, 2], 0).tolist() == [-np.inf, -np.inf]


def test_cell_table_against_a_dictionary() -> None:
    rng = np.random.default_rng(0)
    weights = {(int(k), int(v)): float(rng.random()) for k in (3, 70, 2**61) for v in (0, 2, 9)}
    keys, values = map(np.array, zip(*weights, strict=True))
    order = rng.permutation(len(keys))
    prior = CellTable(keys[order], values[order], np.array(list(weights.values()))[order])
    for key in (0, 3, 4, 70, 71, 2**61, 2**61 + 1):
        got = np.exp(prior.log_weight(key, VALUES))
        listed = key in (3, 70, 2**61)
        assert np.allclose(got, [weights.get((key, int(v)), 0.0 if listed else 1.0) for v in VALUES])
    assert np.allclose(prior.distribution(3, VALUES).sum(), 1.0)
    assert prior.distribution(3, [1, 5]).tolist() == [0.0, 0.0]


def test_files(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.csv"
    earlier.write_text('town,sex,count\n"A, inner",f,4.25\n"A, inner",m,0\nB,f,2\nB,m,7e-1\n')
    prior = parse_prior(f"poisson:{earlier}", DOMAIN)
    assert isinstance(prior, Poisson) and prior.means.tolist() == [4.25, 2, 0, 0.7]
    wide = parse_prior(f"negative_binomial(2.5):{earlier}", DOMAIN)
    assert isinstance(wide, NegativeBinomial) and wide.dispersion == 2.5
    table = tmp_path / "table.csv"
    table.write_text("sex,town,count,weight\nm,B,0,1\nm,B,3,0.5\n", encoding="utf-8-sig")
    cells = parse_prior(f"table:{table}", DOMAIN)
    assert np.allclose(cells.distribution(3, [0, 1, 2, 3]), [2 / 3, 0, 0, 1 / 3])
    assert str(tmp_path) not in cells.label
    table.write_text("sex,town,count,weight\nm,B,1.5,1\n")
    with pytest.raises(InputError, match="whole number"):
        parse_prior(f"table:{table}", DOMAIN)
    assert isinstance(parse_prior("uniform", DOMAIN), Uniform)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("sex,town,count\nf,B,2\nm,B\n", 3, "2 fields instead of 3"),
        ("sex,town,count\nf,B,2\nx,B,1\n", 3, "no category 'x'"),
        ("sex,town,count\nf,B,-2\n", 2, "a number from 0 up"),
        ("sex,town,count\nf,B,inf\n", 2, "a number from 0 up"),
        ("sex,town,count\nf,B,many\n", 2, "'many'"),
        ("sex,town,count\nf,B,nan\n", 2, "a number from 0 up"),
        ("sex,town,number\nf,B,2\n", 1, "columns"),
        ("", 1, "columns"),
        ("sex,town,count\n", None, "lists no cell"),
        ("sex,town,count\nf,B,2\n", None, "3 cells are not listed"),
        ("sex,town,count\nf,B,2\nf,B,3\n", 3, "listed twice"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        parse_prior(f"poisson:{path}", DOMAIN)
    assert caught.value.file == str(path) and caught.value.line == line


def test_unusable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        parse_prior(f"poisson:{tmp_path / 'none.csv'}", DOMAIN)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("sex,town,count\nf,Köln,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        parse_prior(f"poisson:{latin}", DOMAIN)
    for text in ("flatter", "poisson:", "uniform:x", "negative_binomial(x):y"):
        with pytest.raises((ParameterError, InputError)):
            parse_prior(text, DOMAIN)
