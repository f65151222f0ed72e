"""The documentation page generated from the formats and the reading options."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tabprotect.engine.formats.reading_options import options
from tabprotect.engine.formats.registered import formats
from tabprotect.languages.said import joined, say

_HEAD = say("""# File formats

What a file is, is told by how it begins, else by the end of its name; anything else is read as
text. Tables are opened with `open`, `protect` and every other command that takes a `TABLE`; they
are written with `convert TABLE --out FILE` (by its suffix, or `--format NAME`) and `tabulate`.
""")


def formats_page() -> str:
    """All formats with what they cannot carry, then the reading options, as Markdown."""
    lines = [
        _HEAD,
        say("| name | format | suffixes | holds | read | written |"),
        "|---|---|---|---|---|---|",
    ]
    for kind in formats().values():
        suffixes = " ".join(f"`{suffix}`" for suffix in kind.suffixes)
        holds = ", ".join(sorted(kind.holds, reverse=True))
        lines.append(
            say(
                "| `{name}` | {label} | {suffixes} | {holds} | yes | yes |",
                kind.name,
                kind.label,
                suffixes,
                holds,
            )
            if kind.writes
            else say(
                "| `{name}` | {label} | {suffixes} | {holds} | yes | no |",
                kind.name,
                kind.label,
                suffixes,
                holds,
            )
        )
    for kind in formats().values():
        title, _, *text = kind.help.splitlines()
        lines += [
            "",
            f"## `{kind.name}`",
            "",
            title,
            "",
            *text,
            "",
            say("What it cannot carry:"),
            "",
        ]
        lines += [f"- {limit}" for limit in kind.limits]
    lines += ["", "## Reading", "", say("Options of every command that reads a table."), ""]
    lines += [say("| option | what it says | where it matters |"), "|---|---|---|"]
    for option in options():
        told = [f"`{kind.name}`" for kind in formats().values() if option.name in kind.options]
        lines.append(f"| `{option.shell}` | {option.help} | {', '.join(told) or 'everywhere'} |")
    return joined(lines, "\n") + "\n"


if __name__ == "__main__":
    page = Path(str(files("tabprotect.resources"))) / "docs" / "formats.md"
    page.write_text(formats_page(), encoding="utf-8")
