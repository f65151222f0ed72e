"""Record keys drawn at tabulation: from the operating system, kept, replayed by the dossier only."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tabprotect.engine.randomness import KEY_MODULUS


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """About 300 records in 18 of 36 cells."""
    path = tmp_path / "records.csv"
    cells = np.random.default_rng(3).integers(0, 6, (600, 2))
    rows = [f"a{x},b{y},1\n" for x, y in cells.tolist() if (x + y) % 2]
    path.write_text("a,b,w\n" + "".join(rows))
    return path


def counted(records: Path, **given: Any) -> History:
    """A history of one tabulation with drawn keys."""
    wanted = {"source": str(records), "by": ["a", "b"], "draw_keys": True} | given
    return History().apply("tabulate", wanted)[0]


def keys_of(history: History) -> np.ndarray:
    keys = history.project.record_keys
    assert keys is not None and keys.domain == history.project.original.domain
    return keys.counts


def test_every_tabulation_draws_its_own_keys_and_a_seed_replays_them(records: Path) -> None:
    one, two = counted(records), counted(records)
    full = one.project.original.counts > 0
    assert full.sum() == 18
    for history in (one, two):
        assert (keys_of(history)[~full] == 0).all()
        assert (keys_of(history) < KEY_MODULUS).all()
    # A key is drawn twice in a row with a chance of 10^-8 per cell.
    assert (keys_of(one)[full] != keys_of(two)[full]).all()
    seed = one.trail[-1].seed
    assert seed is not None and seed != two.trail[-1].seed
    assert np.array_equal(keys_of(counted(records, key_seed=seed)), keys_of(one))
    plain = counted(records, draw_keys=False)
    assert plain.project.record_keys is None and plain.trail[-1].seed is None
    assert plain.project.original == one.project.original


def test_the_verb_itself_has_no_default_seed(records: Path) -> None:
    from tabprotect.engine.project.command import Context
    from tabprotect.engine.project.project import Project

    given = {"source": str(records), "by": ["a", "b"], "draw_keys": True}
    one, two = (tabulate.run(Project(), Context(), **given).record_keys for _ in range(2))
    assert one is not None and two is not None and one != two


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"record_key": "w"}, "draw_keys.*not both"),
        ({"weight": "w"}, "not with sums of weights"),
        ({"draw_keys": "yes"}, "draw_keys: must be true or false"),
        ({"draw_keys": False, "key_seed": 5}, "key_seed: goes with --draw-record-keys"),
        ({"key_seed": "5"}, "key_seed: must be a whole number"),
        ({"key_seed": 1.5}, "key_seed: must be a whole number"),
    ],
)
def test_keys_that_cannot_be_drawn(given: dict[str, Any], words: str, records: Path) -> None:
    with pytest.raises((InputError, ParameterError), match=words):
        counted(records, **given)


def test_a_negative_seed_is_refused(records: Path) -> None:
    with pytest.raises(ParameterError):
        counted(records, key_seed=-1)


def released(history: History, out: Path, *, seed: int | None = None) -> History:
    """The table through cell keys with its own keys."""
    for name, given in (
        ("set_method", {"method": "cell_key"}),
        ("set_parameters", {"keys": "hashed"}),
        ("protect", {} if seed is None else {"seed": seed}),
        ("publish", {"release": str(out), "dossier": f"{out}-dossier.zip", "again": "a test"}),
    ):
        history, _ = history.apply(name, given)
    return history


def test_the_dossiers_recipe_replays_the_keys_and_the_shown_one_does_not(
    records: Path, tmp_path: Path
) -> None:
    out = tmp_path / "release.zip"
    history = released(counted(records), out)
    seed = str(history.trail[0].seed)
    shown = recipe_text.to_text(history.trail, seeds=False)
    assert seed not in shown and "draw_keys = true" in shown and "key_seed" not in shown
    with zipfile.ZipFile(f"{out}-dossier.zip") as dossier:
        inside = {name.rpartition("/")[2]: dossier.read(name) for name in dossier.namelist()}
    kept = inside["recipe.toml"].decode()
    assert seed.encode() in inside["audit_trail.json"]
    with zipfile.ZipFile(out) as public:
        assert not any(seed.encode() in public.read(name) for name in public.namelist())
    assert f'key_seed = "{seed}"' in kept and "CONFIDENTIAL" in kept
    again, _ = replay.run(replay.from_text(kept), tmp_path / "again")
    assert np.array_equal(keys_of(again), keys_of(history))
    assert again.project.release == history.project.release
    # Other keys are another release of the same records.
    reason = shown.replace('do = "publish"\n', 'do = "publish"\nagain = "other keys"\n')
    fresh, _ = replay.run(replay.from_text(reason), tmp_path / "fresh")
    assert not np.array_equal(keys_of(fresh), keys_of(history))
    with pytest.raises(InputError, match=r"step 1 \(tabulate\): the seed"):
        replay.from_text('recipe = 1\n[[step]]\ndo = "tabulate"\nkey_seed = "x"\n')


def test_a_given_seed_stays_out_of_labels_and_shown_recipes(records: Path) -> None:
    history = counted(records, key_seed=987654321)
    assert "987654321" not in recipe_text.to_text(history.trail, seeds=False)
    assert history.trail[0].label == "tabulate records.csv by a, b, record keys drawn"
    assert "987654321" not in repr(history.steps[0].project)


def test_a_saved_project_keeps_keys_and_seed(records: Path, tmp_path: Path) -> None:
    history = counted(records)
    storage.save(history, tmp_path / "p.tabprotect")
    again = storage.load(tmp_path / "p.tabprotect")
    assert np.array_equal(keys_of(again), keys_of(history))
    assert again.trail[0].seed == history.trail[0].seed


def test_releases_agree_and_the_preview_does_not_look_at_the_keys(records: Path, tmp_path: Path) -> None:
    history = counted(records)
    found = [released(history, tmp_path / f"{n}.zip", seed=n) for n in (1, 2)]
    found.append(released(counted(records), tmp_path / "other.zip", seed=1))
    protected = [h.project.protected for h in found]
    assert protected[0] is not None and protected[1] is not None and protected[2] is not None
    assert protected[0].record.findings["keys"] == "stored with the table"
    assert protected[0].release.table == protected[1].release.table
    assert protected[0].release.table != protected[2].release.table
