"""The house's policy: every wrong limit at once, files, the environment, what becomes public."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.disclosure.policy import VARIABLE, AgencyPolicy, in_force, policy_file, read, write
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.sensitivity.small_count import SmallCount


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('share = 0\nattempts_at_most = 5\nat_risk = "1..4"\nunjudged = "refuse"\n')
    policy = read(path)
    assert policy == AgencyPolicy(share=0.0, attempts_at_most=5, at_risk="1..4", unjudged="refuse")
    assert AgencyPolicy.of(policy.as_json()) == policy
    limits = policy.limits(SmallCount(1, 2))
    assert limits.at_risk == SmallCount(1, 4) and limits.attempts_at_most == 5
    assert policy.limits(again=False).attempts_at_most == 1
    assert Gate.from_json(limits.as_json()) == limits


def test_every_wrong_limit_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as caught:
        AgencyPolicy.of({"shares": 1, "belief_limit": "high", "unjudged": 3})
    assert set(caught.value.fields) == {"shares", "belief_limit", "unjudged"}
    with pytest.raises(ParameterError) as caught:
        AgencyPolicy(
            belief_limit=1.5,
            share=-1.0,
            attempts_at_most=0,
            unjudged="never",  # type: ignore[arg-type]
            intruder="poisson:/etc/passwd",
        )
    assert set(caught.value.fields) == {
        *("belief_limit", "share", "attempts_at_most", "unjudged", "intruder")
    }
    for text, message in (("share =", "not a valid policy"), (None, "no such file")):
        path = tmp_path / f"{message}.toml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(InputError, match=message):
            read(path)


def test_the_environment_names_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert in_force() == AgencyPolicy()
    path = tmp_path / "policy.toml"
    path.write_text("belief_limit = 0.9\n")
    monkeypatch.setenv(VARIABLE, str(path))
    assert in_force().belief_limit == 0.9


def test_the_file_beside_the_settings_holds_for_every_shell(house_folder: Path) -> None:
    assert in_force() == AgencyPolicy() and policy_file() == house_folder / "policy.toml"
    wanted = AgencyPolicy(share=0.02, at_risk="1..3", second_release="refuse", two_signatures=True)
    write(wanted, policy_file())
    assert in_force() == wanted


def test_a_gate_from_a_foreign_bundle_is_checked() -> None:
    stated = AgencyPolicy().limits().as_json()
    assert Gate.from_json({}) is None
    for wrong in (
        {**stated, "gate": {**stated["gate"], "passed": "yes"}},  # type: ignore[dict-item]
        {**stated, "gate": {**stated["gate"], "more": 1}},  # type: ignore[dict-item]
        {**stated, "attempts_at_most": "3"},
        {**stated, "gate": {**stated["gate"], "belief_limit": 7}},  # type: ignore[dict-item]
        {"attempts_at_most": 3},
        {"gate": stated["gate"]},
    ):
        with pytest.raises(InputError, match="gate"):
            Gate.from_json(wrong)


def test_two_approvers_are_two_people() -> None:
    with pytest.raises(ParameterError, match=r"is the name of A\. Same"):
        AgencyPolicy(approvers={"A. Same": "a" * 64, "a.same": "b" * 64})
