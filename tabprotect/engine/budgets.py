"""Budgets of memory and time: how large things may become before the program says no, or goes another way.

Every limit stands here with what it protects; a module takes those it holds. Limits are counts, never
seconds of a clock, wherever a result depends on them: the same input gives the same output anywhere.
"""

# assessment
COMPARED_CELLS = 2**24  # Compared cells; beyond, only the release's own tables are compared
BELIEF_LIMIT = (
    0.95  # A count, or a change, is known to a reader who believes in one value more than this
)
MOST_PAIRED = 10**8  # Counts of all pairs of an earlier and a later original
SPREADING_PATIENCE = 0.25  # Seconds of work put into one piece, so that there is progress to see
VARIABILITY_DRAWN = 2_000  # Originals that are drawn where they cannot be listed
# Counts of all originals that are looked at together; of more, so many are drawn
VARIABILITY_COUNTS = 2**23

# bounds
BOUNDING_LISTED = 5_000_000  # Cells that `cells="all"` lists
# Open cells up to which `auto` solves integer programmes; beyond, one takes minutes
AUTO_INTEGER_CELLS = 1_500
HURRIED_INTEGER_CELLS = 100  # As many where the work is limited
AUTO_NODES = 5_000  # Branch-and-bound nodes `auto` spends on one end of one interval
COUNTING_STEPS = 20_000_000  # Transitions between states of the exact way, in all
MOST_AT_ONCE = 6_000_000  # Of these in one step, which bounds memory
MOST_TERMS = 200_000  # Different terms of inclusion and exclusion
MOST_DIGITS = 4000  # Longer numbers are not told
FIBRE_DIMENSION = 24  # Free cells of a fibre that is listed; one of more has too many tables
FIBRE_ENTRIES = 1_000_000  # Cells times sums of a fibre that is listed
FIBRE_POINTS = 1_000_000  # Tables, whole or partial, of a fibre that is listed
MOST_MOVES = 20_000  # Moves looked at for one step; what lies beyond is not tried
NEIGHBOURS_STEPS = 200  # Steps taken for one cell in one direction
DENSE_CELLS = 2**22  # Cells of the whole table up to which places are looked up in an array
# Open cells a programme is made of; a cell takes about a tenth of a second there
PROGRAMME_CELLS = 20_000
JOINED_CELLS = 100_000  # Cells of files that do not come apart, joined by an integer programme
LARGEST_TOTAL = 10**9  # Counts beyond come near the solver's tolerance
LATTICE_CELLS = 300_000  # Cells of all margins together up to which the generalised form is used
EXACT_FLOAT = 2**53  # Whole numbers, and sums, below this are exact in double precision
# Cells a support is built for; a sweep of the shuttle takes seconds there
SUPPORT_CELLS = 2_000_000
SUPPORT_ENTRIES = 160_000_000  # Cells times margins that a support is built for: four bytes each
COUNTING_DRAWS = 5_000  # Tables of importance sampling
COUNTING_AT_ONCE = 5_000  # Of these side by side, which bounds memory
COUNTING_TABLED = 1_000_000  # Totals up to which logarithms are looked up
FIBRE_AT_ONCE = 2**21  # Numbers of one block of partial tables

# bundle
MAX_ARCHIVE = 2**29  # Bytes of a zip file that is opened at all (512 MiB)
MAX_MEMBER = 2**29  # Bytes of one unpacked file
MAX_UNPACKED = 2**30  # Bytes of all unpacked files together
MAX_RATIO = 150  # Unpacked over packed size; beyond it, and above a mebibyte, a file is a bomb
MAX_DIRECTORY = 2**20  # Bytes of the zip's own list of its files
MAX_JSON = 192 * 2**20  # Bytes of a JSON file that is parsed
# Lists and objects of one JSON file: each takes some 100 bytes once it is parsed
MAX_JSON_LISTS = 8_000_000
MAX_JSON_ITEMS = 40_000_000  # Commas of one JSON file
RISK_REPORT_CELLS = 100_000  # At-risk cells that are listed one by one
SIGNATURE_LONGEST = 10_000  # Bytes of a key file
MAX_MEMBERS = 4096  # Files of one zip

# cycles.constructions
MOST_KINDS = 50_000  # Sets of axes and ways that are looked at while the minimal ones are sought
# Cells of a table that cycles are designed for: some gigabytes of cycles
DESIGNED_CELLS = 20_000_000
MOST_COMPLETED = 400  # Cells among which the moves are sought that the triangular ones leave out
# Sums of entries over margins that are looked at again when a design is done
MOST_PROVED = 10_000_000
WIDEST_STRIPS = 8  # The highest strips that are taken unasked are at most this wide: about a second
# The default design stays at most this wide in one pass (the default number of passes)
EXACT_WIDTH = 6
MOST_SWAPS = 200_000  # Swaps that are listed
SWAPS_ENTRIES = 50_000_000  # Cells of all cycles together
TRIANGULAR_WORK = 150_000_000  # Partner cells that are looked at in all; beyond, fewer choices are
TRIANGULAR_HELD = 2**22  # Partner cells that are looked at side by side

# cycles
FULL = 2**30  # The count of the cell that pads: it never blocks
# Entries of the list of neighbours; beyond, everything is looked at again after each step
MOST_NEIGHBOURS = 2**23
# Bases up to this size are reduced; larger ones come short enough out of the elimination
MOST_REDUCED = 150
MOST_SUMS = 2_000  # Sums of moves that are tried to make a cycle of one vector of a basis
LONGEST_NAMED = 8  # Sums that are named, and cells of one
# More entries than this are refused when a mechanism or a file is read
MAX_CYCLE_CELLS = 50_000_000
# Coefficients joined to one that is eliminated: 3^14 entries take a fifth of a second
MAX_WIDTH = 13
MAX_HELD = 2**26  # Entries of all tables of one component, held between two sweeps (512 MiB)
MAX_WORK = 2**31  # Entries over all components: about a minute
WIDTH_VARIABLES = 50_000  # Steps of one component (one table each)
ALGEBRA_WORK = 20_000_000  # Row operations after which a rank is called too large to compute
ALGEBRA_OUTCOMES = 300_000  # Outcomes of a cycle set that are listed to be counted

# engine
DATABASE_PATIENCE = 10  # Seconds to wait for a database that somebody else is writing to
SOLVER_PATIENCE = 0.2  # Seconds that a cancelled integer programme has to notice

# disclosure
# Of the settings that were tried a refusal names the best: the others rarely pass
MOST_REMEDIES = 3
# Nominal microseconds of the trials of one method, its other settings among them: some ten seconds.
# Beyond, the method is not tried
TRIAL_WORK = 1e7
ATTEMPTS_JUDGED = 300  # Draws that are judged to learn how likely an original is refused
INSIDERS_WORK = 200_000_000  # Cells of all originals, for each insider: about a second
# Sums beyond are not whole numbers to the last place here: nothing is proved from them
EXACT = 2.0**50
# Cells of all tables that are tried for one estimate, beyond the least number
GATE_CHANCE_WORK = 10_000

# fitting
# Share of inner cells that must be open for whole margins to be faster than listed cells
DENSE = 0.3
EXPECTED_SWEEPS = 1000  # Sweeps of one fit of expected cells
FITTED_CELLS = 2**24  # Inner cells that are fitted in full

# formats
ENGINE_GROUPS = 20_000_000  # Groups of records that an engine hands over
CROSSTAB_CELLS = 200_000  # Of a table that a workbook also lays out for people
LAID_OUT_BYTES = 2**26  # Of a file with title lines or marks, which is held as a whole
# Of a table that is looked through for totals by arithmetic, laid out by one variable
FOUND_TOTALS_CELLS = 2**23
CELL_LIST_CATEGORIES = 1_000_000  # Of one variable
FULL_LIMIT = 2**24  # Sparse tables beyond this many cells are written without their zeros
CSV_TEXT_BLOCK = 64  # Lines that are written together, at least
MOST_WORDS = 32  # Of a label; longer ones are read row by row
MOST_TEXT = 2**29  # Bytes of a text file that is read at once (512 MiB)
SHEET_WRITING_ROWS = 2**20 - 1  # Of a sheet, below its header
WORKBOOK_SIZE_CELLS = 2**26  # From the first to the last, empty ones too (about 2 GiB)
WORKBOOK_SIZE_BYTES = 2**31  # Of all parts of a workbook, unpacked
# Unpacked over packed size of a part, above `SOUND_BYTES`; beyond it the part is a bomb
MOST_RATIO = 400
ACRO_BYTES = 2**28  # Bytes of a results file of ACRO
RDA_BYTES = 2**22  # Bytes of a tau-ARGUS description
TEXT_BLOCK_FIELDS = 400_000  # Fields of the rows that are read at once

# microdata
MOST_WEIGHT = 10**9  # The largest design weight of a record
CLUSTER_PATIENCE = 10.0  # Seconds in which a scheduler must answer
MOST_FILES = 10_000  # Files that one pattern of records names

# posterior.adaptive
# Limits of the exact way: tables, steps between two of them, and products in all
MOST_APPLIED = 2_000_000_000
ADAPTIVE_WALK_BLOCK = 64  # Masses that are added up before one of them is drawn
# Masses (cycle, coin, draw) of one population, which bounds its memory
ADAPTIVE_WALK_ENTRIES = 2**22
ADAPTIVE_WALK_SPAN = 1000  # Changes of a count that the guide tells apart
# Masses looked at by one estimate unless a number of draws is asked for (about a minute)
INFER_ADAPTIVE_UPDATES = 8 * 10**9
ADAPTIVE_TABLES = 40_000  # Tables of one step that are listed
ADAPTIVE_EDGES = 4_000_000  # Steps between two of them, in all
ADAPTIVE_AT_ONCE = 2**22  # Entries (table, cycle, cell) looked at side by side
ADAPTIVE_DRAWS = 20_000  # Draws where none are asked for

# posterior
BLOCK_CELLS = 2**22  # Cells of the tables held at once
COLUMNS_ROWS = 200_000_000  # Rows of the long form: some 8 GB
JOINT_HELD = 2**24  # Counts of all originals that are weighed
MOST_RERUNS = 20_000  # Originals that a mechanism as a whole is asked about
MAX_COUNT = 2**53  # Counts in a prior's file beyond this are typing errors
JOINT_DRAWS = 20_000  # Originals drawn where several releases are weighed together
LOG_LINEAR_SWEEPS = 500  # Sweeps of one fit of a log-linear model
# Parameters whose sampling error is worked out: their information is a matrix of this size
LOG_LINEAR_PARAMETERS = 400
SUMS_DRAWS = 20_000  # Draws where the laws of sums are not exact

# posterior.factors
MOST_COUNTS = 2**22  # Counts that one law may have
# Entries (row, count) of a part times its cells up to which its originals are counted for sums
PART_SUMS_COUNTED = 1_000_000
PART_SUMS_LISTED = 2**22  # Counts of all originals of a part that are listed for the law of a sum
# Entries (row, count) of a table of distributions: 256 MiB, and figures take some of these
CELLWISE_ENTRIES = 2**25
CHAIN_HELD = 2**25  # Counts held in all: 256 MiB, and figures of them take some of these
# Entries (cell, count) of the distributions; adding them up takes several of their size
CHAIN_ENTRIES = 3 * 2**23
# Cells that hang together and lie in two sums each (a two-way table): some ten seconds
CHAIN_CELLS = 20_000
# Cells where they lie in more: finding first originals takes integer programmes
MOST_TANGLED = 2_000
CHAIN_UPDATES = 3 * 10**8  # Cell updates by sweeps over the table in one run
# Nominal microseconds of chains whose work is limited: some ten seconds
CHAIN_WORK = 1.4e7
MOST_ROUNDS = 200  # Rounds of narrowing; stopping early only leaves the bounds wider
COMPONENTS_WEIGHTS = 2**25  # Log weights of all cells' counts that are held: 256 MiB
CONVOLUTION_WORK = 2 * 10**9  # Multiplications
CONVOLUTION_HELD = 2 * 10**7  # Numbers held
MOST_ADDED = 3 * 10**7  # Additions of whole numbers of any size: some seconds
CONVOLUTION_EXACT_FLOAT = 2.0**52  # Whole numbers below this are exact as floats
EVEN_SHARES_CELLS = 10_000  # Of a number that is worked out
FEASIBLE_ENTRIES = 2_000_000  # Cells of all sums together up to which a programme is solved
STEPS_OF_A_TABLE = 4  # Transitions between states that cost as much as one table that is listed
# Transitions between states that are kept; about 100 bytes each at the peak
RESIDUAL_SUMS_STEPS = 4_000_000
RESIDUAL_SUMS_HELD = 2**25  # Numbers that the open sums of one layer's transitions hold: 256 MiB
REWEIGHING_CELLS = 20_000  # Unknown cells of an original that is weighed
REWEIGHING_HELD = 2**24  # Counts of all weighed originals, and entries of their distributions
MOST_ORIGINALS = 200_000  # Originals that are listed one by one
MOST_TRIES = 200  # Walks before a circuit is given up
FACTOR_DRAWS = 20_000  # Independent draws where Monte Carlo is asked for though an exact way exists
FEASIBLE_NODES = 1_000  # Branch-and-bound nodes for an original in whole numbers
# Work for all weighing, in nominal microseconds, by the cost of the first calls
REWEIGHING_WORK = 2e7
REWEIGHING_DRAWS = 5_000  # Originals drawn where they cannot be listed

# posterior.moves
# Entries (coefficients, sum) that the exact law of one sum of cells may cost: some seconds
SUM_ENTRIES = 2**27
# Steps of one component up to which its order of elimination is kept, some kilobytes each, and
# number of such orders
KEPT_PLAN_VARIABLES = 500
KEPT_PLANS = 128
SUM_HELD = 2**24  # Entries of its largest table (128 MiB)
SUMS_LISTED = 2**27  # Entries (original, sum) where the laws of sums are read off listed originals
# Entries that the exact laws of all sums of one table may cost: about half a minute
SUMS_WORK = 2**30
# Limits of the count of originals: tables per component, and entries handled in all
ENUMERATION_WORK = 20_000_000
INFER_MOVES_LISTED = 2**24  # Counts of all listed originals
# Entries (cycle or group, draw) of one population, which bounds its memory
SAMPLING_ENTRIES = 2**23
# Cell updates of one estimate unless a number of draws is asked for (about a minute)
SAMPLING_UPDATES = 10**9
MAX_SPAN = 10_000  # Largest change; counts along a walk fit int16
MAX_TABLE = 2**27  # Entries (group, change) of a table of distributions: 1 GiB
BATCH_HELD = 2**24  # Entries that components side by side may hold together
ENUMERATION_TABLES = 100_000  # Tables of one component
SAMPLING_DRAWS = 20_000  # Draws where none are asked for

# project
# Memory of what is kept for undo (512 MiB); the oldest snapshots beyond it are forgotten
SNAPSHOT_BYTES = 2**29
# Arrays of older snapshots beyond it are not saved (128 MiB): those steps keep their names
SAVED_BYTES = 2**27

# project.verbs
MOST_RUNS = 10_000  # Runs of one setting: more say nothing new
# Cycle sets for tables of up to so many cells are designed at once
CYCLE_VERBS_QUICK_CELLS = 20_000

# protection.cell_keys
# With more inner cells or totals hardly a drawn original gives all totals: nothing comes of it
MOST_TOTALS = 8
# Possible true counts of all different estimates together: 256 MiB of weights
MOST_POSSIBLE = 2**25
KEYED_TOTALS_CELLS = 9  # Inner cells behind published totals that are followed
PERTURBATION_ROWS = 5_000_000  # Rows of a perturbation table

# protection.margins
MOST_TIGHT = 20  # Tight cells that are listed

# protection
# Published cells (or inner ones, if more) the trial runs of a preview may produce
METHOD_PREVIEW_WORK = 1_000_000
# Inner cells up to which totals go into a posterior beside published inner cells
PUBLISHED_SUMS_JOINED = 500
# Inner cells times margins that are followed, at some 50 bytes each
PUBLISHED_SUMS_ENTRIES = 40_000_000
MOST_PUBLISHED = 20_000_000  # Cells of all published sub-tables together
CHOOSING_WORK = 5_000_000  # Cell updates that the trials of one design may cost
# Cells up to which the rank of a design that does not prove its own is worked out
OFFERS_RANKED = 5_000

# protection.methods
# Steps up to which the exact probability of a release is offered (some seconds)
BINOMIAL_COMPENSATED_WORK = 3e8
# Numbers of records weighed for one draw: about a second, and a preview takes several draws
MOST_WIDTH = 2_000_000
# Cells of the original up to which readers are taken to run the rounding themselves
CONTROLLED_ROUNDING_RERUN = 36
# Entries of a sequence that is not whole passes over the list: about a gigabyte
CYCLIC_PERTURBATION_ENTRIES = 50_000_000
CYCLIC_PERTURBATION_PREVIEW_WORK = 30_000_000  # Cell updates the preview may cost (about a second)
# Possible counts, over all cells, up to which each is weighed on its own
POST_RANDOMISATION_WEIGHTS = 2_000_000
# Inner cells up to which readers are taken to judge the margins for every original that fits
MOST_JUDGED = 12
PUBLISH_MARGINS_ENTRIES = 5_000_000  # Inner cells times margins up to which there is a posterior
MOST_PERMUTED = 6  # Inner cells up to which all permutations of them are tried
# Inner cells up to which readers are taken to run the rounding themselves
SMALL_COUNT_ROUNDING_RERUN = 24
# Inner cells up to which what is known of their total goes into the posterior
SMALL_COUNT_ROUNDING_JOINED = 2_000

# protection.private_noise
MOST_BITS = 57  # Of a denominator: that times a loop's counter stays within 63 bits
NOISY_COUNTS_WEIGHTS = 2**25  # Weights of all different published counts together: 256 MiB

# protection.resampling
MOST_PUT_RIGHT = 2_000_000  # Counts that a cell may move by at most
TRANSITIONS_STEPS = 2_000_000  # Array elements that the exact probability of one block may touch
TRANSITIONS_CELLS = 400  # Cells of a block whose probability is estimated
TRUNCATED_SPAN = 20_000_000  # Sums that one count may take at most
# Possible true counts, over all different published ones, up to which they are weighed
TRUNCATED_WEIGHTS = 5_000_000

# protection.rounding
# Branch-and-bound nodes for the best rounding where nothing else is said; a count and not a time,
# so that the answer does not depend on the machine
CONTROLLED_PROGRAMME_NODES = 100
# Counts between multiples times the sums they enter that are taken on: some 300 bytes each
CONTROLLED_PROGRAMME_ENTRIES = 50_000_000
MOST_KEYS = 500_000_000  # Inner cells times margins that rounding takes on, at four bytes each
# Inner cells times margins up to which a reader's knowledge is followed through zeros too
ROUNDING_LAID_OUT = 5_000_000

# protection.suppressing
# Published numbers up to which cutting planes are tried: beyond, programmes take too long
MOST_IN_PLANES = 3_000
GIVEN_STATUSES_LONGEST = 50_000_000  # Characters of a file at most
# Boxes that are looked at together; kinds of boxes of which there are more are left out
MOST_BOXES = 50_000
# Branch-and-bound nodes an integer programme may take; a count, so that no clock decides
LINEAR_MOVES_NODES = 200
# Nominal microseconds (`solver.solver_work`) that integer programmes may take in all
LINEAR_MOVES_WORK = 3e6
PATTERN_LISTED = 20  # Cells an error lists
LARGEST_FLOW = 2**31 - 1  # The maximum flow is computed in int32
# Boxes times published numbers up to which all boxes are listed once and for all
HYPERCUBES_LISTED = 500_000

# query_space
CACHE_BYTES = 256 * 2**20  # Margin counts at the at-risk cells that are kept at hand, at most
# Lines of a table server's log that are read at once
ENTRIES_BLOCK = 10_000
# Lines after which its state is kept again, so that a start folds no more than these
SNAPSHOT_LINES = 1_000
LATTICE_VARIABLES = 40  # What the source aims at; a bit set stays a small integer
# Variables up to which every sub-table is listed; beyond, ask for those above a threshold
MAX_LISTED = 20
WORKERS_PATIENCE = 10.0  # Seconds to wait for a scheduler to answer
# Of a table whose originals are drawn: each draw is judged as a whole
DRAWN_ORIGINALS_CELLS = 4_096
FITTED_TABLE_CELLS = 2**22  # Cells of a table that is fitted in full to released margins
FITTED_TABLE_SWEEPS = 200  # Sweeps of that fit

# Cells times sub-tables up to which critical widths are worked out with structural zeros
TIED_CELLS = 2**14

# query_space.criteria
POSSIBLE_CELLS = 2_000  # Cells of a table whose possible originals are listed
POSSIBLE_TABLES = 100_000  # Tables with the released margins that are listed to price a refusal
POSSIBLE_HELD = 2**22  # Counts of all of them together
# Cells left open by a part of a release up to which it is worked out without being told to
EXACT_CELLS = 20_000
# As many where one of many releases of a table larger than that is looked at
WIDTH_QUICK_CELLS = 100
# Nominal microseconds (`solver.solver_work`) of programmes for a judgement that somebody waits for
WIDTH_QUICK_WORK = 1e6

# query_space.optimal
# Nominal microseconds (`solver.solver_work`) of programmes after which wishes stay undecided
TOGETHER_WORK = 5e6
EXHAUSTIVE_VARIABLES = 7  # 617,675 chordal graphs; with eight variables there are 30,888,596
ANNEALING_PROPOSALS = 100_000  # Edges proposed in all, over every start

# register
# Bytes of a bundle that is kept beside its entry, so that releases can be read together
MOST_KEPT = 2**26

# release

# report
GRIDS_CELLS = 600  # A larger table is not printed: it is in the files
MOST_TABLES = 8  # Tables that are printed; further ones are in the files

# tables
DOMAIN_CELLS = 2**62  # A mixed-radix cell key must fit int64
DOMAIN_CATEGORIES = 10_000_000  # Of all variables together
DOMAIN_PROJECTIONS = 4096  # Domains of margins that a domain remembers
DENSE_LIMIT = 2**27  # Cells a dense array may have (1 GiB); larger tables stay sparse
FORMULA_TERMS = 100_000  # Terms of a formula
FORMULA_BRACKETS = 100  # Brackets inside each other

# the window
# Milliseconds that cancelled work may take to stop before the window goes on without it
JOBS_PATIENCE = 300
CLIPBOARD_CELLS = 2_000_000  # Cells that one copy may hold; a clipboard is not a file
REBUILT_CELLS = 20_000  # Cells up to which a table is rebuilt from its margins for comparison
SESSION_ANSWER_CELLS = 5_000  # Cells of an answer that are listed

# the table server, for outside users
ACCOUNTS_REMEMBERED = 10_000  # Keys that were found good a moment ago
MOST_CLIENTS = 100_000  # Clients that are counted; the ones seen least recently are forgotten first
ATTACK_JOINED = 200_000  # Cells of two answers joined
