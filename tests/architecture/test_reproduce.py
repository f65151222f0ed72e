"""The table of printed numbers names tests that exist, and says why where there is none."""

from __future__ import annotations

import re

from tests.reproduce import BEYOND, EQUAL, ERRATUM, NUMBERS, ROOT


def test_every_number_has_a_test_or_a_reason() -> None:
    for one in NUMBERS:
        assert one.kind in (EQUAL, ERRATUM, BEYOND) and one.printed and one.holds
        assert bool(one.test) == (one.kind != BEYOND)
        if one.test:
            path, _, name = one.test.partition("::")
            text = (ROOT / "tests" / path).read_text("utf-8")
            assert re.search(rf"^def {name}\(", text, re.MULTILINE), one.test
    assert len({one.printed for one in NUMBERS}) == len(NUMBERS) >= 20
