"""Labels of codes, where a file has both: what categories are called if that is wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def labelled(codes: Sequence[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    """The labels of codes, which stay themselves where they have none.

    Codes that share a label keep it apart: ``Other (9)``.
    """
    texts = [labels.get(code, "").strip() or code for code in codes]
    times = Counter(texts)
    return tuple(
        text if times[text] == 1 else f"{text} ({code})"
        for code, text in zip(codes, texts, strict=True)
    )
