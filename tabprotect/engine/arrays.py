"""Names for the types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

EXACT_FLOAT = 2**53
"""Whole numbers, and sums, below this are exact in double precision."""


Ints = npt.NDArray[np.int64]
"""Counts, cells and other whole numbers."""
Floats = npt.NDArray[np.float64]
"""Probabilities, weights and other real numbers."""
Bools = npt.NDArray[np.bool_]
"""Masks of cells, rows or margins."""
Letters = npt.NDArray[np.str_]
"""A status letter for each published cell."""
Codes = npt.NDArray[np.int32]
"""The number of each entry's category."""
Bytes = npt.NDArray[np.uint8]
"""Text as stored in a file."""
Words = npt.NDArray[np.uint64]
"""Text eight bytes at a time."""
Signs = npt.NDArray[np.int8]
"""Entries of moves, and coins: -1, 0 or 1."""
Shorts = npt.NDArray[np.int16]
"""Changes of cells in walks, where most of the work is copying them."""
Singles = npt.NDArray[np.float32]
"""Weights, where there are very many."""
SignedInts = npt.NDArray[np.signedinteger]
"""Whole numbers of the narrowest signed type that fits."""
AnyInts = npt.NDArray[np.integer]
"""Whole numbers of any kind."""
Arrays = npt.NDArray[Any]
"""Numbers of any kind."""

UNBOUNDED = 2**62
"""Stands for no upper bound of a whole number."""
