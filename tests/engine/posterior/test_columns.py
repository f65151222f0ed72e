"""A posterior by columns says of every cell what the posterior says of it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import duckdb
import numpy as np
import pytest
from compiled_again import built

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


@pytest.mark.parametrize("room", [1, 700, 1 << 20])
@pytest.mark.parametrize("cells", [range(12), [7], [3, 3, 11, 0]])
def test_json_in_pieces_is_the_json_of_the_cells(
    posterior: Posterior, cells: list[int], room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "AT_ONCE", 5)
    monkeypatch.setattr(columns, "BUFFER", room)
    text = "[" + "".join(cells_json(posterior, np.array(list(cells)))) + "]"
    assert text == json.dumps([one_by_one(posterior, key) for key in cells])


def written(posterior: Posterior, cells: Ints, form: str) -> bytes:
    return b"".join(named(form).figures(posterior_figures(posterior, cells)))


def numbers_written(module: ModuleType, numbers: Sequence[float]) -> list[str]:
    """The numbers as the compiled form writes the means of as many cells."""
    size = len(numbers)
    none, means = np.zeros(size, dtype=np.int64), np.array(numbers)
    room = np.empty(400 * size, dtype=np.uint8)
    done, length = module.written(
        *(size, 0, 1, columns.NOTHING, b"", np.zeros(2, dtype=np.int64)),
        *(np.zeros((size, 4), dtype=np.int64), none, means, none, none, none),
        *(np.zeros((1, 1)), columns._powers_of_ten(), room),
    )
    assert done == size
    cells = str(room[:length].data, "ascii").split('"mean": ')[1:]
    return [cell.split(",")[0] for cell in cells]


def awkward_numbers() -> list[float]:
    """Every power of two and its neighbours, short decimals, and bits taken by chance."""
    random = np.random.default_rng(3)
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    bits = random.integers(0x7FF << 52, size=20_000, dtype=np.uint64).view(np.float64)
    short = [float(f"{m}e{e}") for m in (1, 25, 9007199254740993) for e in range(-330, 293)]
    chances = random.random(20_000)
    return [
        *np.concatenate([powers, -powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)]),
        *np.concatenate([bits, chances, chances**9, np.round(chances, 3), np.arange(5000) / 8]),
        *(*short, 0.0, -0.0, 1e15, 1e16, 1e-4, 1e-5, 123456789012345680.0),
    ]


def test_numbers_are_written_as_python_writes_them() -> None:
    numbers = list(map(float, awkward_numbers()))
    assert numbers_written(columns.cell_texts, numbers) == list(map(repr, numbers))


def test_without_numbers_of_128_bits_the_same_is_written(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no compiler here")
    narrow = built(Path(columns.__file__).with_name("cell_texts.c"), "NARROW", tmp_path)
    numbers = list(map(float, awkward_numbers()))
    assert numbers_written(narrow, numbers) == list(map(repr, numbers))


@pytest.mark.parametrize("low", [-3, 10**15])
def test_counts_below_0_and_large_ones_are_written(low: int) -> None:
    domain = Domain.of({"a": ["1", "2"]})
    found = Posterior(
        published=Table.dense(domain, np.array([low, low + 1])),
        prior=believed(ODD, "random_rounding").prior,
        way="exact",
        reason="",
        group_of_cell=np.array([1, 0]),
        first=np.array([low, low]),
        chances=np.array([[0.25, 0.0, 0.75], [1e-9, 1 - 1e-9, 0.0]]),
        draw_originals=lambda number, generator, progress: np.zeros((number, 2), dtype=np.int64),
        count_originals=lambda: 2,
        hidden=np.array([False, True]),
    )
    text = "[" + "".join(cells_json(found, np.arange(2))) + "]"
    assert text == json.dumps([one_by_one(found, key) for key in range(2)])


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
    assert written(nothing, np.array([0]), "csv").splitlines()[1:] == [b"4,3.5,4,3,0.5", b"4,3.5,4,4,0.5"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_have_a_row_for_each_cell_and_count(posterior: Posterior, form: str, tmp_path: Path) -> None:
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


def test_limits_are_asked_before_the_work(posterior: Posterior, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "COLUMNS_ROWS", 12)
    with pytest.raises(TooLargeError, match="rows, one for each cell and possible count"):
        PosteriorColumns.of(posterior, np.arange(12))


def test_a_variable_may_not_be_called_like_a_figure() -> None:
    clash = believed(Domain.of({"Mode": ["1", "2"], "b": ["1", "2"]}), "random_rounding")
    with pytest.raises(InputError, match="'mode'"):
        posterior_figures(clash, np.arange(4))
