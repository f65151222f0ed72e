"""The ways to bound the cells of a table from released margins."""

from __future__ import annotations

from typing import Literal

BoundsWay = Literal["auto", "decomposable", "shuttle", "lp", "integer"]

BOUNDS_WAYS: dict[BoundsWay, str] = {
    "auto": "the cheapest way that is exact; the answer says which it was",
    "decomposable": "closed form only: sharp, but other releases stay undecided",
    "shuttle": "can prove a release too narrow, never wide enough",
    "lp": "linear programmes; sharp where both ends are whole tables",
    "integer": "integer programmes: always sharp, can be slow",
}
