"""Pages that follow from the program: documents, commands, plug-ins, errors, a gallery of examples."""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from error_pages import error_pages
from furo.navigation import get_navigation_tree
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import tabprotect
from tabprotect.cli.completion import commands
from tabprotect.cli.verbs import COMMANDS
from tabprotect.engine.project.examples import Example, examples
from tabprotect.engine.project.plugin_pages import plugin_pages
from tabprotect.languages.messages import capital

DOCUMENTS = ("bundle_format.md", "formats.md", "stated.md", "glossary.md", "guide.md", "changelog.md")

SECTIONS = {
    "methods": "Methods",
    "in_depth": "In depth",
    "examples": "Gallery of the examples",
    "decisions": "Decisions",
}
"""Folders of pages that are made here, each with a first page that lists the others."""

KINDS = {
    "measures": ("Measures", "What a comparison looks at: what an intruder learns, and what a user loses."),
    "criteria": ("Criteria", "How dangerous a set of released margins is."),
    "sensitivity_rules": (
        "Sensitivity rules",
        "Which cells tell too much: small counts, and sums in which one contributor is most.",
    ),
    "rules": (
        "Release rules",
        "When a table server answers: what may be released on top of what was released.",
    ),
    "utilities": ("Utilities", "What a set of released margins is good for."),
}
"""Plug-ins of which a page holds every one of its kind: title and first sentence."""

SECTION = """# {title}

```{{toctree}}
:maxdepth: 1
:glob:

*
```
"""

MADE = frozenset(f"generated/{section}" for section in SECTIONS)

GROUPS = {"positional arguments": "Arguments", "options": "General"}
"""Headings of groups of options in place of argparse's own words."""

FORMULAS = Path(__file__).with_name("formulas.toml")
"""By kind and name; of no name what stands before all."""

LINE_OF_NAMES, NAME = re.compile(r"^- ((?:`\w+`(?:, )?)+)$", re.MULTILINE), re.compile(r"`(\w+)`")
"""What has one page in the reference of the library."""

INDEX = {
    "suppression": "! suppression, ! secondary suppression, ! hidden cells",
    "controlled_rounding": "! rounding, ! controlled rounding",
    "cell_key": "! cell key, ! cell keys, ! perturbation table",
    "cyclic_perturbation": "! cycles, ! cyclic perturbation",
    "discrete_laplace": "! differential privacy, ! laplace",
}
"""The words under which the page of a method is found first, beside its name."""

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
        # Decision records are read by developers, who come from the guide: no menu lists them.
        outside = "---\norphan: true\n---\n" if folder == "decisions" else ""
        (made / folder / "index.md").write_text(outside + SECTION.format(title=title), encoding="utf-8")
    for name in DOCUMENTS:
        text = (docs / name).read_text(encoding="utf-8").replace("](adr/", "](../decisions/")
        (made / "documents" / name).write_text(text, encoding="utf-8")
    write_commands(docs, made)
    write_library(docs, made)
    pages = error_pages(Path(tabprotect.__file__).parent)
    pages |= dict(by_kind(plugin_pages()))
    for path in sorted((here / "worked").glob("*.md")):
        # The picture and the example first: what the method does in words follows.
        name = f"methods/{path.stem}"
        title, first, rest = pages[name].split("\n\n", 2)
        words = INDEX.get(path.stem, path.stem.replace("_", " "))
        shown = path.read_text(encoding="utf-8")
        pages[name] = f"{title}\n\n```{{index}} {words}\n```\n\n{first}\n\n{shown}\n## In words\n\n{rest}"
    for path in sorted((docs / "methods").glob("*.md")):
        name = f"methods/{path.stem}"
        if name in pages:
            pages[name] += _in_depth(_from_below(path))
        else:
            (made / "in_depth" / path.name).write_text(_from_below(path), encoding="utf-8")
    for name, page in pages.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / f"{name}.md").write_text(page, encoding="utf-8")
    for path in sorted((docs / "adr").glob("*.md")):
        shutil.copy(path, made / "decisions" / path.name)
    shutil.copytree(docs / "images", made / "images")
    for example in examples():
        (made / "examples" / f"{example.name}.md").write_text(_page(example), encoding="utf-8")


def by_kind(pages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pages of plug-ins: of methods one each, of other kinds one for all of a kind.

    Raises
    ------
    ExtensionError
        Naming formulas of what is not there.
    """
    formulas = tomllib.loads(FORMULAS.read_text(encoding="utf-8"))
    for kind, (title, first) in KINDS.items():
        set_here = dict(formulas.get(kind, {}))
        head = [f"# {title}\n\n{first}\n", set_here.pop("", "")]
        own = [name for name in pages if name.startswith(f"{kind}/")]
        below = [with_formula(pages[name], set_here.pop(name.partition("/")[2], "")) for name in own]
        if set_here:
            raise ExtensionError(f"formulas.toml: there are no {kind} of the names {', '.join(set_here)}")
        yield kind, "\n".join([*head, *(re.sub(r"^#", "##", page, flags=re.MULTILINE) for page in below)])
    yield from ((name, page) for name, page in pages.items() if name.startswith("methods/"))


def with_formula(page: str, formula: str) -> str:
    """A page with a formula below its first sentence."""
    title, first, *rest = page.split("\n\n", 2)
    return "\n\n".join([title, first, f"$$\n{formula}\n$$", *rest]) if formula else page


def write_commands(docs: Path, made: Path) -> None:
    """Write a page for each command: what it is for, how it is called, its options by group."""
    folder = made / "command_line"
    folder.mkdir()
    text = (docs / "command_line.md").read_text(encoding="utf-8")
    text = text.replace("](site/", "](../../").replace("](formats.md)", "](../documents/formats.md)")
    title, said, common = text.replace("; [commands](commands) has more about each", "").split("\n\n", 2)
    listed = [
        "\n".join(
            [
                f"**{capital(group)}**\n",
                *(f"- [`{name}`]({name}.md): {does}" for name, (_, does) in of.items()),
            ]
        )
        for group, of in COMMANDS.items()
    ]
    listed.append("```{toctree}\n:hidden:\n:glob:\n\n*\n```")
    words = "```{index} ! exit code, ! exit codes, ! command line, ! json\n```"
    (folder / "index.md").write_text("\n\n".join([title, words, said, *listed, common]), "utf-8")
    below: dict[str, dict[str, argparse.ArgumentParser]] = {}
    for words, parser in commands():
        below.setdefault(words.partition(" ")[0], {})[words] = parser
    for name, parsers in below.items():
        told = (
            (docs / "commands" / f"{name}.md")
            .read_text(encoding="utf-8")
            .replace("](../adr/", "](../decisions/")
        )
        first, *parts = told.split("\n## ")
        # Its examples before all: who knows what they look for reads no further.
        examples = [parser.epilog.partition("\n")[2].strip() for parser in parsers.values() if parser.epilog]
        shown = "\n".join(["```sh", *examples, "```"])
        calls = [
            _called(words, parser) for words, parser in parsers.items() if words != name or len(parsers) == 1
        ]
        page = "\n\n".join([f"# `{name}`", first, shown, *(["## " + one for one in parts]), *calls])
        (folder / f"{name}.md").write_text(page, encoding="utf-8")


def write_library(docs: Path, made: Path) -> None:
    """Write a page for each line of names of the document on the library.

    Raises
    ------
    ExtensionError
        Naming names of the library that are in none, and names that are not of it.
    """
    folder, text = made / "library", (docs / "library.md").read_text(encoding="utf-8")
    folder.mkdir()
    lines = LINE_OF_NAMES.findall(text)
    named = [name for line in lines for name in NAME.findall(line)]
    if wrong := set(named) ^ {name for name in tabprotect.__all__ if not name.startswith("_")}:
        raise ExtensionError(f"library.md: names that are there or in the library alone: {sorted(wrong)}")
    pages = {line: NAME.findall(line) for line in lines}
    for line, names in pages.items():
        shown = "\n".join(map(_documented, names))
        body = f"```{{eval-rst}}\n.. currentmodule:: tabprotect\n\n{shown}\n```\n"
        (folder / f"{names[0]}.md").write_text(f"# {line}\n\n{body}", "utf-8")

    def linked(found: re.Match[str]) -> str:
        first = pages[found[1]][0]
        said = (inspect.getdoc(getattr(tabprotect, first)) or "").partition("\n\n")[0].replace("\n", " ")
        told = re.sub(r":[a-z]+:`~?([^`]+)`|``([^`]+)``", r"`\1\2`", said)
        return f"- [{found[1]}]({first}.md): {told}"

    hidden = "\n".join(names[0] for names in pages.values())
    whole = f"{LINE_OF_NAMES.sub(linked, text)}\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"
    (folder / "index.md").write_text(whole, "utf-8")


def _documented(name: str) -> str:
    """The directive that shows a name of the library with its members."""
    value = getattr(tabprotect, name)
    if not inspect.isclass(value):
        return f".. autofunction:: {name}\n"
    if issubclass(value, Exception):
        return f".. autoexception:: {name}\n"
    return f".. autoclass:: {name}\n   :members:\n"


def _called(words: str, parser: argparse.ArgumentParser) -> str:
    """How a command is called, and its options by group."""
    said = [f"## `tabprotect {words}`", f"{capital(parser.description or '')}."]
    said.append(f"```text\n{parser.format_usage().partition(': ')[2].strip()}\n```")
    for group in parser._action_groups:
        rows = [_option(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
        if rows:
            title = GROUPS.get(str(group.title), str(group.title).capitalize())
            said.append("\n".join([f"**{title}**\n", *rows]))
    return "\n\n".join(said)


def _option(action: argparse.Action) -> str:
    """An option with its value and its help, as an item of a definition list."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    shown = " ".join(value) if isinstance(value, tuple) else str(value)
    taken = "" if action.nargs == 0 else f" {shown}"
    name = ", ".join(f"`{option}{taken}`" for option in action.option_strings) or f"`{shown}`"
    told = str(action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    return f"{name}\n: {told or '...'}\n"


def _from_below(path: Path) -> str:
    """A document with its links to pages of the site as they lead from two folders below it."""
    text = path.read_text(encoding="utf-8").replace("](../site/", "](../../")
    return text.replace("](../adr/", "](../decisions/")


def _in_depth(text: str) -> str:
    """What more there is to say of a method: below the page that its file makes, a level down."""
    body = re.sub(r"\]\((\w+\.md)", r"](../in_depth/\1", text.partition("\n")[2])
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


def without_addresses(app: Sphinx, doctree: nodes.document) -> None:
    """Leave `geo@nuts2` a variable at a level: a parser of text takes it for the address of a person."""
    for link in list(doctree.findall(nodes.reference)):
        if str(link.get("refuri", "")).startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", without_addresses)
    # Before the theme, which asks for the list, and after it.
    app.connect("html-page-context", unfold_here, priority=400)
    app.connect("html-page-context", mark_page, priority=600)
    return {"parallel_read_safe": True}
