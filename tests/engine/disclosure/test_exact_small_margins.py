"""Small sums that are published exactly: named, counted and on record; never hidden ones."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.bundle.staff.release_findings import protection
from tabprotect.engine.disclosure.exact_small_margins import small_sums
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.descriptions.run_summary import summarise
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def protected(name: str, table: Table, **given: object) -> Protected:
    return protect(methods()[name], Problem(table), given, Randomness.seeded(7), accept="shown")


def expected(table: Table, margins: list[tuple[str, ...]]) -> list[dict[str, object]]:
    """The small sums by definition."""
    out: list[dict[str, object]] = []
    for names in margins:
        margin = table.margin(names)
        for index in np.ndindex(margin.domain.shape):
            if margin.counts[index] in (1, 2):
                labels = [v.categories[k] for v, k in zip(margin.domain.variables, index, strict=True)]
                out.append({"table": list(names), "cell": labels, "count": int(margin.counts[index])})
    return out


def test_what_cycles_keep_is_named_and_on_record() -> None:
    table = open_table("example:langsrud-lupp").table
    done = protected("cyclic_perturbation", table, blocking="negative")
    found = done.record.verdict
    assert found is not None and found.passed
    names = table.domain.names
    margins = [(names[a], names[b]) for a in range(3) for b in range(a + 1, 3)]
    assert found.as_json()["kept_small"] == expected(table, margins) and len(found.exact_small_margins) == 3
    sentence = (
        "2 of 2 small counts of party × age are published as they are. "
        "1 of 1 small counts of age × sex is published as it is."
    )
    assert sentence in found.sentence
    # A reason is on record beside it, where one was given.
    assert done.record.decisions == (f"{sentence.rstrip('.')}: shown",)
    assert not done.record.overruled
    lines = protection(done, summarise(done), found).findings
    assert [line.state for line in lines if line.text == sentence] == ["mind"]
    kept = Publication.of(table.domain, margins)
    assert small_sums(table, kept, SmallCount()) == found.exact_small_margins


@pytest.mark.parametrize(
    ("name", "given", "margins"),
    [
        ("publish_margins", {"margins": "A + B"}, [("A",), ("B",)]),
        ("suppression", {}, []),
        ("random_rounding", {}, []),
        ("binomial_compensated", {"kept": "A"}, [("A",)]),
        ("controlled_tabular_adjustment", {"totals": "kept"}, [("A",)]),
    ],
)
def test_other_methods(name: str, given: dict[str, object], margins: list[tuple[str, ...]]) -> None:
    counts = np.array([[0, 2, 0], [9, 14, 5], [7, 4, 1]])
    if name == "controlled_tabular_adjustment":
        counts = np.array([[0, 9, 9], [9, 3, 5], [7, 4, 1]])
        margins = []
    table = Table.dense(Domain.of_shape((3, 3)), counts)
    found = protected(name, table, **given).record.verdict
    assert found is not None
    assert [one.as_json() for one in found.exact_small_margins] == expected(table, margins)
