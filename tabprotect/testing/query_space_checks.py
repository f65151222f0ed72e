"""What holds for every risk criterion and every release rule of the query space."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.query_space.criterion import Bounding, RiskCriterion, Standard
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.keyed_answers import KeyedAnswers
from tabprotect.engine.query_space.registered import criteria
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.rule import ReleaseRule, Situation
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.failure import CheckFailed, require

TRIALS = 40


def _described(plugin: RiskCriterion | ReleaseRule) -> None:
    require(bool(plugin.name and plugin.label), "name and label must not be empty")
    require(
        len(plugin.help.split("\n\n")) >= 2,
        "the module's docstring is the help page: a summary line, then what it does",
    )
    json.dumps(plugin.as_json(), allow_nan=False)


def criterion_holds(
    criterion: RiskCriterion, table: Table, some: Sequence[int], more: Sequence[int], threshold: int
) -> None:
    """A criterion is monotone, pure and consistent on one table.

    Parameters
    ----------
    some, more
        What is released first, and then besides; queries as bits of the table's variables.

    Raises
    ------
    CheckFailed
        With what does not hold.
    """
    evidence = Evidence.gather(table, SmallCount(1, 2))
    lattice = evidence.lattice
    some, more = ([lattice.closed(q & lattice.full) for q in part] for part in (some, more))
    at = f"(table {table.counts.tolist()}, released {some}, then {more}, threshold {threshold})"
    first = criterion.judge(evidence, some, threshold)
    again = criterion.judge(Evidence.gather(table, SmallCount(1, 2)), some, threshold)
    require(again == first, f"the same release was judged in another way {at}")
    after = criterion.judge(evidence, [*some, *more], threshold)
    require(first.exact and after.exact, f"a small table must be judged exactly {at}")
    require(after.width <= first.width, f"the figure grew when more was released {at}")
    require(
        first.verdict == ("safe" if first.width >= threshold else "bad"),
        f"verdict {first.verdict} with figure {first.width} {at}",
    )
    for cell in first.tight:
        require(cell.width < threshold and cell.lower <= cell.count, f"a tight cell that is none {at}")
    quick = criterion.judge(evidence, some, threshold, bounding=Bounding(decide_only=True))
    require(quick.verdict == first.verdict, f"decide_only gives another verdict {at}")
    # Cheap verdicts agree with the judgement wherever they say anything.
    every = lattice.every
    released = Frontier.below(lattice, some).members
    screened = criterion.screen(evidence, released, every, threshold)
    require(not (screened.safe & screened.bad).any(), f"screened as safe and bad {at}")
    for place, query in enumerate(every.tolist()):
        verdict = criterion.judge(evidence, [*some, query], threshold).verdict
        require(
            (not screened.safe[place] or verdict == "safe") and (not screened.bad[place] or verdict == "bad"),
            f"query {query} was screened as something else than {verdict} {at}",
        )


def _random_table(generator: np.random.Generator) -> Table:
    shapes = ((2, 2, 2), (2, 3, 2), (3, 2))
    shape = shapes[int(generator.integers(len(shapes)))]
    counts = generator.poisson(0.7, shape)
    counts.reshape(-1)[0] = 1
    return Table.dense(Domain.of_shape(shape), counts)


def check_criterion(criterion: RiskCriterion | type[RiskCriterion]) -> None:
    """Run every check on a risk criterion of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = criterion() if isinstance(criterion, type) else criterion
    generator = np.random.default_rng(1)
    try:
        _described(made)
        for _ in range(TRIALS):
            table = _random_table(generator)
            some, more = (generator.integers(0, 8, 2).tolist() for _ in range(2))
            criterion_holds(made, table, some, more, int(generator.integers(0, 5)))
    except CheckFailed as error:
        raise CheckFailed(f"{made.name}: {error}") from None


def check_rule(rule: ReleaseRule | type[ReleaseRule]) -> None:
    """Run every check on a release rule of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = rule() if isinstance(rule, type) else rule
    try:
        _described(made)
        _decides(made)
    except CheckFailed as error:
        raise CheckFailed(f"{made.name}: {error}") from None


def _decides(rule: ReleaseRule) -> None:
    try:
        rule.resolve({"no_such": 1})
    except ParameterError:
        pass
    else:
        raise CheckFailed("resolve accepts a parameter that is not declared")
    values = rule.resolve({})
    counts = np.random.default_rng(5).poisson(6.0, (2, 3, 2, 2))
    counts.reshape(-1)[0] = 1
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    evidence = Evidence.gather(table, SmallCount(1, 2))
    # Counts by themselves serve for keys as well as any.
    noise = {name: values[name] for name in ("D", "V", "js") if name in values}
    answers = None
    if rule.keyed:
        answers = KeyedAnswers(
            table.domain, lambda names: (table.margin(names), table.margin(names)), KEY_MODULUS, noise, 7
        )
    state = ReleaseSet.begin(Standard(evidence, criteria()["width"], 2))
    queries = state.allowed.tolist()
    assert queries
    for query in queries:
        situation = Situation(query, state, {query: 2, 1: 1}, answers)
        ruling = rule.decide(situation, values)
        require(
            ruling.decision in ("release", "refuse", "defer"),
            f"a decision must be release, refuse or defer, not {ruling.decision!r}",
        )
        require(bool(ruling.reason), "a ruling must give a reason")
        require(rule.decide(situation, values) == ruling, "the same situation gave another ruling")
