"""Budgets of memory and time that a house may set for its machines.

Each is listed with what it protects; limits that follow from how something is computed are in the
module that they limit. Limits are counts, never seconds of a clock, wherever a result depends on
them: the same input gives the same output anywhere.
"""

# assessment
COMPARED_CELLS = 2**24  # Compared cells; beyond, only the release's own tables are compared
BELIEF_LIMIT = (
    0.95  # A count, or a change, is known to a reader who believes in one value more than this
)

# bounds
COUNTING_DRAWS = 5_000  # Tables of importance sampling

# bundle
MAX_ARCHIVE = 2**29  # Bytes of a zip file that is opened at all (512 MiB)
MAX_MEMBER = 2**29  # Bytes of one unpacked file
MAX_UNPACKED = 2**30  # Bytes of all unpacked files together
MAX_JSON = 192 * 2**20  # Bytes of a JSON file that is parsed
# Lists and objects of one JSON file: each takes some 100 bytes once it is parsed
MAX_JSON_LISTS = 8_000_000
MAX_JSON_ITEMS = 40_000_000  # Commas of one JSON file
RISK_REPORT_CELLS = 100_000  # At-risk cells that are listed one by one

# cycles.constructions
# Cells of a table that cycles are designed for: some gigabytes of cycles
DESIGNED_CELLS = 20_000_000

# cycles
# More entries than this are refused when a mechanism or a file is read
MAX_CYCLE_CELLS = 50_000_000

# engine
DATABASE_PATIENCE = 10  # Seconds to wait for a database that somebody else is writing to

# disclosure
# Of the settings that were tried a refusal names the best: the others rarely pass
MOST_REMEDIES = 3
# Nominal microseconds of the trials of one method, its other settings among them: some ten seconds.
# Beyond, the method is not tried
TRIAL_WORK = 1e7
ATTEMPTS_JUDGED = 300  # Draws that are judged to learn how likely an original is refused

# fitting
FITTED_CELLS = 2**24  # Inner cells that are fitted in full

# formats
MOST_GROUPS = 20_000_000  # Groups of records that an engine hands over
CROSSTAB_CELLS = 200_000  # Of a table that a workbook also lays out for people
LAID_OUT_BYTES = 2**26  # Of a file with title lines or marks, which is held as a whole
MAX_CATEGORIES = 1_000_000  # Of one variable
FULL_LIMIT = 2**24  # Sparse tables beyond this many cells are written without their zeros
MOST_TEXT = 2**29  # Bytes of a text file that is read at once (512 MiB)
WORKBOOK_SIZE_CELLS = 2**26  # From the first to the last, empty ones too (about 2 GiB)
WORKBOOK_SIZE_BYTES = 2**31  # Of all parts of a workbook, unpacked
ACRO_BYTES = 2**28  # Bytes of a results file of ACRO

# microdata
CLUSTER_PATIENCE = 10.0  # Seconds in which a scheduler must answer
MOST_FILES = 10_000  # Files that one pattern of records names

# posterior
COLUMNS_ROWS = 200_000_000  # Rows of the long form: some 8 GB

# posterior.factors
# Nominal microseconds of chains whose work is limited: some ten seconds
CHAIN_WORK = 1.4e7
FACTOR_DRAWS = 20_000  # Independent draws where Monte Carlo is asked for though an exact way exists
# Work for all weighing, in nominal microseconds, by the cost of the first calls
REWEIGHING_WORK = 2e7

# posterior.moves
# Cell updates of one estimate unless a number of draws is asked for (about a minute)
SAMPLING_UPDATES = 10**9

# project
# Memory of what is kept for undo (512 MiB); the oldest snapshots beyond it are forgotten
SNAPSHOT_BYTES = 2**29
# Arrays of older snapshots beyond it are not saved (128 MiB): those steps keep their names
SAVED_BYTES = 2**27

# protection.cell_keys
PERTURBATION_ROWS = 5_000_000  # Rows of a perturbation table

# protection
# Published cells (or inner ones, if more) the trial runs of a preview may produce
METHOD_PREVIEW_WORK = 1_000_000
MOST_PUBLISHED = 20_000_000  # Cells of all published sub-tables together

# query_space
CACHE_BYTES = 256 * 2**20  # Margin counts at the at-risk cells that are kept at hand, at most
# Variables up to which every sub-table is listed; beyond, ask for those above a threshold
MAX_LISTED = 20
WORKERS_PATIENCE = 10.0  # Seconds to wait for a scheduler to answer

# register
# Bytes of a bundle that is kept beside its entry, so that releases can be read together
MOST_KEPT = 2**26

# tables
DENSE_LIMIT = 2**27  # Cells a dense array may have (1 GiB); larger tables stay sparse

# the window
CLIPBOARD_CELLS = 2_000_000  # Cells that one copy may hold; a clipboard is not a file
