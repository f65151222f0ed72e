"""No regular expression of the readers takes more than the length of a text allows."""

from __future__ import annotations

import importlib
import itertools
import math
import pkgutil
import re
import time
from collections.abc import Iterator

PACKAGES = (
    *("foreign", "formats", "microdata", "output_checking", "project", "cycles", "bundle", "posterior"),
    *("protection", "tables", "register", "disclosure", "magnitudes", "attack", "belief", "release"),
)
SIGNS = "a0 ,;.'\"=<>@-(\\\n\t\u00e9_*:%"
SHORT, LONG = 28, 1500
"""Lengths: an exponential expression takes hours for the first, a cubic one minutes for the second."""
MOST = 2.0
"""Processor seconds of one expression for all texts: linear ones take some milliseconds."""


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    for name in PACKAGES:
        package = importlib.import_module(f"tabprotect.engine.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for key, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    yield f"{found.name.removeprefix('tabprotect.engine.')}.{key}", value


def beginnings(pattern: str) -> Iterator[str]:
    """Nothing, and what the expression itself begins with as it stands: to get behind it."""
    yield ""
    literal = re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), pattern)
    for end in (4, 12, 60):
        yield literal.replace("\\", "")[:end]


def slow(pattern: re.Pattern[str] | re.Pattern[bytes]) -> float:
    """The processor seconds that it takes for texts of one or two signs over and over."""
    source = pattern.pattern
    said = source if isinstance(source, str) else source.decode("latin-1")
    pairs = [*SIGNS, *map("".join, itertools.permutations("a0 ,;'\"=", 2))]
    begun = time.thread_time()
    for length, most in ((SHORT, MOST / 8), (LONG, MOST)):
        for number, sign in enumerate(pairs):
            for begin in beginnings(said) if number < len(SIGNS) else ("",):
                text = begin + sign * length + "\x01"
                given: str | bytes = text if isinstance(source, str) else text.encode("utf-8")
                pattern.match(given)  # type: ignore[arg-type]
                pattern.fullmatch(given)  # type: ignore[arg-type]
                if length == SHORT:
                    pattern.search(given)  # type: ignore[arg-type]
                if time.thread_time() - begun > most:
                    return math.inf
    return time.thread_time() - begun


def test_expressions_are_linear_enough() -> None:
    every = dict(patterns())
    assert len(every) > 40
    wrong = {name: took for name, one in every.items() if (took := slow(one)) > MOST}
    assert not wrong


def test_an_exponential_expression_is_found() -> None:
    assert slow(re.compile(r"(?:a{1,2},? ?)*b")) > MOST
