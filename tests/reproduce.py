"""Every printed number of the sources beside ours: ``python -m tests.reproduce``.

Each is held by a test; the command runs those tests and says of each number: equal, an erratum of the
source (``resources/docs/site/errata.md`` says what holds), or not reachable and why.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

EQUAL, ERRATUM, BEYOND = "equal", "erratum", "not reachable"


@dataclass(frozen=True)
class Printed:
    """A number that a source prints.

    Attributes
    ----------
    source
    printed
        What is printed, and where.
    holds
        What holds, or why it cannot be reached.
    kind
        ``EQUAL``, ``ERRATUM`` or ``BEYOND``.
    test
        The test that works it out: file under ``tests``, and function; empty for none.
    """

    source: str
    printed: str
    holds: str
    kind: str
    test: str = ""


DR, LENZ, LL = "Duncan and Roehrig", "Lenz", "Langsrud and Lupp"
NISS, DM = "Dobra, Karr, Sanil, Fienberg", "Domingo-Ferrer, Mateo-Sanz"

EXACT = "engine/posterior/moves/test_exact.py::"
FACTORS = "engine/posterior/factors/test_factors.py::"
PAPER = "engine/assessment/test_paper.py::"
WIDTHS = "engine/query_space/critical_widths/test_widths.py::"
OPTIMAL = "engine/query_space/optimal/test_optimal.py::"
BOUNDS = "engine/bounds/test_published.py::"

SLIDES = EXACT + "test_the_slides_printed_numbers_are_another_arithmetic"
LAW = "engine/protection/methods/test_cyclic_perturbation.py::test_lenz_change_of_a_cell_without_blocking"
REPORT = "engine/cycles/test_cycle_report.py::"
LENZ_LISTED = "engine/cycles/test_lenz.py::"
DESIGNS = "engine/cycles/test_designs.py::test_bidiagonal_is_valid_for_every_two_way_shape"
RESAMPLED = "engine/protection/methods/test_bootstrap.py::"

NUMBERS = (
    Printed(
        DR,
        "18,272,363,056 tables with the margins of the 4 x 4 example",
        "the same",
        EQUAL,
        "engine/bounds/test_counting.py::test_duncan_roehrig",
    ),
    Printed(
        DR,
        "3 originals of the suppressed table",
        "3 where hidden counts are positive; 15 if they may be 0",
        EQUAL,
        FACTORS + "test_the_slides_suppression",
    ),
    Printed(
        DR,
        "1,025,908,683 originals of the rounded table",
        "the same",
        EQUAL,
        FACTORS + "test_the_slides_rounding",
    ),
    Printed(
        DR,
        "17,132,236 originals of deterministic rounding, posteriors nearly uniform",
        "15,991,835 by the order of cells of choice=cox; which one the source took is not stated: see the errata",
        ERRATUM,
        "engine/protection/rounding/test_without_chance.py::"
        "test_every_original_of_the_slides_rounded_table_is_counted",
    ),
    Printed(
        DR,
        "81 tables that the coins can give",
        "81 outcomes, 65 tables",
        ERRATUM,
        EXACT + "test_the_coins_of_the_slides_give_65_tables",
    ),
    Printed(
        DR,
        ".71 .25 .04 for cell (v1, w2)",
        "80/111, 82/333, 11/333",
        ERRATUM,
        EXACT + "test_duncan_roehrig_two_way",
    ),
    Printed(
        DR,
        ".34 .39 .22 .05 in the 4 x 4 x 3 example, 28 tables",
        "28 ways back, 20 tables",
        ERRATUM,
        EXACT + "test_duncan_roehrig_three_way",
    ),
    Printed(DR, "both, as printed", "they follow from another arithmetic", EQUAL, SLIDES),
    Printed(
        DR,
        "the mode of a posterior is the published count",
        "false in general",
        ERRATUM,
        EXACT + "test_mode_counterexamples",
    ),
    Printed(
        LENZ,
        "Theorem 4: the laws of the sums of steps",
        "they hold but at value 1, where it is 2a²b + 2ab², not a²b + 3ab²",
        ERRATUM,
        LAW,
    ),
    Printed(
        LENZ,
        "3^n - 2^n tables of the cycles of an n x n table",
        "the same for n > 2 (two cycles of a 2 x 2 table are one and its negative)",
        EQUAL,
        REPORT + "test_lenz_distinct_tables",
    ),
    Printed(
        LENZ,
        "Theorem 2: which cells can move; the example with one that cannot",
        "a positive cell moves exactly if it is no bridge of the positive cells; the example's one is",
        ERRATUM,
        REPORT + "test_lenz_bridge_example",
    ),
    Printed(
        LENZ,
        "Corollary 1: an unchanged column means an unchanged table",
        "where there are at least as many rows as columns, and nothing is blocked",
        ERRATUM,
        LENZ_LISTED + "test_corollary_1_is_false_for_fewer_rows",
    ),
    Printed(
        LENZ,
        "Lemma 1: the expected change is alpha less beta times the sum of the cycles",
        "without blocking; with equal chances under any_zero too, not under negative",
        ERRATUM,
        LENZ_LISTED + "test_lemma_1_without_blocking_only",
    ),
    Printed(
        LENZ,
        "the program of the appendix keeps all margins",
        "not where the number of rows is one more than a multiple of that of columns: transposed",
        ERRATUM,
        DESIGNS,
    ),
    Printed(LL, "Tables 3, 4: utility .9326, .9456", "the same", EQUAL, PAPER + "test_hellinger_utility"),
    Printed(LL, "Table 6: restored counts", "the same", EQUAL, PAPER + "test_true_and_restored_counts"),
    Printed(LL, "Tables 7, 8: expected inner counts", "the same", EQUAL, PAPER + "test_expected_inner_cells"),
    Printed(
        LL,
        "Tables 9, 10: probabilities of disclosure",
        "the same",
        EQUAL,
        PAPER + "test_disclosure_probabilities",
    ),
    Printed(LL, "risks .5556, .7143, .9091", "the same", EQUAL, PAPER + "test_risks"),
    Printed(
        LL,
        "rounding has two outcomes",
        "the same two, nothing else",
        EQUAL,
        PAPER + "test_rounding_has_the_two_outcomes_of_the_paper",
    ),
    Printed(
        LL,
        "cell keys: risk 0 in 49 % and .5556 in 48 % of keys; 36, 8, 51, 4 % with oneself taken off",
        ".508, .461; .376, .081, .497, .042 of 4,000 keys: within what chance moves",
        EQUAL,
        PAPER + "test_cell_keys_spread_as_in_the_paper",
    ),
    Printed(
        NISS,
        "Table 3: 35 critical widths, and their chain",
        "the same, letters reversed",
        EQUAL,
        WIDTHS + "test_order_and_chain",
    ),
    Printed(
        NISS,
        "60 sub-tables by the heuristic, three withheld",
        "the same; the empty one counts",
        EQUAL,
        OPTIMAL + "test_the_heuristic_at_every_threshold",
    ),
    Printed(
        NISS,
        "48 sub-tables by annealing",
        "the same",
        EQUAL,
        OPTIMAL + "test_annealing_finds_48_from_any_seed",
    ),
    Printed(
        NISS,
        "bounds of the car workers' table, all margins of one order",
        "the same",
        EQUAL,
        BOUNDS + "test_all_margins_of_one_order",
    ),
    Printed(
        NISS,
        "13 variables: 41,672 cells, frontiers of 351, 319, 239",
        "the recoding is not given; ours has 40,952 cells. 239 should read 223",
        BEYOND,
    ),
    Printed(
        DM,
        "Table 1: 27 chances of exact disclosure",
        "26; compensation raises the other to .46, not .42",
        ERRATUM,
        RESAMPLED + "test_table_1_of_the_paper",
    ),
    Printed(DM, "costs of drawing blindly", "the same", EQUAL, RESAMPLED + "test_costs_of_drawing_blindly"),
)
"""All of them, in the order of the sources."""


class Outcomes:
    """What became of the tests, by file and function."""

    def __init__(self) -> None:
        self.passed: dict[str, bool] = defaultdict(lambda: True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what failed."""
        name = report.nodeid.partition("[")[0]
        self.passed[name] &= not report.failed


def main() -> int:
    """Run the tests and print the table."""
    outcomes = Outcomes()
    tests = list(dict.fromkeys(f"tests/{one.test}" for one in NUMBERS if one.test))
    arguments = ["-q", "-p", "no:cacheprovider", "--no-header", "--rootdir", str(ROOT)]
    ran = pytest.main([*arguments, *(str(ROOT / test) for test in tests)], plugins=[outcomes])
    last = ""
    for one in NUMBERS:
        if one.source != last:
            print(f"\n{one.source}")
            last = one.source
        name = f"tests/{one.test}"
        if one.test and (name not in outcomes.passed or not outcomes.passed[name]):
            said = "FAILED"
        else:
            said = one.kind
        print(f"  {said:<14}{one.printed}: {one.holds}")
    return int(ran)


if __name__ == "__main__":
    sys.exit(main())
