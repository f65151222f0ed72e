"""The documentation page of the file formats: ``python packaging/format_pages.py`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.options import options_of

PAGE = Path(__file__).parents[1] / "resources" / "docs" / "formats.md"

HEAD = """# File formats

What a file is, is told by how it begins, else by the end of its name; anything else is read as
text. Tables are opened with `open`, `protect` and every other command that takes a `TABLE`; they
are written with `convert TABLE --out FILE` (by its suffix, or `--format NAME`) and `tabulate`.
"""

READERS = """
## Who reads the intervals

`export --with intervals` puts `lower`, `upper` and `estimate` beside each count. These programs, as they are, read the same figures from each format in the tests; PxWebApi is a table server's (`ContentsCode`).

<!-- clients -->
| format | read by |
|---|---|
| `csv` | pandas, frictionless |
| `px` | pyaxis |
| `jsonstat` | pyjstat |
| `sdmx-ml` | sdmx1 |
| `sdmx-json` | sdmx1 |
| `sdmx-csv` | pandas |
| `parquet` | pandas, pyarrow |
| `xlsx` | pandas, openpyxl |
| PxWebApi | pxwebpy, pyaxis |
<!-- end -->
"""
"""Who reads the intervals that are exported, as the tests have it."""


def formats_page() -> str:
    """All formats with what they cannot carry, then the reading options, as Markdown."""
    kinds = formats().values()
    lines = [HEAD, "| name | format | suffixes | holds | read | written |", "|---|---|---|---|---|---|"]
    for kind in kinds:
        suffixes = " ".join(f"`{suffix}`" for suffix in kind.suffixes)
        holds = ", ".join(sorted(kind.holds, reverse=True))
        written = "yes" if kind.writes else "no"
        lines.append(f"| `{kind.name}` | {kind.label} | {suffixes} | {holds} | yes | {written} |")
    for kind in kinds:
        title, _, *text = kind.help.splitlines()
        lines += ["", f"## `{kind.name}`", "", title, "", *text, "", "What it cannot carry:", ""]
        lines += [f"- {limit}" for limit in kind.limits]
    lines += ["", "## Reading", "", "Options of every command that reads a table.", ""]
    lines += ["| option | what it says | where it matters |", "|---|---|---|"]
    for option in options_of(Reading):
        told = [f"`{kind.name}`" for kind in kinds if option.name in kind.options]
        lines.append(f"| `{option.shell}` | {option.help} | {', '.join(told) or 'everywhere'} |")
    return "\n".join(lines) + "\n" + READERS


if __name__ == "__main__":
    PAGE.write_text(formats_page(), encoding="utf-8")
