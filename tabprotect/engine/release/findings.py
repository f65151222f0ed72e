"""Findings on a release: each has a kind, a state and values, and one table says what they are.

Gate, report, card, shell and window show the same findings; none of them words one itself. What a
posterior or a verdict leaves out is told by kind: no kind of it is a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from tabprotect.languages.messages import Forms, forms, joined, message, uncapital

State = Literal["passed", "told", "mind", "failed"]
"""As it should be; for information only; needs attention; beyond a limit."""

Shows = Literal["", "cells", "coins", "tables"]
"""What can be done about a finding: look at its cells, take the house's coins, name its tables."""

SENTENCES: Mapping[str, str | Forms] = {
    # What readers of counts learn.
    "known": message("{reader} would know {known:,} of {small} (limit {limit:,})."),
    "known_certain": message(
        "{reader} would know {known:,} of {small} (limit {limit:,}), {certain:,} for certain."
    ),
    "known_without_limit": message("{reader} would know {known:,} of {small}."),
    "known_certain_without_limit": message(
        "{reader} would know {known:,} of {small}, {certain:,} for certain."
    ),
    "none_expected": message("{reader} expects no small counts."),
    "none_expected_in_some": message(
        "In {number:,} of the {every:,} tables a reader expects no small counts."
    ),
    "guess": message("{reader} who guesses at a small count would be right {chance} times (limit {often})."),
    "small_beyond": message(
        "{reader} would be sure of {sure:,} of {small} that they are small (limit {most:,}), not which."
    ),
    "only_small": forms(
        "Sure only that it is small: {n:,} cell.", "Sure only that they are small: {n:,} cells."
    ),
    "unjudged": message("What {who} learns was not judged: {way}."),
    "not_worked_out": message("What readers learn could not be worked out."),
    "left_out": message("Not worked out: {parts}."),
    "no_change": message("By the kept sums alone, nothing at all changes in about {often} draws."),
    "no_change_beyond": message(
        "By the kept sums alone, nothing at all changes in about {often} draws (limit {limit})."
    ),
    "original": message("A reader believes with a chance of {chance} that nothing at all was changed."),
    "insiders": forms(
        "About {n:,} person is alone in a cell, and learns another small count with a chance of {chance}.",
        "About {n:,} people are alone in a cell; one of them learns another small count with a chance of {chance}.",
    ),
    "insiders_unlikely": message(
        "Probably nobody is alone in a cell; whoever is learns another small count with a chance of {chance}."
    ),
    "insiders_beyond": message(
        "Somebody who is alone in a cell would learn another small count with a chance of {chance} (limit {limit})."
    ),
    "groups": forms(
        "Of {of:,} groups of {least} and more, {believed} is believed to share one {what}; readers would be sure "
        "of {known:,}.",
        "Of {of:,} groups of {least} and more, {believed} are believed to share one {what}; readers would be sure "
        "of {known:,}.",
    ),
    "groups_none": message("No group of {least} and more is believed to share one {what}."),
    "groups_known": message(
        "Of {of:,} groups of {least} and more, readers would be sure of {known:,} that all share one {what} "
        "(limit {limit:,})."
    ),
    "groups_guess": message(
        "A reader who guesses that all of a group of {least} and more share one {what} would be right {chance} "
        "times (limit {often})."
    ),
    "groups_unknown": message("Which groups of people share a category was not worked out."),
    # What staff count besides, in the original.
    "true_known": message("Readers would know {known:,} of {cells:,} small counts."),
    "true_known_at_least": message("Readers would know at least {known:,} of {cells:,} small counts."),
    "no_small_counts": message("There are no small counts."),
    "small_counts": forms("There is {n:,} small count.", "There are {n:,} small counts."),
    "true_certain": forms(
        "{n:,} small count is certain; on average a reader is {chance} sure of one.",
        "{n:,} small counts are certain; on average a reader is {chance} sure of one.",
    ),
    "true_uncertain": message("No small count is certain; on average a reader is {chance} sure of one."),
    "stuck": forms(
        "No cycle can move {n:,} small count of this table.",
        "No cycle can move {n:,} small counts of this table.",
    ),
    "more_known": forms(
        "Together with {beside} readers would know {n:,} more small count.",
        "Together with {beside} readers would know {n:,} more small counts.",
    ),
    "hardly_changed": message(
        "Readers would know none, but {tenths} in 10 small counts are published unchanged: hardly "
        "anything was changed."
    ),
    "limit": message("Limit {limit:,}."),
    "expected": message(
        "From the release alone readers expect {about} small counts and would be sure of {known:,}."
    ),
    "closest": message("Would know: more than {limit} sure of the true count. Closest: {cell}."),
    # What a run did to the original.
    "unchanged": forms(
        "{unchanged:,} of {n:,} count is published as it is.",
        "{unchanged:,} of {n:,} counts are published as they are.",
    ),
    "small_unchanged": forms(
        "{n:,} of {cells:,} small counts is published as it is.",
        "{n:,} of {cells:,} small counts are published as they are.",
    ),
    "small_unchanged_unknown": forms(
        "{n:,} of {cells:,} small counts is published as it is, and a reader cannot tell which.",
        "{n:,} of {cells:,} small counts are published as they are, and a reader cannot tell which.",
    ),
    "hidden_counts": forms("{n:,} count is hidden.", "{n:,} counts are hidden."),
    "hidden_cells": message(
        "{n:,} of {all:,} cells are hidden, {small:,} because they are small and {others:,} to protect these."
    ),
    "largest_change": message("No count differs by more than {largest:,}."),
    "all_exact": message("Every published count is exact."),
    "main_exact": message("The main table is exact."),
    "no_move_left_out": message("No move had to be left out."),
    "moves_left_out": message("{share} moves were left out because of a zero."),
    "margins_kept": message("Every kept sum is exact."),
    "margins_broken": message("KEPT SUMS ARE BROKEN."),
    # What readers of magnitudes learn.
    "near_guess": message(
        "An outsider's best guess of a lone contributor's value is within {within:g} % in at most {worst} of "
        "100 (limit {limit})."
    ),
    "near_hidden": message(
        "A guess at a hidden amount is within {within:g} % in at most {worst} of 100 (limit {limit})."
    ),
    "near_hidden_beyond": forms(
        "{n:,} hidden sum can be guessed to within {within:g} % in {worst} of 100 (limit {limit}): it "
        "would give its contributor away if it had only one.",
        "{n:,} hidden sums can be guessed to within {within:g} % in up to {worst} of 100 (limit "
        "{limit}): each would give its contributor away if it had only one.",
    ),
    "sums_known": forms(
        "{n:,} sum would be known if it were that of one contributor.",
        "{n:,} sums would be known if each were that of one contributor.",
    ),
    "numbers_known": forms(
        "How many contribute is published, or follows, of {n:,} sum: readers were taken to know who is "
        "alone.",
        "How many contribute is published, or follows, of {n:,} sums: readers were taken to know who is "
        "alone.",
    ),
    "sums_judged": message("Every sum was judged."),
    "nobody_near": message("Nobody among {readers:,} businesses and groups tried could come {near}."),
    "narrow": forms(
        "Nobody among {readers:,} businesses and groups tried could come {near} by an upper bound; by "
        "the best guess somebody could, in {n:,} hidden sum.",
        "Nobody among {readers:,} businesses and groups tried could come {near} by an upper bound; by "
        "the best guess somebody could, in {n:,} hidden sums.",
    ),
    "sampled": message("A sample was audited: {audited:,} of {unsafe:,} unsafe sums."),
    "broken": forms(
        "{n:,} sum is not protected: somebody could come {near}.",
        "{n:,} sums are not protected: somebody could come {near}.",
    ),
    "hidden_sums": forms(
        "{n:,} sum is hidden as unsafe, {secondary:,} to protect others.",
        "{n:,} sums are hidden as unsafe, {secondary:,} to protect others.",
    ),
    # How a posterior was found.
    "found_exactly": message("Worked out exactly."),
    "found_exactly_over": forms(
        "Worked out exactly, over the one table that could be behind it.",
        "Worked out exactly, over all {tables} tables that could be behind it.",
    ),
    "found_in_part": message("Worked out exactly, but something is left out: readers may know more."),
    "approximated": message("An approximation."),
    "estimated_from_draws": message("Estimated from {drawn:,} drawn tables, within {off} in 100."),
    "simulated": message("Estimated by simulation."),
    "simulated_within": message("Estimated by simulation, within {off} in 100."),
    "simulated_unsettled": message("Estimated by simulation, and the runs still differ (R-hat {r_hat:.2f})."),
    # What else is to be said before a release.
    "within_limits": message("This release is within its limits."),
    "beyond_limits": message("This release is beyond its limits and was published by a decision."),
    "not_all_judged": message("Not all that readers learn was worked out; left out: {parts}."),
    "no_verdict": message("This release states no verdict on what its readers learn."),
    "title": message("Title: {title}"),
    "no_title": message("The release has no title."),
    "decision": message("Decision: {text}"),
    "said": "{text}",
}
"""The sentence of each kind; of those that count something, for one and for several."""

BESIDE_NUMBER: Mapping[str, str | Forms] = {
    "known": message("of {small} (limit {limit:,})"),
    "known_certain": message("of {small} (limit {limit:,}), {certain:,} for certain"),
    "known_without_limit": message("of {small}"),
    "known_certain_without_limit": message("of {small}, {certain:,} for certain"),
    "none_expected": message("no small counts are expected"),
    "true_known": message("of {cells:,} small counts"),
}
"""What stands beside the number of those known on a reader's card."""


Omission = Literal[
    "joint_noise", "pattern_choice", "key_algebra", "attempts", "other_releases", "simulation", "contributors"
]
"""The kinds by the names that mechanisms and verdicts state."""

KINDS: tuple[Omission, ...] = get_args(Omission)

LEFT_OUT: Mapping[Omission, str] = {
    "joint_noise": message("what the tables tell together"),
    "pattern_choice": message("what the choice of hidden numbers gives away"),
    "key_algebra": message("that the keys of totals are sums of keys"),
    "attempts": message("what earlier tries of the method tell"),
    "other_releases": message("what earlier releases tell together with this one"),
    "simulation": message("what could only be simulated or bounded"),
    "contributors": message("contributors who were not tried as readers, alone or together"),
}
"""The kinds in words, as parts of a sentence."""


@dataclass(frozen=True)
class Finding:
    """Something found of a release.

    Attributes
    ----------
    kind
        One of ``SENTENCES``.
    state
    values
        The figures of its sentence.
    where
        The table it is about, or what it is read together with; empty for the release.
    word
        Of a headline: the state of the release in a word.
    rest
        Of a headline: what else is to be said.
    staff
        True if it reveals something of the original.
    shows
    """

    kind: str
    state: State = "told"
    values: Mapping[str, object] = field(default_factory=dict)
    where: str = ""
    word: str = ""
    rest: str = ""
    staff: bool = False
    shows: Shows = ""

    @property
    def sentence(self) -> str:
        """Say what was found, without its state and what else is to be said."""
        found = _said(SENTENCES[self.kind], self.values)
        return message("{where}: {found}", self.where, uncapital(found)) if self.where else found

    @property
    def text(self) -> str:
        """All of it."""
        word = message("{word}.", self.word) if self.word else ""
        return joined(filter(None, (word, self.sentence, self.rest)), " ")

    @property
    def heading(self) -> str:
        """The sentence as a heading."""
        return self.sentence.rstrip(".")

    @property
    def beside_number(self) -> str:
        """The sentence on a card that shows its number large."""
        return _said(BESIDE_NUMBER[self.kind], self.values)


@dataclass(frozen=True)
class FindingGroup:
    """The findings about one thing."""

    title: str
    findings: tuple[Finding, ...] = ()


def said(text: str, state: State = "told", **more: object) -> Finding:
    """A finding that somebody else worded."""
    return Finding("said", state, {"text": text}, **more)  # type: ignore[arg-type]


def listed(left_out: Iterable[Omission]) -> str:
    """The kinds in words, as part of a sentence."""
    return joined((LEFT_OUT[kind] for kind in left_out), ", ")


def kinds(*of: Iterable[str]) -> tuple[Omission, ...]:
    """All kinds that are named, each once, in the order of :data:`KINDS`."""
    named = {kind for some in of for kind in some}
    return tuple(kind for kind in KINDS if kind in named)


def in_words(found: Iterable[Finding]) -> str:
    """The sentences of several findings."""
    return joined((one.text for one in found), " ")


def _said(template: str | Forms, values: Mapping[str, object]) -> str:
    if isinstance(template, tuple):
        template = template[values["n"] != 1]
    return message(template, **values)
