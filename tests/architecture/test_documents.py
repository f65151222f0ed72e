"""Documents for developers say what is so: decision records, and every path that they name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "resources" / "docs"
RECORDS = sorted((DOCS / "adr").glob("*.md"))
PLACES = ("", "tabprotect", "tabprotect/engine", "tabprotect/gui", "resources/docs", "packaging")


def _paths(text: str) -> list[str]:
    return re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|toml|sh|txt|po|json|yml|html|svg))`", text)


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem[:4])
def test_a_record_names_what_was_rejected_and_what_holds_it(record: Path) -> None:
    text = record.read_text()
    assert re.search(r"(?i)\brejected\b", text)
    held = re.split(r"(?i)held by|test:", text, maxsplit=1)
    assert re.search(r"(?:tests|packaging)/[\w/]+\.(?:py|sh)|test_\w+\.py", held[-1])
    assert len(held) > 1, "nothing holds it"
    for name in re.findall(r"\b(test_\w+)\.py", text):
        assert any((ROOT / "tests").rglob(f"{name}.py")), name


@pytest.mark.parametrize(
    "document",
    [ROOT / "README.md", DOCS / "guide.md", DOCS / "glossary.md", *RECORDS],
    ids=lambda path: path.stem[:12],
)
def test_every_path_that_a_document_names_is_there(document: Path) -> None:
    for path in _paths(document.read_text()):
        if "NAME" not in path and "/usr/" not in path:
            assert any((ROOT / place / path).exists() for place in PLACES), path


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(wish for extra in extras for wish in extra)]
    text = RECORDS[0].read_text().lower()
    for name in {re.split(r"[<>=\[; ]", wish)[0].lower() for wish in wanted}:
        assert name in text, name
