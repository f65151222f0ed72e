"""XML as the standard library writes it."""

from __future__ import annotations

from xml.sax import saxutils

from hypothesis import given
from hypothesis import strategies as st

from tabprotect.engine.formats.text.markup import escape, quoteattr


@given(st.text(alphabet="ab<>&\"'\n\r\t", max_size=12))
def test_texts_and_attributes(text: str) -> None:
    assert escape(text) == saxutils.escape(text)
    assert quoteattr(text) == saxutils.quoteattr(text)
