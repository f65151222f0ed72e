"""Coarsening: exact sums, the posterior by brute force, groupings that name no file."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import round_trip

from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError, RefusedError
from tabprotect.engine.formats.grouping_files import grouping_text, parse_groupings
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.guarantees import verify
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.table import Table

METHOD = methods()["coarsening"]
DOMAIN = Domain.of({"age": ["0-9", "10-19", "20-29"], "sex": ["f", "m"]})
WIDE = "wide:age=0-9>0-19,10-19>0-19,20-29>20-29"


def test_the_documented_example() -> None:
    domain = Domain.of({"age": ["0-9", "10-19", "20-29"]})
    table = Table.dense(domain, [1, 7, 12])
    release = METHOD.run(Problem(table), {"groupings": WIDE}, Randomness.fresh()).release
    assert release.table.domain.names == ("wide",)
    assert release.table.counts.tolist() == [8, 12]
    posterior = infer(likelihood_of(release))
    assert posterior.probability(1)[0] == pytest.approx(1 / 9)
    assert posterior.probability(12)[2] == 1


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.integers(0, 6), min_size=24, max_size=24),
    groups=st.lists(st.sampled_from("xyz"), min_size=4, max_size=4),
    twice=st.booleans(),
)
def test_every_published_count_is_its_inner_cells(cells: list[int], groups: list[str], twice: bool) -> None:
    domain = Domain.of_shape((4, 3, 2))
    table = Table.dense(domain, np.array(cells).reshape(4, 3, 2))
    groupings = [Grouping("G", "A", tuple(groups)), Grouping("H", "B", ("p", "p", "q"))]
    if twice:
        groupings.append(Grouping("K", "A", ("u", "u", "v", "v")))
    text = grouping_text(tuple(groupings), domain)
    values = METHOD.resolve(domain, {"groupings": text})
    release, _ = METHOD.perform(Problem(table), values, np.random.default_rng(0))
    expected: Counter[tuple[str, ...]] = Counter()
    for index in itertools.product(*map(range, domain.shape)):
        labels = {
            "G": groups[index[0]],
            "K": ("u", "u", "v", "v")[index[0]],
            "H": ("p", "p", "q")[index[1]],
            "C": domain.labels(index)[2],
        }
        found = release.table.domain.names
        expected[tuple(labels[name] for name in found)] += table[index]
    for index in itertools.product(*map(range, release.table.domain.shape)):
        assert release.table[index] == expected[release.table.domain.labels(index)]
    # Every inner cell is behind just one published count.
    likelihood = likelihood_of(release)
    assert sorted(likelihood.cells.tolist()) == list(range(24))


def test_remaining_small_counts_are_refused_unless_accepted() -> None:
    table = Table.dense(DOMAIN, [[1, 5], [0, 5], [9, 9]])
    given_ = {"groupings": WIDE}
    with pytest.raises(RefusedError, match=r"wide × sex: a reader would know 1 of"):
        protect(METHOD, Problem(table), given_, Randomness.fresh())
    done = protect(METHOD, Problem(table), given_, Randomness.fresh(), accept="asked for")
    assert done.record.findings == {"at_risk_before": 1, "at_risk_after": 1}
    assert "asked for" in done.record.decisions[0]


def test_a_changed_count_is_a_broken_promise() -> None:
    table = Table.dense(DOMAIN, [[3, 5], [4, 5], [9, 9]])
    values = METHOD.resolve(DOMAIN, {"groupings": WIDE})
    other = METHOD.draw(
        Problem(Table.dense(DOMAIN, [[4, 5], [4, 5], [9, 9]])), values, np.random.default_rng(0)
    )
    with pytest.raises(InfeasibleError, match="broke its own promise"):
        verify(METHOD, Problem(table), values, other)


def test_bundle_and_dossier_keep_the_groups_and_no_file_name(tmp_path: Path) -> None:
    domain = Domain.of({"place, or region": ['the "old" town', " blank", "a;b", "x\ny"]})
    table = Table.dense(domain, [3, 4, 5, 6])
    source = tmp_path / "secret-name.csv"
    source.write_text(
        '"place, or region",part\n"the ""old"" town",old\n" blank",new\n"a;b",new\n"x\ny",old\n'
    )
    done = METHOD.run(Problem(table), {"groupings": str(source)}, Randomness.fresh())
    source.unlink()
    release = round_trip(done, tmp_path)
    assert release.table.domain["part"].categories == ("old", "new")
    assert release.table.counts.tolist() == [9, 9]
    assert "secret-name" not in release.mechanism.to_text()


def test_groupings_that_cannot_be_written_down() -> None:
    domain = Domain.of({"A": ["a", "b"]})
    for groups in (("x>y", "z"), (" x", "z")):
        with pytest.raises(InputError, match="cannot be written down"):
            grouping_text((Grouping("G", "A", groups),), domain)
    good = (Grouping("G", "A", ("x;", "z,")),)
    assert parse_groupings(grouping_text(good, domain), domain) == good


def test_bad_parameters() -> None:
    for given_, message in (
        ({}, "no groups are given"),
        ({"groupings": "g:sex=f>f,m>m"}, "nothing is merged"),
        ({"groupings": WIDE, "speed": 1}, "speed: unknown"),
    ):
        with pytest.raises(ParameterError, match=message):
            METHOD.resolve(DOMAIN, given_)
    with pytest.raises(ParameterError, match="have no group") as caught:
        METHOD.resolve(DOMAIN, {"groupings": "g:age=0-9>young"})
    assert set(caught.value.fields) == {"groupings"}
