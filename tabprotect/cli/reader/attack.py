"""``attack``: what somebody could get of published tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.cli.arguments import TableReading, as_file
from tabprotect.cli.declaring import command
from tabprotect.cli.output import Console
from tabprotect.cli.verbs import UsageError
from tabprotect.engine.agency import register_address
from tabprotect.engine.arrays import Ints
from tabprotect.engine.attack.attack import Attacked
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.bundle.attacked_files import AttackedFiles, attack_files, read_file
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.published_rows import NOT_PUBLISHED, PublishedReading, PublishedRows
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.options import option_field, part, position
from tabprotect.engine.progress import PartialProgress
from tabprotect.engine.report.attack_report import attack_report
from tabprotect.engine.workers.threads import threads_field
from tabprotect.languages.messages import message, plural

SHOWN = 20
"""Cells that are printed for people; ``--json`` and the report give all."""


@dataclass(frozen=True, kw_only=True)
class Attack(PublishedReading):
    """Arguments of ``attack``."""

    targets: Sequence[str] = position(
        (),
        metavar="FILE|BUNDLE.zip",
        help=message(
            "published tables of one original, with the code Total for what is summed; or a release"
        ),
    )
    method: Sequence[str] = option_field(
        (),
        metavar="SPEC",
        help=message(
            "what is said of the method of the tables, once for all files or once for each: "
            "cell_key:D=5,V=3,js=2, random_rounding:base=3, suppression, rounded:base=5, "
            "swapped:rate=.1, unknown:sd=1, exact"
        ),
        repeated=True,
    )
    register: str | None = option_field(
        None,
        metavar="FILE|URL",
        bare="",
        help=message("read all that has left the house instead, by its register (default: its own)"),
    )
    out: Path | None = option_field(None, metavar="FILE", help=message("a report: .html or .pdf"))
    reading: TableReading = part(TableReading, but=("count", *NOT_PUBLISHED))
    workers: int | None = threads_field()


@command("attack", example="tabprotect attack published.csv --method random_rounding:base=3")
def run_attack(asked: Attack, console: Console) -> int:
    """Attack tables, and say what came of it."""
    if asked.register is not None:
        return _read_register(asked, console)
    attacked = _attacked(asked, console)
    data = attacked.as_json()
    if asked.out is not None:
        attack_report(attacked).write(asked.out)
        data["out"] = str(asked.out)
    console.result(data, _lines(attacked.found, attacked.shown))
    return 0


def _read_register(asked: Attack, console: Console) -> int:
    """Read all that has left, and say what a reader of it would know."""
    from tabprotect.engine.register.read_all import read_all

    idle = [one.word for one in asked.stated() if one.name not in ("register", "workers")]
    if idle:
        raise UsageError(message("{options}: the register holds releases of this house", ", ".join(idle)))
    if register_address(asked.register or None) is None:
        raise UsageError(message("there is no register to look into: it is said to be none"))
    found = read_all(asked.register or None, progress=console)
    for one in found.damaged:
        console.warn(message("warning: {message}", one.message))
    console.result(found.as_json(), [*found.lines, found.sentence])
    return InputError.exit_code if found.lost else 0


def _attacked(asked: Attack, console: Console) -> AttackedFiles:
    if not asked.targets:
        raise UsageError(message("name the published tables, or read all that has left: --register"))
    bundles = [target for target in asked.targets if target.lower().endswith(".zip")]
    if bundles and len(asked.targets) > 1:
        raise UsageError(message("a release is attacked by itself; infer reads several together"))
    idle = [one.word for one in asked.stated() if one.shell and one.name != "out"]
    if bundles and idle:
        raise UsageError(message("{options}: a release says itself how it was made", ", ".join(idle)))
    if not bundles and not asked.method:
        raise UsageError(message("say how the tables were protected: --method SPEC"))
    reading, files = Reading.of(asked.reading.named), []
    for number, target in enumerate(asked.targets):
        with as_file(target) as path:
            own = PartialProgress(console, number, len(asked.targets))
            files.append(read_file(path, asked, reading, progress=own))
        if isinstance(files[-1].content, PublishedRows):
            for note in files[-1].content.notes:
                console.say(note)
    return attack_files(files, asked.method or (), progress=console)


def _lines(found: Attacked, shown: Ints) -> list[str]:
    domain, ways = found.numbers.domain, found.ways()
    value, belief = found.cells.most_likely()
    known, proved = found.known(BELIEF_LIMIT), ways.count("proved")
    of_hidden = found.of_hidden(shown, BELIEF_LIMIT)
    if of_hidden is not None:
        hidden, known, proved = of_hidden
    lines = [
        plural(
            known,
            "{known:,} of {size:,} counts can be known",
            "{known:,} of {size:,} counts can be known",
            known,
            domain.size,
        )
        if of_hidden is None
        else plural(
            hidden,
            "{known:,} of {hidden:,} hidden count can be known",
            "{known:,} of {hidden:,} hidden counts can be known",
            known,
            hidden,
        ),
        plural(proved, "{proved:,} of them is proved", "{proved:,} of them are proved", proved),
        *found.notes,
    ]
    asked = np.where((shown < 0) | (of_hidden is None), belief, 0.0)
    surest = np.argsort(-asked, kind="stable")
    for cell in surest[asked[surest] > BELIEF_LIMIT][:SHOWN].tolist():
        lines.append(
            message(
                "  {labels}: {count:,} with {belief:.3f} (published {published}, {way})",
                ", ".join(domain.labels(domain.unflat(cell))),
                int(value[cell]),
                float(belief[cell]),
                message("nothing") if shown[cell] < 0 else str(int(shown[cell])),
                ways[cell],
            )
        )
    return lines
