"""The chain of a log: each line is hashed with the line before it, so that tampering shows.

The register of releases and the log of the table server are such logs. Whoever keeps a head, the number
and hash of a last line, sees that lines up to it were changed, or that lines after it are gone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from tabprotect.engine.plain_values.encoding import Encodable

FIRST_CHAIN = "0" * 64
"""Stands for the hash of the line before the first one."""


@dataclass(frozen=True)
class Head(Encodable):
    """The last line of a chain: its number and hash. Zero lines are ``FIRST_CHAIN``."""

    lines: int = 0
    chain: str = FIRST_CHAIN
    json_keys = "lines head=chain"

    def then(self, *content: object) -> Head:
        """Return the head that one more line makes: SHA-256 over the hash before it and its content."""
        text = json.dumps([self.chain, *content], ensure_ascii=False, separators=(",", ":"))
        return Head(self.lines + 1, hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest())


NO_LINES = Head()
"""The head of a log in which nothing stands yet."""
