"""Texts and attributes of XML, as ``xml.sax.saxutils`` writes them, which loads the network's modules."""

from __future__ import annotations

_ENDS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape(text: str) -> str:
    """A text between tags."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def quoteattr(text: str) -> str:
    """The value of an attribute with its quotes."""
    out = escape(text)
    for sign, written in _ENDS.items():
        out = out.replace(sign, written)
    if '"' not in out:
        return f'"{out}"'
    if "'" not in out:
        return f"'{out}'"
    return '"' + out.replace('"', "&quot;") + '"'
