"""The budget of differential privacy that is spent on people who are counted in several releases. Confidential.

Who is counted in several private tables loses what all of them spend, whatever their variables: of the same
records, of some of them, of the same people a month later. Releases add up unless they cannot count the same
people because the house has said so: what is told is never less than what was spent.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.engine.errors import RefusedError
from tabprotect.engine.protection.people import People
from tabprotect.engine.register.register_entry import PEOPLE, Earlier
from tabprotect.engine.release.limits import ROUNDING
from tabprotect.engine.release.privacy import Privacy, Spent
from tabprotect.languages.messages import joined, message

NOTHING = Spent()
"""No budget."""

SPENT = "privacy_spent"


def spent_before(earlier: Sequence[Earlier], people: People, refused: Spent = NOTHING) -> Spent:
    """The budget that earlier releases may have spent on the people of a table.

    Parameters
    ----------
    people
        Whether they count the same people, where the house has said so.
    refused
        What draws spent that were refused.
    """
    return Spent.together([refused, *(spent for _, spent in _shared(earlier, people))])


def spending_warning(spent: Spent) -> dict[str, str]:
    """Return what private releases that may count the same people spend together, as a warning."""
    text = message("private releases that may count these people spend {total} together", spent.words)
    return {"kind": SPENT, "message": text}


def admit_spending(
    earlier: Sequence[Earlier], own: Privacy | None, limit: float, people: People, refused: Spent = NOTHING
) -> None:
    """Refuse a private release that would spend more than the policy allows, earlier ones included.

    Parameters
    ----------
    limit
        The most epsilon; rho counts by what it implies. 0 for no limit.
    people, refused
        As of :func:`spent_before`.

    Raises
    ------
    RefusedError
        If it would.
    """
    if own is None or not limit:
        return
    total = Spent.together([spent_before(earlier, people, refused), own.total])
    if total.as_epsilon > limit * (1 + ROUNDING):
        hint = message("take a smaller budget, or a release that is out already")
        open_ends = sorted(
            one.entry.number for one, _ in _shared(earlier, people) if one.relation == "variables"
        )
        if open_ends:
            hint += message(
                "; where releases count other people, say so (people other:{numbers})",
                joined(map(str, open_ends), ","),
            )
        raise RefusedError(
            message(
                "private releases that may count these people would spend {total} together, beyond the "
                "epsilon of {limit:g} that the house's policy allows",
                total.words,
                limit,
            ),
            hint=hint,
        )


def _shared(earlier: Sequence[Earlier], people: People) -> list[tuple[Earlier, Spent]]:
    """Private releases that may count the same people, with what they spent."""
    others = _other_people(earlier, people)
    return [
        (one, spent)
        for one in earlier
        if one.entry.number not in others and (spent := one.entry.publication.spent) is not None
    ]


def _other_people(earlier: Sequence[Earlier], people: People) -> set[int]:
    """The numbers of releases of other people: as the house says now, or has said of the same records."""
    known = {one.entry.number for one in earlier}
    same = {one.entry.number for one in earlier if one.relation != "variables"}
    others = {
        one.entry.number
        for one in earlier
        if one.relation in ("records", "variables") and people.of(one.entry.number) == "other"
    }
    for one in earlier:
        number, answers = one.entry.number, str(one.entry.publication.gate.get(PEOPLE, ""))
        if not answers or (number not in same and people.of(number) is not None):
            continue
        before = People.parse(answers)
        said = {of for of in (known if number in same else same) if of < number and before.of(of) == "other"}
        if number in same:
            others |= {of for of in said - same if people.of(of) is None}
        elif said:
            others.add(number)
    return others
