"""Records counted by their codes: the definition, in numpy, over several blocks and columns of both widths."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.microdata.coded_records import CodedRecords
from tabprotect.engine.tables.domain import Domain

SIZES = {"area": 300, "sex": 2, "age": 7}
NUMBER, KEY_RANGE = 10_000, 10**8


@pytest.mark.parametrize("names", [("area",), ("age", "sex"), ("area", "sex", "age"), ()])
def test_counts_and_sums_of_keys_are_those_of_the_records(names: tuple[str, ...]) -> None:
    rng = np.random.default_rng(6)
    domain = Domain.of({name: [str(k) for k in range(size)] for name, size in SIZES.items()})
    codes = {
        name: rng.integers(0, size, NUMBER).astype(np.uint16 if size > 256 else np.uint8)
        for name, size in SIZES.items()
    }
    keys = rng.integers(0, KEY_RANGE, NUMBER).astype(np.uint32)
    counts, sums = CodedRecords(domain, tuple(codes.values()), keys, KEY_RANGE).count(names)
    # In the order of the domain, whatever order is asked for.
    asked = [name for name in SIZES if name in names]
    assert counts.domain.names == tuple(asked)
    at = np.zeros(NUMBER, dtype=np.int64)
    for name in asked:
        at = at * SIZES[name] + codes[name]
    size = int(np.prod([SIZES[name] for name in asked], dtype=np.int64))
    expected = np.zeros((2, size), dtype=np.int64)
    np.add.at(expected, (slice(None), at), np.stack([np.ones_like(at), keys]))
    assert (counts.counts.ravel() == expected[0]).all()
    assert (sums.counts.ravel() == expected[1] % KEY_RANGE).all()
