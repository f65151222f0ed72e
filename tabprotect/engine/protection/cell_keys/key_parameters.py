"""The parameters of cell keys, and the perturbation table that they mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.perturbation_table import (
    LARGEST_D,
    PerturbationTable,
    perturbation_table,
)
from tabprotect.engine.tables.design_weights import SCALE
from tabprotect.languages.messages import message

LEAST_V = 1e-6

_made = lru_cache(maxsize=32)(perturbation_table)


@lru_cache(maxsize=8)
def _read(text: str) -> PerturbationTable:
    return files.from_json(json.loads(text))


def table_of(values: Values) -> PerturbationTable:
    """The perturbation table that resolved parameters (or those of a mechanism) mean."""
    table = values[TABLE]
    if table is not None:
        return _read(table if isinstance(table, str) else json.dumps(table))
    return _made(D=values[D], V=values[V], js=values[JS], pstay=values[PSTAY], monotone=values[MONOTONE])


D: Parameter[int] = Parameter(
    "D",
    message("Largest noise (D)"),
    message("No count moves by more than this."),
    "integer",
    5,
    low=1,
    high=LARGEST_D,
    unit=message("counts"),
)

V: Parameter[float] = Parameter(
    "V",
    message("Variance of the noise (V)"),
    message("Variance of the noise of every count (at most, where a row cannot reach it)."),
    "real",
    3.0,
    low=LEAST_V,
    high=float(LARGEST_D**2),
    unit=message("counts squared"),
)

JS: Parameter[int] = Parameter(
    "js",
    message("Small counts never published (js)"),
    message("Counts from 1 to this are never published; 0 publishes all."),
    "integer",
    2,
    low=0,
    high=LARGEST_D,
    unit=message("counts"),
)

PSTAY: Parameter[float] = Parameter(
    "pstay",
    message("Least chance to stay (pstay)"),
    message(
        "Least probability that a count above js stays; lowered in rows that would miss V because of it."
    ),
    "real",
    0.0,
    low=0.0,
    high=1.0,
    unit=message("probability"),
)

MONOTONE: Parameter[bool] = Parameter(
    "monotone",
    message("Monotone"),
    message("Probabilities do not fall from the lowest noise up to noise 0."),
    "flag",
    True,
)

TABLE: Parameter[str | Mapping[str, object] | None] = Parameter(
    "table",
    message("Perturbation table"),
    message("A file (tau-ARGUS ptable text, ONS CSV or JSON) in place of D, V, js, pstay."),
    "perturbation",
)

KEYS: Parameter[Literal["auto", "hashed", "plain", "records"]] = Parameter(
    "keys",
    message("Record keys"),
    message("How noise follows from record keys. Where the table has none, they are drawn for the run."),
    "choice",
    "auto",
    choices={
        "auto": message("Hashed where several tables are published, else plain."),
        "hashed": message("Noise is looked up under a secret hash of the cell key."),
        "plain": message("Noise is looked up under the cell key, as other offices do."),
        "records": message("Plain, with the keys that came with the table; an error without any."),
    },
)

WEIGHTED: Parameter[Literal["no", "yes"]] = Parameter(
    "weighted",
    message("Weighted"),
    message("What is published where the records have design weights."),
    "choice",
    "no",
    choices={
        "no": message("Counts of records are published."),
        "yes": message("Estimates are published: perturbed counts times the mean weight of the cell."),
    },
)

WEIGHT_LOW: Parameter[float | None] = Parameter(
    "weight_low",
    message("Lowest weight"),
    message("No design weight is below this. Readers see it."),
    "real",
    low=1 / SCALE,
    high=1e9,
    may_be_unstated=True,
)

WEIGHT_HIGH: Parameter[float | None] = Parameter(
    "weight_high",
    message("Highest weight"),
    message("No design weight is above this. Readers see it."),
    "real",
    low=1 / SCALE,
    high=1e9,
    may_be_unstated=True,
)


def weight_range(values: Values) -> tuple[int, int]:
    """The stated range of design weights, in millionths."""
    low, high = values[WEIGHT_LOW], values[WEIGHT_HIGH]
    assert low is not None and high is not None
    return round(low * SCALE), round(high * SCALE)
