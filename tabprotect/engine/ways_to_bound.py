"""The ways to bound the cells of a table from released margins."""

from __future__ import annotations

from typing import Literal

from tabprotect.languages.messages import message

BoundsWay = Literal["auto", "decomposable", "shuttle", "lp", "integer"]

BOUNDS_WAYS: dict[str, str] = {
    "auto": message("the cheapest way that is exact; the answer says which it was"),
    "decomposable": message("closed form only: sharp, but other releases stay undecided"),
    "shuttle": message("can prove a release too narrow, never wide enough"),
    "lp": message("linear programmes; sharp where both ends are whole tables"),
    "integer": message("integer programmes: always sharp, can be slow"),
}
