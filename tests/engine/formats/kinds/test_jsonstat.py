"""JSON-stat: a file of a statistical office, both versions, and faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table


def dataset(**changes: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "class": "dataset",
        "id": ["v", "w"],
        "size": [2, 2],
        "dimension": {
            "v": {"category": {"index": {"b": 1, "a": 0}, "label": {"a": "A", "b": "B"}}},
            "w": {"category": {"index": ["x", "y"]}},
        },
        "value": [1, 2, 3, 4],
    } | changes


def read(tmp_path: Path, given: object, **options: object) -> TableFile:
    path = tmp_path / "t.json"
    path.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
    return read_table(path, Reading.of(options))


OFFICE = {
    "dataset": {
        "dimension": {
            "movement": {
                "label": "movement",
                "category": {
                    "index": {"B": 0, "D": 1, "M": 2},
                    "label": {"B": "Live births", "D": "Deaths", "M": "Marriages"},
                },
            },
            "ContentsCode": {
                "label": "contents",
                "category": {
                    "index": {"H": 0},
                    "label": {"H": "Movements"},
                    "unit": {"H": {"base": "number", "decimals": 0}},
                },
            },
            "Tid": {"label": "time", "category": {"index": {"2024": 0, "2025": 1}}},
            "id": ["movement", "ContentsCode", "Tid"],
            "size": [3, 1, 2],
            "role": {"metric": ["ContentsCode"], "time": ["Tid"]},
        },
        "label": "Movements of the population",
        "source": "an office",
        "updated": "2026-02-10T07:00:00Z",
        "value": [57469, 58430, 54210, 53400, 30100, 29900],
    }
}


def test_a_file_of_a_statistical_office(tmp_path: Path) -> None:
    found = read(tmp_path, OFFICE)
    assert found.table.counts.reshape(-1).tolist() == OFFICE["dataset"]["value"]
    assert found.table.domain.names == ("movement", "Tid")
    assert "was read" in found.notes[0]


def test_both_versions_and_listed_values(tmp_path: Path) -> None:
    one = dataset()
    old = {"dimension": one["dimension"] | {"id": one["id"], "size": ["2", "2"]}, "value": [1, 2, 3, 4]}
    listed = dataset(value={"0": 1, "3": 4, "2": 3.0, "1": 2})
    for given in (one, {"first": old}, listed):
        table = read(tmp_path, given).table
        assert table.domain["v"].categories == ("a", "b")
        assert table.counts.tolist() == [[1, 2], [3, 4]]
    assert "first of 2" in read(tmp_path, {"a": old, "b": old}).notes[0]
    assert read(tmp_path, dataset(value={"0": 1, "3": 4})).table.counts.tolist() == [[1, 0], [0, 4]]


def test_missing_values(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty") as caught:
        read(tmp_path, dataset(value=[1, 2, None, 4]))
    assert caught.value.cell == "(b, x)" and "--missing zero" in caught.value.hint
    found = read(tmp_path, dataset(value=[1, 2, None, 4]), fill_missing=True)
    assert found.table.counts.tolist() == [[1, 2], [0, 4]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (dataset(value=[1, 2, 3]), "4 values"),
        (dataset(value=[1, 2, 3, 2.5]), "not a whole number"),
        (dataset(value=[1, 2, 3, -1]), "negative"),
        (dataset(value=[1, 2, 3, True]), "not a number"),
        (dataset(value=[1, 2, 3, 2**63]), "9.2e18"),
        (dataset(value={"4": 1}), "outside"),
        (dataset(value={"x": 1}), "not numbered"),
        (dataset(value={"1": 1, "01": 2}), "twice"),
        (dataset(value="1234"), "4 values"),
        (dataset(size=[2, 3]), "sizes"),
        (dataset(size=None), "sizes"),
        (dataset(id=None), "not named"),
        (dataset(id=["v", "u"]), "not a JSON object"),
        (dataset(dimension=[]), "not a JSON object"),
        (dataset(role={"metric": ["w"]}), "2 measures"),
        ({"version": "2.0", "class": "collection"}, "no JSON-stat"),
        ([1], "not a JSON object"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_faults(tmp_path: Path, given: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, given)
    assert caught.value.hint and caught.value.file == str(tmp_path / "t.json")


def test_categories_numbered_wrongly(tmp_path: Path) -> None:
    for index in ({"a": 0, "b": 2}, {"a": 0, "b": 0}, {"a": 0, "b": "2"}, [1, 2], []):
        given = dataset()
        given["dimension"]["v"]["category"]["index"] = index
        with pytest.raises(InputError, match=r"not numbered|not named"):
            read(tmp_path, given)


def test_labels_measures_and_collections(tmp_path: Path) -> None:
    assert read(tmp_path, dataset(), labels=True).table.domain["v"].categories == ("A", "B")
    several = dataset(role={"metric": ["w"]})
    with pytest.raises(InputError, match="2 measures: x, y") as caught:
        read(tmp_path, several)
    assert "--count" in caught.value.hint
    found = read(tmp_path, several, count="y").table
    assert found.domain.names == ("v",) and found.counts.tolist() == [2, 4]
    whole = {"class": "collection", "link": {"item": [dataset()]}}
    assert read(tmp_path, whole).table.total == 10
    whole["link"] = {"item": [{"class": "dataset", "href": "elsewhere"}]}
    with pytest.raises(InputError, match="no JSON-stat dataset but a collection"):
        read(tmp_path, whole)


@pytest.mark.parametrize("status", [{"1": "c"}, [None, "c", None, None], {"1": ":c"}, {"1": ": c"}])
def test_the_status_says_why_a_value_is_null(tmp_path: Path, status: object) -> None:
    given = dataset(value=[1, None, 3, 4], status=status)
    with pytest.raises(InputError, match=r"suppressed \(status (: ?)?c\)") as caught:
        read(tmp_path, given)
    assert caught.value.cell == "(a, y)"
    mark = "c" if status in ({"1": "c"}, [None, "c", None, None]) else ":c"
    if status != {"1": ": c"}:
        assert read(tmp_path, given, marks=f"{mark}=structural").table.total == 8


def test_numbers_written_as_texts(tmp_path: Path) -> None:
    given = dataset(size=["2", "2"])
    given["dimension"]["v"]["category"]["index"] = {"b": "1", "a": "0"}
    found = read(tmp_path, given).table
    assert found.domain["v"].categories == ("a", "b") and found.counts.tolist() == [[1, 2], [3, 4]]


def test_sizes_of_1_may_be_left_out(tmp_path: Path) -> None:
    given = dataset(size=[2])
    given["dimension"]["w"] = {"category": {"label": {"x": "X"}}}
    given["value"] = [1, 2]
    assert read(tmp_path, given).table.domain.shape == (2, 1)
