"""Any sub-table of records, with noise by cell keys: consistent, refused by what is public, never undone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_server import QUICK, Serve

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.fitting.margin_variance import LeastLeft
from tabprotect.engine.query_space.keyed_answers import LEAST
from tabprotect.server.application import started
from tabprotect.server.service import RuleChoice, Service, TableSource

NAMES = ("area", "age", "sex", "work")
SHAPE = (6, 5, 2, 8)


def people(path: Path, number: int = 3000) -> np.ndarray:
    """Records of which all in area 5 are of age 0, with keys; their codes, (4, records)."""
    rng = np.random.default_rng(7)
    codes = np.stack([rng.integers(0, size, number) for size in SHAPE])
    codes[1, codes[0] == 5] = 0
    table = dict(zip(NAMES, codes, strict=True)) | {"key": rng.random(number)}
    pq.write_table(pa.table(table), path)
    return codes


def keyed(path: Path, **parameters: object) -> Service:
    given = {"D": 5, "V": 4.0, "js": 0, **parameters}
    return Service(
        table=TableSource(str(path), "people", "people", NAMES, record_key="key"),
        rule=RuleChoice("cell_keys", given),
        limits=QUICK,
    )


def put_together(shape: tuple[int, ...], tables: Iterable[object], variance: float) -> LeastLeft:
    left = LeastLeft(np.array(shape), variance)
    for table in tables:
        left = left.and_one(np.array(table))
    return left


def least_deviation(shape: tuple[int, ...], tables: np.ndarray, variance: float) -> float:
    return float(put_together(shape, tables, variance).deviations()[1].min())


def counted(codes: np.ndarray, *axes: int) -> np.ndarray:
    found = np.zeros([SHAPE[a] for a in axes], dtype=int)
    np.add.at(found, tuple(codes[a] for a in axes), 1)
    return found


def test_every_answer_has_noise_that_its_records_decide(serve: Serve, tmp_path: Path) -> None:
    codes = people(tmp_path / "people.parquet")
    service = keyed(tmp_path / "people.parquet")
    client = serve(service)
    answers = {}
    for axes in ((0, 1), (0,), (0, 2), (0, 1, 2)):
        said = client.ask(*(NAMES[a] for a in axes)).json()
        assert (said["decision"], said["code"]) == ("perturb", "perturbed")
        answers[axes] = np.array(said["answer"]["data"]["value"]).reshape([SHAPE[a] for a in axes])
        true = counted(codes, *axes)
        off = answers[axes] - true
        assert np.abs(off).max() <= 5 and off.any() and not answers[axes][true == 0].any()
        release = verify_bytes(client.get(f"/bundles/{said['answer']['bundle']}").content).release
        assert release.mechanism.method == "cell_key" and (release.table.counts == answers[axes]).all()
        assert str(true.ravel().tolist()) not in str(said)
    # The same records: the whole of area 5, in two tables.
    assert answers[0, 1][5, 0] == answers[(0,)][5]
    assert (answers[0, 1, 2][5, 0] == answers[0, 2][5]).all()
    # Whoever asks, and whatever was asked before.
    other = serve(service).ask("area").json()["answer"]
    assert other["data"]["value"] == answers[(0,)].tolist()
    # No sum of an answer is taken for another answer.
    assert client.ask("age").json()["answer"]["data"]["value"] != answers[0, 1].sum(axis=0).tolist()


def test_groups_and_filters_are_taken_from_the_table_that_was_decided_on(
    serve: Serve, tmp_path: Path
) -> None:
    people(tmp_path / "people.parquet")
    client = serve(keyed(tmp_path / "people.parquet"))

    def data(*names: str, filters: tuple[str, ...] = ()) -> tuple[list[str], np.ndarray]:
        said = client.ask(*names, filter=list(filters)).json()
        assert said["code"] == "perturbed", said
        of = said["answer"]["data"]
        return of["id"], np.array(of["value"]).reshape(of["size"])

    whole = data("area", "age", "sex")[1]
    named, found = data("area", "age", filters=("sex=1", "area:north=0,2", "area:coast=5"))
    assert named == ["area", "age"]
    assert (found == np.stack([whole[[0, 2], :, 1].sum(axis=0), whole[5, :, 1]])).all()
    named, found = data("age", filters=("sex=0,1", "area=3", "age=1,4"))
    assert named == ["age"] and (found == whole[3].sum(axis=1)[[1, 4]]).all()
    # Nobody had to decide on more than the whole: all of it is one answer.
    assert len(client.get("/tables/people/frontier").json()["released"]) <= 1
    for filters, words in (
        (("work:x=1",), "not of an asked variable"),
        (("area:x=1,2", "area:y=2"), "the same category"),
        (("area:x=1", "area=2"), "two filters"),
        (("sex=1", "sex=0"), "two filters"),
    ):
        said = client.ask("area", "age", filter=list(filters))
        assert said.status_code == 400 and words in said.json()["detail"]


def test_refusals_are_functions_of_what_would_have_been_published(serve: Serve, tmp_path: Path) -> None:
    people(tmp_path / "people.parquet")
    for parameters, asked, reason in (
        ({"mean": 20.0}, NAMES, "too small on average"),
        ({"empty": 0.05}, ("area", "age"), "too many of its cells are empty"),
        # Four in five of area 5 alone are empty.
        ({"empty": 0.5, "slices": "area"}, ("area", "age"), "too many of its cells are empty"),
    ):
        client = serve(keyed(tmp_path / "people.parquet", **parameters))
        said = client.ask(*asked)
        assert said.json()["code"] == "not_released" and reason in said.json()["detail"]
        assert not any(ch.isdigit() for ch in said.json()["detail"])
        assert client.ask("sex").status_code == 201
    whole = serve(keyed(tmp_path / "people.parquet", empty=0.5))
    assert whole.ask("area", "age").status_code == 201


def test_answers_never_undo_the_noise_of_small_counts(serve: Serve, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    names = tuple(f"v{k}" for k in range(6))
    columns: dict[str, object] = {name: (rng.random(4000) < 0.25).astype(int) for name in names}
    pq.write_table(pa.table(columns | {"key": rng.random(4000)}), tmp_path / "r.parquet")
    service = Service(
        table=TableSource(str(tmp_path / "r.parquet"), "r", "r", names, record_key="key"),
        rule=RuleChoice("cell_keys", {"D": 5, "V": 2.5, "js": 0}),
        limits=QUICK,
    )
    client = serve(service)
    out, small, refused = [], [], []
    for size in (6, 5, 4, 3, 2, 1):
        for asked in combinations(range(6), size):
            said = client.ask(*(names[a] for a in asked)).json()
            if said["code"] == "perturbed":
                out.append([k in asked for k in range(6)])
                # What is 1 or 2 is 7 at most with the noise.
                small.append(min(said["answer"]["data"]["value"]) <= 7)
            else:
                assert "undo the noise" in said["detail"]
                refused.append(np.isin(range(6), asked))
    assert 1 < len(out) < 63

    def left(*others: np.ndarray) -> float:
        tables, found = put_together((2,) * 6, [*out, *others], 2.5).deviations()
        return min(one for one, table in zip(found, tables.tolist(), strict=True) if table in at_risk)

    at_risk = [one for one, risky in zip(out, small, strict=True) if risky]
    assert len(at_risk) < len(out) and left() >= LEAST
    # Nothing was refused that would not have undone the noise of a small count.
    assert all(left(one) < LEAST for one in refused)
    # What nobody is alone in may be known.
    assert least_deviation((2,) * 6, np.array(out), 2.5) < LEAST


def test_what_is_left_is_the_variance_of_least_squares() -> None:
    rng = np.random.default_rng(5)
    shape = (2, 3, 2)
    cells = np.arange(12).reshape(shape)
    for _ in range(20):
        tables = rng.random((rng.integers(1, 6), 3)) < 0.6
        tables = tables[tables.any(axis=1)]
        if not len(tables):
            continue
        rows = []
        for held in tables:
            axes = tuple(int(a) for a in np.flatnonzero(~held))
            moved = np.moveaxis(cells, axes, range(-len(axes), 0)) if axes else cells[..., None]
            for members in moved.reshape(-1, int(np.prod([shape[a] for a in axes], dtype=int))):
                rows.append(np.isin(np.arange(12), members).astype(float))
        design = np.array(rows)
        cover = np.linalg.pinv(design.T @ design / 2.5)
        left = np.sqrt([row @ cover @ row for row in design]).min()
        assert least_deviation(shape, tables, 2.5) == pytest.approx(left, rel=1e-9)


def test_what_cannot_be_answered_so_is_refused_at_the_start(tmp_path: Path) -> None:
    people(tmp_path / "people.parquet")
    path, url = str(tmp_path / "people.parquet"), str(tmp_path / "h.sqlite")
    with pytest.raises(InputError, match="answers from records with keys"):
        started(Service(table=TableSource(path, variables=NAMES), rule=RuleChoice("cell_keys")), url)
    with pytest.raises(InputError, match="by the rule cell_keys alone"):
        started(Service(table=TableSource(path, variables=NAMES, record_key="key")), url)
    with pytest.raises(ParameterError, match="nothing is answered"):
        started(keyed(tmp_path / "people.parquet", V=0.5), url)
    with pytest.raises(InfeasibleError):
        started(keyed(tmp_path / "people.parquet", V=1.4, js=2), url)
    with pytest.raises(ParameterError, match="at least 5"):
        started(keyed(tmp_path / "people.parquet", D=4), url)
