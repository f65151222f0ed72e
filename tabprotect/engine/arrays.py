"""Types of arrays, one name each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
"""Counts, cells and other whole numbers."""
Floats = npt.NDArray[np.float64]
"""Probabilities, weights and other real numbers."""
Bools = npt.NDArray[np.bool_]
"""Which cells, rows or margins are meant."""
Letters = npt.NDArray[np.str_]
"""A status letter for each published cell."""
Codes = npt.NDArray[np.int32]
"""The number of each entry's category."""
Bytes = npt.NDArray[np.uint8]
"""Text as it stands in a file."""
Words = npt.NDArray[np.uint64]
"""Text eight bytes at a time."""
