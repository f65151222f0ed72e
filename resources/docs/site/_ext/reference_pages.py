"""Pages that follow from the program: the documents above, plug-ins, a gallery of examples."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from furo.navigation import get_navigation_tree
from sphinx.application import Sphinx

from tabprotect.engine.project.examples import Example, examples
from tabprotect.engine.project.plugin_pages import plugin_pages

DOCUMENTS = ("command_line.md", "bundle_format.md", "formats.md", "glossary.md", "guide.md", "changelog.md")

SECTIONS = {
    "methods": "Methods",
    "measures": "Measures",
    "criteria": "Criteria",
    "rules": "Rules",
    "utilities": "Utilities",
    "in_depth": "In depth",
    "examples": "Gallery of the examples",
    "decisions": "Decisions",
}
"""Folders of pages that are made here, each with a first page that lists the others."""

SECTION = """# {title}

```{{toctree}}
:maxdepth: 1
:glob:

*
```
"""

MADE = frozenset(f"generated/{section}" for section in SECTIONS)

PAGE = """# {title}

{description}

Source: {source}

Licence: {licence}. {terms}

{body}
"""

TABLE = """```{{run}}
import tabprotect as tp

table = tp.read_table("example:{name}")
print(table, "total", table.total)
for variable in table.domain.variables:
    print(f"{{variable.name}}: {{', '.join(variable.categories[:8])}}")
```

```{{run}}
risky = ((table.counts > 0) & (table.counts <= 2)).sum()
print(f"{{risky}} of {{table.domain.size}} cells hold 1 or 2")
```
"""

RECORDS = """```{{run}}
import tabprotect as tp

table = tp.tabulate("example:{name}", {tabulated})
print(table.to_frame())
```
"""


def write_pages(app: Sphinx) -> None:
    """Write what the site includes beside its own pages."""
    here = Path(app.srcdir)
    docs = here.parent
    made = here / "generated"
    shutil.rmtree(made, ignore_errors=True)
    (made / "documents").mkdir(parents=True)
    for folder, title in SECTIONS.items():
        (made / folder).mkdir()
        (made / folder / "index.md").write_text(SECTION.format(title=title), encoding="utf-8")
    for name in DOCUMENTS:
        text = (docs / name).read_text(encoding="utf-8").replace("](adr/", "](../decisions/")
        (made / "documents" / name).write_text(text, encoding="utf-8")
    pages = plugin_pages()
    for path in sorted((here / "worked").glob("*.md")):
        name, mark = f"methods/{path.stem}", "\n## Parameters"
        told, _, listed = pages[name].partition(mark)
        pages[name] = f"{told}\n{path.read_text(encoding='utf-8')}{mark}{listed}"
    for path in sorted((docs / "methods").glob("*.md")):
        name = f"methods/{path.stem}"
        if name in pages:
            pages[name] += _in_depth(_from_below(path))
        else:
            (made / "in_depth" / path.name).write_text(_from_below(path), encoding="utf-8")
    for name, page in pages.items():
        (made / f"{name}.md").write_text(page, encoding="utf-8")
    for path in sorted((docs / "adr").glob("*.md")):
        shutil.copy(path, made / "decisions" / path.name)
    shutil.copytree(docs / "images", made / "images")
    for example in examples():
        (made / "examples" / f"{example.name}.md").write_text(_page(example), encoding="utf-8")


def _from_below(path: Path) -> str:
    """A document with its links to pages of the site as they lead from two folders below it."""
    text = path.read_text(encoding="utf-8").replace("](../site/", "](../../")
    return text.replace("](../adr/", "](../decisions/")


def _in_depth(text: str) -> str:
    """What more there is to say of a method: below the page that its file makes, a level down."""
    body = text.partition("\n")[2]
    return "\n## In depth\n" + re.sub(r"^##", "###", body, flags=re.MULTILINE)


def _page(example: Example) -> str:
    body = RECORDS if example.microdata else TABLE
    return PAGE.format(
        title=example.title,
        description=example.description,
        source=example.source,
        licence=example.licence,
        terms=example.terms,
        body=body.format(
            name=example.name,
            tabulated=", ".join(f"{word}={value!r}" for word, value in example.tabulated.items()),
        ),
    )


def unfold_here(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Beside a page stand the pages of its own section: all of all of them take half the build.

    What stands beside the pages of a made section is the same for each but for the mark of the page
    that is read. It is worked out for one of them: this would be a third of the build.
    """
    whole = context["toctree"]
    context["toctree"] = lambda **asked: whole(**{**asked, "collapse": True})
    section, _, name = page.rpartition("/")
    if section not in MADE or name == "index":
        return
    kept: dict[str, str] = app.__dict__.setdefault("_kept_navigation", {})
    if section not in kept:
        beside = context["toctree"](titles_only=True, maxdepth=-1, includehidden=True)
        kept[section] = get_navigation_tree(
            beside.replace(
                HERE_NOW, f'<li class="toctree-l2"><a class="reference internal" href="{name}.html">'
            )
        )
    context["kept_navigation"] = kept[section]
    context["toctree"] = lambda **_: ""


HERE_NOW = '<li class="toctree-l2 current"><a class="current reference internal" href="#">'
"""The mark of the page that is read."""


def mark_page(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """After the theme: what stands beside a made page, with its own mark."""
    if "kept_navigation" in context:
        name = page.rpartition("/")[2]
        context["furo_navigation_tree"] = context["kept_navigation"].replace(
            f'<li class="toctree-l2"><a class="reference internal" href="{name}.html">',
            HERE_NOW.replace(" current", " current current-page", 1),
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    # Before the theme, which asks for the list, and after it.
    app.connect("html-page-context", unfold_here, priority=400)
    app.connect("html-page-context", mark_page, priority=600)
    return {"parallel_read_safe": True}
