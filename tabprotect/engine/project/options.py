"""The arguments of the commands that count a table, protect it and publish it.

Each field is an argument of the command, of the library and of the command line, and is described
only here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tabprotect.engine.disclosure.policy import VARIABLE, AgencyPolicy, KeptSmall, read
from tabprotect.engine.options import Naming, Options, option_field, options_of, position
from tabprotect.engine.plain_values.metadata import TABLE_TEXTS
from tabprotect.engine.release.tuned import USES, Use
from tabprotect.engine.tables.category_order import ORDER_HELP, ORDERS
from tabprotect.languages.messages import message

METHOD = message("method")
GATE = message("gate")
SIGNING = message("signing")
OUTPUT = message("output")

DEFAULT_METHOD: Final = "cyclic_perturbation"

EXAMPLES = "n=3, niss=3,60, p=10, p=10,coalition=2, pq=20,50, dominance=1,85, request=70"
"""The examples of the rules of magnitudes, which are not loaded to say them."""

WeightsReading = Literal["sample", "replicate", "known"]
"""How weights are read."""


@dataclass(frozen=True, kw_only=True)
class Tabulation(Options):
    """The options of counting records.

    ``bands``, ``cuts`` and ``code_lists`` code variables, ``levels`` makes one variable of nested
    columns, ``level_names`` names the levels of a hierarchy
    (:class:`~tabprotect.engine.microdata.coding.Codings`).
    """

    source: str = position(
        library=False,
        metavar="microdata",
        help="a file of records, a folder or a pattern of them, a release by record_swapping, people.duckdb#TABLE, "
        "postgresql://HOST/BASE#TABLE, or example:NAME",
    )
    by: Sequence[str] = option_field(
        (),
        library=False,
        metavar="A,B",
        help=message("the variables to count by; those that the options below name are counted by anyway"),
    )
    weight: str | None = option_field(
        None,
        label=message("Each row counts"),
        metavar="W",
        help=message(
            "a column of whole-number weights: for how many persons each row stands; none: each for one"
        ),
    )
    record_key: str | None = option_field(
        None,
        label=message("Key of a record"),
        measure="counts",
        metavar="K",
        help=message(
            "a column of record keys, random numbers that make all tables of a file agree; kept in a project for cell keys"
        ),
    )
    design_weight: str | None = option_field(
        None,
        label=message("Design weight"),
        measure="counts",
        metavar="W",
        help=message(
            "a column of survey weights, how many people each record stands for; kept in a project beside the counts"
        ),
    )
    bands: Mapping[str, int | Sequence[int]] | None = option_field(
        None,
        shell="--band",
        metavar="AGE:5",
        naming=Naming(":", "width"),
        help=message(
            "count a variable of whole numbers in bands of this width: 0-4, 5-9, ...; several "
            "widths are levels: age@band5, age@band20"
        ),
    )
    cuts: Mapping[str, Sequence[int]] | None = option_field(
        None,
        shell="--cut",
        metavar="AGE:0,15,65",
        naming=Naming(":", "numbers"),
        help=message("count it in bands that begin there: 0-14, 15-64, 65+"),
    )
    code_lists: Mapping[str, str] | None = option_field(
        None,
        shell="--code-list",
        metavar="VARIABLE=FILE",
        naming=Naming(),
        file=True,
        help=message(
            "count codes by their groups: a CSV file whose first column is named for the "
            "variable, or a hierarchy (.hrc); FILE@LEVEL chooses among several; FILE@20 merges squares of a "
            "grid until each has 20 people by the earlier counts in the file"
        ),
    )
    mapping: Mapping[str, str] | None = option_field(
        None,
        shell="--map",
        needs="code_lists",
        metavar="VARIABLE:FOUND=CODE",
        naming=Naming(),
        help=message(
            "what a code that the code list lacks is counted as: a code of the list, itself for a "
            "category of its own, or nothing where its records are left out"
        ),
    )
    levels: Mapping[str, Sequence[str]] | None = option_field(
        None,
        metavar="NUTS1,NUTS2,NUTS3=NUTS",
        naming=Naming(entry="list", behind=True),
        help=message("columns that nest, the coarsest first, as the levels of one variable"),
    )
    level_names: Mapping[str, Sequence[str]] | None = option_field(
        None,
        metavar="VARIABLE=COUNTRY,NUTS1",
        naming=Naming(entry="list"),
        help=message(
            "what the levels of a hierarchy (.hrc) are called, the coarsest first; else "
            "VARIABLE_1, VARIABLE_2, ..., the deepest being the codes' own"
        ),
    )
    order: str | None = option_field(
        None,
        label=message("Order of categories"),
        choices=ORDERS,
        help=message("{orders} (default: as the file declares them, else by their names)", orders=ORDER_HELP),
    )
    draw_keys: bool = option_field(
        False,
        measure="counts",
        shell="--draw-record-keys",
        in_place_of="record_key",
        help=message("draw record keys now, kept in this project only: other tabulations will not agree"),
    )
    house_keys: bool = option_field(
        False,
        shell="",
        library=False,
        help=message(
            "derive the record keys that are drawn from the house's key and the counts: the same "
            "ones for the same records"
        ),
    )
    key_seed: int | None = option_field(
        None,
        measure="counts",
        needs="draw_keys",
        shell="",
        library=False,
        help=message("replay the record keys that are drawn"),
    )


@dataclass(frozen=True, kw_only=True)
class MagnitudeTabulation(Tabulation):
    """The options of summing a measure over records, with who contributes to each sum.

    With a ``measure`` the table is one of magnitudes; without one records are counted.
    """

    measure: str | None = option_field(
        None,
        label=message("Add up"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("sum this column: a magnitude table, with the contributors of each cell"),
    )
    holding: str | None = option_field(
        None,
        label=message("Firm or group"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("who a record belongs to (default: each is a contributor of its own)"),
    )
    request: str | None = option_field(
        None,
        label=message("Request"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("who asked to be protected: 1, yes, true or x"),
    )
    waiver: str | None = option_field(
        None,
        label=message("Waiver"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("who waived protection: 1, yes, true or x"),
    )
    shadow: str | None = option_field(
        None,
        label=message("Judged by"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("what rules are judged by in place of the measure"),
    )
    cost: str | None = option_field(
        None,
        label=message("Cost"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("what it costs to hide a record's cell"),
    )
    unit: str | None = option_field(
        None,
        label=message("Number"),
        measure="magnitudes",
        metavar="COLUMN",
        help=message("what tells records apart: one that comes twice is refused"),
    )
    spellings: Literal["refuse", "merge", "apart"] = option_field(
        "refuse",
        measure="magnitudes",
        label=message("Two spellings of a group"),
        choices={
            "refuse": message("are refused"),
            "merge": message("count as one"),
            "apart": message("stay apart"),
        },
        help=message("holdings that differ in capitals and spaces only"),
    )

    @property
    def counts(self) -> Tabulation:
        """The same without a measure."""
        return Tabulation(**{one.name: getattr(self, one.name) for one in options_of(Tabulation)})


@dataclass(frozen=True, kw_only=True)
class Drawing(Options):
    """The options of a run, and of what is done if the gate refuses its release."""

    accept: str | None = option_field(
        None,
        group=GATE,
        metavar="REASON",
        help=message("publish whatever the gate says; the bundle says so, the dossier keeps the reason"),
    )
    accept_weak: bool = option_field(
        False,
        group=GATE,
        in_place_of="accept",
        help=message("publish whatever the gate says, without a reason"),
    )
    kept_small: KeptSmall = option_field(
        "ask",
        group=GATE,
        measure="counts",
        metavar="keep|never",
        help=message(
            "whether sums that are kept exactly may be small counts (default: as the policy of the "
            "house has it)"
        ),
    )
    draft: bool = option_field(
        False,
        shell="",
        measure="counts",
        help=message("hold what the gate refuses, to be looked at: it is published with a reason only"),
    )
    tune: bool = option_field(
        False,
        measure="counts",
        help=message(
            "take the parameters that change the table least and pass the limits, chosen from the "
            "sums that are kept exactly and so from nothing confidential"
        ),
    )
    tune_for: Use = option_field(
        "changes",
        label=message("What is to change least"),
        choices=USES,
        measure="counts",
        metavar="USE",
        help=message("what is to change least: {USES}", ", ".join(USES)),
    )
    seed: int | None = option_field(
        None,
        help=message(
            "replay these coins; recorded (default: the same table and mechanism always get the "
            "same ones, by the key of the house)"
        ),
    )
    fresh: bool = option_field(
        False, measure="counts", help=message("draw coins that nobody can draw again; recorded")
    )


@dataclass(frozen=True, kw_only=True)
class Judging(Options):
    """How magnitudes are judged by their contributors."""

    rule: str | Sequence[str] | None = option_field(
        None,
        measure="magnitudes",
        metavar="RULE",
        repeated=True,
        help=message("{EXAMPLES}; several at once. CONFIDENTIAL", EXAMPLES),
    )
    weights: WeightsReading | None = option_field(
        None,
        measure="magnitudes",
        needs="rule",
        label=message("How weights are read"),
        choices={
            "sample": message("weights of a sample"),
            "replicate": message("weights stand for equal others"),
            "known": message("weighted contributions are known"),
        },
        help=message("how weights are read: of a sample (default), as copies, or known to everybody"),
    )

    @property
    def rules(self) -> Sequence[str]:
        """The rules one by one."""
        return [self.rule] if isinstance(self.rule, str) else list(self.rule or ())

    @property
    def reading(self) -> WeightsReading:
        """How weights are read."""
        return self.weights or "sample"


@dataclass(frozen=True, kw_only=True)
class Protecting(Drawing, Judging):
    """The options of protecting a table. Fields that are ``None`` leave the project's choice as it is."""

    method: str | None = option_field(None, library=False, help=message("the name of a method"))
    cycles: str | Mapping[str, object] | None = option_field(
        None,
        shell="",
        measure="counts",
        help=message("a kind of cycle design, a file of cycles, or cycles, for methods that take them"),
    )
    parameters: Mapping[str, object] | None = option_field(
        None,
        shell="--set",
        library=False,
        metavar="NAME=VALUE",
        naming=Naming(),
        help=message("a parameter of the method; cycles=FILE or cycles=KIND takes a cycle set"),
    )
    at_risk: str | None = option_field(
        None,
        metavar="LOW..HIGH",
        help=message("small counts (default 1..2); of magnitudes with --publish, which publishes counts"),
    )
    people: str | Sequence[str] | None = option_field(
        None,
        metavar="WHO",
        repeated=True,
        help=message(
            "whether earlier releases count the same people: other, same, part:NO, corrected:NO or later:NO, "
            "where NO is their number in the register; several with spaces between"
        ),
    )
    sensitive: str | Sequence[str] | None = option_field(
        None,
        measure="counts",
        metavar="NAME[=CATEGORY,...]",
        repeated=True,
        help=message(
            "a sensitive variable, or categories of it: that all of a group of people share one is judged by "
            "the limits of small counts (default: told, of each variable in turn)"
        ),
    )
    key_variables: Sequence[str] | None = option_field(
        None,
        measure="counts",
        metavar="A,B",
        help=message("the variables by which readers know people (default: all but the sensitive one)"),
    )
    like: str | None = option_field(
        None,
        measure="magnitudes",
        metavar="last.zip",
        file=True,
        help=message("last year's bundle: what was published then is published again unless unsafe"),
    )
    publish: str | None = option_field(
        None,
        measure="magnitudes",
        metavar="n,mean",
        help=message("beside the sums: how many contribute, or their mean, from which that follows"),
    )
    title: str | None = option_field(
        None, label=message("Title"), group=OUTPUT, metavar="TITLE", help=message("for the reader; published")
    )
    about: Mapping[str, str] | None = option_field(
        None,
        label=message("Said of the table"),
        group=OUTPUT,
        metavar="NAME=TEXT",
        naming=Naming(),
        help=message(
            "for the reader; published: {names}; what is said of all tables stands in the policy",
            ", ".join(TABLE_TEXTS),
        ),
    )
    policy: AgencyPolicy | None = option_field(
        None,
        group=GATE,
        metavar="policy.toml",
        read=lambda path: read(Path(path)),
        help=message("the limits of the house (default: the file that {VARIABLE} names)", VARIABLE),
    )
    register: str | None = option_field(
        None,
        group=GATE,
        library=False,
        metavar="FILE|URL|none",
        help=message("the register of releases (default: the house's own)"),
    )


@dataclass(frozen=True, kw_only=True)
class Publishing(Options):
    """The options of publishing a protected table, and who answers for it."""

    release: str = option_field(
        label=message("Bundle"),
        shell="--out",
        library=False,
        file=True,
        metavar="release.zip|FOLDER",
        help=message("the bundle for readers; of several tables their folder"),
    )
    tables: Mapping[str, str] | None = option_field(
        None,
        shell="--table",
        measure="counts",
        metavar="NAME=FORMULA",
        naming=Naming(),
        help=message(
            "the tables of the set by name, each a formula such as geo@nuts2*age*sex with a bundle "
            "of its own (of several files each is one by default)"
        ),
    )
    dossier: str | None = option_field(
        None,
        label=message("Dossier"),
        metavar="dossier.zip",
        file=True,
        help=message(
            "the file of the dossier: original, seed, coins and audit trail, without which nobody can account for the release later; it stays in the house, CONFIDENTIAL"
        ),
    )
    overwrite: bool = option_field(
        False,
        shell="",
        help=message(
            "replace files of these names; the dossier of another release is kept under a further name"
        ),
    )
    accept: str = option_field(
        "",
        label=message("Reason"),
        group=GATE,
        shell="",
        metavar="REASON",
        help=message("why it is published although the gate refused it"),
    )
    kept_small: KeptSmall = option_field(
        "ask",
        group=GATE,
        shell="",
        measure="counts",
        help=message("whether sums of a draft that are kept exactly may be small counts"),
    )
    again: str = option_field(
        "",
        group=GATE,
        metavar="REASON",
        help=message(
            "why a table that left before is published again, where the policy takes a reason "
            "(default: that for accepting it)"
        ),
    )
    prepared_by: str = option_field(
        "",
        label=message("Prepared by"),
        group=SIGNING,
        metavar="NAME",
        help=message("for dossier and register"),
    )
    approved_by: str = option_field(
        "",
        label=message("Approved by"),
        group=SIGNING,
        metavar="NAME",
        help=message("the same; a policy may take both names, of two people"),
    )
    no_page: bool = option_field(
        False, help=message("leave out the page to look at in a browser (page.html)")
    )
    replicates: int | None = option_field(
        None,
        measure="counts",
        metavar="N",
        low=2,
        help=message(
            "put so many whole tables beside the bundle, drawn from all that may be the true one: for variances"
        ),
    )
    sign: str | None = option_field(
        None,
        label=message("Key"),
        group=SIGNING,
        metavar="KEY",
        file=True,
        second="sign_too",
        help=message("sign the bundle with this private key; twice for two signatures"),
    )
    sign_too: str | None = option_field(
        None,
        label=message("Second key"),
        shell="",
        file=True,
        help=message("the private key of a second signature"),
    )
    dossier_key: str | None = option_field(
        None,
        label=message("Passphrase of the dossier"),
        needs="dossier",
        metavar="FILE",
        file=True,
        help=message(
            "encrypt the dossier by the passphrase that is the first line of this file, or by its key (64 "
            "figures); without the file nobody opens it: tabprotect dossier open"
        ),
    )
