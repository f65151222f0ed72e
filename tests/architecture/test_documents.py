"""Documents for developers say what is so: decision records, and every path that they name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "resources" / "docs"
RECORDS = sorted((DOCS / "adr").glob("[0-9]*.md"))
PARTS = ["Decision", "Rejected", "Held by"]
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


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem[:4])
def test_a_record_has_the_layout_and_a_status(record: Path) -> None:
    text = record.read_text()
    head = re.match(r"# (\d+)\. \S.*\n\nStatus: (accepted|superseded by (\d{4}))\n\n", text)
    assert head is not None, text[:80]
    assert int(head[1]) == int(record.stem[:4])
    if head[3]:
        assert any(other.stem.startswith(head[3]) for other in RECORDS)
    parts = re.findall(r"(?m)^\*\*(Context|Decision|Rejected|Held by)\.\*\*", text[head.end() :])
    assert parts in (["Context", *PARTS], PARTS)
    assert not re.search(r"(?m)^#", text[head.end() :]), "a heading of its own"


def test_the_index_lists_every_record_once() -> None:
    expected = []
    for record in RECORDS:
        lines = record.read_text().splitlines()
        status = lines[2].removeprefix("Status: ")
        note = "" if status == "accepted" else f" ({status})"
        expected.append(f"- [{lines[0].removeprefix('# ')}]({record.name}){note}")
    index = (DOCS / "adr" / "README.md").read_text().splitlines()
    assert [line for line in index if line.startswith("- ")] == expected


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


STRESSED = {"small counts"}
"""Words of the tutorials that are stressed, and stand on nothing."""


@pytest.mark.parametrize("name", ["staff", "reader"])
def test_a_tutorial_calls_what_is_pressed_by_its_name(name: str) -> None:
    """Words in italics are those of the window."""
    with (ROOT / "resources" / "languages" / "de.po").open("rb") as file:
        said = [str(message.id) for message in read_po(file) if isinstance(message.id, str)]
    # A pattern is a text that begins with a word of its own: "{first} {second}" would be any.
    begun = [text.replace("&", "") for text in said if re.match(r"&?\w", text)]
    known = [re.sub(r"\\\{\w+\\\}", ".+", re.escape(text)) for text in begun]
    text = (DOCS / "site" / "tutorials" / f"{name}.md").read_text()
    called = set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", re.sub(r"(?s)```.*?```", "", text)))
    assert called
    missing = [one for one in called - STRESSED if not any(re.fullmatch(pattern, one) for pattern in known)]
    assert not missing
