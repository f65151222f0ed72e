"""PX files by the specification of AXIS-VERSION 2013 (Statistics Sweden)."""

from __future__ import annotations

from pathlib import Path

from stated import Said, opened, put, states

HEAD = 'CHARSET="ANSI";\nAXIS-VERSION="2013";\nCODEPAGE="utf-8";\nLANGUAGE="en";\nDECIMALS=0;\n'
AXES = 'STUB="sex";\nHEADING="region";\nVALUES("sex")="men","women";\nVALUES("region")="North","South";\n'
CELLS = {("men", "North"): 5, ("men", "South"): 6, ("women", "North"): 7, ("women", "South"): 8}


def px(folder: Path, more: str = "", axes: str = AXES, data: str = "5 6\n7 8") -> Path:
    return put(folder, "t.px", f"{HEAD}{axes}{more}DATA=\n{data};\n")


@states("px", '`UNITS="persons"`')
def unit(folder: Path) -> Said:
    return opened(px(folder, 'UNITS="persons";\n'), CELLS)
