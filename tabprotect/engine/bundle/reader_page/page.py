"""``page.html``: a release to look at in any browser, without this program.

One file: the published tables, and what to believe about each true count. It is made from the release
alone, the same for everybody, and asks nothing of any network: a policy in the file forbids it. Whoever
verifies a bundle makes its page again, so no page of another hand passes as ours.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.bundle import archive
from tabprotect.engine.bundle.reader_page.page_words import WORDS
from tabprotect.engine.bundle.reader_text import exact_lines, why_parts
from tabprotect.engine.bundle.tables import data_package
from tabprotect.engine.bundle.tables.about import said_of
from tabprotect.engine.errors import BundleError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message
from tabprotect.languages.translation import ENGLISH, LANGUAGES, catalogue
from tabprotect.version import RESOURCES

if TYPE_CHECKING:
    from tabprotect.engine.bundle.reader_page.page_model import Model


@dataclass(frozen=True)
class Measured:
    """The figures measured of a method, least and most over tables with 2 to 8 people to a cell.

    Attributes
    ----------
    strength
        How the counts were changed.
    rejected
        Of 100 tables without an association, those in which a test at 5 in 100 finds one.
    covered
        Of 100 intervals at 95 in 100 of a log odds ratio, those that hold the true one.
    """

    strength: str
    rejected: tuple[int, int]
    covered: tuple[int, int]


MEASURED: Mapping[str, Measured] = {
    "random_rounding": Measured(message("rounding to 3"), (16, 64), (74, 93)),
    "cell_key": Measured(message("noise of up to 3 either way, with a variance of 2"), (20, 66), (75, 90)),
    "discrete_laplace": Measured(message("Laplace noise, epsilon 2"), (16, 32), (87, 92)),
    "cyclic_perturbation": Measured(message("one pass of the usual cycles"), (10, 35), (87, 94)),
}

HIDDEN = Measured("", (5, 73), (48, 95))
"""Example of suppression: hidden counts taken as none, 8 people to a cell."""

MISLED = message(
    "Taken as true they mislead: with {strength}, in tables with 2 to 8 people to a cell, a test at 5 in 100 finds an association that is not there in {least} to {most} of 100 tables, and intervals of a log odds ratio that are to hold the truth in 95 of 100 hold it in {low} to {high}."
)

NOT_MEASURED = message(
    "Taken as true they mislead: tests find associations that are not there, and intervals are too narrow; by how much was not measured for this method."
)

TRUE = message("Every number here is true: whatever is worked out of them is right.")

NOT_NOTHING = message(
    "Every number that is shown is true; a hidden one is not 0. Hidden ones taken as 0 mislead: in tables with 8 people to a cell a test at 5 in 100 finds an association that is not there in {least} to {most} of 100 tables, and intervals of a log odds ratio that are to hold the truth in 95 of 100 hold it in {low} to {high}."
)

NOISY_SUMS = message(
    "Taken as true they mislead: every result has the noise of the sums in it, and the usual intervals do not know of it."
)

HIDDEN_SUMS = message(
    "A hidden sum is not 0: whoever counts it as nothing, or leaves it out, gets totals and comparisons that are wrong."
)

WHERE = message(
    "Analyses that know what was done come with tabprotect (tabprotect analyse); its documentation explains them under “Rates, tests and associations of a release”."
)


def naive_words(method: str, *, exact: bool) -> list[str]:
    """Sentences for counts by a method.

    Parameters
    ----------
    exact
        Whether all published counts are true.
    """
    found = {**MEASURED, "suppression": HIDDEN}.get(method)
    if found is None:
        return [TRUE] if exact else [NOT_MEASURED, WHERE]
    (least, most), (low, high) = found.rejected, found.covered
    text = NOT_NOTHING if found is HIDDEN else MISLED
    return [text.format(strength=found.strength, least=least, most=most, low=low, high=high), WHERE]


def naive_magnitude_words(*, noisy: bool) -> list[str]:
    """Write the sentences for sums."""
    return [NOISY_SUMS if noisy else HIDDEN_SUMS]


PAGE = "page.html"

SCRIPTS = ("priors.js", "numbers.js", "reader.js", "view.js")

OF_WAY: Mapping[object, tuple[str, ...]] = MappingProxyType(
    {
        "moves": ("moves.js",),
        "strip": ("trains.js", "moves.js"),
        "exchange": ("exchanges.js",),
        "factors": ("factors.js",),
    }
)
"""Further scripts, by the way in which a page works out its beliefs."""

AS_EVER = frozenset({"suppression"})
"""Methods whose name stands in English in every language: pages that left have it so."""

TOLERANCE = 1e-9
"""Relative difference of two figures that processors may work out differently."""

MILLIONTHS = 10
"""The same of kept chances."""

RELEASE, MODEL, TITLE = "[[RELEASE]]", "[[MODEL]]", "[[TITLE]]"
"""Placeholder in a frame for what differs from release to release."""

MADE_AGAIN = message("The page to look at is the one that this program makes of the release.")


@dataclass(frozen=True)
class Page:
    """A page, apart from its model where that takes a posterior.

    Attributes
    ----------
    before, after
        What stands before and after the model.
    model
        ``None`` where it takes a posterior.
    elsewhere
        The other version of the program that the bundle says it is from; empty for none.
    """

    before: str
    after: str
    model: Model | None
    elsewhere: str = ""

    @classmethod
    def of(cls, release: Release, content: Mapping[str, bytes], likelihood: Likelihood | None) -> Page:
        """The page of a release, beside the other files of its bundle."""
        # Imported late: it imports solvers, which the first paint must not wait for.
        from tabprotect.engine.bundle.reader_page.page_model import model_of

        title = release.title
        if release.magnitudes:
            title = title or release.magnitude_table.measure
        data = {
            "title": title,
            "method": release.mechanism.method,
            **(_facts_of_counts(release, likelihood) if release.tables else _facts_of_magnitudes(release)),
            **({"told": _told(release)} if release.metadata else {}),
            "prints": {
                name: archive.sha256(data)
                for name, data in content.items()
                if name == "mechanism.json" or data_package.TABLES.match(name)
            },
        }
        model = model_of(release, likelihood)
        # A model that takes a posterior is one that the page need not work out.
        before, _, after = frame("" if model is None else str(model["way"])).partition(MODEL)
        before = before.replace(RELEASE, embedded(data), 1)
        shown = html.escape(" ".join(title.split()) or "tabprotect", quote=False)
        return cls(
            before.replace(TITLE, shown, 1),
            after,
            None if model is None else _each_language(model),
            archive.written_elsewhere(content),
        )

    def whole(self, model: Model) -> bytes:
        """The bytes of the page with its model."""
        return f"{self.before}{embedded(model)}{self.after}".encode()

    def check(self, found: bytes, model: Model | None) -> str:
        """Compare with a page that was found; without a model, all else.

        Returns
        -------
        str
            What it is, in a sentence.

        Raises
        ------
        BundleError
            When it is another one.
        """
        text = found.decode(errors="replace")
        end = len(text) - len(self.after)
        mine = text.startswith(self.before) and text.endswith(self.after) and end >= len(self.before)
        held = text[len(self.before) : end]
        if not mine or "</script>" in held:
            raise self._another()
        stated = archive.parse_json(PAGE, held.encode())
        if model is None:
            if not isinstance(stated, dict) or stated.get("way") not in ("kept", "listed", "none"):
                raise self._another()
        elif not _alike(json.loads(embedded(model)), stated, stated == dict(model)):
            raise self._another()
        return MADE_AGAIN

    def _another(self) -> BundleError:
        whole = message("do not open it; make one of the release with tabprotect page")
        if self.elsewhere:
            whole = message(
                "the bundle says that {by} wrote it, whose pages may look otherwise; do not open this "
                "one, but make one of the release with tabprotect page",
                self.elsewhere,
            )
        return BundleError(
            message("{PAGE}: it is not the page that this program makes of the release", PAGE), hint=whole
        )


def page_bytes(
    release: Release, content: Mapping[str, bytes], likelihood: Likelihood | None, progress: Progress = SILENT
) -> bytes:
    """The page of a release, beside the other files of its bundle."""
    page = Page.of(release, content, likelihood)
    return page.whole(page.model or _computed(release, likelihood, progress))


def _computed(release: Release, likelihood: Likelihood | None, progress: Progress) -> Model:
    """The model that takes a posterior."""
    from tabprotect.engine.bundle.reader_page.page_model import computed_model

    return _each_language(computed_model(release, likelihood, progress))


def _each_language(model: Model) -> Model:
    """A model with the reason why there is none in every language."""
    why = model.get("why")
    if not isinstance(why, str):
        return model
    return {**model, "why": {code: told_in(code, why) for code in LANGUAGES}}


def embedded(data: object) -> str:
    """JSON that stands within HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_FIGURES = re.compile(
    rb'(?<=<script type="application/json" id="model">){"way":"(?:kept|listed)".*?(?=</script>)', re.S
)


def worked_out(page: bytes) -> tuple[int, int] | None:
    """Where the figures begin and end that follow from the release by a posterior; ``None`` where none do."""
    found = _FIGURES.search(page)
    return None if found is None else found.span()


def worked_out_again(release: Release, likelihood: Likelihood | None, progress: Progress = SILENT) -> bytes:
    """These figures: the same bytes wherever the processor computes alike."""
    return embedded(_computed(release, likelihood, progress)).encode()


CheckPosterior = Callable[[Progress], object]
"""Raises a ``BundleError`` where the posterior in a page is not the one that is computed again."""


def page_check(
    found: bytes, release: Release, content: Mapping[str, bytes], likelihood: Likelihood | None
) -> tuple[str, CheckPosterior | None]:
    """Make the page of a bundle again and compare it with the one that was found.

    Returns
    -------
    str
        What it is, in a sentence.
    CheckPosterior or None
        What is left to be checked, which takes a posterior.

    Raises
    ------
    BundleError
        When it is another page.
    """
    page = Page.of(release, content, likelihood)
    said = page.check(found, page.model)
    if page.model is not None:
        return said, None
    return said, lambda progress: page.check(found, _computed(release, likelihood, progress))


def _alike(mine: object, found: object, equal: bool = False) -> bool:
    """Return True if two models are the same but for the last digits of what was computed."""
    if equal:
        return True
    if isinstance(mine, dict) and isinstance(found, dict):
        return list(mine) == list(found) and all(
            _near_rows(mine[k], found[k]) if k == "rows" else _alike(mine[k], found[k]) for k in mine
        )
    if isinstance(mine, list) and isinstance(found, list):
        return len(mine) == len(found) and all(map(_alike, mine, found))
    if isinstance(mine, float) and isinstance(found, float):
        return abs(mine - found) <= TOLERANCE * max(1.0, abs(mine))
    return type(mine) is type(found) and mine == found


def _near_rows(mine: list[list[int]], found: object) -> bool:
    return (
        isinstance(found, list)
        and len(found) == len(mine)
        and all(
            isinstance(row, list)
            and len(row) == len(own)
            and all(type(a) is int and abs(a - b) <= MILLIONTHS for a, b in zip(row, own, strict=True))
            for row, own in zip(found, mine, strict=True)
        )
    )


@cache
def frame(way: str) -> str:
    """The page without a release, with what works out its beliefs."""
    folder, scripts = RESOURCES / "page", (*SCRIPTS[:2], *OF_WAY.get(way, ()), *SCRIPTS[2:])
    style = _tight_style(_lean((folder / "page.css").read_text("utf-8")))
    code = "".join(_tight(_lean((folder / name).read_text("utf-8"))) for name in scripts)
    words = f"const NAMES = {embedded(list(WORDS))};\nconst WORDS = {embedded(_in_languages())};\n"
    script = f'"use strict";\n{words}{code}'
    return (
        (folder / "frame.template")
        .read_text("utf-8")
        .replace("[[STYLE_HASH]]", _hash(style))
        .replace("[[SCRIPT_HASH]]", _hash(script))
        .replace("[[STYLE]]", style)
        .replace("[[SCRIPT]]", script)
    )


_COMMENT = ("//", "/**")


def _lean(text: str) -> str:
    """The lines of a script or a style without indents and the comments that fill a line."""
    lines = map(str.strip, text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(_COMMENT))


_SPACED = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\s\\\[])+/|( => |, )')
"""Spaces that only people need in a script, unless they stand in a string, a template or an expression."""


def _tight(script: str) -> str:
    return _SPACED.sub(lambda found: (found[1] or "").strip() or found[0], script)


def _tight_style(style: str) -> str:
    for spaced in (" {", "{ ", " }", ": ", "; ", ", "):
        style = style.replace(spaced, spaced.strip())
    return style.replace(";}", "}")


def _in_languages() -> dict[str, list[str]]:
    return {code: [told_in(code, text) for text in WORDS.values()] for code in LANGUAGES}


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def told_in(code: str, text: str) -> str:
    """A sentence in a language."""
    return str(text) if code == ENGLISH else catalogue(code).translated(text)


def _told(release: Release) -> dict[str, list[list[str]]]:
    """What the publisher says of the release, in the page's languages: words and texts."""
    return {
        code: [[told_in(code, word), told_in(code, text)] for word, text in said_of(release)]
        for code in LANGUAGES
    }


def _facts_of_counts(release: Release, likelihood: Likelihood | None) -> dict[str, object]:
    """Return what the page says of released counts beside its model."""
    mechanism, gate = release.mechanism, release.mechanism.gate
    domain = release.table.domain if likelihood is None else likelihood.domain
    method = methods()[mechanism.method]
    from tabprotect.engine.bundle.reader_page.page_model import MOST_SHOWN

    shown = sum(one.table.domain.size for one in release.tables) <= MOST_SHOWN
    first, *kept = filter(None, exact_lines(release, "{}", " × "))
    promised = method.promised(mechanism.values)
    naive = naive_words(mechanism.method, exact="exact" in promised)
    return {
        "said": {
            code: {
                "method": str(method.label) if method.name in AS_EVER else told_in(code, method.label),
                "exact": " ".join(filter(None, [told_in(code, first), ", ".join(kept)])),
                "promised": [told_in(code, method.guarantees[name]) for name in promised],
                "weighted": told_in(code, _WEIGHTED) if method.weighted(mechanism.values) else "",
                "parts": told_in(code, why_parts(release)),
                "naive": " ".join(told_in(code, line) for line in naive),
            }
            for code in LANGUAGES
        },
        "what": method.help.split("\n\n", 2)[1],
        "small": None if gate is None else str(gate.at_risk),
        "variables": list(domain.names),
        "shape": list(domain.shape),
        "structural": _structural(domain) if shown else [],
        "tables": [
            _table(one, domain, shown=shown) | variance
            for one, variance in zip(release.tables, _variances(release, shown=shown), strict=True)
        ],
    }


def _variances(release: Release, *, shown: bool) -> Sequence[dict[str, object]]:
    """The variance of the noise of each published table's numbers, where the method states one."""
    from tabprotect.engine.bundle.reader_page.page_model import MOST_ENTRIES

    many = release.domain.size * len(release.tables) > MOST_ENTRIES
    numbers = None if many or not shown else methods()[release.mechanism.method].numbers(release)
    found = {} if numbers is None else {one.domain: numbers.variance[one.rows] for one in numbers.tables}
    return [
        {} if each is None or not np.isfinite(each).all() else {"variance": _alike_or_each(each.tolist())}
        for each in (found.get(published.table.domain) for published in release.tables)
    ]


def _alike_or_each(figures: list[float]) -> float | list[float]:
    return figures[0] if len(set(figures)) == 1 else figures


def _facts_of_magnitudes(release: Release) -> dict[str, object]:
    """Return what the page says of released magnitudes beside its model."""
    from tabprotect.engine.bundle.reader_page.page_model import MOST_SHOWN

    table, method = release.magnitude_table, methods("magnitudes")[release.mechanism.method]
    noisy, cells = method.is_random(release.mechanism.values), math.prod(table.shape)
    written: list[str] | None = None
    beside: dict[str, list[str]] = {}
    if cells <= MOST_SHOWN:
        # Where there are no records nothing adds up to 0, as the table says: its readers have it so.
        written = [table.text(0)] * cells
        beside = {name: ["0" if name == "n" else ""] * cells for name in table.beside}
        for number, key in enumerate(table.key.tolist()):
            written[key] = table.written(number)
            for texts, text in zip(beside.values(), table.figures(number), strict=True):
                texts[key] = text
    (exact,) = exact_lines(release)
    return {
        "sums": {"measure": table.measure, "decimals": table.decimals},
        "said": {
            code: {
                "method": told_in(code, method.label),
                "exact": told_in(code, exact),
                "promised": [told_in(code, method.promise)],
                "weighted": "",
                "parts": told_in(code, why_parts(release)),
                "naive": " ".join(told_in(code, line) for line in naive_magnitude_words(noisy=noisy)),
            }
            for code in LANGUAGES
        },
        "what": None,
        "small": None,
        "variables": list(release.domain.names),
        "shape": list(table.shape),
        "structural": [],
        "tables": [
            {
                "variables": [
                    {"name": variable.name, "categories": list(variable.written)}
                    for variable in table.variables
                ],
                "inner": True,
                "counts": written,
                "hidden": [] if written is None else table.key[table.hidden].tolist(),
                **({"beside": beside} if beside else {}),
            }
        ],
    }


_WEIGHTED = message("True counts are counts of records, not of the people that they stand for.")


def _structural(domain: Domain) -> list[int]:
    if not domain.structural:
        return []
    return [int(cell) for cell in domain.structural_cells().reshape(-1).nonzero()[0]]


def _table(published: PublishedTable, domain: Domain, *, shown: bool) -> dict[str, object]:
    own = published.table.domain
    hidden = published.hidden.reshape(-1).nonzero()[0].tolist() if shown else []
    return {
        "variables": [
            {"name": one.name, "categories": list(one.labels or one.categories)} for one in own.variables
        ],
        "inner": own == domain,
        "counts": published.table.counts.reshape(-1).tolist() if shown else None,
        "hidden": hidden,
    }
