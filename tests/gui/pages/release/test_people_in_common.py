"""A table whose people may be counted in an earlier release: the question, and its answer by a button."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pages_of import page_of

from tabprotect.engine.project.history import History
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.release import gates
from tabprotect.gui.pages.release.page import ReleasePage

Settle = Callable[[], None]

ALL = ((20, 1, 2, 5), (3, 9, 1, 4), (2, 7, 12, 1), (6, 2, 3, 30))


def written(rows: Sequence[Sequence[int]], path: Path) -> Path:
    lines = ["r,c,count"]
    lines += [f"r{i},c{j},{count}" for i, row in enumerate(rows) for j, count in enumerate(row)]
    path.write_text("\n".join(lines))
    return path


def test_other_people_by_a_button(window: MainWindow, settle: Settle, tmp_path: Path) -> None:
    history, _ = History().do(open_table(source=str(written(ALL, tmp_path / "all.csv"))))
    history, _ = history.do(protect())
    history.do(publish(release=str(tmp_path / "all.zip")))
    window.files.open(str(written(ALL[:3], tmp_path / "part.csv")))
    settle()
    window.document.do(protect)
    settle()
    window.go("release")
    settle()
    shown = page_of(window, ReleasePage)
    shown.form.set_destination(tmp_path / "part.zip", tmp_path / "dossier.zip")
    settle()
    drawn = window.document.published
    assert shown.banner.line.state == "failed"
    assert list(shown.answers.buttons) == ["Protect them as one set\u2026", "Other people than in no. 1"]
    shown.answers.buttons["Other people than in no. 1"].click()
    settle()
    assert not shown.answers.buttons
    assert shown.banner.line.state != "failed"
    # It is asked of a draw, and changes nothing of it.
    assert window.document.published == drawn
    window.document.run(publish(release=str(tmp_path / "part.zip")))
    settle()
    assert (tmp_path / "part.zip").exists()


def test_men_and_women_as_one_set_by_a_button(
    window: MainWindow, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other files are asked for, and all are one table with a variable more."""
    history, _ = History().do(open_table(source=str(written(ALL, tmp_path / "all.csv"))))
    history, _ = history.do(protect())
    history.do(publish(release=str(tmp_path / "all.zip")))
    women = written(ALL[:3], tmp_path / "women.csv")
    men = written(((1, 4, 9, 2), (7, 3, 8, 1), (5, 5, 2, 6)), tmp_path / "men.csv")
    window.files.open(str(women))
    settle()
    window.document.do(protect)
    settle()
    window.go("release")
    settle()
    shown = page_of(window, ReleasePage)
    asked = []
    monkeypatch.setattr(gates, "ask_files", lambda *given, **_: asked.append(given[-1]))
    shown.answers.buttons["Protect them as one set\u2026"].click()
    asked[0]([str(men), str(women)])
    window.page.errors._button.click()
    settle()
    domain = window.document.project.domain
    assert domain.names == ("r", "c", "part") and set(domain["part"].categories) == {"women", "men"}
    window.document.do(protect)
    settle()
    assert window.document.project.protected is not None
