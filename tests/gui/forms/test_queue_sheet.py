"""The queue of outputs in the window: listed, decided on, and kept as the command keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from pytestqt.qtbot import QtBot
from readable import unnamed

from tabprotect.cli.main import main
from tabprotect.gui.forms.queue_sheet import QueueDialog
from tabprotect.gui.frame.main_window import MainWindow


def test_outputs_are_decided_on_in_the_window(opened: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    queue = tmp_path / "q.json"
    for name in ("t", "u"):
        (tmp_path / f"{name}.csv").write_text("region,ill,count\nn,yes,3\nn,no,40\ns,yes,1\ns,no,25\n")
        main(["check", str(tmp_path / f"{name}.csv"), "--queue", str(queue)])
    dialog = QueueDialog(opened.page, queue)
    dialog.open()
    qtbot.waitUntil(lambda: len(dialog.queue.outputs) == 2)
    assert not dialog.leave.isEnabled()
    assert not unnamed(dialog) and "2 of 2" in dialog.said.text()
    approve = dialog.buttons["approve"]
    dialog.who.setText("A. Checker")
    assert not approve.isEnabled()
    dialog.comment.setText("large enough")
    approve.click()
    qtbot.waitUntil(lambda: dialog.queue.open == 1)
    assert "1 of 2" in dialog.said.text() and dialog.comment.text() == "" and not approve.isEnabled()
    out = tmp_path / "out"
    out.mkdir()
    assert dialog.leave.text() == "Publish the one that is ready\u2026" and dialog.leave.isEnabled()
    dialog.publish(str(out))
    qtbot.waitUntil(lambda: "1 published into" in dialog.said.text())
    assert [file.name for file in out.iterdir()] == ["t.csv"]
    assert (out / "t.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    # What is there already is not replaced.
    dialog.publish(str(out))
    qtbot.waitUntil(lambda: "1 published into" not in dialog.said.text())
    assert str(out / "t.csv") in dialog.said.text()
    first, second = json.loads(queue.read_text())["outputs"]
    assert (first["decision"], first["who"], first["comment"]) == ("approve", "A. Checker", "large enough")
    assert first["when"] and second["decision"] == ""
    # Another file than the one that was checked takes no decision, and nothing is written.
    (tmp_path / "u.csv").write_text("region,ill,count\nn,yes,1\n")
    before = queue.read_bytes()
    dialog.list.set_current(1)
    dialog.comment.setText("no")
    dialog.buttons["reject"].click()
    qtbot.waitUntil(lambda: "another file" in dialog.said.text())
    assert queue.read_bytes() == before
    dialog.reject()
