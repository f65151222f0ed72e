"""A look at a file: the role of every line, what was recognised, what would answer the question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.file_preview import FilePreview, HiddenCell, preview
from tabprotect.engine.formats.reading_options import Reading

OFFICE = """Table 3: Persons by place and sex
(all ages)

place;men;women;Total
north;1;2;3
south;3;4;7
Total;4;6;10

Source: the register
"""


def look(tmp_path: Path, text: str | bytes, name: str = "t.csv", **options: object) -> FilePreview:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return preview(path, Reading.of(options))


def parts(found: FilePreview) -> dict[str, str]:
    return {part.option: part.value for part in found.parts}


def test_every_line_has_its_role(tmp_path: Path) -> None:
    found = look(tmp_path, OFFICE, totals="auto")
    assert [line.role for line in found.lines] == [
        *("title", "title", "", "header", "body", "body", "total", "", "note")
    ]
    assert [line.number for line in found.lines] == list(range(1, 10))
    assert found.lines[4].text == "north;1;2;3"


def test_what_was_recognised_and_what_comes_of_it(tmp_path: Path) -> None:
    found = look(tmp_path, OFFICE, totals="auto")
    assert found.error is None and found.table is not None
    assert found.table.counts.tolist() == [[1, 2], [3, 4]]
    told = parts(found)
    assert told["format"] == "csv" and told["encoding"] == "utf-8" and told["delimiter"] == ";"
    assert told["header-row"] == "4" and told["footer"] == "1" and told["form"] == "grid"
    assert "= 'Total'" in told["totals"] and found.columns == ("place", "men", "women", "Total")
    assert found.sums == (
        "2 place x 2 column: 4 cells, sum 10; 5 totals in the file: equal to the file's own totals"
    )


def test_totals_that_do_not_add_up_are_unsure(tmp_path: Path) -> None:
    found = look(tmp_path, OFFICE.replace("4;6;10", "4;6;11"), totals="auto")
    assert found.table is None and found.error is not None
    assert "1 do not hold" in found.sums
    assert [part.sure for part in found.parts if part.option == "totals"] == [False]


def test_remarks_are_told_from_the_table(tmp_path: Path) -> None:
    found = look(tmp_path, "# made by hand\nv,count\na,1\nb,2\n", comment="#")
    assert [line.role for line in found.lines] == ["remark", "header", "body", "body"]


def test_the_first_fifty_lines_are_shown(tmp_path: Path) -> None:
    rows = "".join(f"c{number},{number}\n" for number in range(200))
    found = look(tmp_path, "v,count\n" + rows)
    assert len(found.lines) == 50 and found.table is not None and found.table.domain.size == 200


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("v,count\na,1\nb,-\n", {"marks": "-=zero"}),
        ("v,count\na,1\nb,..\n", {"marks": "..=missing"}),
        ("v,w,count\na,x,1\na,y,2\nb,x,3\n", {"missing": "zero"}),
        ("v;count\nk\xe4se;1\nb;2\n".encode("cp1252"), {"encoding": "cp1252"}),
        ("v,w,count\na,x,1\nb,y,2\na,y,3\nb,x,4\n", {}),
    ],
)
def test_the_likely_answer_to_the_open_question(
    tmp_path: Path, text: str | bytes, suggested: dict[str, object]
) -> None:
    found = look(tmp_path, text)
    assert dict(found.suggested) == suggested and (found.error is not None) == bool(suggested)
    given: dict[str, object] = {}
    while found.suggested:
        assert not found.suggested.keys() & given.keys()
        given |= found.suggested
        found = look(tmp_path, text, **given)
    assert found.error is None and found.table is not None


def test_records_are_no_table_and_no_fault(tmp_path: Path) -> None:
    found = look(tmp_path, "sex,place\nf,north\nm,south\nf,north\n")
    assert found.records and found.table is None and found.error is not None


def test_a_format_of_cells_is_shown_as_text(tmp_path: Path) -> None:
    found = look(tmp_path, 'TITLE="x";\nSTUB="v";\nVALUES("v")="a","b";\nDATA=\n1 2;\n', "t.px")
    assert found.kind.name == "px" and found.sums == "2 v: 2 cells, sum 3"
    assert [line.role for line in found.lines] == [""] * 5
    assert not found.columns and not found.sheets


def test_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        preview(tmp_path / "t.csv", Reading())
    with pytest.raises(InputError, match="PDF"):
        look(tmp_path, b"%PDF-1.7\n", "t.pdf")


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        # Alone called so, whatever else holds numbers.
        ("Ort;Jahr;Art;Personen\na;2015;x;12\na;2015;y;\nb;2016;x;..\n", {"count": "Personen"}),
        # Alone whole numbers: shares are left out.
        ("Ort;Art;A;B\na;x;3;4,5\nb;x;4;7,0\nb;y;4;7,0\n", {"count": "A", "drop": ["B"]}),
        # As likely as each other: nothing is guessed, nor that it is a grid.
        ("Ort;A;B;Art\na;3;4;x\nb;4;7;y\na;5;5;y\n", {}),
        # A number is no name of a column.
        ("Nord;m;12;z\nNord;w;3;z\nS;m;44;y\n", {}),
    ],
)
def test_the_likely_column_of_counts(tmp_path: Path, text: str, likely: dict[str, object]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    seen = preview(path, Reading())
    assert seen.table is None and seen.error is not None and "--count COLUMN" in seen.error.hint
    assert dict(seen.suggested) == likely
    assert [p.value for p in seen.parts if p.option == "delimiter"] == [";"]


def test_a_title_with_commas_does_not_hide_the_separator(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Menschen, nach Ort, Art\n\nOrt;Art;Zahl\na;x;1\na;y\nb;x;3;4\nb;y;4\nc;x;5\n")
    seen = preview(path, Reading())
    assert [p.value for p in seen.parts if p.option == "delimiter"] == [";"]
    assert seen.lines[3].fields == ("a", "x", "1")


def test_totals_are_checked_after_hidden_cells_are_worked_out(tmp_path: Path) -> None:
    lines = ["a,b,count", "x,p,5", "x,q,:", "x,Total,9", "y,p,2", "y,q,7", "y,Total,9"]
    lines += ["Total,p,7", "Total,q,11", "Total,Total,18"]
    given = {"strip_totals": True, "marks": ":=suppressed", "missing": "suppressed"}
    found = look(tmp_path, "\n".join(lines) + "\n", **given)
    assert found.table is not None and found.table.counts.tolist() == [[5, 4], [2, 7]]
    assert found.sums == "2 a x 2 b: 4 cells, sum 18; 5 totals in the file: equal to the file's own totals"
    assert [part.sure for part in found.parts if part.option == "totals"] == [True]
    assert "1 hidden cell was worked out from the totals: (x, q) = 4" in found.notes


def test_what_totals_leave_for_signs_is_told_cell_by_cell(tmp_path: Path) -> None:
    path, counts = tmp_path / "signs.csv", np.array([[5, 4, 3], [2, 7, 0]])
    whole = np.concatenate([counts, counts.sum(0, keepdims=True)])
    whole = np.concatenate([whole, whole.sum(1, keepdims=True)], axis=1)
    signs = {(0, 1): ":", (1, 2): "..", (1, 3): ":"}
    lines = ["a,b,count"]
    for a, b in np.ndindex(whole.shape):
        lines.append(f"{'xyT'[a]},{'pqrT'[b]},{signs.get((a, b), whole[a, b])}")
    path.write_text("\n".join(lines).replace("T", "Total") + "\n")
    asked = preview(path, Reading(missing="suppressed", strip_totals=True))
    # A total that has only a sign is no cell of the table.
    assert asked.hidden == (HiddenCell(":", ("x", "q"), 4), HiddenCell("..", ("y", "r"), 0))
    # A sign of which it is said what it means is none of them.
    said = preview(path, Reading(missing="suppressed", strip_totals=True, marks="..=zero"))
    assert said.hidden == (HiddenCell(":", ("x", "q"), 4),)
    assert preview(path, Reading()).hidden == ()
