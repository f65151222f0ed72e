"""The catalogue of what the program says: ``python packaging/catalogue.py`` brings it up to date.

Reads every said text out of the source and the pages, and rewrites ``resources/languages/*.po``:
translations of what is still said stay, what is said no more goes, what is said besides comes in
untranslated. ``--check`` changes nothing and exits 1 where something would change.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from tabprotect.languages.page_texts import page_texts

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = ROOT / "resources" / "languages"

KEYWORDS = {"message": None, "tr": None, "plural": (2, 3), "forms": (1, 2)}
"""Calls that make a text, and which of their arguments are its templates."""

HELPING = (
    *("tabprotect/engine/protection/methods/", "tabprotect/engine/assessment/risk/"),
    *("tabprotect/engine/assessment/utility/", "tabprotect/engine/formats/kinds/"),
    *("tabprotect/engine/query_space/criteria/", "tabprotect/engine/query_space/rules/"),
    "tabprotect/engine/query_space/utilities/",
)
"""Modules whose docstring is a page of help."""

ARGPARSE = (
    *("usage: ", "options", "positional arguments", "show this help message and exit"),
    *("show program's version number and exit", "the following arguments are required: %s"),
    *("unrecognized arguments: %s", "argument %(argument_name)s: %(message)s"),
    "invalid choice: %(value)r (choose from %(choices)s)",
    *("invalid %(type)s value: %(value)r", "expected one argument"),
    *("expected at least one argument", "one of the arguments %s is required"),
    "not allowed with argument %s",
)
"""What Python's own parser of command lines says."""

WORDS = (
    "Status",
    "Inner cell",
    "mean",
    "unknown",
    "Difference",
    "add alpha",
    "subtract beta",
    "leave gamma",
    "P(true)",
    "P(true value)",
    "P(published)",
    "P(published value)",
    "all",
    "allowed",
    "any zero",
    "auto",
    "cheapest",
    "integer",
    "kept",
    "longer",
    "moved",
    "nearest",
    "negative",
    "one",
    "outside",
    "positive",
    "proportional",
    "random",
    "replacement",
    "reversible",
    "spared",
    "unbiased",
    "uniform",
    "unity",
    "usual",
    "planned",
    "from the example",
    "real",
    "other",
    "candidate",
    "unreleasable",
    "codes",
    "bands",
    "numbers",
    "names",
    "layers",
    "P(small)",
    "expected",
    "mode",
    "entropy",
    "pstay",
    "leave",
    "{cycles} cycles",
    "Group: {label}",
    "primary",
    "Suppression",
)
"""Words of the program that come out of data: kinds, standings, choices."""

_WORD = re.compile(r"[A-Za-z]{2}")
_MARK = re.compile(r"\{[^}]*\}|<[^>]*>")

Template = str | tuple[str, ...]


def said_by(root: Path = ROOT) -> dict[Template, str]:
    """Every text of the program, with the first file that says it; one and many as a pair."""
    found: dict[Template, str] = {}
    for path in sorted((root / "tabprotect").rglob("*.py")):
        where = path.relative_to(root).as_posix()
        for _, text, *_ in extract_from_file("python", path, KEYWORDS):
            found.setdefault(text, where)
        if where.startswith(HELPING):
            for text in paragraphs(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""):
                found.setdefault(text, where)
    for text in ARGPARSE:
        found.setdefault(text, "argparse")
    for text in WORDS:
        found.setdefault(text, "words")
    for path in sorted((root / "resources" / "examples").glob("*/example.toml")):
        example = tomllib.loads(path.read_text("utf-8"))
        for name in ("title", "description", "size", "learn"):
            text = example[name]
            found.setdefault(text, path.relative_to(root).as_posix())
    for path in sorted((root / "resources").glob("*/*.html")):
        where = path.relative_to(root).as_posix()
        for text in page_texts(path.read_text("utf-8")):
            found.setdefault(text, where)
    return {text: where for text, where in found.items() if _worded(text)}


def _worded(text: Template) -> bool:
    """Whether there is more to translate than values."""
    return _WORD.search(_MARK.sub("", text if isinstance(text, str) else text[0])) is not None


def paragraphs(docstring: str) -> Iterator[str]:
    """A page of help by paragraph; of its first line what stands behind the name, too."""
    for paragraph in docstring.split("\n\n"):
        text = " ".join(paragraph.split())
        yield text
        name, _, said = text.partition(": ")
        if name and said and docstring.startswith(paragraph):
            yield said


def _place(said: tuple[Template, str]) -> tuple[str, str]:
    """Where a text stands in the catalogue: by file, then by its letters."""
    text, where = said
    return where, text if isinstance(text, str) else text[0]


def brought_up(text: bytes, said: dict[Template, str]) -> Catalog:
    """A catalogue with what is said, and the translations that it has."""
    before = read_po(BytesIO(text))
    after = Catalog(before.locale, header_comment="", fuzzy=False)
    for template, where in sorted(said.items(), key=_place):
        known = before.get(template if isinstance(template, str) else template[0])
        after.add(template, known.string if known else None, [(where, None)])
    return after


def written(catalogue: Catalog) -> bytes:
    """A catalogue as a file, without what changes by itself: times, versions, numbers of lines."""
    out = BytesIO()
    write_po(out, catalogue, width=0, omit_header=True, include_lineno=False)
    locale = Locale.parse(str(catalogue.locale))
    lines = {
        "Language": str(catalogue.locale),
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=utf-8",
        "Plural-Forms": catalogue.plural_forms,
        **number_formats(locale),
    }
    head = "".join(f'"{name}: {value}\\n"\n' for name, value in lines.items())
    return f'msgid ""\nmsgstr ""\n{head}\n'.encode() + out.getvalue()


def number_formats(locale: Locale) -> dict[str, str]:
    """How a language writes numbers and dates, by the locale data of Unicode."""
    symbols = locale.number_symbols["latn"]
    day = locale.date_formats["long"].pattern
    for sign, name in (("MMMM", "{month}"), ("d", "{day}"), ("y", "{year}")):
        day = re.sub(rf"\b{sign}\b", name, day)
    return {
        "X-Decimal": symbols["decimal"],
        "X-Group": symbols["group"],
        "X-Percent": str(locale.percent_formats[None].pattern).lstrip("#,0."),
        "X-Months": ",".join(locale.months["format"]["wide"][n] for n in range(1, 13)),
        "X-Day": day,
    }


def main() -> None:
    """Bring every catalogue up to date, or say whether they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where stale")
    check = parser.parse_args().check
    said, stale = said_by(), False
    for path in sorted(CATALOGUES.glob("*.po")):
        before = path.read_bytes()
        catalogue = brought_up(before, said)
        after = written(catalogue)
        stale |= after != before
        if not check:
            path.write_bytes(after)
        done = sum(1 for message in catalogue if message.id and all(strings(message.string)))
        print(f"{path.name}: {done:,} of {len(catalogue):,} texts")
    sys.exit(1 if check and stale else 0)


def strings(string: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    """The translations of one text: one, or one for each plural form."""
    return (string or "",) if isinstance(string, str) or string is None else tuple(string)


if __name__ == "__main__":
    main()
