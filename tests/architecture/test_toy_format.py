"""A new format touches one file: a copy of the program gets that file and knows the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TOY = '''"""Bars: one line a cell, fields apart by two bars, the count first.

Made up for a test.
"""

from tabprotect.engine.formats.format import RowFormat
from tabprotect.engine.formats.text.rows import SheetRows


class Bars(RowFormat):
    label = "bars"
    suffixes = (".bars",)
    limits = ("Nothing but cells.",)

    def sniff(self, head):
        return head.startswith(b"||")

    def rows(self, path, reading, progress):
        rows = [line.split("||")[1:] for line in path.read_text().splitlines()]
        return SheetRows(str(path), rows, range(1, len(rows) + 1)), []

    media = "text/x-bars"

    def publish(self, cube):
        table = cube.table
        lines = ["||".join(["", "count", *table.domain.names])]
        for key, count in enumerate(table.counts.reshape(-1)):
            labels = table.domain.labels(table.domain.unflat(key))
            lines.append("||".join(["", str(count), *labels]))
        return ("\\n".join(lines) + "\\n").encode()

    def figures(self, figures):
        for row in [figures.header, *figures.rows()]:
            yield ("||".join(["", *map(str, row)]) + "\\n").encode()


PLUGIN = Bars()
'''


SCRIPT = """
import contextlib, io, json
from pathlib import Path

from tabprotect.cli.main import main
from tabprotect.engine.formats.registered import patterns


def run(*words):
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        assert main(list(words)) == 0
    return text.getvalue()


assert "bars" in run("convert", "--help") and "bars" in run("protect", "--help")
described = json.loads(run("describe", "--json"))["formats"]
assert ("bars", True) in [(kind["name"], kind["writes"]) for kind in described]
assert "*.bars" in patterns("table")
run("convert", "example:langsrud-lupp", "--out", "t.bars")
assert Path("t.bars").read_text().startswith("||count||")
Path("t.bars").rename("t.unknown")
run("convert", "example:langsrud-lupp", "--out", "a.csv")
run("convert", "t.unknown", "--out", "b.csv")
assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()

rounded = "--method", "random_rounding", "--seed", "1", "--accept", "a test"
run("protect", "example:duncan-roehrig-4x4", *rounded, "--out", "t.zip")
run("export", "t.zip", "--out", "public.bars")
assert Path("public.bars").read_text().startswith("||count||")
run("infer", "t.zip", "--format", "bars", "--out", "beliefs.bars")
header, first, *_ = Path("beliefs.bars").read_text().splitlines()
assert header.endswith("||published||mean||mode||count||probability") and first.count("||") > 5

from tabprotect.server.egress import OUTPUTS, chosen_format

assert "json-stat2" == next(iter(OUTPUTS)) and OUTPUTS["bars"].suffix == "bars"
assert chosen_format(None, "text/x-bars").name == "bars"
"""


def test_one_file_is_a_format(tmp_path: Path) -> None:
    # With what is compiled, but for what is being written at this moment.
    ignore = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(ROOT / "tabprotect", tmp_path / "tabprotect", ignore=ignore)
    (tmp_path / "tabprotect" / "resources").symlink_to(ROOT / "resources")
    (tmp_path / "tabprotect" / "engine" / "formats" / "kinds" / "bars.py").write_text(TOY)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
