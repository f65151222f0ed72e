"""Codes of squares, larger squares, and squares merged where few people live."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.groupings.digits import first_characters, usual_digits
from tabprotect.engine.tables.groupings.squares import Square, merged, squares_of


@pytest.mark.parametrize(
    ("code", "square"),
    [
        ("1kmN2689E4337", Square(1000, 2689000, 4337000)),
        ("2kmN2688E4336", Square(2000, 2688000, 4336000)),
        ("10kmN268E433", Square(10000, 2680000, 4330000)),
        ("250mN268925E433750", Square(250, 2689250, 4337500)),
        ("100mN26891E43370", Square(100, 2689100, 4337000)),
        ("CRS3035RES1000mN2689000E4337000", Square(1000, 2689000, 4337000, "CRS3035RES")),
    ],
)
def test_a_code_is_read_and_written(code: str, square: Square) -> None:
    assert squares_of([code]) == (square,)
    assert str(square) == code


def test_what_is_no_grid_is_none() -> None:
    for categories in (["1kmN2689E4337", "2kmN2688E4336"], ["1kmN2689E4337", "other"], ["0mN1E1"], []):
        assert squares_of(categories) == ()


def test_larger_squares_are_levels() -> None:
    codes = [f"1kmN{n}E{e}" for n in range(8) for e in range(8)]
    assert first_characters(["1kmN4201E3203", "1kmN4203E3204"], 4000) == ["4kmN4200E3200", "4kmN4200E3204"]
    assert first_characters(codes, 1500) == codes
    assert usual_digits(codes) == (4000, 2000)
    assert str(squares_of(codes)[-1].within(10000)) == "10kmN0E0"


def test_squares_are_merged_where_a_quarter_has_too_few() -> None:
    # In the south-west everybody lives alone, in the north-east nobody does; one quarter is empty.
    last = {f"1kmN{n}E{e}": 1 if n < 2 and e < 2 else 60 for n in range(4) for e in range(4)}
    last |= dict.fromkeys(("1kmN2E2", "1kmN3E3"), 0)
    found = merged(last, least=10)
    # One quarter of the largest has fewer than ten people: it is not cut.
    assert set(found.values()) == {"4kmN0E0"}
    last |= {"1kmN0E0": 20}
    found = merged(last, least=10)
    assert {found[f"1kmN{n}E{e}"] for n in (0, 1) for e in (0, 1)} == {"2kmN0E0"}
    assert (
        all(into == code for code, into in found.items() if into != "2kmN0E0")
        and len(set(found.values())) == 13
    )
    sums: dict[str, int] = {}
    for code, into in found.items():
        sums[into] = sums.get(into, 0) + last[code]
    assert all(not n or n >= 10 for n in sums.values())
    assert merged(last, least=1) == {code: code for code in last}
    # No larger than eight times as wide.
    assert set(merged({f"1kmN0E{e}": 1 for e in range(16)}, least=20).values()) == {"8kmN0E0", "8kmN0E8"}


@pytest.mark.parametrize("last", [{"north": 3}, {"1kmN1E1": 3, "2kmN2E2": 4}, {}])
def test_what_cannot_be_merged_is_refused(last: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"squares of one side"):
        merged(last, least=10)


def test_squares_are_merged_by_the_counts_of_a_code_list(tmp_path: Path) -> None:
    (tmp_path / "last.csv").write_text("cell,people\n1kmN0E0,5\n1kmN0E1,9\n1kmN0E2,90\n1kmN2E0,40\n")
    records = "cell\n" + "1kmN0E0\n" * 3 + "1kmN0E1\n1kmN1E1\n1kmN0E2\n1kmN2E0\n"
    (tmp_path / "people.csv").write_text(records)
    by_list = tp.tabulate(
        tmp_path / "people.csv", by=["cell"], code_lists={"cell": f"{tmp_path}/last.csv@10"}
    )
    # Nobody lived in 1kmN1E1, which the list lacks: it is in the square that became one.
    assert dict(zip(by_list.domain["cell"].categories, by_list.counts.tolist(), strict=True)) == {
        "2kmN0E0": 5,
        "1kmN0E2": 1,
        "1kmN2E0": 1,
    }
