"""Files of statistical offices as they were published (tests/reference/README.md says where).

Each opens right, or asks one question after the other until it does, or is refused rightly.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table

FILES = Path(__file__).parents[2] / "reference" / "formats"
ANSWERED = {"marks": "blank=missing", "totals": "none", "fill_missing": True}
TOTALS = ("totals are mixed", {"totals": "auto"})


def answered(name: str, *dialogue: tuple[str, dict[str, object]]) -> TableFile:
    """The table, after each question and its answer."""
    given: dict[str, object] = {}
    for question, answer in dialogue:
        with pytest.raises(InputError, match=question) as caught:
            read_table(FILES / name, Reading.of(given))
        assert caught.value.hint
        given |= answer
    return read_table(FILES / name, Reading.of(given))


def test_marriages_in_spain() -> None:
    dots = (r"'\.\.' is not a number", {"marks": "..=zero"})
    found = answered("14001.px", dots, TOTALS)
    assert found.table.domain.shape == (20, 47, 2, 3) and found.table.total == 325_486
    assert "2424 totals" in "".join(found.notes)
    said = read_table(FILES / "14001.px", Reading.of({"marks": "..=zero", "totals": "auto", "labels": True}))
    assert said.table.domain.variables[0].categories[0] == "Andalucía"
    assert (said.table.counts == found.table.counts).all()


@pytest.mark.parametrize(
    ("name", "words"), [("27067.px", r"'\.\.' is not"), ("us-employment.csv", "'5840.4' is not a whole")]
)
def test_rates_and_indices_are_no_counts(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_table(FILES / name)
    with pytest.raises(InputError, match="not a whole number"):
        read_table(FILES / name, Reading(fill_missing=True))


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [("1001.px", "Porcentaje", "0.86"), ("px-x-0602000000_107.px", "Prozent", "9.1091")],
)
def test_shares_are_refused_by_their_unit(name: str, unit: str, value: str) -> None:
    with pytest.raises(InputError, match=f"the unit of the figures is '{unit}': they are no counts"):
        read_table(FILES / name)
    with pytest.raises(InputError, match=f"'{value}' is not a whole number"):
        read_table(FILES / name, Reading(scale=1))


def test_deaths_in_stockholm() -> None:
    found = answered("statswe.json")
    assert found.table.domain.shape == (1, 1, 20, 2, 28) and found.table.total == 38_425


def test_census_of_england() -> None:
    found = answered("ons.json", TOTALS)
    assert found.table.domain.shape == (1, 86, 2, 1) and found.table.total == 195_074
    # One total over two counts alone: the size of the numbers says that it is none by chance.
    found = answered("QS104EW.json", TOTALS)
    assert found.table.counts.reshape(-1).tolist() == [28_502_536, 27_573_376][::-1]


def test_census_of_galicia() -> None:
    missing = ("count is empty", {"marks": "blank=missing"})
    holes = ("4 of 3,960 cells are missing", {"fill_missing": True})
    # Published rounded: its totals do not hold, by name or by arithmetic, and that is told.
    wrong = (
        "birth = 'T', age = 'T', gender = 'T', residence = 'T'.*545 of 2279 do not add up",
        {"totals": "none"},
    )
    found = answered("galicia.json", missing, wrong, holes)
    second = read_table(FILES / "galicia-2.0.json", Reading.of(ANSWERED))
    assert second.table == found.table.on(second.table.domain)
    assert second.table.domain["age"].labels[:2] == ("total", "0-4")
    assert found.table.domain.names == ("birth", "age", "gender", "time", "residence")
    with pytest.raises(InputError, match="do not add up") as caught:
        read_table(
            FILES / "galicia.json", Reading.of({"fill_missing": True, "totals": "auto", "labels": True})
        )
    assert "the total is 2772928, its inner cells add up to 2772938" in caught.value.detail


def test_several_measures_in_one_variable() -> None:
    measures = ("'Variables' holds 6 measures: Población, Activos", {"count": "Parados"})
    empty = ("cell .2005, Ambos sexos, Total, Parados.: the count is empty", {"marks": "blank=missing"})
    with pytest.raises(InputError, match=r"'25\.4' is not a whole"):
        answered("cantabria.json", measures, empty)


def test_lists_of_cells() -> None:
    flights = read_table(FILES / "flights-airport.csv")
    assert flights.table.domain.shape == (303, 304) and flights.table.total == 7_009_728
    assert "86,746 of 92,112 cells" in flights.notes[0]
    assert answered("adult8_cells.csv.gz").table.total == 48_842
    assert answered("grid_my_km2.csv").table.total == 153
    # Two of its columns group another: it is asked before millions of cells are taken as 0.
    with pytest.raises(InputError, match=r"numbers in 'county', 'k_group': .* 2,989,080 cells"):
        read_table(FILES / "social_assistance_fictitious.csv.gz")
