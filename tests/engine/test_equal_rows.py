"""Equal rows, against sorting them as they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tabprotect.engine import equal_rows as module
from tabprotect.engine.equal_rows import equal_rows

EXTREMES = st.sampled_from([-(2**63), -(2**31), -1, 0, 1, 2**31, 2**62, 2**63 - 1])


@pytest.mark.parametrize(("small", "fits"), [(2**31, 2**62), (1, 2), (3, 40)])
@given(
    rows=arrays.arrays(
        np.int64, st.tuples(st.integers(0, 12), st.integers(1, 5)), elements=st.integers(-2, 2) | EXTREMES
    )
)
def test_as_rows_sorted_whole(small: int, fits: int, rows: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL", small)
        patch.setattr(module, "FITS", fits)
        first, which = equal_rows(rows.T)
    different, index, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(first, index)
    assert np.array_equal(which, inverse.reshape(-1))
    assert np.array_equal(rows[first], different)
