"""The ways to bound the cells of a table from released margins."""

from __future__ import annotations

from typing import Literal

from tabprotect.languages.said import say

BoundsWay = Literal["auto", "decomposable", "shuttle", "lp", "integer"]

BOUNDS_WAYS: dict[str, str] = {
    "auto": say("the cheapest way that is exact; the answer says which it was"),
    "decomposable": say("closed form only: sharp, but other releases stay undecided"),
    "shuttle": say("can prove a release too narrow, never wide enough"),
    "lp": say("linear programmes; sharp where both ends are whole tables"),
    "integer": say("integer programmes: always sharp, can be slow"),
}
