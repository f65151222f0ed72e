"""Verification of a release bundle: safe to open, undamaged, and consistent.

Each check builds on those before it; the first failure raises a ``BundleError``.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tabprotect.engine.bundle import archive, signature
from tabprotect.engine.bundle.reader_page.page import PAGE, CheckPosterior, page_check
from tabprotect.engine.bundle.reader_text import reader_text
from tabprotect.engine.bundle.tables import data_package
from tabprotect.engine.errors import (
    BundleError,
    InfeasibleError,
    InputError,
    ParameterError,
    TabprotectError,
    TooLargeError,
)
from tabprotect.engine.options import Options, option_field
from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.descriptions.run_summary import remarks_on_labels
from tabprotect.engine.protection.guarantees import broken_openly
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    Likelihood,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.release.mechanism import UNSTATED, Gate, Mechanism
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.verdict_figures import Verdict
from tabprotect.engine.tables.domain import Domain, adopted
from tabprotect.languages.messages import joined, message

KIND = message("tabprotect release")
MECHANISM = "mechanism.json"
FILES = (data_package.PACKAGE, data_package.TABLE, MECHANISM, archive.README, archive.MANIFEST)

POSSIBLE = message("The published counts are possible under the mechanism.")
FITS = message(
    "An original fits every published count, one by one and together; what the method would choose "
    "on it was not looked at."
)


@dataclass(frozen=True, kw_only=True)
class Verifying(Options):
    """What is asked of a bundle, or of a set of bundles, besides that it is whole."""

    fingerprint: str | None = option_field(
        None, metavar="SHA256", help=message("the one its publisher named elsewhere")
    )
    signer: str | None = option_field(
        None, metavar="PUBLIC", help=message("the public key that must have signed: a file or figures")
    )
    signed: bool = option_field(False, help=message("somebody must have signed it, whoever that is"))
    quick: bool = option_field(False, help=message("leave out what readers learn, which takes longest"))

    @property
    def key(self) -> str | None:
        """The public key that must have signed, in hexadecimal."""
        return None if self.signer is None else signature.public_key(self.signer)


QUICK = Verifying(quick=True)
"""Nothing but that it is whole, without what readers learn."""


@dataclass(frozen=True)
class Verification:
    """A bundle that passed verification.

    Attributes
    ----------
    release
        The release it holds.
    fingerprint
        SHA-256 of the zip, to compare with one published elsewhere.
    checks
        The checks it passed, in words.
    signers
        The public keys with valid signatures, in hexadecimal.
    verdict
        What its readers learn, by the limits it states; ``None`` if that was not judged.
    likelihood
        The likelihood of the original; ``None`` if that would be too large to compute.
    posterior_of_page
        Checks the posterior that its page holds; ``None`` where it holds none.
    by
        What wrote it by its own word, if not this version.
    """

    release: Release
    fingerprint: str
    checks: tuple[str, ...]
    signers: tuple[str, ...] = ()
    verdict: Verdict | None = None
    likelihood: Likelihood | None = None
    posterior_of_page: CheckPosterior | None = field(default=None, repr=False)
    by: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what a reader should know of names and categories: a spreadsheet may run them."""
        return tuple(one.message for one in remarks_on_labels(self.release.domain))

    @property
    def left_out(self) -> tuple[Omission, ...]:
        """The kinds of what was not judged: as found, or as stated where nothing was judged."""
        if self.verdict is None and self.release.magnitudes and self.release.mechanism.gate is None:
            return ()
        return not_judged(self.verdict, self.release.mechanism.gate)


def not_judged(verdict: Verdict | None, gate: Gate | None) -> tuple[Omission, ...]:
    """The kinds of what a verdict leaves out; without one, of what a gate states that it does."""
    if verdict is not None:
        return verdict.left_out
    return ("attempts",) if gate is None else gate.left_out


def verify(path: Path, asked: Verifying = QUICK, *, progress: Progress = SILENT) -> Verification:
    """Check a release bundle file, reading it once.

    Raises
    ------
    BundleError
        With what is wrong and where.
    InputError
        When there is no such file.
    """
    with named(path):
        return verify_content(archive.load(path), asked, progress=progress)


def verify_content(data: bytes, asked: Verifying, *, progress: Progress = SILENT) -> Verification:
    """Check the bytes of a release bundle as :func:`verify` does."""
    found = verify_bytes(data, asked, progress=progress)
    return found if asked.quick else with_verdict(found, progress)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Name the file in whatever is said against it."""
    try:
        yield
    except MemoryError:
        raise BundleError(message("{name}: too large for the memory of this machine", path.name)) from None
    except BundleError as error:
        text = message("{name}: {message}", path.name, error.message)
        raise BundleError(text, hint=error.hint, detail=error.detail) from None


def with_verdict(found: Verification, progress: Progress = SILENT) -> Verification:
    """Add the verdict, after checking it against the one the bundle states.

    Raises
    ------
    BundleError
        When the bundle states another one.
    """
    stated = found.release.mechanism.gate
    # Late, each where it is asked: who exports a release, or infers from it, judges nothing.
    from tabprotect.engine.disclosure.verdict import verdict

    try:
        learned = verdict(found.release, progress=progress)
        if found.posterior_of_page is not None:
            found.posterior_of_page(progress)
        found = replace(found, checks=(*found.checks, *_made_again(found, progress)))
    except (InputError, ParameterError) as error:
        raise BundleError(error.message, hint=error.hint, detail=error.detail) from None
    if stated is None and found.release.magnitudes:
        return replace(found, verdict=learned)
    if stated is None:
        learned = replace(
            learned,
            note=joined(filter(None, [learned.note, UNSTATED]), " "),
            left_out=kinds(learned.left_out, ["attempts"]),
        )
        return replace(found, verdict=learned)
    if set(learned.left_out) != set(stated.left_out):
        raise _leaves_out(stated, learned)
    if learned.passed is not stated.passed:
        raise BundleError(
            message(
                "it says that it {PASSED}, and it {PASSED2}", _PASSED[stated.passed], _PASSED[learned.passed]
            ),
            detail=learned.sentence,
        )
    learned = replace(learned, reason=stated.reason)
    if learned.stated:
        return replace(found, verdict=learned)
    check = message("It {PASSED}, as it says.", _PASSED[stated.passed])
    tuning = _tuning(found.release, progress)
    return replace(found, verdict=learned, checks=(*found.checks, check, *tuning))


def _made_again(found: Verification, progress: Progress) -> tuple[str, ...]:
    """Make again what a release settles by a look at itself alone (no check where it settles nothing).

    Raises
    ------
    BundleError
        When something else comes out: whoever made it may have looked at the original.
    """
    if not found.release.tables:
        return ()
    again = methods()[found.release.mechanism.method].made_again(found.release, progress)
    if again is None:
        return ()
    if again:
        return (message("Numbers that are said to follow from the rest of the release do."),)
    if found.by:
        return (
            message(
                "Numbers that follow from the rest of the release are of {by}, and were not compared.",
                found.by,
            ),
        )
    raise BundleError(
        message("numbers that are said to follow from the rest of the release do not"),
        hint=message(
            "what readers learn is not what the verdict says: ask its publisher for another release"
        ),
    )


def _leaves_out(stated: Gate, learned: Verdict) -> BundleError:
    return BundleError(
        message(
            "it says that it leaves out {stated}, and it leaves out {learned}",
            ", ".join(stated.left_out) or message("nothing"),
            ", ".join(learned.left_out) or message("nothing"),
        ),
        detail=learned.sentence,
    )


def _tuning(release: Release, progress: Progress) -> tuple[str, ...]:
    """Check that stated tuning gives the parameters again (nothing to check without tuning).

    Raises
    ------
    BundleError
        When others, or other figures, come of what is public.
    """
    stated = release.mechanism.tuned
    if stated is None:
        return ()
    # Imported late: it imports solvers, which the first paint must not wait for.
    from tabprotect.engine.disclosure.choosing.tuning import tuned_again

    try:
        again = tuned_again(release, progress)
    except TabprotectError as error:
        raise BundleError(
            message("its parameters are not chosen as it says: {message}", error.message)
        ) from None
    if again is None:
        return (message("How the parameters were chosen was not worked out again: it takes too long."),)
    if not stated.agrees(again):
        raise BundleError(message("its parameters are not chosen as it says"), detail=again.sentence)
    return (message("The parameters change the table least, as it says, chosen from what is public."),)


_PASSED = {
    True: message("passes the gate"),
    False: message("does not pass the gate and was published all the same"),
    None: message("was not judged as a whole"),
}


def verify_bytes(data: bytes, asked: Verifying = QUICK, *, progress: Progress = SILENT) -> Verification:
    """Check the bytes of a release bundle (see :func:`verify`)."""
    stage = message("checking the bundle")
    progress.report(stage, 0.0)
    found = archive.sha256(data)
    checks, key = announced(found, asked.fingerprint), asked.key
    files = archive.unpack(
        data,
        allowed=lambda name: (
            name in (*FILES, PAGE, signature.NAME) or data_package.TABLES.match(name) is not None
        ),
    )
    checks.append(message("The zip is plain and safe to open."))
    signers = _signed(files, key)
    if asked.signed and not signers:
        raise BundleError(
            message("nobody signed it"), hint=message("ask its publisher for one that is signed")
        )
    checks.append(message("Every file has the SHA-256 that the manifest lists."))
    checks += [
        message("It is signed by the key that was asked for: {key}.", one)
        if one == key
        else message("It is signed by a key that you have to compare with its publisher's: {key}.", one)
        for one in signers
    ]
    progress.report(stage, 0.1)
    tables, magnitudes, of_publisher = _tables(files)
    if tables:
        checks.append(
            message("The table is complete and as described: every cell once, whole counts.")
            if len(tables) == 1
            else message("The tables are complete and as described: every cell once, whole counts.")
        )
    progress.report(stage, 0.4)
    with _sense_of_mechanism(files):
        release = _release(files, tables, magnitudes, of_publisher)
        checks += _checked_magnitudes(release)
        progress.report(stage, 0.9)
        likelihood = _likelihood(release, checks) if tables else None
    checks.append(message("The method is known, its parameters are valid."))
    checks.append(_checked_text(files, release))
    if tables:
        _check_tables(release, likelihood, checks, progress)
    page = None
    if PAGE in files:
        said, page = page_check(files[PAGE], release, files, likelihood)
        checks.append(said)
    by = archive.written_elsewhere(files)
    return Verification(release, found, tuple(checks), signers, None, likelihood, page, by)


def _tables(
    files: Mapping[str, bytes],
) -> tuple[tuple[PublishedTable, ...], data_package.DescribedMagnitudes | None, data_package.Said]:
    """The tables of counts, the description of one of magnitudes, the title and what else is said."""
    described, magnitudes, said = _described(files)
    tables = (
        data_package.read_table(files[t.name], t.domain, name=t.name, hiding=t.hiding) for t in described
    )
    return tuple(tables), magnitudes, said


def checked_before(files: Mapping[str, bytes]) -> Release:
    """The release in the files of a bundle that has passed all checks.

    Raises
    ------
    BundleError
        When this program does not read it.
    """
    for name in FILES[:3]:
        if name not in files:
            raise BundleError(message("{name} is missing", name), hint=message("this is no {KIND}", KIND))
    with _sense_of_mechanism(files):
        return _release(files, *_tables(files))


def _checked_text(files: Mapping[str, bytes], release: Release) -> str:
    """Make the README again: readers begin with it, and follow what it says.

    Raises
    ------
    BundleError
        When it says something else.
    """
    by = archive.written_elsewhere(files)
    if files[archive.README] == reader_text(release).encode():
        return message("{NAME} is what this program writes of the release.", archive.README)
    if by:
        return message("{NAME} is of {by}, and was not compared.", archive.README, by)
    raise BundleError(message("{NAME} is not what this program writes of the release", archive.README))


@contextmanager
def _sense_of_mechanism(files: Mapping[str, bytes]) -> Iterator[None]:
    """Make a fault of the bundle of whatever no method can make sense of."""
    try:
        yield
    except (InputError, ParameterError) as error:
        by = archive.written_elsewhere(files)
        raise BundleError(
            message("{MECHANISM}: {message}", MECHANISM, error.message),
            hint=message(
                "the bundle says that {by} wrote it, whose mechanisms may state other things: that need be no "
                "damage; verify it with that version, or ask the publisher for a bundle of this one",
                by,
            )
            if by
            else "",
            detail=error.detail,
        ) from None
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Methods check what a person may type; anything else a forger may try is caught here.
        raise BundleError(message("{MECHANISM}: no method can make sense of it", MECHANISM)) from error


def _release(
    files: Mapping[str, bytes],
    tables: tuple[PublishedTable, ...],
    magnitudes: data_package.DescribedMagnitudes | None,
    said: data_package.Said,
) -> Release:
    """The release that the files hold, its tables on the variables that the mechanism states."""
    with _uncollected():
        stated, domain = _stated(files[MECHANISM], tables[0].table.domain if tables else Domain(()))
        if magnitudes is None:
            tables = tuple(replace(p, table=p.table.on(adopted(p.table.domain, domain))) for p in tables)
            return Release(
                tables,
                Mechanism.from_json(stated, domain, tables[0].table),
                said.title,
                metadata=said.metadata,
            )
        table = data_package.read_magnitudes(files[magnitudes.name], magnitudes, domain)
        return Release((), Mechanism.from_json(stated, domain), said.title, (table,), said.metadata)


def _checked_magnitudes(release: Release) -> list[str]:
    """Check the parameters of a release of magnitudes, and that they add up; the checks in words."""
    if not release.magnitudes:
        return []
    method, stated = methods("magnitudes")[release.mechanism.method], release.mechanism.parameters
    beside = method.told_beside(release)
    public = {parameter.name for parameter in method.parameters if parameter.public}
    if secret := stated.keys() - public - beside:
        # A secret one may name a file.
        raise ParameterError({name: message("is no public parameter") for name in secret})
    method.resolve(release.domain, {name: value for name, value in stated.items() if name not in beside})
    complete = message("The table is complete and as described: every cell once, with every total of it.")
    return [complete, *(adds_up(release.magnitude_table) if method.adds_up else [])]


def _check_tables(
    release: Release, likelihood: Likelihood | None, checks: list[str], progress: Progress
) -> None:
    """Check that counts are what their method makes, and that an original is possible.

    Raises
    ------
    BundleError
        When they are not.
    """
    method = methods()[release.mechanism.method]
    parameters = Values(release.mechanism.parameters)
    broken = broken_openly(method, release.domain, parameters, release.tables)
    if broken:
        raise BundleError(message("the tables are not what {name} makes: {broken}", method.name, broken[0]))
    if isinstance(likelihood, (MoveSequence, AdaptiveSequence)):
        checks.append(message("The cycles keep the margins they claim."))
    if likelihood is not None:
        checks.append(_possible(likelihood, progress))


def announced(found: str, fingerprint: str | None) -> list[str]:
    """Check the fingerprint against one published elsewhere; return the check in words.

    Raises
    ------
    BundleError
        When they differ.
    """
    if fingerprint is None:
        return []
    if fingerprint.strip().lower() != found:
        raise BundleError(
            message("the fingerprint is {found}, not {lower}", found, fingerprint.strip().lower()),
            hint=message("this is another bundle than the one that was announced"),
        )
    return [message("The fingerprint is the announced one.")]


def _signed(files: Mapping[str, bytes], signer: str | None) -> tuple[str, ...]:
    """The keys that signed it, after checking every file against the manifest."""
    for name in FILES:
        if name not in files:
            raise BundleError(message("{name} is missing", name), hint=message("this is no {KIND}", KIND))
    archive.check_manifest(files, KIND, beside=signature.NAME)
    signers = signature.signers(files) if signature.NAME in files else ()
    if signer is not None and signer not in signers:
        raise BundleError(
            message("it is not signed by {signer}", signer),
            hint=message("it is signed by {signers}", ", ".join(signers))
            if signers
            else message("nobody signed it"),
        )
    try:
        files[archive.README].decode()
    except UnicodeDecodeError as error:
        raise BundleError(message("{NAME}: not UTF-8 at byte {start}", archive.README, error.start)) from None
    return signers


def _described(
    files: Mapping[str, bytes],
) -> tuple[list[data_package.Described], data_package.DescribedMagnitudes | None, data_package.Said]:
    """The tables of counts, or that of magnitudes, as the bundle describes them, the title and what else is said."""
    package = archive.parse_json(data_package.PACKAGE, files[data_package.PACKAGE])
    described, said = data_package.read_package(package)
    names = {table.name for table in described}
    for name in (*sorted(names), *files):
        if name not in files:
            raise BundleError(message("{name} is missing", name), hint=message("this is no {KIND}", KIND))
        if name not in (*FILES, PAGE, signature.NAME) and name not in names:
            raise BundleError(message("{name} is not described in {PACKAGE}", name, data_package.PACKAGE))
    counts = [one for one in described if isinstance(one, data_package.Described)]
    magnitudes = [one for one in described if isinstance(one, data_package.DescribedMagnitudes)]
    if magnitudes and len(described) > 1:
        raise BundleError(
            message("{PACKAGE}: a table of magnitudes has a bundle of its own", data_package.PACKAGE)
        )
    return counts, magnitudes[0] if magnitudes else None, said


def _possible(likelihood: Likelihood, progress: Progress) -> str:
    """Say what is known about originals that fit, in a sentence.

    Raises
    ------
    BundleError
        When no original fits.
    """
    # Imported late: it imports solvers, which the first paint must not wait for.
    from tabprotect.engine.posterior.factors.feasible import original_found

    unknown = message("Whether any original leads to the published counts was not found out.")
    if isinstance(likelihood, SwappedFirst):
        return _possible(likelihood.then, progress)
    if isinstance(likelihood, RecordSwaps | ExchangeSteps):
        # Whoever changed places may change back.
        return POSSIBLE
    if not isinstance(likelihood, CellFactors):
        if likelihood.gamma > 0 or (isinstance(likelihood, MoveSequence) and _free(likelihood)):
            # Either all coins may have left the table unchanged, or each step can be reversed.
            return POSSIBLE
        return unknown
    try:
        found = original_found(likelihood, progress)
    except InfeasibleError as error:
        raise BundleError(
            message("the published counts are impossible: {message}", error.message),
            hint=message("a count was changed, or the tables belong to another mechanism"),
        ) from None
    if not found:
        return unknown
    return POSSIBLE if likelihood.rerun is None else FITS


def _free(likelihood: MoveSequence) -> bool:
    both = likelihood.alpha > 0 and likelihood.beta > 0
    return likelihood.rule == "none" or (likelihood.rule == "negative" and both)


MECHANISM_HINT = message("take mechanism.json from the bundle that the table was published in")


def _stated(mechanism: bytes, published: Domain) -> tuple[Mapping[str, object], Domain]:
    """Return what ``mechanism.json`` states, and the variables of the original by it."""
    stated = archive.parse_json(MECHANISM, mechanism)
    if not isinstance(stated, dict) or "variables" not in stated or "shape" not in stated:
        raise InputError(message('"variables" or "shape" is missing'), hint=MECHANISM_HINT)
    domain = Mechanism.stated_domain(stated, published)
    if stated["shape"] != list(domain.shape):
        raise InputError(
            message("it is for the shape {stated}, not {shape}", stated["shape"], list(domain.shape)),
            hint=MECHANISM_HINT,
        )
    return stated, domain


def adds_up(published: PublishedMagnitudes) -> list[str]:
    """The check that published sums add up, in words.

    Raises
    ------
    BundleError
        When one that is published with all its parts does not.
    """
    # Late: bundles of counts, which are most, do not wait for it.
    from tabprotect.engine.magnitudes.tables.equations import Equations

    sums = Equations.of(published.variables, published.key, published.nodes)
    open_now = ~published.hidden
    for equation in range(len(sums)):
        children, parent = sums.children(equation), int(sums.parent[equation])
        if not (open_now[parent] and open_now[children].all()):
            continue
        if int(published.value[children].sum()) != int(published.value[parent]):
            raise BundleError(
                message("{name}: a sum is not that of its parts", data_package.TABLE),
                detail=message("the cell {index}", published.index(parent)),
            )
    return [message("Sums that are published with all their parts add up.")]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switch the garbage collector off: it would walk over millions of live lists and find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _likelihood(release: Release, checks: list[str]) -> Likelihood | None:
    """The likelihood, or a reason why there is none: sparse tables are released too."""
    try:
        return likelihood_of(release)
    except TooLargeError as error:
        checks.append(
            message("What the counts say of the original was not looked at: {message}.", error.message)
        )
        return None


def of_magnitudes(files: Mapping[str, bytes]) -> bool:
    """Return True if a bundle says that it publishes magnitudes; nothing else is examined."""
    try:
        package = archive.parse_json(data_package.PACKAGE, files[data_package.PACKAGE])
        described, _ = data_package.read_package(package)
    except (BundleError, KeyError):
        return False
    return isinstance(described[0], data_package.DescribedMagnitudes)


def is_bundle(data: bytes) -> bool:
    """Return True if a zip is meant as a release bundle; whether it is sound is not looked at.

    Raises
    ------
    BundleError
        When it is no plain zip.
    """
    return MECHANISM in archive.unpack(data, allowed=lambda _: True)


def readable(release: Release) -> Likelihood | None:
    """The likelihood of a release, as long as it is not too large."""
    return _likelihood(release, [])
