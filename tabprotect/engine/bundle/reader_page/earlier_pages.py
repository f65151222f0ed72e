"""Pages that earlier versions made: a page that is old is told from one that was tampered with.

A frame is a page without its release: style, scripts and words. Whoever changes one adds the new frame
to ``FRAMES`` and says what a page of the frames before does not tell yet.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping
from typing import Literal

from tabprotect.engine.bundle.reader_page.naive_words import Words

Naive = Words | Literal["unsaid"]

FRAMES: Mapping[str, tuple[Naive, ...]] = {
    "d1e7e43cab3cf66af1da1c4b528fa1cb93dc0415f7f7d366cae9e905f87cf248": ("unsaid",),
    "096a4ddfa0d9423586337498a2c2ca7da669bd4e7f43eb7d877f7ed4bb474d45": ("unsaid",),
    "ce9ed6be92ae5036dfe8d0e92241dcadc67a6e551c56731b7c907e2ae090141e": ("unsaid",),
    "fb76b22ba27397bc81c7a6df8c6831e3175db6798bacc60ccec9e1548f96873d": ("first",),
    "de476de04ee86364305c3a98e434f94f91c6fa926485f841ea237b6945e1960f": ("second", "today"),
}
"""SHA-256 of every frame that bundles hold, with how pages said what taking counts as true does; the last is
today's, in words of before too."""

RELEASE, MODEL, TITLE = "[[RELEASE]]", "[[MODEL]]", "[[TITLE]]"
"""What stands in a frame for what differs from release to release."""

OPENED = {
    RELEASE: '<script type="application/json" id="release">',
    MODEL: '<script type="application/json" id="model">',
    TITLE: "<title>",
}

END = "</script>"


def embedded(data: object) -> str:
    """JSON that stands within HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def titled(title: str) -> str:
    """The title of a page as HTML."""
    return html.escape(" ".join(title.split()) or "tabprotect", quote=False)


def sha256_of(frame: str) -> str:
    """What a frame is known by."""
    return hashlib.sha256(frame.encode()).hexdigest()


def model_in_earlier(
    text: str, told: Mapping[str, object], title: str, then: Mapping[Words, Mapping[str, str]]
) -> str | None:
    """The model within a page that an earlier version made of a release; ``None`` for any other page.

    Nothing of such a page is taken on its word: its frame is one of ours to the last byte, and what it
    tells of the release is what we tell, but for what was not told then.

    Parameters
    ----------
    then
        What taking counts as true does, in the words of then, in each language.
    """
    before, opened, rest = text.partition(OPENED[MODEL])
    model, ended, after = rest.partition(END)
    if not opened or not ended:
        return None
    for frame, how in ((one, how) for one, all_of_it in FRAMES.items() for how in all_of_it):
        filled = {RELEASE: embedded(_as_said(told, how, then)), TITLE: titled(title)}
        emptied = before
        for place, text_there in filled.items():
            emptied = emptied.replace(OPENED[place] + text_there, OPENED[place] + place, 1)
        if sha256_of(f"{emptied}{opened}{MODEL}{ended}{after}") == frame:
            return model
    return None


def _as_said(
    told: Mapping[str, object], how: Naive, then: Mapping[Words, Mapping[str, str]]
) -> dict[str, object]:
    said = told["said"]
    assert isinstance(said, dict)
    if how == "unsaid":
        said = {
            code: {name: text for name, text in one.items() if name != "naive"} for code, one in said.items()
        }
    else:
        # Pages of sums say it as they ever did.
        words = then.get(how, {})
        said = {code: {**one, "naive": words.get(code, one["naive"])} for code, one in said.items()}
    return {**told, "said": said}
