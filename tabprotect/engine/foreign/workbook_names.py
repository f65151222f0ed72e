"""What stands in workbooks and messages: our own sheets, what is shown where a formula failed, data sets."""

import re

LIST_SHEET = "List of cells"
"""The sheet with a row for each cell, which is read back; the one for people stands before it."""

FAILED = re.compile(r"#(DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|GETTING_DATA)|Err:5[0-9]{2}")
"""What a spreadsheet shows where a formula failed."""

NO_RESULT = "#FORMULA!"
"""In place of a formula that nobody has worked out: programs other than spreadsheets store none."""

DATA_SET = "DataSet"
"""What stands for each data set of a message among its texts."""
