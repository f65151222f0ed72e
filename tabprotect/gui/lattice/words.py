"""The query space in sentences: what is released, and what would follow."""

from __future__ import annotations

from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_sets.release_set import ReleaseSet
from tabprotect.gui.lattice.names import VariableLetters, counted, first_names
from tabprotect.gui.lattice.space import (
    CANDIDATE,
    RELEASED,
    STATUS,
    UNKNOWN,
    UNRELEASABLE,
    Foresight,
    Regions,
)
from tabprotect.gui.look.theme import count_text

WAYS = {
    "decomposable": "sharp bounds in closed form",
    "decomposable cover": "bounds of a decomposable release that contains it",
    "frechet": "Fréchet bounds",
    "integer": "sharp bounds by integer programmes",
    "lp": "bounds by linear programmes",
    "shuttle": "bounds by the shuttle algorithm",
    "counts": "counts",
}


def figure_text(state: ReleaseSet, judgement: RiskJudgement) -> str:
    """``a width of 12``, or ``a width of at most 12`` where that is all that is known."""
    number = count_text(judgement.width)
    number = number if judgement.exact else f"at most {number}"
    if state.criterion.name == "width":
        return f"a width of {number}"
    return f"{number} {state.criterion.unit}"


def way_text(judgement: RiskJudgement) -> str:
    """How the figure was found."""
    words = WAYS.get(judgement.bounds, judgement.bounds)
    if judgement.exact and judgement.bounds in ("shuttle", "lp"):
        # By themselves these only enclose: here tables were found that reach them.
        return f"{words}, reached by tables"
    return words


def state_sentence(regions: Regions) -> str:
    """The released set in one sentence."""
    state, letters = regions.state, regions.letters
    counts, out = regions.by_dimension.sum(axis=1), regions.out
    total = len(regions.every)
    if state.judgement.verdict == "bad":
        return (
            f"What is {out} would leave {figure_text(state, state.judgement)}, below the threshold "
            f"{state.threshold}: nothing more may go out, and this should not."
        )
    if state.judgement.verdict == "unknown":
        return (
            f"What is {out} is not proved to reach the threshold {state.threshold}: nothing "
            "more may go out."
        )
    if state.released.members == (0,):
        first = f"Nothing but the grand total is {out} yet"
    else:
        names = first_names([letters.text(q) for q in state.released], 3)
        first = (
            f"{count_text(int(counts[RELEASED]))} of {count_text(total)} sub-tables are {out} "
            f"({names} and all below), which leaves {figure_text(state, state.judgement)} "
            f"({way_text(state.judgement)}; threshold {state.threshold})"
        )
    refused = int(counts[UNRELEASABLE])
    rest = f"{count_text(int(counts[CANDIDATE]))} may go out next, {count_text(refused)} may not"
    unknown = count_text(int(counts[UNKNOWN]))
    if counts[UNKNOWN] and regions.waiting:
        return f"{first}; {rest}. {unknown} are still being looked at."
    if counts[UNKNOWN]:
        rest += f", and {unknown} are refused because nothing is proved"
    return f"{first}; {rest}."


def foresight_sentence(regions: Regions, found: Foresight) -> str:
    """What would follow from releasing the query in focus."""
    letters, state, query = regions.letters, regions.state, found.query
    region = int(regions.status[regions.at(query)])
    name, judgement = letters.text(query), found.judgement
    if region == RELEASED:
        return "Planned: a reader will have it, alone or as part of a larger planned table."
    if region == CANDIDATE:
        gained, lost = int(found.newly_released.sum()), found.consequence.lost
        more = f"{counted(gained)} join the plan" if gained > 1 else "it joins the plan alone"
        said = f"With {name} {more} and would make "
        if lost:
            edge = first_names([letters.text(q) for q in found.consequence.newly_unreleasable], 3)
            above = " and what is above" if lost > 1 else ""
            said += f"{counted(lost)} unreleasable ({edge}{above})"
        else:
            said += "no other unreleasable"
        return f"{said}; it leaves {figure_text(state, judgement)} ({way_text(judgement)})."
    if region == UNRELEASABLE:
        return (
            f"{name} may not go out: with what is planned it would leave "
            f"{figure_text(state, judgement)}, and the threshold is {state.threshold}."
        )
    if not judgement.exact:
        return (
            f"{name} is refused because nothing is proved: it would leave "
            f"{figure_text(state, judgement)} ({way_text(judgement)}), which may be too optimistic."
        )
    return f"{name} is refused because nothing was proved about it or about what is below it."


def region_text(regions: Regions, region: int) -> str:
    """A region in a word or two."""
    if region == UNKNOWN and regions.waiting:
        return "still being looked at"
    return regions.out if region == RELEASED else STATUS[region]


def status_text(regions: Regions, query: Query) -> str:
    """The region in a word or two, and whether the query is on a frontier."""
    word = region_text(regions, int(regions.status[regions.at(query)]))
    return f"{word}, on the frontier" if regions.frontier[regions.at(query)] else word


def tight_title(found: Foresight, threshold: int) -> str:
    """What the list of cells holds."""
    cells = found.judgement.tight
    if not cells:
        return "No at-risk cell is bounded more closely than before."
    if cells[0].width < threshold:
        return f"Too tight: bounds closer than {threshold}"
    return "The at-risk cells bounded most closely then"


def spoken(regions: Regions, query: Query, found: Foresight | None) -> str:
    """The node in focus for a screen reader."""
    letters: VariableLetters = regions.letters
    parts = [f"{letters.named(query)}: {status_text(regions, query)}."]
    if found is not None and found.query == query:
        parts.append(foresight_sentence(regions, found))
    return " ".join(parts)
