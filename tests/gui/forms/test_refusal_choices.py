"""The buttons of a refusal to read: what each sets reads the file, or is refused for what is true of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.gui.forms.reading.refusal_choices import choices_of

HIDDEN = ",M,F,Total\nN,{0},5,8\nS,2,12,14\nTotal,5,17,22\n"
UNITS = "DATAFLOW,unit,sex,OBS_VALUE\n" + "".join(
    f"X:Y(1.0),{u},{s},{n}\n"
    for u, s, n in (("NR", "M", 5), ("NR", "F", 8), ("PC", "M", 38), ("PC", "F", 62))
)
BLANKS = "region,sex,count\nN,M,..\nN,F,5\nN,,8\nS,M,2\nS,F,12\nS,,14\n,M,5\n,F,17\n,,22\n"


def refused(path: Path, **reading: object) -> InputError:
    with pytest.raises(InputError) as caught:
        read_table(path, Reading.of(reading))
    return caught.value


@pytest.mark.parametrize(
    ("text", "asked", "offered", "total"),
    [
        (HIDDEN.format("<5"), {"totals": "auto"}, "<5 is hidden: work it out from the totals", 22),
        (HIDDEN.format("c"), {"totals": "auto"}, "c is hidden: work it out from the totals", 22),
        (HIDDEN.format(".."), {"totals": "auto"}, ".. is hidden: work it out from the totals", 22),
        (
            HIDDEN.format("c"),
            {"totals": "auto", "marks": "c=suppressed"},
            "Work them out from the totals",
            22,
        ),
        (BLANKS, {"marks": "..=suppressed", "missing": "suppressed"}, "They are totals", 22),
        (UNITS, {}, "unit = NR alone", 13),
        ("sex,share (%)\nM,5\nF,6\n", {}, "They are whole persons as they stand", 11),
        ("sex,size,count\nT,T,9\nT,x,4\nM,T,5\nM,x,1\nF,T,4\nF,x,3\n", {}, "Totals are sex = T alone", 13),
    ],
)
def test_what_is_offered_reads_the_file(
    text: str, asked: dict[str, object], offered: str, total: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = {str(words): options for words, options in choices_of(refused(path, **asked))}
    assert offered in found
    assert read_table(path, Reading.of({**asked, **found[offered]})).table.total == total


@pytest.mark.parametrize("mark", ["<5", "c", "x", "*"])
def test_what_hides_a_count_is_never_offered_as_a_zero(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HIDDEN.format(mark))
    error = refused(path, totals="auto")
    assert "missing=zero" not in error.hint and "--missing zero" not in error.hint
    assert not any("zero" in str(options) for _, options in choices_of(error))
    hidden = refused(path, totals="auto", marks=f"{mark}=suppressed")
    assert not any("zero" in str(options) for _, options in choices_of(hidden))


def test_a_share_is_refused_alone_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(UNITS)
    assert "'PC': they are no counts" in refused(path, where={"unit": "PC"}).message
