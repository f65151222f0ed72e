"""The page of a bundle of sums: ``page.html`` with the range of each hidden or noisy sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.bundle.reader_page.naive_words import naive_words_of_sums
from tabprotect.engine.bundle.reader_page.page import Page, prints, told_in
from tabprotect.engine.bundle.reader_page.page_model import MOST_SHOWN, Model
from tabprotect.engine.magnitudes.methods.key_noise import KeyNoise
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw
from tabprotect.engine.magnitudes.readers.beliefs import hidden_ranges
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.languages.messages import message
from tabprotect.languages.translation import LANGUAGES

MOST_HIDDEN = 400
"""Most hidden sums whose ranges are worked out: each takes two programmes."""

OUTSIDE = 0.05
"""Probability on either side of the range of a noisy sum."""

NAMES = {
    "suppression": message("Suppression of sums"),
    "multiplicative_noise": message("Multiplicative noise"),
    "cell_key": message("Cell keys for sums"),
}

TOO_MANY = message("More sums are hidden than this page holds ranges for; the program computes them.")


def page_of_sums(release: ReleasedSums, content: Mapping[str, bytes], promise: str) -> tuple[Page, Model]:
    """The page of a release of sums beside the other files of its bundle, and its model."""
    model = _model(release)
    return Page.telling(_told(release, content, promise), _title(release), content, model), model


def _title(release: ReleasedSums) -> str:
    return release.title or release.measure


def _told(release: ReleasedSums, content: Mapping[str, bytes], promise: str) -> dict[str, object]:
    sizes = [axis.size for axis in release.axes]
    table: dict[str, object] = {
        "variables": [
            {"name": axis.variable.name, "categories": list(axis.written)} for axis in release.axes
        ],
        "inner": True,
        "counts": None,
        "hidden": [],
    }
    if int(np.prod(sizes)) <= MOST_SHOWN:
        # Where there are no records nothing adds up to 0, as the table says: its readers have it so.
        written = [release.text(0)] * int(np.prod(sizes))
        for number, key in enumerate(release.key.tolist()):
            written[key] = release.written(number)
        table |= {"counts": written, "hidden": release.key[release.hidden].tolist()}
    noisy = release.method != "suppression"
    exact = (
        message("No sum: each may differ from the true one.")
        if noisy
        else message("Every sum that is published.")
    )
    return {
        "title": _title(release),
        "method": release.method,
        "sums": {"measure": release.measure, "decimals": release.decimals},
        "said": {
            code: {
                "method": told_in(code, NAMES[release.method]),
                "exact": told_in(code, exact),
                "promised": [told_in(code, promise)],
                "weighted": "",
                "naive": " ".join(told_in(code, line) for line in naive_words_of_sums(noisy=noisy)),
            }
            for code in LANGUAGES
        },
        "what": None,
        "small": None,
        "variables": [variable.name for variable in release.variables],
        "shape": sizes,
        "structural": [],
        "tables": [table],
        "prints": prints(content),
    }


def _model(release: ReleasedSums) -> Model:
    """The range of every sum that is not published as it is, in units."""
    sizes = [axis.size for axis in release.axes]
    hidden = int(release.hidden.sum())
    if int(np.prod(sizes)) > MOST_SHOWN or hidden > MOST_HIDDEN:
        return {"way": "none", "why": {code: told_in(code, TOO_MANY) for code in LANGUAGES}}
    if release.method == "suppression":
        at, ranges = np.flatnonzero(release.hidden), hidden_ranges(release)
    else:
        at = np.flatnonzero(release.value != 0)
        ranges = np.array([_alone(release, value) for value in release.value[at].tolist()])
    ranges = ranges.reshape(-1, 2)
    # Ranges are mostly whole units: what solvers add in the last digits is taken away.
    near = np.rint(ranges)
    ranges = np.where(np.abs(ranges - near) < 1e-6, near, ranges)
    different, which = np.unique(ranges, axis=0, return_inverse=True)
    return {
        "way": "sums",
        "noise": release.method != "suppression",
        "ranges": [
            [float(low), float(high) if np.isfinite(high) else None]
            for low, high in [*different.tolist(), (0.0, 0.0)]
        ],
        "range": _places(int(np.prod(sizes)), release.key[at], which.reshape(-1), len(different)),
    }


def _places(cells: int, keys: Ints, which: Ints, other: int) -> list[int]:
    places = np.full(cells, other, dtype=np.int64)
    places[keys] = which
    return [int(place) for place in places]


def _alone(release: ReleasedSums, value: int) -> tuple[float, float]:
    """Where the value of one who is alone lies, given the published sum; float64 units."""
    grid: Floats
    if release.method == "multiplicative_noise":
        law = MultiplierLaw.of(release.parameters)
        grid = np.linspace(1 - law.most, 1 + law.most, 4001)
        below = law.below(grid)
        ends = [value / float(np.interp(level, below, grid)) for level in (OUTSIDE, 1 - OUTSIDE)]
        return min(ends), max(ends)
    noise = KeyNoise.of(release.parameters)
    true, chances = noise.originals(value, 1 / 10**release.decimals)
    order = np.argsort(true)
    summed = np.cumsum(chances[order]) / chances.sum()
    low = int(np.searchsorted(summed, OUTSIDE, side="right"))
    high = int(np.searchsorted(summed, 1 - OUTSIDE - 1e-12))
    return float(true[order][low]), float(true[order][min(high, len(true) - 1)])
