"""Tables near the original have its margins, whatever is released."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bounds import neighbours
from tabprotect.engine.bounds.neighbours import Neighbours
from tabprotect.engine.bounds.support import support
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import margins_of_order, maximal_margins
from tabprotect.engine.tables.table import Table


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 2), st.booleans())
def test_walks_keep_every_released_sum(seed: int, order: int, dense: bool) -> None:
    generator = np.random.default_rng(seed)
    shape = tuple(int(n) for n in generator.integers(1, 5, 4))
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, generator.poisson(1.0, shape))
    release = maximal_margins(domain, [*margins_of_order(domain, order), domain.names[1:]])
    opened = support(table, release)
    assert opened is not None
    if not len(opened.keys):
        return
    limit, neighbours.DENSE_CELLS = neighbours.DENSE_CELLS, 2**22 if dense else 0
    try:
        walks = Neighbours(opened, release)
    finally:
        neighbours.DENSE_CELLS = limit
    position = int(generator.integers(len(opened.keys)))
    up, down = walks.walk(position, "max"), walks.walk(position, "min")
    assert opened.keeps(up) and opened.keeps(down)
    assert down[position] <= opened.truth[position] <= up[position]


def test_a_cell_of_a_cube_moves_as_far_as_it_can() -> None:
    domain = Domain.of_shape((3, 3, 3))
    table = Table.dense(domain, np.full((3, 3, 3), 4))
    release = margins_of_order(domain, 2)
    opened = support(table, release)
    assert opened is not None
    walks = Neighbours(opened, release)
    assert walks.walk(13, "max")[13] == 12
    assert walks.walk(13, "min")[13] == 0
    assert walks.walk(13, "max", 5)[13] >= 5
