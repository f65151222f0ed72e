"""``count-tables``: how many originals remain possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.bounds.counting import TableCount, count_tables
from tabprotect.engine.budgets import COUNTING_DRAWS
from tabprotect.engine.bundle import verify as bundle
from tabprotect.engine.errors import InfeasibleError, ParameterError
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class CountTables(Options):
    """Arguments of ``count-tables``."""

    rows: str | None = option_field(None, metavar="20,55,25,35", help=message("row totals, with --cols"))
    cols: str | None = option_field(None, metavar="50,35,30,20", help=message("column totals"))
    release: Path | None = option_field(None, metavar="RELEASE.zip", help=message("count its originals"))
    draws: int = option_field(COUNTING_DRAWS, metavar="N", help=message("of an estimate"), low=1)
    seed: int | None = option_field(None, metavar="N", help=message("of an estimate"))


@command("count-tables", example="tabprotect count-tables --rows 20,55,25,35 --cols 50,35,30,20")
def run(asked: CountTables, console: Console) -> None:
    """Print the number alone."""
    randomness = Randomness.seeded(asked.seed)
    if asked.release is None:
        if asked.rows is None or asked.cols is None:
            raise UsageError(message("say both --rows and --cols, or --release"))
        rows, cols = _totals("rows", asked.rows), _totals("cols", asked.cols)
        found = count_tables(rows, cols, randomness=randomness, draws=asked.draws, progress=console)
    elif asked.rows is not None or asked.cols is not None:
        raise UsageError("--release has its own totals: leave out --rows and --cols")
    else:
        found = _of_release(asked.release, randomness, console)
    idle = [one.word for one in asked.stated() if one.name in ("draws", "seed")]
    if found.exact and idle:
        raise UsageError(message("{options}: the number is exact, and nothing is drawn", ", ".join(idle)))
    data = {"count": found.count, "exact": found.exact, "error": found.error}
    if not found.exact:
        console.say(message("An estimate; its standard error is {error}.", float_text(found.error)))
    console.result(data, [str(found.count)])


def float_text(error: float | int | None) -> str:
    """A standard error of any size in few digits."""
    text = f"{error:.3g}" if isinstance(error, float) else str(error)
    return text if len(text) < 20 else f"{text[0]}.{text[1:3]}e+{len(text) - 1}"


def _totals(name: str, text: str) -> list[int]:
    if not text.strip():
        return []
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            {name: message("not whole numbers: {text}", repr(text))},
            hint=message("totals apart by commas: 20,55,25,35"),
        ) from None


def _of_release(path: Path, randomness: Randomness, console: Console) -> TableCount:
    release = bundle.verify(path, progress=console).release
    evidence = Evidence(release)
    posterior = believe([evidence], knowing=RELEASE_ALONE, randomness=randomness, progress=console).posterior
    if posterior.originals is None and isinstance(evidence.likelihood, CellFactors):
        # All that fit the published counts, whatever the choice of a whole table adds.
        posterior = believe(
            [evidence],
            knowing=RELEASE_ALONE,
            effort=replace(READER, weighing=0),
            randomness=randomness,
            progress=console,
        ).posterior
    if posterior.note:
        console.say(posterior.note)
    if posterior.originals is not None:
        return TableCount(posterior.originals, True, None)
    estimate = posterior.count_estimate
    if estimate is None:
        raise InfeasibleError(
            message("the originals of this release are too many to be counted, or without limit"),
            hint=message("infer tells what can be believed about each cell"),
        )
    return estimate
