"""Budgets of memory and time that a house may set for its machines.

Each is listed with what it protects; limits that follow from how something is computed are in the
module that they limit. Limits are counts, never seconds of a clock, wherever a result depends on
them: the same input gives the same output anywhere.
"""

# assessment
COMPARED_CELLS = 2**24  # Most compared cells; beyond, only the release's own tables are
BELIEF_LIMIT = 0.95  # Belief in one value above which a reader knows a count, or a change

# bounds
COUNTING_DRAWS = 5_000  # Tables drawn by importance sampling

# bundle
MAX_ARCHIVE = 2**29  # Most bytes of a zip file that is opened (512 MiB)
MAX_MEMBER = 2**29  # Most bytes of one unpacked file
MAX_UNPACKED = 2**30  # Most bytes of all unpacked files together
MAX_JSON = 192 * 2**20  # Most bytes of a JSON file that is parsed
# Most lists and objects in one JSON file: each takes some 100 bytes once it is parsed
MAX_JSON_LISTS = 8_000_000
MAX_JSON_ITEMS = 40_000_000  # Most commas in one JSON file
RISK_REPORT_CELLS = 100_000  # Most at-risk cells listed one by one

# cycles.constructions
# Most cells of a table for which cycles are designed: some gigabytes of cycles
DESIGNED_CELLS = 20_000_000

# cycles
# Most entries of the cycles that a mechanism or a file may state
MAX_CYCLE_CELLS = 50_000_000

# engine
DATABASE_PATIENCE = 10  # Seconds to wait while somebody else writes to a database

# disclosure
# Most settings named by a refusal, the best of those tried: the others rarely pass
MOST_REMEDIES = 3
# Nominal microseconds of the trials of one method, with its other settings: some ten seconds.
# A method that takes more is not tried
TRIAL_WORK = 1e7
ATTEMPTS_JUDGED = 300  # Draws judged to learn how likely the gate refuses an original

# fitting
FITTED_CELLS = 2**24  # Most inner cells fitted in full

# formats
MOST_GROUPS = 20_000_000  # Most groups of records that an engine hands over
CROSSTAB_CELLS = 200_000  # Most cells of a table that a workbook also lays out for people
LAID_OUT_BYTES = 2**26  # Most bytes of a file with title lines or marks: it is held as a whole
MOST_COLUMNS = 2**14  # Most columns of a table in rows of text, as of a workbook
MAX_CATEGORIES = 1_000_000  # Most categories of one variable
FULL_LIMIT = 2**24  # Sparse tables beyond this many cells are written without their zeros
MOST_TEXT = 2**29  # Most bytes of a text file that is read at once (512 MiB)
WORKBOOK_SIZE_CELLS = 2**26  # Most cells of a workbook, first to last, with empty ones (about 2 GiB)
WORKBOOK_SIZE_BYTES = 2**31  # Most bytes of all parts of a workbook, unpacked
ACRO_BYTES = 2**28  # Most bytes of a results file of ACRO

# foreign
READER_MEMORY = 2**32  # Bytes that the reader of a foreign file may take (4 GiB), beside
READER_MEMORY_TIMES = 100  # so many times the size of the file
READER_SECONDS = 8  # Processor seconds that it may take, beside
READER_SECONDS_PER_MEGABYTE = 2  # so many for each mebibyte of the file

# microdata
CLUSTER_PATIENCE = 10.0  # Seconds within which a scheduler must answer
MOST_FILES = 10_000  # Most files matched by one pattern of records

# posterior
COLUMNS_ROWS = 200_000_000  # Most rows of the long form: some 8 GB

# posterior.factors
# Nominal microseconds of chains whose work is limited: some ten seconds
CHAIN_WORK = 1.4e7
FACTOR_DRAWS = 20_000  # Independent draws if Monte Carlo is asked for though an exact way exists
# Nominal microseconds of all weighing, by the cost of the first calls
REWEIGHING_WORK = 2e7

# posterior.moves
# Most cell updates of one estimate if no number of draws is asked for (about a minute)
SAMPLING_UPDATES = 10**9

# project
# Most bytes kept for undo (512 MiB); the oldest snapshots beyond it are forgotten
SNAPSHOT_BYTES = 2**29
# Most bytes of snapshots saved (128 MiB); of older steps only the names are saved
SAVED_BYTES = 2**27

# protection.cell_keys
PERTURBATION_ROWS = 5_000_000  # Most rows of a perturbation table

# protection
# Most published cells (or inner ones, if more) that the trial runs of a preview produce
METHOD_PREVIEW_WORK = 1_000_000
MOST_PUBLISHED = 20_000_000  # Most cells of all published sub-tables together

# query_space
CACHE_BYTES = 256 * 2**20  # Most bytes of cached margin counts at the at-risk cells
# Most variables for which every sub-table is listed; beyond, ask for those above a threshold
MAX_LISTED = 20
WORKERS_PATIENCE = 10.0  # Seconds to wait for a scheduler to answer

# register
# Most bytes of a bundle kept beside its entry, so that releases can be read together
MOST_KEPT = 2**26

# tables
DENSE_LIMIT = 2**27  # Most cells of a dense array (1 GiB); larger tables stay sparse

# the window
CLIPBOARD_CELLS = 2_000_000  # Most cells in one copy; a clipboard is not a file
