"""Bands, cut points and code lists while counting, against coding each record by hand."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.microdata.coding import AddedUp, Codings
from tabprotect.engine.microdata.tabulate import Tabulated, tabulate_with_keys
from tabprotect.engine.tables.variable import MISSING

RECORDS = "region,age,k\nn1,0,0.1\nn2,4,0.2\ns1,5,0.3\ns1,14,0.4\nn1,15,0.5\ns1,64,0.6\nn2,65,0.7\nn1,103,0.8\ns1,,0.9\n"
HRC = "south\n@s1\n@s9\nnorth\n@n2\n@n1\n"


def counted(tmp_path: Path, by: str, text: str = RECORDS, **codings: object) -> Tabulated:
    path = tmp_path / "r.csv"
    path.write_text(text)
    return tabulate_with_keys(
        path,
        by.split(","),
        also=AddedUp(record_key="k" if ",k" in text else None),
        codings=Codings(**codings),  # type: ignore[arg-type]
    )


def test_cut_points_are_named_by_what_they_hold(tmp_path: Path) -> None:
    found = counted(tmp_path, "age", cuts={"age": [0, 15, 65]})
    assert found.table.domain["age"].categories == ("0-14", "15-64", "65+", MISSING)
    assert found.table.counts.tolist() == [4, 2, 2, 1]
    assert found.record_keys is not None
    assert found.record_keys.counts.tolist() == [0, 10_000_000, 50_000_000, 90_000_000]
    below = counted(tmp_path, "age", cuts={"age": [4]}).table
    assert below.domain["age"].categories == ("under 4", "4+", MISSING)
    assert below.counts.tolist() == [1, 7, 1]


def test_bands(tmp_path: Path) -> None:
    found = counted(tmp_path, "age", bands={"age": 5}).table
    assert found.domain["age"].categories == (
        "0-4", "5-9", "10-14", "15-19", "60-64", "65-69", "100-104", MISSING,
    )  # fmt: skip
    assert found.counts.tolist() == [2, 1, 1, 1, 1, 1, 1, 1]
    below = counted(tmp_path, "t", "t,u\n-3,a\n-5,a\n0,a\n", bands={"t": 5}).table
    assert below.domain["t"].categories == ("-5 to -1", "0-4")
    one = counted(tmp_path, "t", "t,u\n3.0,a\n3,a\n4,a\n", bands={"t": 1}).table
    assert one.domain["t"].categories == ("3", "4") and one.counts.tolist() == [2, 1]


def test_what_is_coded_is_counted_by(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RECORDS.replace(",,", ",7,"))
    found = tabulate_with_keys(path, ["region"], codings=Codings(cuts={"age": [15]})).table
    assert found.domain.names == ("region", "age") and found.domain.shape == (3, 2)
    assert tabulate_with_keys(path, [], codings=Codings(bands={"age": 50})).table.total == 9


def test_code_lists_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "geo.hrc").write_text(HRC)
    by_group = {"region": str(tmp_path / "geo.hrc")}
    found = counted(tmp_path, "region,age", code_lists=by_group, cuts={"age": [15]}).table
    assert found.domain["region"].categories == ("south", "north")
    assert found.counts.tolist() == [[2, 1, 1], [2, 3, 0]]
    (tmp_path / "geo.csv").write_text("region,half,whole\nn1,N,all\nn2,N,all\ns1,S,all\n")
    found = counted(tmp_path, "region", code_lists={"region": str(tmp_path / "geo.csv")}).table
    assert found.domain["region"].categories == ("N", "S") and found.counts.tolist() == [5, 4]
    whole = {"region": f"{tmp_path / 'geo.csv'}@whole"}
    assert counted(tmp_path, "region", code_lists=whole).table.counts.tolist() == [9]


def test_levels_of_a_hierarchy(tmp_path: Path) -> None:
    path = tmp_path / "geo.hrc"
    path.write_text("land\n@north\n@@n1\n@@n2\n@s1\n")
    nearest = counted(tmp_path, "region", code_lists={"region": str(path)}).table
    assert nearest.domain["region"].categories == ("north", "land")
    second = counted(tmp_path, "region", code_lists={"region": f"{path}@region_2"}).table
    assert second.domain["region"].categories == ("north", "s1")
    codes = counted(tmp_path, "region", code_lists={"region": f"{path}@region_3"}).table
    assert codes.domain["region"].categories == ("n1", "n2", "s1")
    assert [v.name for v in codes.domain["region"].levels] == ["region_1", "region_2", "region_3"]
    assert codes.margin(["region@region_2"]).counts.tolist() == [5, 4]
    with pytest.raises(InputError, match="no level 'region_4'") as error:
        counted(tmp_path, "region", code_lists={"region": f"{path}@region_4"})
    assert error.value.hint == "it has region_1, region_2, region_3"


def test_levels_of_a_hierarchy_are_named(tmp_path: Path) -> None:
    path = tmp_path / "geo.hrc"
    path.write_text("land\n@north\n@@n1\n@@n2\n@south\n@@s1\n")
    asked: dict[str, object] = {"code_lists": {"region": f"{path}@nuts2"}}
    for names in (["nuts1", "nuts2"], ["nuts1", "nuts2", "nuts3"]):
        region = counted(tmp_path, "region", **asked, level_names={"region": names}).table
        assert [level.name for level in region.domain["region"].levels] == ["nuts1", "nuts2"]
        assert region.margin(["region@nuts1"]).counts.tolist() == [9]
    for wrong in (["nuts2"], ["nuts2", "nuts2"], ["a", "nuts2", "c", "d"]):
        with pytest.raises(InputError, match="for a hierarchy of 3 levels"):
            counted(tmp_path, "region", **asked, level_names={"region": wrong})
    with pytest.raises(ParameterError, match=r"level_names: .*named for a hierarchy \(.hrc\)"):
        counted(tmp_path, "region", level_names={"region": ["a"]})


@pytest.mark.parametrize(
    ("codings", "says", "line"),
    [
        ({"bands": {"age": 5}}, "'old' is no whole number", 4),
        ({"cuts": {"age": [15, 65]}}, "'old' is no whole number", 4),
        ({"code_lists": {"region": "geo.csv"}}, "1 code of the data is not in the list: 's1'", 3),
        ({"bands": {"region": 5}, "code_lists": {"region": "geo.csv"}}, "coded twice", None),
        ({"bands": {"agee": 5}}, "no variable 'agee'", None),
        ({"code_lists": {"region": "none.hrc"}}, "no such file", None),
    ],
)
def test_what_cannot_be_coded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codings: dict[str, object], says: str, line: int | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "geo.csv").write_text("region,half\nn1,N\n")
    with pytest.raises(InputError, match=says) as error:
        counted(tmp_path, "region,age", "region,age,w\nn1,3,1\ns1,4,1\nn1,old,1\n", **codings)
    assert error.value.line == line
    if line:
        assert error.value.cell is not None and error.value.file is not None


@pytest.mark.parametrize(
    ("name", "value", "says"), [("bands", 0, "width of at least 1"), ("cuts", [15, 15], "rising order")]
)
def test_what_makes_no_bands(name: str, value: object, says: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}: age: .*{says}"):
        Codings(**{name: {"age": value}})


@settings(max_examples=15, deadline=None)
@given(
    ages=st.lists(st.integers(-30, 120), min_size=1, max_size=40),
    cuts=st.sets(st.integers(-20, 110), min_size=1, max_size=6).map(sorted),
)
def test_every_record_is_in_the_band_that_names_it(
    tmp_path_factory: pytest.TempPathFactory, ages: list[int], cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("bands")
    text = "age,x\n" + "".join(f"{age},a\n" for age in ages)
    table = counted(folder, "age", text, cuts={"age": cuts}).table

    def holds(name: str, age: int) -> bool:
        if name.startswith("under "):
            return age < int(name.removeprefix("under "))
        if name.endswith("+"):
            return age >= int(name[:-1])
        if " to " in name or "-" in name[1:]:
            low, high = name.split(" to ") if " to " in name else name.split("-")
            return int(low) <= age <= int(high)
        return age == int(name)

    expected = collections.Counter(
        name for age in ages for name in table.domain["age"].categories if holds(name, age)
    )
    assert dict(zip(table.domain["age"].categories, table.counts.tolist(), strict=True)) == expected
    assert sum(expected.values()) == len(ages)


def test_several_codings_are_levels(tmp_path: Path) -> None:
    found = counted(tmp_path, "age", bands={"age": [10, 5]}, cuts={"age": [0, 20, 60]})
    age = found.table.domain["age"]
    assert [level.name for level in age.levels] == ["cut", "band10", "band5"]
    assert found.table.margin(["age@cut"]).counts.tolist() == [5, 3, 1]
    wide = found.table.domain["age@band10"].categories
    assert wide == ("0-9", "10-19", "60-69", "100-109", MISSING)
    text = RECORDS + "n1,19,0.1\nn1,17,0.1\n"
    with pytest.raises(InputError, match="15-19 lies in both 0-17 and 18-64"):
        counted(tmp_path, "age", text, bands={"age": 5}, cuts={"age": [0, 18, 65]})


def test_a_code_list_brings_what_is_above(tmp_path: Path) -> None:
    (tmp_path / "geo.hrc").write_text("land\n@south\n@@s1\n@@s9\n@north\n@@n2\n@@n1\n")
    listed = {"region": str(tmp_path / "geo.hrc")}
    region = counted(tmp_path, "region", code_lists=listed).table.domain["region"]
    assert region.categories == ("south", "north")
    assert [level.name for level in region.levels] == ["region_1", "region_2"]
    assert region.levels[0].groups == ("land", "land")
    (tmp_path / "geo.csv").write_text("region,half,whole,odd\nn1,N,all,1\nn2,N,all,2\ns1,S,all,1\n")
    listed = {"region": str(tmp_path / "geo.csv")}
    region = counted(tmp_path, "region", code_lists=listed).table.domain["region"]
    assert [level.name for level in region.levels] == ["whole", "half"]


def test_columns_that_nest_are_levels_of_one_variable(tmp_path: Path) -> None:
    text = "n1,n2,n3,sex,k\nA,A1,A11,m,0.1\nA,A1,A12,f,0.2\nA,A2,A21,m,0.3\nB,B1,B11,m,0.4\nB,B1,B11,m,0.5\n"
    nested = {"geo": ("n1", "n2", "n3")}
    for by, axes in (("geo,sex", ("geo", "sex")), ("sex", ("sex", "geo")),
                     ("sex,n2", ("sex", "geo")), ("n1,n2,n3,sex", ("geo", "sex"))):  # fmt: skip
        found = counted(tmp_path, by, text, nested=nested)
        assert found.table.domain.names == axes
        geo = found.table.domain["geo"]
        assert geo.categories == ("A11", "A12", "A21", "B11")
        assert [level.name for level in geo.levels] == ["n1", "n2", "n3"]
        assert found.table.margin(["geo@n2"]).counts.tolist() == [2, 1, 2]
        assert found.record_keys is not None
        assert found.record_keys.margin(["geo"]).counts.tolist() == [
            10_000_000, 20_000_000, 30_000_000, 90_000_000,
        ]  # fmt: skip
    with pytest.raises(InputError, match="n2 'A1' lies in both 'A' and 'B' of n1"):
        counted(tmp_path, "g", text + "B,A1,A11,f,0.1\n", nested={"g": ("n1", "n2")})
    with pytest.raises(ParameterError, match=r"levels: .*two columns or more"):
        counted(tmp_path, "g", text, nested={"g": ("n1",)})
