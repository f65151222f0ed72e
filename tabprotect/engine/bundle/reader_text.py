"""The README of a bundle, for a reader who knows no program: made from the release alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabprotect.engine.bundle.tables.about import said_of
from tabprotect.engine.bundle.tables.data_package import table_name
from tabprotect.engine.disclosure.exact_small_margins import exact_small_margins
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.findings import listed
from tabprotect.engine.release.mechanism import CHANGED, TAKEN_IN, Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import kept_in_words
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.messages import joined, message, plural


def reader_text(release: Release) -> str:
    """The README: what was done, what is exact, and how to compute with it. Made from the release alone."""
    return joined(reader_lines(release), "\n") + "\n"


def reader_lines(release: Release) -> list[str]:
    """The README by line; each says its text in the language that it is told in."""
    intro, parts = (_of_magnitudes if release.magnitudes else _of_counts)(release)
    gate = [(message("How it was let out"), lines)] if (lines := _gate(release)) else []
    intact = [
        "    tabprotect verify release.zip",
        "",
        message(
            "checks every hash, that the mechanism is complete and the counts are possible under it, "
            "judges again what readers learn, and prints the fingerprint (SHA-256) of the zip. Hashes inside a zip find damage and "
            "careless edits, not a forger: compare the fingerprint with the one its publisher names "
            "elsewhere."
        ),
    ]
    said = [message("- {word}: {text}", word, " ".join(text.split())) for word, text in said_of(release)]
    table = [(message("About the table"), said)] if said else []
    out = [f"# {title_of(release)}", "", intro]
    for heading, text in (*parts, *table, *gate, (message("Is it intact?"), intact)):
        out += ["", "## " + heading, "", *text]
    return out


def title_of(release: Release) -> str:
    """The title that readers see, on one line; the usual one where there is none."""
    counts, magnitudes = message("A protected table of counts"), message("A protected table of magnitudes")
    return " ".join(release.title.split()) or (magnitudes if release.magnitudes else counts)


Parts = list[tuple[str, list[str]]]


def _of_counts(release: Release) -> tuple[str, Parts]:
    """Write the README of counts: its first part, and parts by their headings."""
    method, values = methods()[release.mechanism.method], release.mechanism.values
    held = [
        *_tables(release),
        message("- `datapackage.json`: variables and categories (a Frictionless Data Package)."),
        message("- `mechanism.json`: the method and all its public parameters."),
        message("- `page.html`: the tables to look at in a browser, with what to believe of each count."),
        message("- `manifest.json`: SHA-256 of every file."),
    ]
    done = [
        *method.help.split("\n\n", 2)[1].splitlines(),
        "",
        *_parameters(method.parameters, release.mechanism.parameters),
        "",
        message("Properties of this method with these parameters:"),
        "",
        *("- " + method.guarantees[name] for name in method.promised(values)),
        *_privacy(release),
    ]
    believe = [
        message(
            "Because the mechanism is public, the probability of every possible true count can be "
            "computed for any prior knowledge of your own:"
        ),
        "",
        "    tabprotect infer release.zip",
        "    tabprotect infer release.zip --prior positive --json",
        "",
        message("or open the bundle in the program's window. ") + _mode(release),
    ]
    return (
        message(
            "{release} Protected before publication, for the people behind the counts: "
            "**{lower}**. Do not read a single small count as a fact about somebody.",
            _what(release),
            method.label.lower(),
        ),
        [
            (message("What is in this bundle"), held),
            (message("What is exact"), [*exact_lines(release), *_small_lines(release)]),
            (message("Do parts add up?"), [why_parts(release)]),
            (message("What was done"), done),
            (message("What to believe about a true count"), believe),
        ],
    )


def _of_magnitudes(release: Release) -> tuple[str, Parts]:
    """Write the README of magnitudes."""
    table, method = release.magnitude_table, methods("magnitudes")[release.mechanism.method]
    hidden = int(table.hidden.sum())
    beside = {
        "n": message("- `n` in it: how many contribute to a sum that is published."),
        "mean": message("- `mean` in it: the sum over how many contribute, rounded."),
    }
    held = [
        plural(
            hidden,
            "- `table.csv`: a row for each cell: variables, `value`, and `status`, which is `hidden` in {hidden:,} cell.",
            "- `table.csv`: a row for each cell: variables, `value`, and `status`, which is `hidden` in {hidden:,} cells.",
            hidden,
        ),
        *(beside[name] for name in table.beside),
        message(
            "- `datapackage.json`: the columns, the measure and its decimals (a Frictionless Data Package)."
        ),
        message("- `mechanism.json`: the method, and the variables with their levels."),
        message(
            "- `page.html`: the table to look at in a browser, with where each value lies that is not published as it is."
        ),
        message("- `manifest.json`: SHA-256 of every file."),
    ]
    stated = _parameters(method.parameters, release.mechanism.parameters)
    believe = [
        message("How near anybody comes to what one contributor put in follows from what is published:"),
        "",
        "    tabprotect infer release.zip --as-contributor outsider",
    ]
    if release.counted:
        believe += [
            "",
            message("So does what can be believed of how many records each cell has:"),
            "",
            "    tabprotect infer release.zip --prior positive",
        ]
    return (
        message(
            "Sums of {measure} by {names}, totals among the rows as `Total`.",
            table.measure,
            joined(release.domain.names, ", "),
        ),
        [
            (message("What is in this bundle"), held),
            (message("What is exact"), exact_lines(release)),
            (message("Do parts add up?"), [why_parts(release)]),
            (message("What was done"), [method.promise, *(["", *stated] if stated else [])]),
            (message("What to believe about a contribution"), believe),
        ],
    )


def _small_lines(release: Release) -> list[str]:
    """Say how many of the small counts of each kept margin are published as they are."""
    if (gate := release.mechanism.gate) is None:
        return []
    words = kept_in_words(exact_small_margins(release, None, gate.at_risk))
    return ["", words] if words else []


def exact_lines(release: Release, shown: str = "- {}", times: str = " x ") -> list[str]:
    """Return what is exact in a release, by line; how a margin is shown, and what joins its variables."""
    if release.magnitudes:
        noisy = methods("magnitudes")[release.mechanism.method].is_random(release.mechanism.values)
        return [
            message("No sum: each may differ from the true one.")
            if noisy
            else message("Every sum that is published.")
        ]
    method, parameters = methods()[release.mechanism.method], release.mechanism.parameters
    moves, promised = parameters.get("cycles"), method.promised(release.mechanism.values)
    if isinstance(moves, MoveSet):
        if not any(moves.margins):
            return [message("The grand total. No other margin is kept on purpose.")]
        said = message("The grand total, and these margins with everything that adds up from them:")
        return [said, "", *(shown.format(times.join(one)) for one in moves.margins if one)]
    if "exact" in promised:
        return [message("Every count that is published.")]
    if method.other_way and (kept := method.kept(release.domain, release.mechanism.values)) is not None:
        said = message("The grand total, and these margins with everything that adds up from them:")
        return [said, "", *(shown.format(times.join(one)) for one in kept.margins if one)]
    if "total_kept" in promised:
        return [message("The grand total. See the properties below for more.")]
    return [message("No count: each may differ from the true one, as the properties below say.")]


def why_parts(release: Release) -> str:
    """Why parts do or do not add up to their totals."""
    if release.magnitudes:
        table = release.magnitude_table
        noisy = methods("magnitudes")[release.mechanism.method].is_random(release.mechanism.values)
        hidden = bool(table.hidden.any())
        additive = not noisy or release.mechanism.method == "multiplicative_noise"
        consistent = False
    else:
        promised = methods()[release.mechanism.method].promised(release.mechanism.values)
        hidden = any(one.suppressed is not None for one in release.tables)
        additive, consistent = "additive" in promised or "exact" in promised, "consistent" in promised
    if hidden:
        return message(
            "A hidden number is not 0. Where one is hidden, the numbers that are shown need not add up to their "
            "total; what is missing belongs to the hidden ones together."
        )
    if additive:
        return message(
            "In this release they do: every total is the sum of its parts. Beside tables that were protected "
            "by themselves the same total can differ; neither is wrong, each is right within its own changes."
        )
    said = [
        message(
            "Every number, totals too, was changed by itself, so that parts need not add up to their total; that "
            "is no error. For a total take the published one: it was changed once, while a sum of n parts has the "
            "changes of n numbers: with the same noise on each, n times its variance."
        )
    ]
    if release.tables:
        said.append(
            message(
                "Best are both together: page.html of the release tells it under “Which number shall I use?”."
            )
        )
    if consistent:
        said.append(message("A number that is counted from the same records is the same in every table."))
    return joined(said, " ")


def _privacy(release: Release) -> list[str]:
    """The budget of differential privacy, and what its promise rests on; nothing without one."""
    stated = release.mechanism.privacy
    if stated is None:
        return []
    return [
        "",
        message(
            "Differential privacy, over all published tables together: {total}. It holds between "
            "any two originals that differ by one record more or less, whatever else is known, and "
            "for the decision whether to publish: one draw was made, and it left or not by "
            "what its readers learn. It is computational: the random numbers come from a "
            "secret key by HMAC-SHA256 and ChaCha20, and the promise is as good as these. Each further "
            "release of the same records adds its budget.",
            stated.total.words,
        ),
    ]


def _gate(release: Release) -> list[str]:
    """Return how the release passed the gate, if that is stated."""
    gate = release.mechanism.gate
    if gate is None:
        return []
    draws = (
        message("One draw was made.")
        if gate.attempts_at_most == 1
        else message(
            "At most {attempts_at_most} draws were made, and the first that passed was "
            "published: that changes no odds by more than a factor of {attempts_at_most}, and "
            "what is said of averages holds before this choice.",
            gate.attempts_at_most,
        )
    )
    if gate.listed is not None:
        draws = gate.listed.sentence
    came = {
        True: message("This release passes"),
        False: message("This release does not pass, and was published by a decision all the same"),
        None: message(
            "This release breaks no limit as far as it was judged, was not judged whole, and was "
            "published by a decision"
        ),
    }[gate.passed]
    how = []
    if gate.within is not None:
        how.append(
            message(
                "By what its readers learn of single contributors. A contribution is known to a reader whose best "
                "guess comes within {within:g} % of it with a probability of more than {sure:g} in 100.",
                gate.within,
                100 * gate.belief_limit,
            )
        )
    if gate.counts:
        how.append(
            message(
                "By what its readers learn, not by the true counts. A count of {small} is known to "
                "a reader who is more than {sure:g} in 100 sure of it; of the counts of {small} that a "
                "reader expects at most {share:.0f} in 100 may be known, and a guess at one may be right "
                "{often:.0f} in 100 times at most, table by table.",
                gate.at_risk.words,
                100 * gate.belief_limit,
                100 * gate.share,
                100 * gate.mean_belief_limit,
            )
        )
    how += [message("{came}.", came), *[draws] * gate.counts]
    return [
        joined([*how, *([_refusals(gate)] if gate.changed or gate.refused else [])], " "),
        "",
        *_left_out(gate),
        message(
            "Parameters that were chosen by looking at figures of the true table tell a little of it; "
            "what anybody computes from this bundle leaves that out."
        ),
    ]


def _refusals(gate: Gate) -> str:
    return TAKEN_IN if gate.refused and "attempts" not in gate.left_out else CHANGED


def _left_out(gate: Gate) -> list[str]:
    """Return what was not judged, and what ``verify`` makes of it."""
    if gate.passed is not None or not gate.left_out:
        return []
    return [
        message(
            "Not judged: {left_out}. Readers may learn more from that than the figures here say: it "
            "is no promise. `tabprotect verify` ends with the code 7 (intact, and not judged whole) "
            "whatever the reason for publishing was; the reason is kept by the publisher.",
            listed(gate.left_out),
        ),
        "",
    ]


def _weighted(release: Release) -> bool:
    mechanism = release.mechanism
    return methods()[mechanism.method].weighted(mechanism.values)


def column_note(release: Release) -> str:
    """Say what the count column holds if not counts, else ``""``."""
    if not release.tables or not _weighted(release):
        return ""
    return message("The column count holds estimates: counts of records times their mean design weight.")


def _mode(release: Release) -> str:
    if _weighted(release):
        return message("True counts are counts of records, not of the people that they stand for.")
    method = methods()[release.mechanism.method]
    if "exact" in method.promised(release.mechanism.values):
        return message("Every published count is the true one.")
    if all(published.table.domain != release.domain for published in release.tables):
        return message("No count of a single cell is published.")
    return message(
        "The published count is usually, but not always, the most probable one: the program says "
        "for which cells it is."
    )


def _what(release: Release) -> str:
    domain = release.table.domain
    weighted = message("estimates (counts of records times their mean design weight)")
    what = weighted if _weighted(release) else message("counts")
    if len(release.tables) > 1:
        names = ", ".join(release.domain.names)
        return message(
            "{tables} tables of {what} over the variables {names}.", len(release.tables), what, names
        )
    shape = " x ".join(map(str, domain.shape))
    return message("A table of {what} by {names} ({shape} cells).", what, ", ".join(domain.names), shape)


def _tables(release: Release) -> list[str]:
    lines = []
    for number, published in enumerate(release.tables):
        names = " x ".join(published.table.domain.names) or message("the grand total")
        hidden = int(published.hidden.sum())
        without = (
            plural(
                hidden,
                "; {hidden:,} cell is hidden and has no count",
                "; {hidden:,} cells are hidden and have no count",
                hidden,
            )
            if hidden
            else ""
        )
        lines.append(
            message("- `{number}`: {names}, one line per cell{without}.", table_name(number), names, without)
        )
    return lines


def _parameters(declared: Sequence[Parameter[Any]], values: Mapping[str, object]) -> list[str]:
    out = []
    for parameter in declared:
        value = values.get(parameter.name)
        if not parameter.public or value is None or value == "":
            continue
        if isinstance(value, MoveSet):
            by = (
                message("listed")
                if value.design is None
                else message("by the design `{kind}`", value.design.kind)
            )
            out.append(
                plural(
                    len(value),
                    "- {label}: {value} cycle, {by} in `mechanism.json`.",
                    "- {label}: {value} cycles, {by} in `mechanism.json`.",
                    parameter.label,
                    len(value),
                    by,
                )
            )
        elif isinstance(value, (list, dict)):
            out.append(message("- {label}: listed in `mechanism.json`.", parameter.label))
        elif parameter.choices is not None and isinstance(value, str):
            words = parameter.choices.get(value, "")
            out.append(
                message(
                    "- {label}: {value}.",
                    parameter.label,
                    message("{words} (`{value}`)", words.removesuffix("."), value) if words else value,
                )
            )
        else:
            if isinstance(value, bool):
                shown: object = message("yes") if value else message("no")
            else:
                shown = message("{value:g}", value) if isinstance(value, float) else value
            out.append(message("- {label}: {value}. {help}", parameter.label, shown, parameter.help))
    return out
