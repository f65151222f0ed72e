"""The README of a release bundle, for a reader who knows nothing of this program."""

from __future__ import annotations

from tabprotect.engine.bundle.data_package import table_name
from tabprotect.engine.percent import percent
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.stated_gate import CHANGED
from tabprotect.engine.tables.moves import MoveSet

NAME = "README.md"


def reader_text(release: Release) -> str:
    """The README: what was done, what is exact, and how to compute with it. Made from the release alone."""
    method = methods()[release.mechanism.method]
    title = " ".join(release.title.split()) or "A protected table of counts"
    lines = [
        f"# {title}",
        "",
        f"{_what(release)} Protected before publication, for the people behind the counts: "
        f"**{method.label.lower()}**. Do not read a single small count as a fact about somebody.",
        "",
        "## What is in this bundle",
        "",
        *_tables(release),
        "- `datapackage.json`: variables and categories (a Frictionless Data Package).",
        "- `mechanism.json`: the method and all its public parameters.",
        "- `manifest.json`: SHA-256 of every file.",
        "",
        "## What is exact",
        "",
        *_exact(release),
        "",
        "## What was done",
        "",
        *method.help.split("\n\n", 2)[1].splitlines(),
        "",
        *_parameters(release),
        "",
        "Properties of this method with these parameters:",
        "",
        *(f"- {method.guarantees[name]}" for name in method.promised(release.mechanism.values)),
        "",
        "## What to believe about a true count",
        "",
        "Because the mechanism is public, the probability of every possible true count can be "
        "computed for any prior knowledge of your own:",
        "",
        "    tabprotect infer release.zip",
        "    tabprotect infer release.zip --prior positive --json",
        "",
        "or open the bundle in the program's window. " + _mode(release),
        "",
        *_gate(release),
        "## Is it intact?",
        "",
        "    tabprotect verify release.zip",
        "",
        "checks every hash, that the mechanism is complete and the counts are possible under it, "
        "judges again what readers learn, and prints the fingerprint (SHA-256) of the zip. Hashes inside a zip find damage and "
        "careless edits, not a forger: compare the fingerprint with the one its publisher names "
        "elsewhere.",
    ]
    return "\n".join(lines) + "\n"


def _gate(release: Release) -> list[str]:
    """How the release passed the gate, if that is stated."""
    gate = release.mechanism.gate
    if gate is None:
        return []
    draws = (
        "One draw was made."
        if gate.attempts_at_most == 1
        else f"At most {gate.attempts_at_most} draws were made, and the first that passed was "
        f"published: that changes no odds by more than a factor of {gate.attempts_at_most}, and "
        "what is said of averages holds before this choice."
    )
    came = {
        True: "This release passes",
        False: "This release does not pass, and was published by a decision all the same",
        None: "This release could not be judged",
    }[gate.passed]
    return [
        "## How it was let out",
        "",
        f"By what its readers learn, not by the true counts. A count of {gate.at_risk} is known to "
        f"a reader who believes in it with more than {gate.belief_limit:g}; of the counts of "
        f"{gate.at_risk} that a reader expects at most {percent(gate.share)} may be known, table by "
        f"table. {came}. {draws}" + (f" {CHANGED}" if gate.changed else ""),
        "",
        "Parameters that were chosen by looking at figures of the true table tell a little of it; "
        "what anybody computes from this bundle leaves that out.",
        "",
    ]


def _weighted(release: Release) -> bool:
    mechanism = release.mechanism
    return methods()[mechanism.method].weighted(mechanism.values)


def column_note(release: Release) -> str:
    """What the count column holds if not counts, else ``""``."""
    if not _weighted(release):
        return ""
    return "The column count holds estimates: counts of records times their mean design weight."


def _mode(release: Release) -> str:
    if _weighted(release):
        return "True counts are counts of records, not of the people that they stand for."
    method = methods()[release.mechanism.method]
    if "exact" in method.promised(release.mechanism.values):
        return "Every published count is the true one."
    if all(published.table.domain != release.domain for published in release.tables):
        return "No count of a single cell is published."
    return (
        "The published count is usually, but not always, the most probable one: the program says "
        "for which cells it is."
    )


def _what(release: Release) -> str:
    domain = release.table.domain
    weighted = "estimates (counts of records times their mean design weight)"
    what = weighted if _weighted(release) else "counts"
    if len(release.tables) > 1:
        names = ", ".join(release.domain.names)
        return f"{len(release.tables)} tables of {what} over the variables {names}."
    shape = " x ".join(map(str, domain.shape))
    return f"A table of {what} by {', '.join(domain.names)} ({shape} cells)."


def _tables(release: Release) -> list[str]:
    lines = []
    for number, published in enumerate(release.tables):
        names = " x ".join(published.table.domain.names) or "the grand total"
        hidden = int(published.hidden.sum())
        cells = "cell is suppressed and has" if hidden == 1 else "cells are suppressed and have"
        without = f"; {hidden:,} {cells} no count" if hidden else ""
        lines.append(f"- `{table_name(number)}`: {names}, one line per cell{without}.")
    return lines


def _exact(release: Release) -> list[str]:
    method, parameters = methods()[release.mechanism.method], release.mechanism.parameters
    moves, promised = parameters.get("cycles"), method.promised(release.mechanism.values)
    if isinstance(moves, MoveSet):
        if not any(moves.margins):
            return ["The grand total. No other margin is kept on purpose."]
        said = "The grand total, and these margins with everything that adds up from them:"
        return [said, "", *(f"- {' x '.join(margin)}" for margin in moves.margins if margin)]
    if "exact" in promised:
        return ["Every count that is published."]
    if "total_kept" in promised:
        return ["The grand total. See the properties below for more."]
    return ["No count: each may differ from the true one, as the properties below say."]


def _parameters(release: Release) -> list[str]:
    method = methods()[release.mechanism.method]
    out = []
    for parameter in method.parameters:
        value = release.mechanism.parameters.get(parameter.name)
        if not parameter.public or value is None or value == "":
            continue
        if isinstance(value, MoveSet):
            by = "listed" if value.design is None else f"by the design `{value.design.kind}`"
            out.append(
                f"- {parameter.label}: {len(value)} cycle{'' if len(value) == 1 else 's'}, {by} in `mechanism.json`."
            )
        elif isinstance(value, (list, dict)):
            out.append(f"- {parameter.label}: listed in `mechanism.json`.")
        elif parameter.choices is not None and isinstance(value, str):
            words = parameter.choices.get(value, "")
            out.append(f"- {parameter.label}: {f'{words} (`{value}`)' if words else value}.")
        else:
            out.append(f"- {parameter.label}: {value}. {parameter.help}")
    return out
