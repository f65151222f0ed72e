"""What R makes of a release: the package in ``resources/r``, run where R is installed."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from tabprotect.cli.main import main
from tabprotect.engine.bundle.verify import verify
from tabprotect.version import RESOURCES, __version__

PACKAGE = RESOURCES / "r" / "tabprotect"

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
        [program, "--vanilla", "program.R", str(PACKAGE / "R" / "reading.R")],
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


TABLE = """region,age,n
R1,0-14,12
R1,15-64,31
R1,65+,1
R2,0-14,7
R2,15-64,22
R2,65+,9
X,0-14,5
X,15-64,16
X,65+,8
"""

CALLS = """
people <- read.csv("people.csv")
protect <- function(...) protect_table(people, dim = c("region", "age"), freq = "n", method = "random_rounding",
                                       parameters = list(base = 3), register = "none", no_page = TRUE, ...)
release <- protect(out = "of_r.zip", at_risk = "1..2", title = "People \u00fcber 0")
cells <- posterior(release)
told <- intervals(release)
nuts <- from_sdcHierarchies(data.frame(c("@", "@@", "@@@", "@@@", "@@"), c("T", "EU", "R1", "R2", "X")))
deep <- protect(hierarchies = list(region = nuts), out = "deep.zip")
handed <- to_sdcTable(people, c("region", "age"), hierarchies = list(region = nuts))
again <- from_sdcHierarchies(handed$dimList$region)
records <- people[rep(seq_len(nrow(people)), people$n), c("region", "age")]
counted <- tabulate_records(records, c("region", "age"))
published <- data.frame(a = c("x", "x", "y", "y", "Total", "Total", "x", "y"),
                        b = c("1", "2", "1", "2", "1", "2", "Total", "Total"), count = c(NA, NA, NA, NA, 5, 6, 4, 7))
attacked <- attack(published, method = "suppression")
message_of <- function(code) tryCatch({ code; "no error" }, error = function(e) conditionMessage(e))
refused <- tryCatch(protect_table(people, c("region", "age"), method = "random_rounding", parameters = list(base = 1)),
                    tabprotect_error = function(e) e)
cat(jsonlite::toJSON(list(
  verdict = attr(release, "verdict")$accepted, counts = release[["region x age"]]$count, mean = cells$mean,
  chances = unname(cells$distribution[[3]]), names = names(told), rows = nrow(told), hierarchy = identical(again, nuts),
  levels = nuts$depth, counted = counted$count, hidden = attacked$hidden, believed = attacked$cells$belief,
  code = refused$exit_code, refused = conditionMessage(refused), columns = message_of(protect_table(people, "area")),
  lost = message_of(protect(hierarchies = list(age = nuts))), of = length(posterior(release, of = "region"))
), auto_unbox = TRUE, digits = NA))
"""


@pytest.fixture
def r_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package built, checked and installed, with our command for it."""
    if shutil.which("R") is None:
        pytest.skip("R is not installed")
    command = tmp_path / "tabprotect"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m tabprotect "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("TABPROTECT_COMMAND", str(command))
    monkeypatch.setenv("_R_CHECK_FORCE_SUGGESTS_", "false")
    monkeypatch.chdir(tmp_path)
    for words in (["build", str(PACKAGE)], ["check", "--no-manual", f"tabprotect_{__version__}.tar.gz"]):
        done = subprocess.run(["R", "CMD", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    # A note where the package of trees that it can read is not installed.
    assert "WARNING" not in done.stdout and "ERROR" not in done.stdout, done.stdout
    assert "re-building of vignette outputs" in done.stdout
    return tmp_path / "tabprotect.Rcheck"


def test_the_package_says_what_the_command_says(r_library: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "calls.R").write_text("library(tabprotect)\n" + CALLS, encoding="utf-8")
    environment = os.environ | {"R_LIBS": str(r_library), "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(["Rscript", "calls.R"], capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    asked = ["protect", "people.csv", "--count", "n", "--method", "random_rounding", "--set", "base=3"]
    asked += ["--at-risk", "1..2", "--title", "People über 0", "--no-page", "--register", "none"]
    assert main([*asked, "--out", "of_command.zip"]) == 0
    assert Path("of_r.zip").read_bytes() == Path("of_command.zip").read_bytes()
    release = verify(Path("of_r.zip")).release
    assert said["verdict"] and said["counts"] == release.tables[0].table.counts.reshape(-1).tolist()
    assert sum(said["chances"]) == pytest.approx(1) and len(said["mean"]) == 9
    assert said["names"] == ["region", "age", "count", "lower", "upper", "estimate"]
    assert said["rows"] == 16 and said["of"] == 2
    assert said["hierarchy"] and said["levels"] == [0, 1, 2, 2, 1]
    assert said["counted"] == [12, 31, 1, 7, 22, 9, 5, 16, 8]
    deep = verify(Path("deep.zip")).release.tables[0].table
    assert deep.domain.names == ("region", "age") and deep.domain.variables[0].coarser
    assert said["hidden"] == 4 and said["believed"] == pytest.approx([0.2] * 4)
    assert said["code"] == 4 and "base" in said["refused"]
    assert "no column area" in said["columns"] and "no lowest code" in said["lost"]


def test_the_package_has_the_version_of_the_program() -> None:
    assert f"Version: {__version__}\n" in (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")
    exported = set(re.findall(r"[\w.]+", (PACKAGE / "NAMESPACE").read_text("utf-8").split("S3")[0]))
    described = (PACKAGE / "man").glob("*.Rd")
    aliases = {one for page in described for one in re.findall(r"alias\{(.*?)\}", page.read_text())}
    assert exported - {"export"} <= aliases
