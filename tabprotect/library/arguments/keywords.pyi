"""What each function of the library takes by name, for editors and type checkers.

Written by ``packaging/library_keywords.py``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from tabprotect.engine.disclosure.policy import AgencyPolicy, KeptSmall
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.options import WeightsReading
from tabprotect.engine.release.tuned import Use
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.workers.spreading import Workers

Table = TypeVar("Table", contravariant=True)
Protection = TypeVar("Protection", covariant=True)
Found = TypeVar("Found", covariant=True)

class Designed(Protocol):
    """A cycle set of :func:`tabprotect.design`."""

    @property
    def moves(self) -> MoveSet: ...

class ReadingKeywords(TypedDict, total=False):
    """The options of Reading."""

    strip_totals: bool
    fill_missing: bool
    totals: str | None
    tolerance: int | None
    missing: str | None
    count: str | None
    drop: Sequence[str] | None
    variable: Sequence[str] | None
    label: Mapping[str, str] | None
    where: Mapping[str, str] | None
    scale: int | None
    labels: bool
    texts_in: str | None
    form: str | None
    columns: str | None
    sheet: str | int | None
    range: str | None
    hidden: str | None
    cells: str | None
    blank: str | None
    order: str | None
    header_row: str | int | None
    footer: int | None
    comment: str | None
    marks: str | Mapping[str, str] | None
    encoding: str | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None
    holds: str | None
    metadata: str | None
    strict: bool

class TabulationKeywords(TypedDict, total=False):
    """The options of Tabulation."""

    weight: str | None
    record_key: str | None
    design_weight: str | None
    bands: Mapping[str, int | Sequence[int]] | None
    cuts: Mapping[str, Sequence[int]] | None
    code_lists: Mapping[str, str | Path] | None
    mapping: Mapping[str, str] | None
    levels: Mapping[str, Sequence[str]] | None
    level_names: Mapping[str, Sequence[str]] | None
    order: str | None
    draw_keys: bool

class MagnitudeTabulationKeywords(TypedDict, total=False):
    """The options of MagnitudeTabulation."""

    measure: str | None
    holding: str | None
    request: str | None
    waiver: str | None
    shadow: str | None
    cost: str | None
    unit: str | None
    spellings: Literal["refuse", "merge", "apart"]
    weight: str | None
    record_key: str | None
    design_weight: str | None
    bands: Mapping[str, int | Sequence[int]] | None
    cuts: Mapping[str, Sequence[int]] | None
    code_lists: Mapping[str, str | Path] | None
    mapping: Mapping[str, str] | None
    levels: Mapping[str, Sequence[str]] | None
    level_names: Mapping[str, Sequence[str]] | None
    order: str | None
    draw_keys: bool

class ProtectingKeywords(TypedDict, total=False):
    """The options of Protecting."""

    cycles: str | Path | Designed | None
    at_risk: str | None
    people: str | Sequence[str] | None
    sensitive: str | Sequence[str] | None
    key_variables: Sequence[str] | None
    like: str | Path | None
    publish: str | None
    title: str | None
    about: Mapping[str, str] | None
    policy: AgencyPolicy | str | Path | None
    rule: str | Sequence[str] | None
    weights: WeightsReading | None
    accept: str | None
    accept_weak: bool
    kept_small: KeptSmall
    draft: bool
    tune: bool
    tune_for: Use
    seed: int | None
    fresh: bool

class PublishingKeywords(TypedDict, total=False):
    """The options of Publishing."""

    tables: Mapping[str, str] | None
    dossier: str | Path | None
    overwrite: bool
    accept: str
    kept_small: KeptSmall
    again: str
    prepared_by: str
    approved_by: str
    no_page: bool
    replicates: int | None
    sign: str | Path | None
    sign_too: str | Path | None
    dossier_key: str | None

class ExportingKeywords(TypedDict, total=False):
    """The options of Exporting."""

    format: str | None
    apart: bool
    total_code: str | None
    strict: bool
    add: Literal["intervals", "nothing"] | None
    unit: str
    source: str
    notes: Sequence[str]
    date: str
    licence: str
    publisher: str
    contact: str
    period: str
    language: str
    concept: str
    texts_of: str | Path | None
    texts_in: str | None

class VerifyingKeywords(TypedDict, total=False):
    """The options of Verifying."""

    fingerprint: str | None
    signer: str | Path | None
    signed: bool
    quick: bool

class PublishedReadingKeywords(TypedDict, total=False):
    """The options of PublishedReading."""

    count: str | None
    total: str | None
    groupings: str

class InferringKeywords(TypedDict, total=False):
    """The options of Inferring."""

    groupings: str
    prior: str
    way: Way
    draws: int | None
    seed: int | None
    weigh_attempts: bool

class DesigningKeywords(TypedDict, total=False):
    """The options of Designing."""

    kind: str
    height: int | None
    repeats: int
    cap: int | None
    weight: float | None
    theta: float | None
    groupings: str
    zeros: str | Path | None

class ComparingKeywords(TypedDict, total=False):
    """The options of Comparing."""

    seed: int | None
    measures: Sequence[str] | None
    workers: Workers
    margins: str | None
    groupings: str | None
    key: Sequence[str] | None
    sensitive: str | None

class BinomialCompensated(ProtectingKeywords, total=False):
    """The parameters of ``binomial_compensated``."""

    S: float
    kept: str

class Bootstrap(ProtectingKeywords, total=False):
    """The parameters of ``bootstrap``."""

    S: float
    M: int
    zeros: int | None

class CellKey(ProtectingKeywords, total=False):
    """The parameters of ``cell_key``."""

    D: int | float
    V: float
    js: int
    pstay: float
    monotone: bool
    table: str | None
    margins: str | None
    groupings: str | None
    keys: Literal["auto", "hashed", "plain", "records"]
    weighted: Literal["no", "yes"]
    weight_low: float | None
    weight_high: float | None
    step: float
    top: float
    flexpoint: float
    small: float
    large: float
    steepness: float
    extra: float

class Coarsening(ProtectingKeywords, total=False):
    """The parameters of ``coarsening``."""

    groupings: str | None

class ControlledRounding(ProtectingKeywords, total=False):
    """The parameters of ``controlled_rounding``."""

    base: int
    choice: Literal["open", "cumulative", "nearest", "cox", "unbiased"]
    margins: str | None
    groupings: str | None
    nodes: int
    gamma: float | None
    least: int | None

class ControlledTabularAdjustment(ProtectingKeywords, total=False):
    """The parameters of ``controlled_tabular_adjustment``."""

    margins: str | None
    groupings: str | None
    choice: Literal["filled", "nearest"]
    half: float | None
    largest_class: int | None
    distance: Literal["l1", "l2"]
    totals: Literal["spared", "kept", "moved"]
    nodes: int

class CyclicPerturbation(ProtectingKeywords, total=False):
    """The parameters of ``cyclic_perturbation``."""

    alpha: float | None
    beta: float | None
    passes: int | None
    blocking: Literal["any_zero", "negative", "reversible", "exchange", "none"] | None
    order: Literal["listed", "random", "replacement", "positive"]
    n_cover: int
    theta: float | None
    keep: str | None
    groupings: str | None
    height: int | None
    repeats: int | None
    cap: int | None
    design_theta: float | None
    zeros: str | None
    split: str | None
    rate: float | None

class DiscreteGaussian(ProtectingKeywords, total=False):
    """The parameters of ``discrete_gaussian``."""

    rho: float
    cap: int | None
    margins: str | None
    groupings: str | None

class DiscreteLaplace(ProtectingKeywords, total=False):
    """The parameters of ``discrete_laplace``."""

    epsilon: float
    cap: int | None
    margins: str | None
    groupings: str | None

class MultiplicativeNoise(ProtectingKeywords, total=False):
    """The parameters of ``multiplicative_noise``."""

    least: float
    most: float
    distances: Literal["uniform", "ramp"]

class PostRandomisation(ProtectingKeywords, total=False):
    """The parameters of ``post_randomisation``."""

    pstay: str
    spread: Literal["uniform", "proportional"]
    matrices: str

class PublishMargins(ProtectingKeywords, total=False):
    """The parameters of ``publish_margins``."""

    margins: str | None
    threshold: int
    bounds: Literal["auto", "decomposable", "shuttle", "lp", "integer"]
    cells: Literal["at_risk", "all"]
    then: str

class RandomRounding(ProtectingKeywords, total=False):
    """The parameters of ``random_rounding``."""

    base: int
    margins: str | None
    groupings: str | None

class RecordSwapping(ProtectingKeywords, total=False):
    """The parameters of ``record_swapping``."""

    swap: str
    match: str | None
    rate: float
    hi: float | None
    lo: float
    targets: str | None
    levels: str
    margins: str | None
    groupings: str | None
    then: str | None

class SmallCountRounding(ProtectingKeywords, total=False):
    """The parameters of ``small_count_rounding``."""

    base: int
    choice: Literal["open", "nearest"]
    max_round: int | None
    margins: str | None
    groupings: str | None
    force_inner: bool
    zero_candidates: bool
    step: int
    gamma: float | None
    least: int | None

class Suppression(ProtectingKeywords, total=False):
    """The parameters of ``suppression``."""

    margins: str | None
    groupings: str | None
    level: int | None
    level_percent: float
    totals: Literal["allowed", "published"]
    zeros: Literal["published", "allowed", "often"] | str
    insiders: Literal["none", "outside", "one", "all"]
    costs: Literal["count", "unity", "log"]
    whole_range: bool
    choice: Literal["letters", "cheapest", "random", "blocks"] | Literal["usual", "letters", "cheapest"]
    half: float | None
    largest_class: int | None
    block: int | None
    spread: float
    search: Literal["usual", "longer"]
    also: str | None
    statuses: str | None
    cost: Literal["value", "n", "unity", "column"]
    missing: Literal["judged", "safe"]

Method = Literal[
    "binomial_compensated",
    "bootstrap",
    "cell_key",
    "coarsening",
    "controlled_rounding",
    "controlled_tabular_adjustment",
    "cyclic_perturbation",
    "discrete_gaussian",
    "discrete_laplace",
    "multiplicative_noise",
    "post_randomisation",
    "publish_margins",
    "random_rounding",
    "record_swapping",
    "small_count_rounding",
    "suppression",
]
"""The names of the methods; that of a plug-in is checked by nobody if its type is ``Any``."""

class Protects(Protocol[Table, Protection]):
    """An overload for each method; one that a variable names takes what all methods take."""

    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["binomial_compensated"],
        *,
        progress: Progress = ...,
        **asked: Unpack[BinomialCompensated],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["bootstrap"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Bootstrap],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["cell_key"],
        *,
        progress: Progress = ...,
        **asked: Unpack[CellKey],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["coarsening"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Coarsening],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["controlled_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[ControlledRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["controlled_tabular_adjustment"],
        *,
        progress: Progress = ...,
        **asked: Unpack[ControlledTabularAdjustment],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["cyclic_perturbation"] = ...,
        *,
        progress: Progress = ...,
        **asked: Unpack[CyclicPerturbation],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["discrete_gaussian"],
        *,
        progress: Progress = ...,
        **asked: Unpack[DiscreteGaussian],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["discrete_laplace"],
        *,
        progress: Progress = ...,
        **asked: Unpack[DiscreteLaplace],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["multiplicative_noise"],
        *,
        progress: Progress = ...,
        **asked: Unpack[MultiplicativeNoise],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["post_randomisation"],
        *,
        progress: Progress = ...,
        **asked: Unpack[PostRandomisation],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["publish_margins"],
        *,
        progress: Progress = ...,
        **asked: Unpack[PublishMargins],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["random_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[RandomRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["record_swapping"],
        *,
        progress: Progress = ...,
        **asked: Unpack[RecordSwapping],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["small_count_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[SmallCountRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Literal["suppression"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Suppression],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table,
        /,
        method: Method | None,
        *,
        progress: Progress = ...,
        **asked: Unpack[ProtectingKeywords],
    ) -> Protection: ...

class ProtectsSet(Protocol[Table, Protection]):
    """An overload for each method; one that a variable names takes what all methods take."""

    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["binomial_compensated"],
        *,
        progress: Progress = ...,
        **asked: Unpack[BinomialCompensated],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["binomial_compensated"],
        progress: Progress = ...,
        **asked: Unpack[BinomialCompensated],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["bootstrap"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Bootstrap],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["bootstrap"],
        progress: Progress = ...,
        **asked: Unpack[Bootstrap],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["cell_key"],
        *,
        progress: Progress = ...,
        **asked: Unpack[CellKey],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["cell_key"],
        progress: Progress = ...,
        **asked: Unpack[CellKey],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["coarsening"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Coarsening],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["coarsening"],
        progress: Progress = ...,
        **asked: Unpack[Coarsening],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["controlled_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[ControlledRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["controlled_rounding"],
        progress: Progress = ...,
        **asked: Unpack[ControlledRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["controlled_tabular_adjustment"],
        *,
        progress: Progress = ...,
        **asked: Unpack[ControlledTabularAdjustment],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["controlled_tabular_adjustment"],
        progress: Progress = ...,
        **asked: Unpack[ControlledTabularAdjustment],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        method: Literal["cyclic_perturbation"] = ...,
        *,
        progress: Progress = ...,
        **asked: Unpack[CyclicPerturbation],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["discrete_gaussian"],
        *,
        progress: Progress = ...,
        **asked: Unpack[DiscreteGaussian],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["discrete_gaussian"],
        progress: Progress = ...,
        **asked: Unpack[DiscreteGaussian],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["discrete_laplace"],
        *,
        progress: Progress = ...,
        **asked: Unpack[DiscreteLaplace],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["discrete_laplace"],
        progress: Progress = ...,
        **asked: Unpack[DiscreteLaplace],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["multiplicative_noise"],
        *,
        progress: Progress = ...,
        **asked: Unpack[MultiplicativeNoise],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["multiplicative_noise"],
        progress: Progress = ...,
        **asked: Unpack[MultiplicativeNoise],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["post_randomisation"],
        *,
        progress: Progress = ...,
        **asked: Unpack[PostRandomisation],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["post_randomisation"],
        progress: Progress = ...,
        **asked: Unpack[PostRandomisation],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["publish_margins"],
        *,
        progress: Progress = ...,
        **asked: Unpack[PublishMargins],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["publish_margins"],
        progress: Progress = ...,
        **asked: Unpack[PublishMargins],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["random_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[RandomRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["random_rounding"],
        progress: Progress = ...,
        **asked: Unpack[RandomRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["record_swapping"],
        *,
        progress: Progress = ...,
        **asked: Unpack[RecordSwapping],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["record_swapping"],
        progress: Progress = ...,
        **asked: Unpack[RecordSwapping],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["small_count_rounding"],
        *,
        progress: Progress = ...,
        **asked: Unpack[SmallCountRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["small_count_rounding"],
        progress: Progress = ...,
        **asked: Unpack[SmallCountRounding],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Literal["suppression"],
        *,
        progress: Progress = ...,
        **asked: Unpack[Suppression],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Literal["suppression"],
        progress: Progress = ...,
        **asked: Unpack[Suppression],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None,
        method: Method | None,
        *,
        progress: Progress = ...,
        **asked: Unpack[ProtectingKeywords],
    ) -> Protection: ...
    @overload
    def __call__(
        self,
        table: Table | Mapping[str, Table],
        /,
        tables: Mapping[str, str] | None = ...,
        *,
        method: Method | None,
        progress: Progress = ...,
        **asked: Unpack[ProtectingKeywords],
    ) -> Protection: ...

class ProtectsAll(Protocol[Table, Found]):
    """An overload for each method; one that a variable names takes what all methods take."""

    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["binomial_compensated"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[BinomialCompensated],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["bootstrap"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[Bootstrap],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["cell_key"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[CellKey],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["coarsening"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[Coarsening],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["controlled_rounding"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[ControlledRounding],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["controlled_tabular_adjustment"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[ControlledTabularAdjustment],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["cyclic_perturbation"] = ...,
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[CyclicPerturbation],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["discrete_gaussian"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[DiscreteGaussian],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["discrete_laplace"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[DiscreteLaplace],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["multiplicative_noise"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[MultiplicativeNoise],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["post_randomisation"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[PostRandomisation],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["publish_margins"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[PublishMargins],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["random_rounding"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[RandomRounding],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["record_swapping"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[RecordSwapping],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["small_count_rounding"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[SmallCountRounding],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Literal["suppression"],
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[Suppression],
    ) -> Found: ...
    @overload
    def __call__(
        self,
        tables: Mapping[str, Table],
        /,
        method: Method | None,
        *,
        workers: int | None = ...,
        progress: Progress = ...,
        **asked: Unpack[ProtectingKeywords],
    ) -> Found: ...
