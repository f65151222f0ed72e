"""The README of a release bundle, for a reader who knows nothing of this program."""

from __future__ import annotations

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet

NAME = "README.md"


def reader_text(release: Release) -> str:
    """What was done, what is exact, and how to compute with it. Made from the release alone."""
    method = methods()[release.mechanism.method]
    domain = release.table.domain
    shape = " x ".join(map(str, domain.shape))
    title = " ".join(release.title.split()) or "A protected table of counts"
    lines = [
        f"# {title}",
        "",
        f"A table of counts by {', '.join(domain.names)} ({shape} cells). Single counts were "
        f"changed at random before publication to protect the people behind them: "
        f"**{method.label.lower()}**. Do not read a single small count as a fact about somebody.",
        "",
        "## What is in this bundle",
        "",
        "- `table.csv`: the protected counts, one line per cell.",
        "- `datapackage.json`: variables and categories (a Frictionless Data Package).",
        "- `mechanism.json`: how the counts were changed, exactly: everything but the coins.",
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
        "Properties of this method:",
        "",
        *(f"- {text}" for text in method.guarantees.values()),
        "",
        "## What to believe about a true count",
        "",
        "Because the mechanism is public, the probability of every possible true count can be "
        "computed for any prior knowledge of your own:",
        "",
        "    tabprotect infer release.zip",
        "    tabprotect infer release.zip --prior positive --json",
        "",
        "or open the bundle in the program's window. The published count is usually, but not "
        "always, the most probable one: the program says for which cells it is.",
        "",
        "## Is it intact?",
        "",
        "    tabprotect verify release.zip",
        "",
        "checks every hash, that the cycles keep the margins they claim, and prints the "
        "fingerprint (SHA-256) of the zip. Hashes inside a zip find damage and careless edits, "
        "not a forger: compare the fingerprint with the one its publisher names elsewhere.",
    ]
    return "\n".join(lines) + "\n"


def _exact(release: Release) -> list[str]:
    domain = release.table.domain
    moves = release.mechanism.parameters.get("cycles")
    margins = moves.margins if isinstance(moves, MoveSet) else all_margins(domain)
    lines = ["The grand total, and these margins with everything that adds up from them:", ""]
    if not any(margins):
        return ["The grand total. No other margin is kept on purpose."]
    return lines + [f"- {' x '.join(margin)}" for margin in margins if margin]


def _parameters(release: Release) -> list[str]:
    method = methods()[release.mechanism.method]
    out = []
    for parameter in method.parameters:
        value = release.mechanism.parameters.get(parameter.name)
        if isinstance(value, MoveSet):
            out.append(f"- {parameter.label}: {len(value)} cycles, listed in `mechanism.json`.")
        elif parameter.choices is not None and isinstance(value, str):
            out.append(f"- {parameter.label}: `{value}`. {parameter.choices.get(value, '')}")
        elif value is not None:
            out.append(f"- {parameter.label}: {value}. {parameter.help}")
    return out
