"""Next year in the window: a recipe is saved, run on new data, and lands on the gate."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from tabprotect.engine.project.recipes.recipe_mapping import mapped_categories
from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.engine.project.verbs.table_verbs import set_title
from tabprotect.gui.forms.mapping_sheet import MappingSheet
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.recipes import LastYearSheet

YEAR = "region,sex,count\nnord,f,20\nnord,m,30\nsud,f,40\nsud,m,50\n"


def test_next_year(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "2023.csv").write_text(YEAR)
    window.files.open(str(tmp_path / "2023.csv"))
    qtbot.waitUntil(lambda: window.document.original is not None)
    for order in (set_title(title="People"), set_method(method="random_rounding"), protect()):
        window.document.run(order)
    qtbot.waitUntil(lambda: window.document.release is not None)
    recipe = tmp_path / "recipe.toml"
    window.actions_.recipes.save(recipe)
    qtbot.waitUntil(lambda: recipe.exists() and not window.document.jobs.running)
    strip = window.page.errors
    assert strip.isVisible() and "Saved as recipe.toml" in strip.accessibleDescription()
    assert strip.error is None and strip.accessibleName() == "Done"
    # It names the house's categories: nobody else reads it.
    assert recipe.stat().st_mode & 0o077 == 0
    assert str(tmp_path) not in recipe.read_text() and "seed" not in recipe.read_text()

    new = tmp_path / "2024.csv"
    new.write_text(YEAR.replace("sud", "sued").replace("20", "420"))
    window.actions_.recipes.run(recipe, new)
    qtbot.waitUntil(lambda: bool(window.findChildren(MappingSheet)))
    (sheet,) = window.findChildren(MappingSheet)
    assert sheet.boxes["region", "sued"].currentData() == "sud"
    assert sheet.remember.isChecked()
    sheet.go_on.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(LastYearSheet)))
    # What was said stands in the recipe for the years to come.
    assert mapped_categories(recipe) == {("region", "sued"): "sud"}
    assert window.page.name == "release" and window.document.release is not None
    assert window.document.original is not None and window.document.original.total == 540
    assert window.document.original.domain["region"].categories == ("nord", "sud")
    (told,) = window.findChildren(LastYearSheet)
    assert "(nord, f): 20 \u2192 420" in told.text.toPlainText()
    told.reject()
