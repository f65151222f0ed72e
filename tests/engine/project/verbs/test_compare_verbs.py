"""The comparison as a recorded command: checked, saved, copied as a command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tabprotect.engine.assessment.comparing.compare import compare
from tabprotect.engine.assessment.comparing.comparison import Comparison
from tabprotect.engine.assessment.comparing.run_spec import Comparing, parse_spec
from tabprotect.engine.errors import Interrupted, ParameterError
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.compare_verbs import compare as compare_words
from tabprotect.engine.project.verbs.compare_verbs import comparison_of

EXAMPLE = "example:langsrud-lupp"


@pytest.fixture
def opened() -> History:
    return History().apply("open_table", {"source": EXAMPLE})[0]


def test_a_grid_becomes_one_setting_each_and_survives_a_file(opened: History, tmp_path: Path) -> None:
    given = {
        "runs": ["cell_key D=5,8 V=3", "cell_key D=8 V=3", "random_rounding margins=party*age + sex"],
        "runs_per_method": 7,
        "key": ["age"],
        "sensitive": "party",
    }
    history, changes = opened.apply("set_comparison", given)
    assert changes == {"comparison"}
    plan = history.project.comparison
    assert plan.runs == (
        "cell_key D=5 V=3.0",
        "cell_key D=8 V=3.0",
        "random_rounding margins=party*age + sex",
    )
    assert parse_spec(plan.runs[2])[0].given == {"margins": "party*age + sex"}
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    assert storage.load(path).project.comparison == plan
    assert history.undo()[0].project.comparison.runs == ()


def test_faults_are_told_together_and_change_nothing(opened: History) -> None:
    with pytest.raises(ParameterError) as caught:
        opened.apply("set_comparison", {"runs": ["cell_key D=0", "nothing", "random_rounding q=1"]})
    said = str(caught.value.fields)
    assert "cell_key D=0: D" in said and "q" in said and "nothing" in said
    for wrong in ({"key": ["size"]}, {"margins": "a*b"}, {"runs_per_method": 0}, {"seed": 1}):
        with pytest.raises(ParameterError):
            opened.apply("set_comparison", wrong)
    assert opened.project.comparison.runs == ()


def test_the_command_line_says_the_same(opened: History) -> None:
    assert line(compare_words(opened.project)) == ""
    given = {"runs": ["small_count_rounding base=3"], "margins": "party*(age+sex)"}
    history, _ = opened.apply("set_comparison", given)
    words = shlex.split(line(compare_words(history.project)))
    assert words[:5] == ["tabprotect", "compare", EXAMPLE, "--run", "small_count_rounding base=3"]
    assert words[words.index("--margins") + 1] == "party*(age+sex)"
    assert "--key" not in words and "--seed" not in words


def test_an_example_is_compared_as_its_source_did(opened: History) -> None:
    scope = comparison_of(opened.project)
    assert scope.margins == "party*(age+sex)"
    assert scope.key == ("age", "sex") and scope.sensitive == "party"
    history, _ = opened.apply("set_comparison", {"sensitive": "sex"})
    assert comparison_of(history.project).margins is None


def test_what_was_compared_so_far_is_seen_and_is_the_beginning_of_all(opened: History) -> None:
    class Watch:
        seen: list[Comparison] = []  # noqa: RUF012
        stop_at = 99

        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if isinstance(partial, Comparison):
                self.seen.append(partial)
                if len(partial.runs) >= self.stop_at:
                    raise Interrupted()

    def ask() -> Comparison:
        return compare(
            opened.project.problem,
            parse_spec("random_rounding base=3,5"),
            Comparing(seed=1, measures=["mean_absolute_deviation", "posterior_true"], workers=1),
            runs_per_method=4,
            progress=watch,
        )

    watch = Watch()
    whole = ask()
    assert watch.seen and len(whole.runs) == 8
    everything = {(r.configuration, r.number): r for r in whole.runs}
    for partial in watch.seen:
        assert all(everything[r.configuration, r.number] == r for r in partial.runs)
    watch.stop_at = 1
    with pytest.raises(Interrupted):
        ask()
