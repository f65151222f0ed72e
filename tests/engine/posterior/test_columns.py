"""A posterior by columns says of every cell what the posterior says of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError, TooLargeError
from tabprotect.engine.formats.registered import named
from tabprotect.engine.posterior import columns
from tabprotect.engine.posterior.columns import PosteriorColumns, cells_json
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.posterior_file import FIGURES, posterior_figures
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def believed(domain: Domain, method: str, **given: object) -> Posterior:
    counts = np.random.default_rng(4).poisson(3, domain.shape)
    done = methods()[method].run(Problem(Table.dense(domain, counts)), given, Randomness.seeded(5))
    return infer(likelihood_of(done.release))


ODD = Domain.of({"a": ["x,1", 'the "old"', " y"], "b": ["1", "ü", "line\nbreak", "4"]})


@pytest.fixture(scope="module", params=["cyclic_perturbation", "suppression", "random_rounding"])
def posterior(request: pytest.FixtureRequest) -> Posterior:
    return believed(ODD, request.param)


def one_by_one(posterior: Posterior, key: int) -> dict[str, object]:
    index = posterior.domain.unflat(key)
    values, chances = posterior.distribution(index)
    return {
        "index": list(index),
        "labels": list(posterior.domain.labels(index)),
        "published": posterior.published_count(index),
        "mean": float(posterior.mean[index]),
        "mode": int(posterior.mode[index]),
        "distribution": {str(v): p for v, p in zip(values.tolist(), chances.tolist(), strict=True)},
    }


@pytest.mark.parametrize("cells", [range(12), [7], [3, 3, 11, 0]])
def test_json_in_pieces_is_the_json_of_the_cells(
    posterior: Posterior, cells: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "AT_ONCE", 5)
    text = "[" + "".join(cells_json(posterior, np.array(list(cells)))) + "]"
    assert text == json.dumps([one_by_one(posterior, key) for key in cells])


def written(posterior: Posterior, cells: Ints, form: str) -> bytes:
    return b"".join(named(form).figures(posterior_figures(posterior, cells)))


def test_a_table_of_nothing_but_a_total_has_one_cell() -> None:
    domain = Domain(())
    nothing = Posterior(
        published=Table.dense(domain, np.array(4)),
        prior=believed(ODD, "random_rounding").prior,
        way="exact",
        reason="",
        group_of_cell=np.zeros(1, dtype=np.int64),
        first=np.array([3]),
        chances=np.array([[0.5, 0.5]]),
        draw_originals=lambda number, generator, progress: np.zeros((number, 1), dtype=np.int64),
        count_originals=lambda: 2,
    )
    (found,) = json.loads("[" + "".join(cells_json(nothing, np.array([0]))) + "]")
    assert found["index"] == [] and found["distribution"] == {"3": 0.5, "4": 0.5}
    assert written(nothing, np.array([0]), "csv").splitlines()[1:] == [
        b"4,3.5,4,3,0.5",
        b"4,3.5,4,4,0.5",
    ]


def test_cells_that_are_alike_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No object for a cell: as many texts as there are different beliefs."""
    posterior = believed(Domain.of_shape((60, 70)), "random_rounding", margins="A:B")
    written = []
    texts = columns._texts

    def watched(rows: PosteriorColumns) -> list[str]:
        written.append(len(np.unique(rows.cells)))
        return texts(rows)

    monkeypatch.setattr(columns, "_texts", watched)
    found = json.loads("[" + "".join(cells_json(posterior, np.arange(4200))) + "]")
    assert len(found) == 4200 and sum(written) == len(np.unique(posterior.published.counts)) < 8


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_have_a_row_for_each_cell_and_count(
    posterior: Posterior, form: str, tmp_path: Path
) -> None:
    data = written(posterior, np.arange(12), form)
    if form == "csv":
        header, *rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    else:
        path = tmp_path / "p.parquet"
        path.write_bytes(data)
        read = duckdb.read_parquet(str(path))
        header, rows = read.columns, [list(row) for row in read.fetchall()]
    assert header == ["a", "b", *FIGURES]
    expected = [
        (*cell["labels"], cell["published"], cell["mean"], cell["mode"], int(value), chance)
        for cell in (one_by_one(posterior, key) for key in range(12))
        for value, chance in cell["distribution"].items()  # type: ignore[attr-defined]
    ]
    found = [
        (a, b, None if p in ("", None) else int(p), float(mean), int(mode), int(v), float(c))
        for a, b, p, mean, mode, v, c in rows
    ]
    assert found == expected


def test_limits_are_asked_before_the_work(
    posterior: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "COLUMNS_ROWS", 12)
    with pytest.raises(TooLargeError, match="rows, one for each cell and possible count"):
        PosteriorColumns.of(posterior, np.arange(12))


def test_a_variable_may_not_be_called_like_a_figure() -> None:
    clash = believed(Domain.of({"Mode": ["1", "2"], "b": ["1", "2"]}), "random_rounding")
    with pytest.raises(InputError, match="'mode'"):
        posterior_figures(clash, np.arange(4))
