"""Groupings from text, columns and hierarchy files; what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping

DOMAIN = Domain.of({"geo": ["Spain", "Iceland", "Portugal"], "year": ["2014", "2015", "2016"]})


def test_a_grouping_written_out() -> None:
    eu, late = parse_groupings(
        "eu:geo=Spain>EU, Iceland>nonEU,Portugal > EU; late:year=2014>no,2015>no,2016>yes", DOMAIN
    )
    assert eu == Grouping("eu", "geo", ("EU", "nonEU", "EU"))
    assert eu.variable.categories == ("EU", "nonEU")
    assert eu.codes.tolist() == [0, 1, 0]
    assert late.of == "year" and late.groups == ("no", "no", "yes")


def test_quotation_marks_protect_commas() -> None:
    domain = Domain.of({"job": ["cook, chef", "other"]})
    (grouping,) = parse_groupings('kind:job="cook, chef>food",other>rest', domain)
    assert grouping.groups == ("food", "rest")


def test_refining() -> None:
    fine = Grouping("fine", "x", ("a", "b", "c", "c"))
    coarse = Grouping("coarse", "x", ("A", "A", "B", "B"))
    across = Grouping("across", "x", ("p", "q", "p", "q"))
    assert fine.refines(coarse) and not coarse.refines(fine)
    assert not across.refines(coarse) and not coarse.refines(across)


def test_columns_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "geo.csv"
    path.write_text("geo,eu,sea\nPortugal,EU,yes\nSpain,EU,yes\nIceland,no,yes\n")
    eu, sea = parse_groupings(str(path), DOMAIN)
    assert eu.groups == ("EU", "no", "EU") and sea.groups == ("yes", "yes", "yes")


def test_a_hierarchy_file(tmp_path: Path) -> None:
    path = tmp_path / "codes.hrc"
    path.write_text("Europe\n@EU\n@@Spain\n@@Portugal\n@Iceland\n")
    first, second = parse_groupings(str(path), DOMAIN)
    assert first == Grouping("geo_1", "geo", ("Europe", "Europe", "Europe"))
    # Iceland ends one level higher: it is its own group below.
    assert second == Grouping("geo_2", "geo", ("EU", "Iceland", "EU"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("eu:geo", "not a grouping"),
        ("eu=Spain>EU", "not a grouping"),
        ("eu:geo=Spain,Iceland>no", "names no group"),
        ("eu:geo=Spain>EU,Iceland>no", "geo: 1 category has no group in 'eu', first 'Portugal'"),
        ("eu:geo=Spain>a,Spain>b", "has two groups"),
        ("eu:geo=France>EU", "no category 'France'"),
        ("eu:land=Spain>EU", "no variable 'land'"),
        ("year:geo=Spain>a,Iceland>a,Portugal>a", "'year' of a grouping is taken"),
        ("missing.csv", "no such file"),
    ],
)
def test_bad_groupings(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_groupings(text, DOMAIN)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "land,eu\nSpain,EU\n", "which variable"),
        ("a.csv", "geo,eu\nSpain,EU\nSpain,EU\n", "names it again"),
        ("a.csv", "geo,eu\nSpain\n", "wrong number of fields"),
        ("a.csv", "geo,eu\nSpain,EU\n", "have no group"),
        ("a.hrc", "EU\n@Spain\n@Spain\n", "occurs twice"),
        ("a.hrc", "EU\n@@Spain\n", "more than one level"),
        ("a.hrc", "EU\n@Spain\n", "no variable"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=says) as caught:
        parse_groupings(str(path), DOMAIN)
    assert caught.value.file == str(path)
