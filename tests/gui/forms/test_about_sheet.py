"""What a table says of itself, asked once for the table and once for the house."""

from __future__ import annotations

from pathlib import Path

import pytest
from readable import unnamed

from tabprotect.engine import agency
from tabprotect.engine.disclosure.policy import AgencyPolicy, in_force, policy_file, write
from tabprotect.gui.forms.about_sheet import ask_about
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.settings_dialog import PolicyForm
from tabprotect.gui.look.buttons import present


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(agency.FOLDER, str(tmp_path / "house"))


def test_a_table_says_what_the_house_does_not(opened: MainWindow) -> None:
    policy_file().parent.mkdir(parents=True, exist_ok=True)
    write(AgencyPolicy(metadata={"publisher": "The office", "licence": "CC BY 4.0"}), policy_file())
    sheet = present(ask_about(opened.page))
    assert not unnamed(sheet) and sheet.fields["licence"].placeholderText() == "CC BY 4.0"
    sheet.fields["source"].setText(" Survey of 1990 ")
    sheet.take.click()
    assert present(opened.document.project).metadata == {"source": "Survey of 1990"}
    # An undo takes it back, and an empty field says nothing.
    again = present(ask_about(opened.page))
    assert again.fields["source"].text() == "Survey of 1990"
    again.fields["source"].clear()
    again.take.click()
    assert present(opened.document.project).metadata == {}


def test_the_house_says_it_of_all_tables() -> None:
    form = PolicyForm(AgencyPolicy(metadata={"publisher": "The office"}), fixed=False)
    form.metadata["contact"].setText("tables@office.example")
    policy_file().parent.mkdir(parents=True, exist_ok=True)
    write(form.policy(), policy_file())
    assert in_force().metadata == {"publisher": "The office", "contact": "tables@office.example"}
