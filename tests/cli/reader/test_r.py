"""What R makes of a release: ``resources/r/tabprotect.R``, run where R is installed."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from tabprotect.cli.main import main
from tabprotect.engine.bundle.verify import verify
from tabprotect.version import RESOURCES

PROGRAM = """
source(commandArgs(TRUE)[1])
tables <- read_release("release.zip")
write.csv(tables[[1]], "main.csv", row.names = FALSE)
draws <- read_draws("draws.csv")
sums <- t(vapply(draws, function(one) tapply(one$count, one$v, sum), numeric(4)))
by_cell <- t(vapply(draws, function(one) one$count, numeric(16)))
write.csv(by_cell, "draws_of_r.csv", row.names = FALSE)
odds <- vapply(draws, function(one) log((one$count[1] + .5) / (one$count[2] + .5)), 0)
spread <- vapply(draws, function(one) 1 / (one$count[1] + .5) + 1 / (one$count[2] + .5), 0)
fits <- lapply(draws, function(one) glm(count ~ v + w, poisson, one))
write.csv(pool(cbind(odds), cbind(spread), level = .9), "pooled.csv")
write.csv(pool(fits), "models.csv")
cat(names(tables), sep = "|"); cat("\\n")
cat(attr(tables, "method"), levels(tables[[1]]$v), sums[1, 1], "\\n")
failed <- tryCatch(read_release("draws.csv"), error = function(e) "refused", warning = function(e) "refused")
cat(failed)
"""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", ["suppression", "random_rounding"])
def test_r_reads_what_we_read(tmp_path: Path, method: str) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    bundle, drawn = tmp_path / "release.zip", tmp_path / "draws.csv"
    asked = ["protect", "example:duncan-roehrig-4x4", "--method", method, "--accept-weak"]
    assert main([*asked, "--out", str(bundle), "--no-page", "--register", "none", "--fresh"]) == 0
    assert main(["draw", str(bundle), "--number", "6", "--seed", "3", "--out", str(drawn)]) == 0
    (tmp_path / "program.R").write_text(PROGRAM, encoding="utf-8")
    ran = subprocess.run(
        [program, "--vanilla", "program.R", str(RESOURCES / "r" / "tabprotect.R")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    names, said, failed = ran.stdout.splitlines()
    assert names == "v x w|v|w|total" and failed == "refused"
    assert said.split()[:5] == [method, "v1", "v2", "v3", "v4"]
    main_table = verify(bundle).release.tables[0]
    counts = main_table.table.counts.reshape(-1).tolist()
    hidden = main_table.hidden.reshape(-1).tolist()
    found = rows(tmp_path / "main.csv")
    assert [row["flag"] == "hidden" for row in found] == hidden
    assert any(hidden) == (method == "suppression")
    for row, count, unknown in zip(found, counts, hidden, strict=True):
        assert row["count"] == ("NA" if unknown else str(count))
    written = np.array([int(row["count"]) for row in rows(drawn)]).reshape(6, 16)
    assert written.tolist() == [
        [int(one) for one in row.values()] for row in rows(tmp_path / "draws_of_r.csv")
    ]
    (pooled,) = rows(tmp_path / "pooled.csv")
    first, second = written[:, 0] + 0.5, written[:, 1] + 0.5
    each, within = np.log(first / second), (1 / first + 1 / second).mean()
    added = 7 / 6 * each.var(ddof=1)
    freedom = 5 * ((within + added) / added) ** 2 if added else np.inf
    reach = student.ppf(0.95, freedom) * np.sqrt(within + added)
    expected = [each.mean(), np.sqrt(within + added), each.mean() - reach, each.mean() + reach]
    assert [float(pooled[k]) for k in ("estimate", "se", "low", "high")] == pytest.approx(expected)
    assert float(pooled["added"]) == pytest.approx(added / (within + added), abs=1e-12)
    assert len(rows(tmp_path / "models.csv")) == 7
