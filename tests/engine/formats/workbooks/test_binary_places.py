"""Hidden and merged places and failed formulas of .xls (as xlwt writes it) and .xlsb (by MS-XLSB)."""

from __future__ import annotations

import base64
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import read_table

XLS = {
    "row": (
        "c-rk)O=uHA6#iy+lQc0+lbRM9A%uWcYcJwKFEuJ^Pll=oMFdT4w52tXH3jvc)taLqcv8F+dht^A;tzVzn+Kty2caM&dh{eHc"
        "xbb}c{{6#=For^EAxeU^X9$zc3yVg%+BuX`B-J<L86LZumdJ)P7wY&o1hZ(8c~qnair?iZB!hMRfS+1O{Cw4r|qu-at`HuS7"
        "G43^@1eufyyzQMYdSTr&bWVIfk5&F$|CtxI>l*dN`_1mM2-RWqFT#K4ZC)E!SBNP~VC;iup{oZ@bFkBSxBi5y<O4V$K3vwxA"
        "0yWfot)A>6(`?6Svl6aS_oX@xNhnzzAxA#dj<Du~kr&f=?+0={@F^?6F$SJo~-_HT{$Kok2-!vdz@oZtj6Ba8)8dMxb8m2!*"
        "NhBed*xXaScpB^g~$bT+>-bcw_oGg^6&KB*`D5b?2DyOJ@s5n^~4auFFS9Y{vWw&$2he?j0gY_8aeU$d@#k-&1>>nP=9B0cE"
        "@8<5Fzg~t32UjG6$PxDVSju?&n6a7VRle#v))Oq_)RXGop)RHDo8~^(*xO6vY-PO7Y^c*Wl3xCF;Bm72F|&#Exxwni_}sh94"
        "AS%r8X>;?O`~7*i`%y(o@BgQsQuwR%bwr%iZ&yvVt3SotpiI4u^MCPw&dLrKU#*mSCTE7um!VC)n71M-nUDJY)N*vVjFerlw"
        "unVY<FgSifu4Eq1a}Vu}x<C729kW+hlf9v8^U-tATAbjBPPHEl&hSCmzZ$X@C8R5HvJ2G&D3cG&EKd1fOi(bG)Ta^?vozA;0"
        "S^QK{+AB>ycAqDa3Iy_oJrfodBUTFRep_=I;Yu}qHly-?yXjc#Kc!yLzW%lS)hdZPaSESnhpb4#ez@oTNb`IpE44h~Dz8U"
    ),
    "column": (
        "c-rk)O=uHA6#iy+^V>8(H7ztk2m!0sUc`f5>Z+(c8LA!>5j3^Ymexep6jV^FHAg}8q<AUx;-%`vAM~I%4?;x`LP1FE(UYLyq"
        "0Rc{WmXf-p#d#b_6zgo&71e_yzIQ0o!vKcvGVl8L<PTKJ9Jd-0K9cJK_%ccqM&};ma0?xsn{<5DFpm9kzNm;wZHbsIh6BVfr"
        "bahOOn7xDo1e!nL<97T0!jM7_vgf&`(m}E?L6p=BPSYo?y9#<$d;i&T<D^uCweX-?BJ@IWyC{O=a<6EzNyl$m>34&OBQ-qZ6"
        "-W7GJ(0YQ7%qv_`YztFt3%gfIh|w}D(fXJyCBh|>hl;H#YizBnuOMas3WtX+WY-x}?{CiYvJ0ZhU^&Iw*Z2=lt^F|a#Z%r0U"
        "p+NkBLElVqRYP682{<FDr9!mbgM7~IMreGCEC@oG?IZ5q<g^A)wQ0~;cvZD<vyPY#WL~<Ar)?=LaQQEr~?|pu|Z)ngw#+FIm"
        "&1J3$tdn8F#udp3T_nD=-fWBT69HP7Jv}UC{JngIO)RhSC~H|yu#A%@)jflqO4&QbKG(RnhsNE)cxSG!(>IV_`n3N^vb11sB"
        "z<<Eav?tZ-ke67o=L+Tk-!xCM4z~GTjHtd)I#kSA6Rz(ws-iosEXZI54s4J5M(vRveuG!OZ;eQ>fTAVXu=lE)|J0tw!Dv*G}"
        ")5uF2&ZGu(bwuZKgbmtuZ^H*m@JT&TOw@>kVV;%uXt{(S&U@u#JYX4Q8k12|???BN-;`w?7et3l}b2xNzaZg^Se;!6(_;x!q"
        "8wc&~ctkl%Hds8rq0B>ycApg_MOy_oJno@xu{Tgsm<c!YB;u}qHhy-?y1jc#EKLmbCg%lS)hcB20OESnhpb4#ez@vE)G`IpE"
        "44oSq;GX"
    ),
    "merged": (
        "c-rk)O=uHA6#iy^@<*B`H7ztk2m!0sUc`f5YO1I`8LA!>5j3^Yme#Dq6x4%OYmS28N%2zX#Y@$TKPaL%4?;x`LP1CrPo4w?4"
        "{g>rZ)YW`IW(Z9%6`kddGltzeX}!fW@q=!e5^9_AW_9K?1YY*9fYsWCMX5nLKIYQ+fsG&043YQKZRg`Ceml(Y1?bRoI^R^Rc"
        "N?xyd(*Hq;w2tk+ll>)GA^(_aP@_ANolO+#yQ@-Q24VmM2-RV|kBTK4Uq+mg_A0scl6Z#e62)yF*3s5iQMi5y<;KV$K3vwxS"
        "cSWE5Y%A)K}*b`{5R6Kk^~X@oHgnzzAxAz#c*R1l{LoW*xL1$=W?>Wh?TUtPNZ*?%<J{Y~sQH3OJ}eS!nLj4&2-Sz};Nu9RE"
        "EcHVCN&ay1#Pmfszsy~-MZ&L7ElZ6t6!x>7asGPNmrBTWcS(ByFkld+xWk(xUb{j{0nB)lBS&wntM``a~y!-X-{^6m_akfnH"
        "Ztm>)8)P?O<BDVuIl?t2OWEIEW^7@3mG8Qq^#sc}wWPdfs8cEXrn${EuI(W|+ZgXM8|(B<q?f-Oc$_SM%4{ZmZm@bWKKDK|g"
        "ES4w2=V1LjXu#QZr_r4l5umP_J<EFyMNm&0$Nn{-BvHQb}S*pYK)~*lA|Mjl{7V0k}aCB1+z`nUNBpZ&LvHjB)dzowPoz*^n"
        "9A~ExFFT7>cVgH=($C6VEzxeTuC&c-EPnRBWS(XQR%u(csx&ZkkG;c|>)t0Y43&5ws3GWObnKln{ak4<0;t@ZiCNhqVjACtK"
        "$nZ>UqfPknUA|2j*QYTj>>{}u;f(N&@k)4eEAUc`l#;-?FyaPK8n$Z`J{N*pHdMT}#Z`!U{f{L*)csDGXn6Qh4_3AO6K)=EG"
        "Bvj3kzb=7V"
    ),
}
"""Workbooks of xlwt 1.3: region, sex, count; the third row or the second column hidden, or regions merged."""
ROWS = [
    ["region", "sex", "count"],
    ["North", "m", 5],
    ["North", "f", 6],
    ["South", "m", 7],
    ["South", "f", 8],
]
COUNTS = [[5, 6], [7, 8]]


def xls(folder: Path, name: str) -> Path:
    path = folder / "t.xls"
    path.write_bytes(zlib.decompress(base64.b85decode(XLS[name])))
    return path


def record(kind: int, data: bytes = b"") -> bytes:
    def varying(number: int) -> bytes:
        low, rest = number & 0x7F, number >> 7
        return bytes([low | 0x80]) + varying(rest) if rest else bytes([low])

    return varying(kind) + varying(len(data)) + data


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def cell(column: int, value: object) -> bytes:
    head = struct.pack("<II", column, 0)
    if isinstance(value, str):
        return record(3, head + b"\x07") if value.startswith("#") else record(6, head + wide(value))
    return record(5, head + struct.pack("<d", value)) if isinstance(value, int) else b""


def xlsb(
    folder: Path,
    rows: Sequence[Sequence[object]],
    hidden: tuple[int, int] = (-1, -1),
    merged: Sequence[tuple[int, ...]] = (),
) -> Path:
    sheet = record(129) + record(148, struct.pack("<IIII", 0, len(rows) - 1, 0, 2))
    if hidden[1] >= 0:
        sheet += (
            record(390) + record(60, struct.pack("<IIIIH", hidden[1], hidden[1], 2304, 0, 1)) + record(391)
        )
    sheet += record(145)
    for at, row in enumerate(rows):
        sheet += record(0, struct.pack("<IIHBBBI", at, 0, 300, 0, 0x10 * (at == hidden[0]), 0, 0))
        sheet += b"".join(cell(column, value) for column, value in enumerate(row))
    sheet += record(146) + b"".join(record(176, struct.pack("<IIII", *span)) for span in merged) + record(130)
    bundle = record(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Data"))
    book = record(131) + record(143) + bundle + record(144) + record(132)
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    link = '<Relationships xmlns="{}"><Relationship Id="rId1" Type="{}/{}" Target="{}"/></Relationships>'
    path = folder / "t.xlsb"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("_rels/.rels", link.format(links, office, "officeDocument", "xl/workbook.bin"))
        made.writestr("xl/workbook.bin", book)
        made.writestr(
            "xl/_rels/workbook.bin.rels", link.format(links, office, "worksheet", "worksheets/sheet1.bin")
        )
        made.writestr("xl/worksheets/sheet1.bin", sheet)
    return path


def asked(path: Path, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_table(path)
    assert "--hidden read" in caught.value.hint
    assert read_table(path, Reading(hidden="read")).table.counts.tolist() == COUNTS


def test_hidden_rows_and_columns_are_asked_about(tmp_path: Path) -> None:
    asked(xls(tmp_path, "row"), "hides rows 3")
    asked(xls(tmp_path, "column"), "hides columns B")
    asked(xlsb(tmp_path, ROWS, hidden=(2, -1)), "hides rows 3")
    asked(xlsb(tmp_path, ROWS, hidden=(-1, 1)), "hides columns B")


def test_merged_labels_and_failed_formulas(tmp_path: Path) -> None:
    assert read_table(xls(tmp_path, "merged")).table.counts.tolist() == COUNTS
    rows = [ROWS[0], ["North", "m", 5], [None, "f", 6], ["South", "m", 7], [None, "f", 8]]
    merged = xlsb(tmp_path, rows, merged=[(1, 2, 0, 0), (3, 4, 0, 0)])
    assert read_table(merged).table.counts.tolist() == COUNTS
    with pytest.raises(InputError, match="a formula failed: #DIV/0!"):
        read_table(xlsb(tmp_path, [*ROWS[:4], ["South", "f", "#DIV/0!"]]))
