"""The page of a bundle of sums: ``page.html`` with the range of each hidden or noisy sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bundle.reader_page.naive_words import naive_words_of_sums
from tabprotect.engine.bundle.reader_page.page import Page, prints, told_in
from tabprotect.engine.bundle.reader_page.page_model import MOST_SHOWN, Model
from tabprotect.engine.magnitudes.tables.released_sums import ReleasedSums
from tabprotect.engine.protection.registered import magnitude_methods
from tabprotect.languages.messages import message
from tabprotect.languages.translation import LANGUAGES

MOST_HIDDEN = 400
"""Most hidden sums whose ranges are worked out: each takes two programmes."""

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
    method = magnitude_methods()[release.method]
    noisy = method.is_random
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
                "method": told_in(code, method.label),
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
    method = magnitude_methods()[release.method]
    at, ranges = method.ranges(release)
    # Ranges are mostly whole units: what solvers add in the last digits is taken away.
    near = np.rint(ranges)
    ranges = np.where(np.abs(ranges - near) < 1e-6, near, ranges)
    different, which = np.unique(ranges, axis=0, return_inverse=True)
    return {
        "way": "sums",
        "noise": method.is_random,
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
