"""What a reader asks of releases: the options of it, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabprotect.engine.belief.believed import Believed
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER, VERDICT
from tabprotect.engine.belief.evidence import Evidence, OfRelease, PriorKnowledge, WeighAttempts
from tabprotect.engine.belief.which_number import BestNumber, Question, best_number
from tabprotect.engine.bundle.informed_prior import informed
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InfeasibleError, ParameterError, about
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior_text import check_prior
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.subtables import asked_of
from tabprotect.engine.randomness import Randomness
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class Inferring(Options):
    """What is asked of releases, and how it is computed."""

    goes_with = "counts"

    of: str | None = option_field(
        None,
        library=False,
        in_place_of="cells",
        metavar="FORMULA",
        help=message(
            "sums instead of cells: margins, levels, groupings, for example region*age; or one number, its best "
            'value and interval: "sex=f; age=0-4,5-9", with " - " or " / " before others'
        ),
    )
    groupings: str = option_field(
        "",
        needs="of",
        metavar="TEXT|FILE",
        help=message("of categories, for the sums (those that the release states are known)"),
    )
    prior: str = option_field(
        "uniform",
        metavar="PRIOR",
        help=message(
            "uniform, positive, positive:CELLS, poisson:FILE, negative_binomial:FILE, table:FILE, last:RELEASE.zip or model:FORMULA"
        ),
    )
    way: Way = option_field("auto", help=message("exact where it can be, else Monte Carlo (auto)"))
    draws: int | None = option_field(None, metavar="N", help=message("of Monte Carlo"), low=1)
    seed: int | None = option_field(None, measure=None, metavar="N", help=message("of Monte Carlo"))
    weigh_attempts: bool = option_field(
        False, help=message("take in that the first draw that passed the gate was published (small tables)")
    )


def best_of(
    releases: Sequence[Evidence], asked: Inferring, *, bundled: bool = True, progress: Progress
) -> BestNumber:
    """The number that is asked for, by its cells.

    Raises
    ------
    InputError, ParameterError, InfeasibleError
        As :func:`inferred`, or for cells that cannot be read.
    """
    assert asked.of is not None
    question = Question.parse(asked.of)
    if asked.groupings:
        raise ParameterError(
            {"groupings": message("goes with a formula: cells are named by their categories")}
        )
    read, _ = inferred(releases, replace(asked, of=None), bundled=bundled, progress=progress)
    alone = releases[0].release if len(releases) == 1 else None
    chance = None if asked.seed is None else Randomness.seeded(asked.seed)
    return best_number(read.posterior, question, release=alone, randomness=chance, progress=progress)


def inferred(
    releases: Sequence[Evidence], asked: Inferring, *, bundled: bool = True, progress: Progress
) -> tuple[Believed, list[Posterior] | None]:
    """What a reader believes of the cells, and of the sums that were asked for.

    Parameters
    ----------
    bundled
        Whether the mechanisms are those of bundles, which state their gate.

    Raises
    ------
    InputError, ParameterError
        For a prior or a formula that does not fit the table.
    InfeasibleError
        Where nothing can be said of several releases together.
    """
    # Where only margins are published a posterior can be about one of these.
    domain = releases[0].likelihood.domain
    check_prior(asked.prior, domain)
    prior, wanted = informed(asked.prior, releases, progress), None
    if asked.of is not None:
        with about("of"):
            wanted = asked_of(domain, asked.of, asked.groupings, releases[0].release.mechanism.parameters)
    weigh: WeighAttempts | None = None
    if asked.weigh_attempts:
        # Late: it lists originals with their draws, which few ask for.
        from tabprotect.engine.disclosure.attempts import weigh_attempts

        weigh = weigh_attempts
    randomness = None if asked.seed is None else Randomness.seeded(asked.seed)
    knowing = PriorKnowledge(bundled=bundled, weigh=weigh, weigh_refused=weigh_refused)
    read = _as_on_the_page(releases, asked, knowing, progress)
    if read is None:
        read = believe(
            releases,
            prior,
            knowing=knowing,
            effort=replace(READER, way=asked.way, draws=asked.draws),
            randomness=randomness,
            progress=progress,
        )
    if wanted is None:
        return read, None
    return read, list(
        sums(read.posterior, wanted, randomness=randomness, draws=asked.draws, progress=progress)
    )


def _as_on_the_page(
    releases: Sequence[Evidence], asked: Inferring, knowing: PriorKnowledge, progress: Progress
) -> Believed | None:
    """What the page of a bundle says, where it is drawn and nothing else is asked for: one answer for one file.

    The verdict is from the same originals. ``None`` where it is not drawn, so that nothing depends on
    chance, and where the effort of a verdict does not reach as far as a reader's.
    """
    usual = asked.prior == "uniform" and asked.way == "auto" and not asked.weigh_attempts
    if not usual or asked.draws is not None or asked.seed is not None or len(releases) > 1:
        return None
    try:
        found = believe(
            releases,
            knowing=knowing,
            effort=VERDICT,
            randomness=OfRelease(releases[0].release),
            progress=progress,
        )
    except InfeasibleError:
        return None
    whole = set(found.posterior.left_out) <= {"attempts"}
    return found if whole or found.posterior.way != "exact" else None
