"""Read the parameters of post-randomisation that say how likely categories change."""

from __future__ import annotations

import json
import re

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


def read_chances(domain: Domain, text: str) -> dict[str, float]:
    """The chance to keep a category, by variable: ``0.8``, or ``sex=0.9, age=0.7``.

    Raises
    ------
    ValueError
        Saying what is wrong with the text.
    """
    named = "=" in text
    pairs = [part.rpartition("=")[::2] for part in text.split(",")] if named else [("", text)]
    found: dict[str, float] = {}
    for name, number in pairs:
        name = name.strip()
        if named and name not in domain.names:
            raise ValueError(message("{name} is none of {names}", repr(name), ", ".join(domain.names)))
        try:
            chance = float(number)
        except ValueError:
            raise ValueError(message("must be a number, is {strip}", repr(number.strip()))) from None
        if not 0.0 <= chance <= 1.0:
            raise ValueError(message("must be between 0 and 1, is {strip}", number.strip()))
        found |= {name: chance} if named else dict.fromkeys(domain.names, chance)
    return dict.fromkeys(domain.names, 1.0) | found


def read_matrices(domain: Domain, text: str) -> dict[str, Floats]:
    """The user's matrices by variable: ``sex=[[0.9, 0.1], [0.2, 0.8]]; age=...``.

    Raises
    ------
    ValueError
        Saying what is wrong with the text.
    """
    found: dict[str, Floats] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, body = part.partition("=")
        try:
            # .5 as people write it is no JSON.
            rows = json.loads(re.sub(r"(?<!\d)\.(?=\d)", "0.", body))
        except json.JSONDecodeError:
            raise ValueError(
                message("{part} is not of the form sex=[[0.9, 0.1], [0.2, 0.8]]", repr(part))
            ) from None
        found[name.strip()] = checked_matrix(domain, name.strip(), rows)
    return found


def checked_matrix(domain: Domain, name: str, rows: object) -> Floats:
    """The matrix of a variable: a row for each true category, each a distribution.

    Raises
    ------
    ValueError
        Saying what is wrong with the matrix.
    """
    if name not in domain.names:
        raise ValueError(message("{name} is none of {names}", repr(name), ", ".join(domain.names)))
    size = len(domain[name].categories)
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (size, size):
        raise ValueError(message("the matrix of {name} must be {size} by {size}", repr(name), size))
    if not (matrix >= 0).all() or np.abs(matrix.sum(axis=1) - 1.0).max() > 1e-9:
        raise ValueError(message("a row of the matrix of {name} is no distribution", repr(name)))
    return matrix
