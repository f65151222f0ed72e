"""What of a judged table is beyond the limits."""

from __future__ import annotations

import pytest

from tabprotect.engine.release.limits import Limits
from tabprotect.engine.release.verdict_figures import TableVerdict


def judged(*, at_risk: float, known: int = 0, mean: float = 0.5, small: int = 0) -> TableVerdict:
    return TableVerdict(
        who="user",
        names=("a", "b"),
        inner=True,
        cells=9,
        at_risk=at_risk,
        known=known,
        certain=0,
        way="exact",
        error=None,
        mean_belief=mean,
        small_known=small,
    )


@pytest.mark.parametrize(
    ("table", "limits", "beyond"),
    [
        (judged(at_risk=19.9, known=1), Limits(), True),
        (judged(at_risk=20.0, known=1), Limits(), False),
        (judged(at_risk=4.0, mean=2 / 3), Limits(), False),
        (judged(at_risk=4.0, mean=0.67), Limits(), True),
        (judged(at_risk=4.0, mean=1.0), Limits(mean_belief_limit=1.0), False),
        # Told only: one that is as good as certain counts for less than one among those expected.
        (judged(at_risk=0.98, small=1), Limits(), False),
        (judged(at_risk=0.98, small=1), Limits(small_share=0.99), True),
        (judged(at_risk=10.0, small=5), Limits(small_share=0.5), False),
        (judged(at_risk=10.0, small=6), Limits(small_share=0.5), True),
    ],
)
def test_beyond_a_limit(table: TableVerdict, limits: Limits, beyond: bool) -> None:
    assert table.fails(limits) is beyond
