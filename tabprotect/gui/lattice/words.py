"""The query space in sentences: what is released, and what would follow."""

from __future__ import annotations

from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.gui.lattice.names import VariableLetters, counted, first_names
from tabprotect.gui.lattice.space import (
    CANDIDATE,
    REGION_WORDS,
    RELEASED,
    UNKNOWN,
    UNRELEASABLE,
    Foresight,
    Regions,
)
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import joined, message, plural

WAYS = {
    "decomposable": message("sharp bounds in closed form"),
    message("decomposable cover"): message("bounds of a decomposable release that contains it"),
    "frechet": message("Fréchet bounds"),
    "integer": message("sharp bounds by integer programmes"),
    "lp": message("bounds by linear programmes"),
    "shuttle": message("bounds by the shuttle algorithm"),
    "counts": "counts",
}


def figure_text(state: ReleaseSet, judgement: RiskJudgement) -> str:
    """``a width of 12``, or ``a width of at most 12`` where that is all that is known."""
    number = count_text(judgement.width)
    number = number if judgement.exact else message("at most {number}", number)
    if state.criterion.name == "width":
        return message("a width of {number}", number)
    return message("{number} {unit}", number, state.criterion.unit)


def room_text(state: ReleaseSet, judgement: RiskJudgement) -> str:
    """Say what a judged set leaves open, as a sentence: how many counts stay possible in a small cell."""
    if state.criterion.name != "width":
        figure = figure_text(state, judgement)
        return message("That leaves {figure} ({way}).", figure, way_text(judgement))
    # From one end of an interval to the other there is one count more than it is wide.
    least, narrowest = count_text(state.threshold + 1), count_text(judgement.width + 1)
    if judgement.width < state.threshold:
        return message("The narrowest small count keeps {narrowest} values.", narrowest)
    if not judgement.exact:
        narrowest = message("at most {number}", narrowest)
    return message(
        "Every small count keeps at least {least} values (the narrowest {narrowest}; {way}).",
        least,
        narrowest,
        way_text(judgement),
    )


def way_text(judgement: RiskJudgement) -> str:
    """Say how the figure was found."""
    words = WAYS.get(judgement.bounds, judgement.bounds)
    if judgement.exact and judgement.bounds in ("shuttle", "lp"):
        # By themselves these only enclose: here tables were found that reach them.
        return message("{words}, reached by tables", words)
    return words


def state_sentence(regions: Regions) -> str:
    """The released set in one sentence."""
    state, letters = regions.state, regions.letters
    counts, out = regions.by_dimension.sum(axis=1), message(regions.out)
    total = len(regions.every)
    if state.judgement.verdict == "bad":
        return message(
            "What is {out} would leave {state}, below the threshold "
            "{threshold}: nothing more may go out, and this should not.",
            out,
            figure_text(state, state.judgement),
            state.threshold,
        )
    if state.judgement.verdict == "unknown":
        return message(
            "What is {out} is not proved to reach the threshold {threshold}: nothing more may go out.",
            out,
            state.threshold,
        )
    room = "" if state.released.members == (0,) else room_text(state, state.judgement)
    if not room:
        first = message("Nothing but the grand total is {out} yet", out)
    else:
        names = first_names([letters.text(q) for q in state.released], 3)
        first = message(
            "{counts} of {total} tables are {out} ({names} and all below)",
            count_text(int(counts[RELEASED])),
            count_text(total),
            out,
            names,
        )
    rest = message(
        "{counts} may go out next, {refused} may not",
        count_text(int(counts[CANDIDATE])),
        count_text(int(counts[UNRELEASABLE])),
    )
    unknown = count_text(int(counts[UNKNOWN]))
    if counts[UNKNOWN] and regions.waiting:
        said = message("{first}; {rest}. {unknown} are still being looked at.", first, rest, unknown)
        return joined((said, room), " ") if room else said
    if counts[UNKNOWN]:
        rest += message(", and {unknown} are refused because nothing is proved", unknown)
    said = message("{first}; {rest}.", first, rest)
    return joined((said, room), " ") if room else said


def foresight_sentence(regions: Regions, found: Foresight) -> str:
    """Say what would follow from releasing the query in focus."""
    letters, state, query = regions.letters, regions.state, found.query
    region = int(regions.status[regions.at(query)])
    name, judgement = letters.text(query), found.judgement
    if region == RELEASED:
        return message("Planned: a reader will have it, alone or as part of a larger planned table.")
    if region == CANDIDATE:
        gained, lost = int(found.newly_released.sum()), found.consequence.lost
        more = (
            message("{gained} join the plan", counted(gained))
            if gained > 1
            else message("it joins the plan alone")
        )
        said = message("With {name} {more}; none is lost", name, more)
        if lost:
            edge = first_names([letters.text(q) for q in found.consequence.newly_unreleasable], 3)
            said = plural(
                lost,
                "With {name} {more}, and then {lost} may not be released any more ({edge})",
                "With {name} {more}, and then {lost} may not be released any more ({edge} and what is above)",
                name,
                more,
                counted(lost),
                edge,
            )
        return message(
            "{said}; it leaves {state} ({judgement}).",
            said,
            figure_text(state, judgement),
            way_text(judgement),
        )
    if region == UNRELEASABLE:
        return message(
            "{name} may not go out: with what is planned it would leave "
            "{state}, and the threshold is {threshold}.",
            name,
            figure_text(state, judgement),
            state.threshold,
        )
    if not judgement.exact:
        return message(
            "{name} is refused because nothing is proved: it would leave "
            "{state} ({judgement}), which may be too optimistic.",
            name,
            figure_text(state, judgement),
            way_text(judgement),
        )
    return message("{name} is refused because nothing was proved about it or about what is below it.", name)


def region_text(regions: Regions, region: int) -> str:
    """A region in a word or two."""
    if region == UNKNOWN and regions.waiting:
        return message("still being looked at")
    return message(regions.out) if region == RELEASED else REGION_WORDS[region]


def status_text(regions: Regions, query: Query) -> str:
    """The region in a word or two, and whether the query is on a frontier."""
    word = region_text(regions, int(regions.status[regions.at(query)]))
    return message("{word}, on the frontier", word) if regions.frontier[regions.at(query)] else word


def tight_title(found: Foresight, threshold: int) -> str:
    """Say what the list of cells holds."""
    if not (cells := found.judgement.tight):
        return message("No small count can be worked out more closely than before.")
    if cells[0].width < threshold:
        return message("Too tight: bounds closer than {threshold}", threshold)
    return message("The small counts bounded most closely then")


def spoken(regions: Regions, query: Query, found: Foresight | None) -> str:
    """The node in focus for a screen reader."""
    letters: VariableLetters = regions.letters
    parts = [message("{query}: {regions}.", letters.named(query), status_text(regions, query))]
    if found is not None and found.query == query:
        parts.append(foresight_sentence(regions, found))
    return joined(parts, " ")
