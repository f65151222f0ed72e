"""Options: words of the command line that say a value, and read it back."""

from __future__ import annotations

import argparse
import dataclasses

import pytest

from tabprotect.cli.declaring import add_options, asked_for
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import Naming, Options, options_of
from tabprotect.engine.project.options import Protecting, Publishing, Tabulation

ASKED = [
    Reading(strip_totals=True, footer=3, header_row="4-5", thousands=" "),
    Tabulation(
        source="people.csv",
        by=["sex", "job"],
        weight="w",
        bands={"age": [5, 15], "year": 10},
        cuts={"size": [0, 10, 50]},
        code_lists={"geo": "geo.csv@half"},
        levels={"nuts": ["n1", "n2"]},
        level_names={"geo": ["land", "region"]},
        draw_keys=True,
    ),
    Protecting(method="cell_key", at_risk="1..3", title="T", accept="why", seed=0, parameters={"D": "5"}),
    Protecting(accept_weak=True, fresh=True),
    Publishing(release="r.zip", tables={"a": "x*y"}, prepared_by="K", sign="one", sign_too="two", again="w"),
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: type(asked).__name__)
def test_the_words_of_a_value_are_read_back(asked: Options) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, type(asked))
    words = asked.words()
    if isinstance(asked, Publishing):
        # The second key is said by the option of the first.
        words += ["--sign", "two"]
    besides = {
        one.name: getattr(asked, one.name)
        for one in options_of(type(asked))
        if one.default is dataclasses.MISSING
    }
    words += [str(value) for name, value in besides.items() if name == "source"]
    assert asked_for(type(asked), parser.parse_args(words), **besides) == asked


@pytest.mark.parametrize(
    ("naming", "text", "says"),
    [
        (Naming(), "=x", "not of the form NAME=VALUE"),
        (Naming(":", "width"), "age", "not of the form VARIABLE:WIDTH"),
        (Naming(":", "width"), "age:0", "at least 1"),
        (Naming(":", "numbers"), "age:0,x", "not of the form VARIABLE:CUT,CUT,..."),
        (Naming(entry="list", behind=True), "a,b", "not of the form NAME,NAME,...=NAME"),
        (Naming(entry="list"), "a=b,,c", "not a list of names"),
    ],
)
def test_what_is_not_of_its_form_is_refused(naming: Naming, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        naming.read(text)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cut", "a:1", "--cut", "a:2"], "--cut names a twice"),
        (["--sign", "a", "--sign", "b", "--sign", "c"], "--sign is given twice at most"),
    ],
)
def test_an_option_that_comes_too_often_is_refused(words: list[str], says: str) -> None:
    kind = Tabulation if words[0] == "--cut" else Publishing
    words = [*words, "people.csv"] if kind is Tabulation else [*words, "--out", "r.zip"]
    parser = argparse.ArgumentParser()
    add_options(parser, kind)
    with pytest.raises(UsageError, match=says):
        asked_for(kind, parser.parse_args(words))
