"""``publish --replicates``: whole tables by the posterior's law, which anybody draws again and pools."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.stats import chisquare

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.bundle.tables.replicates import public_seed, replicates
from tabprotect.engine.errors import InputError, ParameterError
from tests.engine.bundle.tables.test_intervals import released

TABLE = "example:duncan-roehrig-4x4"


def test_replicates_have_the_law_of_all_originals() -> None:
    release = released("cyclic_perturbation")
    found = believe([release]).posterior.list_originals()
    assert found is not None
    tables, chances = found
    _, content = replicates(release, 3000, public_seed(release))
    frame = pandas.read_csv(io.BytesIO(content))
    drawn = Counter(map(tuple, frame["count"].to_numpy().reshape(3000, -1).tolist()))
    seen = np.array([drawn.pop(tuple(one), 0) for one in tables.reshape(len(tables), -1).tolist()])
    assert not drawn
    often = chances * 3000 >= 5
    rest = [3000 - seen[often].sum()], [3000 * (1 - chances[often].sum())]
    both = np.r_[seen[often], rest[0]], np.r_[3000 * chances[often], rest[1]]
    assert chisquare(*(one[both[1] > 1e-6] for one in both)).pvalue > 1e-4


def test_what_is_published_beside_a_bundle_is_pooled_by_its_own_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tp.protect(tp.read_table(TABLE), seed=1, accept="a test")
    Path("r-replicates.csv").touch()
    with pytest.raises(InputError, match="already"):
        done.publish("r.zip", replicates=40, accept="a test")
    done.publish("r.zip", replicates=40, accept="a test", overwrite=True)
    described = Path("r-replicates.md").read_text()
    # Anybody draws the same file from the bundle.
    (again,) = re.findall(r"^    tabprotect (draw .*)$", described, re.MULTILINE)
    assert main(again.replace("--out r-replicates.csv", "--out again.csv").split()) == 0
    assert Path("again.csv").read_bytes() == Path("r-replicates.csv").read_bytes()
    belief = tp.infer(tp.open_release("r.zip"))
    posterior = belief.posterior
    frame = pandas.read_csv("r-replicates.csv")
    each = frame["count"].to_numpy().reshape(40, *posterior.domain.shape)
    assert len(set(each.sum(axis=(1, 2)).tolist())) == 1
    (python,) = re.findall(r"^    (import pandas.*)$", described, re.MULTILINE)
    (r,) = re.findall(r"^    (d <- .*)$", described, re.MULTILINE)
    values, said = each[:, 0, 0], io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(python, {})
    pooled = [values.mean(), values.std(ddof=1)]
    assert pooled[1] > 0 and [*map(float, said.getvalue().split())] == pytest.approx(pooled)
    if shutil.which("Rscript"):
        printed = subprocess.run(["Rscript", "-e", r], check=True, capture_output=True, text=True).stdout
        assert [*map(float, printed.split()[1:])] == pytest.approx(pooled, rel=1e-5)
    # The mean of each cell is the posterior's within what 40 draws leave open.
    spread = np.sqrt(posterior.standard_deviation**2 / 40)
    assert (np.abs(each.mean(axis=0) - posterior.mean) <= 5 * spread + 1e-9).all()


def test_a_set_has_none() -> None:
    done = tp.protect(tp.read_table(TABLE), seed=1, accept="a test")
    with pytest.raises(ParameterError, match="this is a set"):
        done.publish("folder", replicates=3, tables={"a": "v", "b": "v*w"}, accept="a test")
