"""Labels left blank are filled from above where nothing else can be meant, else asked about."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table


def read(folder: Path, text: str, **options: object) -> TableFile:
    path = folder / "t.csv"
    path.write_text(text)
    return read_table(path, Reading.of(options))


@pytest.mark.parametrize("options", [{}, {"form": "long"}, {"blank": "above"}])
def test_labels_written_once_are_filled(tmp_path: Path, options: dict[str, object]) -> None:
    text = "region,sex,age,count\nNorth,m,young,1\n,,old,2\n,f,young,3\n,,old,4\nSouth,m,young,5\n,,old,6\n,f,young,7\n,,old,8\n"
    found = read(tmp_path, text, **options)
    assert found.table.counts.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert any(
        "blank labels of 'region', 'sex' are those above them, in 6 rows" in note for note in found.notes
    )


ASKED = {
    "the label is repeated": "region,sex,count\nNorth,m,1\nNorth,f,2\n,m,3\n,f,4\n",
    "a cell would be there twice": "region,sex,count\nNorth,m,1\n,m,2\nSouth,m,3\n",
    "the last variable": "region,sex,count\nNorth,m,1\nNorth,,2\nSouth,m,3\nSouth,,4\n",
    "blank beside a label": "region,sex,age,count\nNorth,m,x,1\nSouth,,y,2\nWest,f,x,3\n",
    "first of all": "region,sex,count\n,m,1\n,f,2\nSouth,m,3\nSouth,f,4\n",
}


@pytest.mark.parametrize("text", ASKED.values(), ids=ASKED)
def test_other_blanks_are_asked_about(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="has a category without a name") as caught:
        read(tmp_path, text, missing="zero")
    assert "--blank above" in caught.value.hint and "--blank missing" in caught.value.hint
    found = read(tmp_path, text, missing="zero", blank="missing")
    assert any("(missing)" in v.categories for v in found.table.domain.variables)
    assert found.table.total == sum(int(line.rsplit(",", 1)[1]) for line in text.splitlines()[1:])


def test_blank_labels_beside_missing_counts(tmp_path: Path) -> None:
    text = "region,sex,count\nNorth,m,..\n,f,6\nSouth,m,7\n,f,8\n"
    found = read(tmp_path, text, missing="zero")
    assert found.table.counts.tolist() == [[0, 6], [7, 8]]
    assert read(tmp_path, text, missing="zero", where={"region": "North"}).table.counts.tolist() == [6]


def test_frames_with_blank_labels(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"region": ["North", None, "South", None], "sex": ["m", "f"] * 2, "count": [5, 6, 7, 8]}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").table.counts.tolist() == [[5, 6], [7, 8]]
