"""Model formulas, as users of R and patsy know them, read as a list of margins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product

from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.languages.messages import message

FORMULA_TERMS = 100_000
"""Terms of a formula."""

FORMULA_BRACKETS = 100
"""Brackets inside each other."""


FORM = message(
    "write for example a*b + c: + adds terms, a:b is the table of both, a*b is a + b + a:b, "
    "(a + b + c)^2 all pairs, . every variable, - takes out; the grand total is 1"
)

Term = frozenset[str]
_TOTAL: Term = frozenset()
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]*`|\"[^\"]*\"|'[^']*')|(?P<op>\*\*|[-+*:^()/~])|(?P<word>[\w.@]+))"
)
_WORD = re.compile(r"[^\W\d][\w.@]*")


def terms(
    formula: str, names: Sequence[str], *, everything: Sequence[str] | None = None
) -> tuple[tuple[str, ...], ...]:
    """The terms of a formula: each the variables of one margin, ``()`` the grand total.

    Operators bind as in R: ``^`` (or ``**``) before ``:``, before ``*`` and ``/``, before ``+`` and
    ``-``. The grand total is the intercept: there unless ``- 1`` or ``+ 0`` takes it out. Names with
    blanks or signs in them stand in backticks or quotation marks; a leading ``~`` is ignored.

    Parameters
    ----------
    formula
        Such as ``a*b + c``.
    names
        The variables there are; inside a term they stand in this order.
    everything
        What ``.`` means; all names by default.

    Returns
    -------
    terms
        Every term once, those of fewer variables first, else in the order of the formula.

    Raises
    ------
    InputError
        For an unknown variable or a formula that cannot be read, with its place.
    """
    reader = _Reader(formula, names, names if everything is None else everything)
    place = {name: k for k, name in enumerate(names)}
    found = sorted(reader.read(), key=len)
    return tuple(tuple(sorted(term, key=place.__getitem__)) for term in found)


def in_formula(name: str) -> str:
    """A name as a formula has it: in backticks where it is more than a word."""
    return name if _WORD.fullmatch(name) else f"`{name}`"


def names_in(formula: str) -> tuple[str, ...]:
    """The names that stand in a formula, each once, whatever the table has.

    Raises
    ------
    InputError
        For a formula that cannot be read.
    """
    found = []
    at = 0
    while formula[at:].strip():
        match = _TOKEN.match(formula, at)
        if match is None:
            raise InputError(message("the formula {formula} cannot be read", repr(formula)), hint=FORM)
        if match["quoted"]:
            found.append(match["quoted"][1:-1])
        elif match["word"] and match["word"] != "." and not match["word"].isdecimal():
            found.append(match["word"])
        at = match.end()
    return tuple(dict.fromkeys(found))


class _Reader:
    """Recursive descent over the tokens of one formula; a set of terms is a dict in order."""

    def __init__(self, formula: str, names: Sequence[str], everything: Sequence[str]) -> None:
        self._formula = formula
        self._names = names
        self._everything = everything
        self._tokens: list[tuple[str, str, int]] = []
        at = 0
        while formula[at:].strip():
            match = _TOKEN.match(formula, at)
            if match is None:
                raise self._fault(message("cannot be read from {strip} on", repr(formula[at:].strip())))
            kind = str(match.lastgroup)
            self._tokens.append((kind, match[kind], match.start(kind)))
            at = match.end()
        self._at = 0

    def read(self) -> list[Term]:
        self._take("~")
        if self._formula.count("(") > FORMULA_BRACKETS:
            raise self._fault(message("has more than {FORMULA_BRACKETS} brackets", FORMULA_BRACKETS))
        if self._at == len(self._tokens):
            raise self._fault(message("is empty"))
        found = self._sum(top=True)
        if self._at < len(self._tokens):
            raise self._fault(message("has a {tokens} too many", repr(self._tokens[self._at][1])))
        return list(found)

    def _fault(self, what: str) -> InputError:
        return InputError(message("the formula {formula} {what}", repr(self._formula), what), hint=FORM)

    def _take(self, *operators: str) -> str:
        """The next operator, taken, if it is one of these; else an empty text."""
        if self._at < len(self._tokens):
            kind, text, _ = self._tokens[self._at]
            if kind == "op" and text in operators:
                self._at += 1
                return text
        return ""

    def _sum(self, *, top: bool = False) -> dict[Term, None]:
        found = {_TOTAL: None} if top else {}
        sign = self._take("+", "-") or "+"
        while sign:
            zero = self._zero()
            part = {_TOTAL: None} if zero else self._product()
            if (sign == "-") == zero:
                found |= part
            else:
                for term in part:
                    found.pop(term, None)
            sign = self._take("+", "-")
        return found

    def _zero(self) -> bool:
        """Return True if a lone 0 comes, which takes the grand total out (and ``- 0`` puts it back)."""
        if self._at < len(self._tokens) and self._tokens[self._at][:2] == ("word", "0"):
            self._at += 1
            return True
        return False

    def _product(self) -> dict[Term, None]:
        left = self._interaction()
        while operator := self._take("*", "/"):
            right = self._interaction()
            if operator == "*":
                left = left | right | self._crossed(left, right)
            else:
                # a/b is a + a:b; all of the left side nests the right.
                left = left | self._crossed({frozenset().union(*left): None}, right)
        return left

    def _interaction(self) -> dict[Term, None]:
        left = self._power()
        while self._take(":"):
            left = self._crossed(left, self._power())
        return left

    def _power(self) -> dict[Term, None]:
        base = self._atom()
        if not self._take("^", "**"):
            return base
        kind, text, _ = self._next()
        power = natural(text) if kind == "word" else None
        if not power:
            raise self._fault(message("has the power {text}; it must be a whole number from 1", repr(text)))
        found = base
        for _ in range(power - 1):
            # a:a is a: what is there stays.
            larger = self._crossed(found, base)
            if len(larger) == len(found):
                break
            found = larger
        return found

    def _next(self) -> tuple[str, str, int]:
        if self._at == len(self._tokens):
            raise self._fault(message("ends too early"))
        self._at += 1
        return self._tokens[self._at - 1]

    def _atom(self) -> dict[Term, None]:
        kind, text, _ = self._next()
        if kind == "op":
            if text != "(":
                raise self._fault(message("has a {text} where a variable is due", repr(text)))
            found = self._sum()
            if not self._take(")"):
                raise self._fault(message("has a bracket that is not closed"))
            return found
        name = text[1:-1] if kind == "quoted" else text
        if name in self._names:
            return {frozenset([name]): None}
        if text == "1":
            return {_TOTAL: None}
        if text == ".":
            return {frozenset([every]): None for every in self._everything}
        raise InputError(
            message(
                "the formula {formula} names {name}, which is no variable", repr(self._formula), repr(name)
            ),
            hint=message("there are {names}", ", ".join(self._names)),
        )

    def _crossed(self, left: Iterable[Term], right: Iterable[Term]) -> dict[Term, None]:
        crossed: dict[Term, None] = {}
        for a, b in product(left, right):
            crossed[a | b] = None
            if len(crossed) > FORMULA_TERMS:
                raise self._fault(message("has more than {FORMULA_TERMS:,} terms", FORMULA_TERMS))
        return crossed
