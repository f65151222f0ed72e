"""The catalogue of what the program says: ``python packaging/catalogue.py`` brings it up to date.

Reads every sentence out of the source and the pages, and rewrites ``resources/languages/*.po``:
translations of what is still said stay, what is said no more goes, what is said besides comes in
untranslated. ``--check`` changes nothing and exits 1 where something would change.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from sentences import Reader

from tabprotect.languages.page_texts import page_texts
from tabprotect.languages.po import PoEntry, po_text, read_po

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = ROOT / "resources" / "languages"

SILENT = (
    *("tabprotect/testing", "tabprotect/languages", "tabprotect/server/openapi.py"),
    *("tabprotect/server/attack", "tabprotect/engine/formats/statistics"),
)
"""What nobody who uses the program reads, or what is written in files of fixed form."""

SPOKEN = ("tabprotect/gui", "tabprotect/cli", "tabprotect/server")
"""Where a single word is a label."""

HELPING = (
    *("tabprotect/engine/protection/methods/", "tabprotect/engine/assessment/risk/"),
    *("tabprotect/engine/assessment/utility/", "tabprotect/engine/formats/kinds/"),
    *("tabprotect/engine/query_space/criteria/", "tabprotect/engine/query_space/rules/"),
    "tabprotect/engine/query_space/utilities/",
)
"""Modules whose docstring is a page of help."""

FURTHER = (
    *("usage:", "options", "positional arguments", "show this help message and exit"),
    *("show program's version number and exit", "the following arguments are required: {names}"),
    *("unrecognized arguments: {names}", "argument {name}: expected one argument"),
    "argument {name}: invalid choice: {given} (choose from {choices})",
    *("argument {name}: invalid {kind} value: {given}", "argument {name}: expected {n} arguments"),
    *(
        "argument {name}: expected at least one argument",
        "one of the arguments {names} is required",
    ),
    *("argument {name}: not allowed with argument {names}", "Status", "Inner cell", "Rows"),
    *(
        "exactly",
        "probability",
        "cell",
        "published",
        "mean",
        "none",
        "unknown",
        "CONFIDENTIAL",
        "PUBLIC VIEW",
    ),
    *("Passes", "passes", "Difference", "for", "prior", "add alpha", "subtract beta"),
    *("leave gamma", "P(true)", "P(true value)", "P(published)", "P(published value)"),
    "published {published}, true {true} [staff only]",
    *("all", "allowed", "any zero", "at risk", "auto", "cheapest", "count", "decomposable"),
    *("integer", "kept", "listed", "longer", "moved", "nearest", "negative", "no", "one"),
    *("outside", "positive", "proportional", "random", "records", "replacement", "reversible"),
    *("spared", "unbiased", "uniform", "unity", "usual", "yes", "planned", "released"),
    "from the example",
    *("about", "real", "other"),
    # What a semicolon and a colon make look like a style sheet.
    "the code of totals, which are checked and taken out; auto: find them by arithmetic; none: "
    "nothing is a total",
    "long: a line for each cell; grid: rows by columns",
    "1: variance at most V; 4: exactly V",
    "staff: CONFIDENTIAL, from a dossier; public: from a release bundle (or that in a dossier)",
    "Noise beyond {reach}, of a probability below 1e-15, is taken as impossible.",
    "Published are estimates, sums of design weights. This posterior is about counts of records; it "
    "takes the mean weight of a cell as evenly spread over the stated range, {low} to {high}, and as "
    "independent of the count.",
    # Places of errors, which are put together from what is known.
    *("{file}, line {line}, cell {cell}", "line {line}, cell {cell}", "{file}, cell {cell}"),
    *(
        "candidate",
        "unreleasable",
        "total",
        "codes",
        "bands",
        "numbers",
        "at",
        "names",
        "layers",
        "any",
        "to",
        "alone",
        "setting",
    ),
    *(
        "user",
        "intruder",
        "P(small)",
        "expected",
        "mode",
        "entropy",
        "pstay",
        "staff only",
        "leave",
    ),
    *(
        "{number} running",
        "{cycles} cycles",
        "Group: {label}",
        "{rest}, the rest ({words}): {left}",
    ),
    *("Every sensitive cell keeps its interval, proved in whole numbers", "dispersion ", "primary"),
    "every original that fits was weighed by the whole mechanism",
    *("drawn originals were weighed by the whole mechanism", "Suppression", "U primary unsafe"),
    "Nothing is published yet, so no counts are shown.",
    "Posterior under the user's prior (dashed: published, solid: original).",
    "Nothing but the grand total is planned yet; {candidates} may go out next, {bad} may not.",
    *("planned, on the frontier; critical width {width}", "{dimension}-way"),
    "{number} cycles over this {shape} table keep every margin",
    "what a reader can believe is computed exactly",
    *("what a reader can believe is drawn exactly", "on this table nothing is blocked"),
    "what a reader can believe is estimated, with its error",
    *("on this table all of it is blocked", "on this table {share} of them are blocked"),
    "Rank {rank} of {dimension}: {known} linear combinations are published exactly, for example "
    "{named}",
)
"""What Python's own parser of command lines says, and words that only a list holds."""


def said_by(root: Path = ROOT) -> dict[str, str]:
    """Every sentence of the program, with the first file that says it."""
    found: dict[str, str] = {}
    for path in sorted((root / "tabprotect").rglob("*.py")):
        where = path.relative_to(root).as_posix()
        if where.startswith(SILENT):
            continue
        reader = Reader(labels=where.startswith(SPOKEN), helps=where.startswith(HELPING))
        for text in reader.read(path.read_text("utf-8")):
            found.setdefault(text, where)
    for text in FURTHER:
        found.setdefault(text, "argparse")
    for path in sorted((root / "resources" / "examples").glob("*/example.toml")):
        example = tomllib.loads(path.read_text("utf-8"))
        for text in (example["title"], example["description"]):
            found.setdefault(text, path.relative_to(root).as_posix())
    for path in sorted((root / "resources").glob("*/*.html")):
        where = path.relative_to(root).as_posix()
        for text in page_texts(path.read_text("utf-8")):
            found.setdefault(text, where)
    return found


def brought_up(entries: Iterable[PoEntry], said: dict[str, str]) -> list[PoEntry]:
    """A catalogue with what is said, and the translations that it has."""
    known = {entry.text: entry.told for entry in entries}
    fresh = [PoEntry(text, known.get(text, ""), where) for text, where in said.items()]
    return sorted(fresh, key=lambda entry: (entry.where, entry.text))


def main() -> None:
    """Bring every catalogue up to date, or say whether they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where stale")
    check = parser.parse_args().check
    said, stale = said_by(), False
    for path in sorted(CATALOGUES.glob("*.po")):
        before = path.read_text("utf-8")
        entries = brought_up(read_po(before), said)
        after = po_text(path.stem, entries)
        stale |= after != before
        if not check:
            path.write_text(after, "utf-8")
        done = sum(1 for entry in entries if entry.told)
        print(f"{path.name}: {done:,} of {len(entries):,} sentences")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
