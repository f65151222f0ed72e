"""Replicates: whole tables drawn from what readers believe, beside a release, for variances.

Each is a table that may have been the original, as likely as the uniform prior has it. The draws follow from
the bundle alone: anybody makes the same ones by ``draw`` with the seed that their description names.
"""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import PriorKnowledge, draw_of
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.formats.registered import figures_format
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.posterior_file import drawn_figures
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import joined, message

BESIDE = "-replicates"
"""Behind the name of the bundle."""


def public_seed(release: Release) -> int:
    """A seed that every reader of a release has: who draws with it draws the same."""
    return int.from_bytes(draw_of(release)[:6], "big")


def believed_by_all(release: Release, randomness: Randomness, progress: Progress = SILENT) -> Posterior:
    """What readers of one release believe, who assume nothing besides.

    Raises
    ------
    InfeasibleError, TooLargeError
        If there is no posterior.
    """
    knowing = PriorKnowledge(weigh_refused=weigh_refused)
    return believe([release], knowing=knowing, randomness=randomness, progress=progress).posterior


def replicates(
    release: Release, number: int, seed: int, progress: Progress = SILENT
) -> tuple[Posterior, bytes]:
    """So many originals in long form: ``draw`` from 1, a column for each variable, ``count``.

    Raises
    ------
    InfeasibleError, TooLargeError
        If there is no posterior.
    InputError
        If a variable is called ``draw`` or ``count``.
    """
    chance = Randomness.seeded(seed)
    posterior = believed_by_all(release, chance, progress)
    tables = posterior.draw_originals(number, chance.generator(), progress)
    rows = figures_format("csv").figures(drawn_figures(posterior.domain, tables))
    return posterior, b"".join(rows)


def replicate_paths(bundle: Path) -> tuple[Path, Path]:
    """The file of the replicates of a bundle, and that which describes them."""
    name = bundle.name.removesuffix(".zip") + BESIDE
    return bundle.with_name(f"{name}.csv"), bundle.with_name(f"{name}.md")


def replicate_files(
    release: Release, bundle: Path, check: str, number: int, progress: Progress = SILENT
) -> dict[Path, bytes]:
    """The replicates of a bundle and their description, by path.

    Parameters
    ----------
    check
        The SHA-256 of the bundle.

    Raises
    ------
    InfeasibleError
        If there is no posterior to draw from.
    InputError
        As in :func:`replicates`.
    """
    file, beside = replicate_paths(bundle)
    seed = public_seed(release)
    try:
        posterior, content = replicates(release, number, seed, progress)
    except InfeasibleError as error:
        raise InfeasibleError(
            message("there are no replicates: {why}", error.message),
            hint=message("publish without replicates"),
        ) from None
    domain = posterior.domain
    cell = [(variable.name, variable.categories[0]) for variable in domain.variables]
    part = joined((f"{name} = {code}" for name, code in cell), ", ")
    python = " & ".join(f"(d[{name!r}] == {code!r})" for name, code in cell)
    r = " & ".join(f"d[[{_r(name)}]] == {_r(code)}" for name, code in cell)
    texts = ", ".join(f"{name!r}: str" for name in domain.names)
    said = [
        "# " + message("Replicates of {bundle}", bundle.name),
        "",
        message(
            "{file} holds {number:,} whole tables, each of which may be the true one: drawn from all tables that fit "
            "the release, by their chance where nothing is assumed besides. They "
            "follow from the bundle (SHA-256 {check}) alone.",
            file.name,
            number,
            check,
        ),
        "",
        message(
            "Compute what you need from each of them, as if it were the true table. The mean of the answers is the "
            "estimate, their variance is what the protection adds."
        ),
        "",
        message("The count of {part}, with its standard error, in Python:", part),
        "",
        f'    import pandas; d = pandas.read_csv("{file.name}", dtype={{{texts}}});'
        f' q = d[{python or ":"}].groupby("draw")["count"].sum(); print(q.mean(), q.std())',
        "",
        message("The same in R:"),
        "",
        f'    d <- read.csv("{file.name}", colClasses = c(count = "numeric", draw = "integer"), check.names = FALSE);'
        f" q <- with(d[{r}, ], tapply(count, draw, sum)); c(mean(q), sd(q))",
        "",
        message(
            "An estimate with a variance of its own, such as a model that is fitted to each table, is pooled by "
            "Rubin's rules: T = W + (1 + 1/{number}) B, where W is the mean of the variances and B the variance of the "
            "estimates. Read the file with read_draws of tabprotect.R, and pool(lapply(draws, fit)).",
            number,
        ),
        "",
        message("Anybody makes the same file:"),
        "",
        f"    tabprotect draw {bundle.name} --number {number} --seed {seed} --out {file.name}",
    ]
    return {file: content, beside: ("\n".join(said) + "\n").encode()}


def _r(text: str) -> str:
    """A text as R writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
