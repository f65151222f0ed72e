"""The page of what files state holds: every row has a file that states it, and comes to what the row says.

Fixtures of a format stand in ``FORMAT_states.py`` beside this file.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from stated import CASES, FATES, MEANING, THINGS, Row, rows, sections, without_a_word

for _path in sorted(Path(__file__).parent.glob("*_states.py")):
    _spec = importlib.util.spec_from_file_location(_path.stem, _path)
    assert _spec is not None and _spec.loader is not None
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))

ROWS = list(rows())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.form}: {row.stated}")
def test_a_file_that_states_it_comes_to_what_the_page_says(row: Row, tmp_path: Path) -> None:
    said = CASES[row.form, row.stated](tmp_path)
    assert said.refused == (row.fate == "refused"), said.text
    for words in row.words:
        assert words in said.text


def test_every_row_has_one_fixture_and_every_fixture_a_row() -> None:
    assert Counter((row.form, row.stated) for row in ROWS) == Counter(list(CASES))
    assert {row.fate for row in ROWS} <= FATES


def test_what_changes_the_meaning_of_a_number_is_never_only_told() -> None:
    assert [row for row in ROWS if row.thing in MEANING and row.fate == "told"] == []
    assert [row for row in ROWS if row.fate != "taken" and not row.words] == []


@pytest.mark.parametrize("form", sections())
def test_every_thing_has_a_row_or_no_word_in_the_format(form: str) -> None:
    silent = without_a_word(sections()[form])
    stated = {row.thing for row in ROWS if row.form == form}
    assert not stated & set(silent)
    assert stated | set(silent) == set(THINGS)
