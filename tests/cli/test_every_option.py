"""Every option of every command changes what comes out, or is refused by its name."""

from __future__ import annotations

import argparse
import itertools
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabprotect.cli.completion import commands
from tabprotect.cli.main import main
from tabprotect.cli.protecting.protect_set import OF_MAGNITUDES
from tabprotect.engine.formats.published_rows import NOT_PUBLISHED
from tests.cli.conftest import Command, Outcome

ALWAYS = {"help", "json", "progress", "quiet", "verbose", "dry_run"}
"""Of every command, and tried elsewhere."""

COUNTS = "region,sex,count\nc,f,9\nc,m,11\nb,f,7\nb,m,2\na,f,5\na,m,1\n"
RECIPE = """recipe = 1
[variables]
source = "../counts.csv"
[[step]]
do = "open_table"
source = "${source}"
[[step]]
do = "set_method"
method = "random_rounding"
[[step]]
do = "protect"
accept = "a test"
seed = 7
"""
PEOPLE = "a,f,x " * 9 + "a,f,y " * 8 + "a,m,x " * 2 + "a,m,y " * 7 + "b,f,x " * 6 + "b,f,y " * 5
PEOPLE = (PEOPLE + "b,m,x " * 8 + "b,m,y " + "c,f,x " * 3).split()
UNEVEN = (45, 0, 0, 1, 2, 43, 36, 4, 0, 1, 1, 3, 14, 2, 0, 1)
"""A table in which moves have partners that may be zero."""
FILES = {
    "counts.csv": COUNTS,
    "later.csv": COUNTS.replace("a,f,5", "a,f,6"),
    "turned.csv": "\n".join([COUNTS.split()[0], *COUNTS.split()[:0:-1], ""]),
    "totals.csv": COUNTS + "a,Total,6\nb,Total,9\nc,Total,20\n",
    "off.csv": COUNTS + "a,Total,7\nb,Total,9\nc,Total,20\n",
    "gaps.csv": COUNTS.replace("a,m,1\n", ""),
    "grid.csv": "region,f,m\nc,9,11\nb,7,2\na,5,1\n",
    "points.csv": COUNTS.replace("c,m,11", "c,m,1.100"),
    "quoted.csv": COUNTS.replace("c,m,11", 'c",m,11'),
    "zeros.csv": COUNTS.replace("a,m,1", "a,m,0"),
    "people.csv": "region,sex,half,age,w,key\n"
    + "".join(f"{cell},{20 + n},{1 + n % 2},{n / 60}\n" for n, cell in enumerate(PEOPLE)),
    "codes.csv": "region,land\na,z\nb,z\nc,y\n",
    "sides.csv": "region,land\nn,z\ns,y\n",
    "short.csv": "region,land\na,x\nb,x\n",
    "firms.csv": "nace,region,ent,turnover,ask,waive,other,price,id,w\n"
    + "24,n,a,660,0,0,1,1,1,1\n24,n,b,8,0,0,1,1,2,1\n24,s,c,49,1,0,1,1,3,2\n24,s,d,48,0,0,1,1,4,1\n"
    + "24,s,e,45,0,0,1,1,5,1\n25,n,f,100,0,1,1,1,6,1\n25,n,g,90,0,0,1,1,7,1\n25,n,i,80,0,0,1,9,8,1\n"
    + "25,s,j,70,0,0,1,1,9,1\n25,s,k,60,0,0,1,1,10,1\n25,s,K,50,0,0,1,1,11,1\n",
    "blank.csv": "region,sex,count\na,f,3\na,m,4\n,f,6\n,m,2\n",
    "published.csv": "region,sex,count\na,f,3\na,m,3\nb,f,6\nb,m,3\nTotal,f,9\nTotal,m,6\n",
    "thinned.csv": "region,sex,count\na,f,3\na,m,3\nb,f,6\nTotal,f,9\nTotal,m,6\n",
    "policy.toml": "format_version = 1\n",
    "secret.key": "a long passphrase\n",
    "appetite.toml": "zeros_are_disclosive = true\nfull_groups = false\n",
    "tables.toml": '[tables]\ntwo = "region"\n',
    "recipes/one.toml": RECIPE,
    "next/expecting.toml": RECIPE + '[expects]\nregion = ["a", "b"]\nsex = ["f", "m"]\n',
    "uneven.csv": "v,w,count\n" + "".join(f"{n // 4},{n % 4},{count}\n" for n, count in enumerate(UNEVEN)),
}
for of in ("counts", "firms"):
    FILES[f"quoted_{of}.csv"] = FILES[f"{of}.csv"].replace("b,", '"b""1""",').replace("25,", '"b""1""",')
FILES["fewer.csv"] = FILES["firms.csv"].replace("25,s,k,60,0,0,1,1,10,1\n", "")


ROUNDED = "protect counts.csv --method random_rounding --accept-weak --no-page --register none --seed 3"
MADE = (
    f"{ROUNDED} --set base=5 --out counts.zip --dossier dossier.zip",
    f"{ROUNDED} --set base=2 --out again.zip",
    "keys new --out signing.key",
    "dossier encrypt dossier.zip --key secret.key --out sealed.zip",
    "cycles design --table counts.csv --out cycles.json",
    "convert counts.csv --out odd.px",
    "tabulate firms.csv --by nace,region --measure turnover --holding ent --spellings apart --out sums.parquet",
    "tabulate fewer.csv --by nace,region --measure turnover --holding ent --spellings apart --out fewer.parquet",
    "tabulate people.csv --by region,sex,half --measure age --holding key --out wide.parquet",
    "tabulate people.csv --by region,sex,half --out cube.csv",
    "tabulate quoted_firms.csv --by nace,region --measure turnover --out quoted.parquet",
    "cycles design --table wide.parquet --out cycles_of_sums.json",
    "protect quoted_counts.csv --method random_rounding --accept-weak --no-page --register none --out quoted.zip",
    "protect counts.csv --method random_rounding --set margins=region+sex --accept-weak --no-page --register none --out margins.zip",
    "register new left.db",
    "protect counts.csv --method cyclic_perturbation --accept-weak --no-page --register none --out cycles.zip",
    "export cycles.zip --out said.px --unit persons",
    "protect counts.csv --method random_rounding --set base=10 --accept-weak --no-page --register left.db --out left.zip",
    "protect sums.parquet --method multiplicative_noise --accept weak --no-page --register none --out noise.zip",
    "protect quoted.parquet --method multiplicative_noise --accept weak --no-page --register none --out quoted_sums.zip",
    "accounts add anna --database accounts.db",
    "protect sums.parquet --rule p=10 --out sums.zip --no-page --register none --accept weak",
    "register new left_sums.db",
    "protect sums.parquet --rule p=10 --out left_sums.zip --no-page --register left_sums.db --accept weak",
)

READING = {
    "options.strip_totals": "totals.csv | --strip-totals",
    "options.fill_missing": "gaps.csv | --fill-missing",
    "options.totals": "--totals nonsense",
    "options.tolerance": "off.csv --totals Total | --tolerance 1",
    "options.missing": "gaps.csv | --missing zero",
    "options.count": "--count zzz",
    "options.drop": "--drop zzz",
    "options.variable": "--variable zzz",
    "options.label": "--label zzz=sex",
    "options.where": "--where zzz=1",
    "options.scale": "--scale 7",
    "options.labels": "--labels",
    "options.texts_in": "odd.px | --texts-in zz",
    "options.form": "--form grid",
    "options.columns": "--columns sex",
    "options.sheet": "--sheet zzz",
    "options.range": "--range B3:F20",
    "options.hidden": "--hidden read",
    "options.cells": "--cells n/N",
    "options.blank": "blank.csv | --blank missing",
    "options.order": "--order name",
    "options.header_row": "--header-row 4",
    "options.footer": "--footer 2",
    "options.comment": "--comment region",
    "options.marks": "--marks 11=suppressed",
    "options.encoding": "--encoding zzz",
    "options.delimiter": "--delimiter ;",
    "options.decimal": "points.csv | --decimal ,",
    "options.thousands": "points.csv | --thousands .",
    "options.holds": "--holds records",
    "options.metadata": "--metadata nofile",
    "options.strict": "odd.px | --strict",
    "reading.reading": "--reading nofile.toml",
}
"""Options of reading, after the table (and options) beside which they say something."""

COSTLY = ""
"""An option that is tried elsewhere: it opens a window or serves."""


def _of(option: str, samples: dict[str, str], besides: str = "") -> dict[str, str]:
    """Samples of reading a table that another option names."""
    found = {}
    for name, text in samples.items():
        before, _, words = text.partition("||")[0].rpartition("|")
        found[name] = f"{option} {before or 'counts.csv'} {besides}| {words} ||"
    return found


def _bare(samples: dict[str, str]) -> dict[str, str]:
    """The options of samples beside another source."""
    return {name: text.rpartition("|")[2] for name, text in samples.items()}


JUDGING = {"judging.rule": "--rule n=9", "judging.weights": "--weights replicate || --rule p=10"}
CYCLE = "--release region,sex --release sex,half --release region,half"
BESIDE_CELLS = {name: said for name, said in READING.items() if name != "options.cells"}
"""Commands with cells of their own read those with shares by a file of options."""
OF_MARGINS = {name: said for name, said in BESIDE_CELLS.items() if name != "options.order"}
"""What margins tell is the same in any order."""
AS_PUBLISHED = {"count", *NOT_PUBLISHED}
"""What published tables say in options of their own, or do not say."""
GATHERING = OF_MARGINS | {
    "measure": "--measure nonsense",
    "at_risk": "cube.csv | --at-risk 1..3",
    "cells": "cube.csv | --cells all",
    "workers": "--workers tcp://nowhere",
}
THRESHOLD = {"threshold.criterion": "--criterion smallest_margin", "threshold.beta": "--beta 30"}
ANSWERING = "--dossier out/d.zip"
OF_SUMS = {f"protecting.{name}" for name in OF_MAGNITUDES}
PROTECTING = READING | {
    "keep": "--keep region",
    "workers": "--workers 0",
    "groupings": "--groupings r:region=x>a,b",
    "protecting.method": "--method coarsening",
    "protecting.parameters": "--set base=2",
    "protecting.at_risk": "--at-risk 1..5",
    "protecting.sensitive": "--sensitive region",
    "protecting.key_variables": "--key-variables region",
    "protecting.people": "--people other",
    "protecting.rule": "--rule p=20",
    "protecting.weights": "--weights replicate",
    "protecting.like": "--like nofile.zip",
    "protecting.publish": "--publish n",
    "protecting.title": "--title T",
    "protecting.about": "--about licence=CC0",
    "protecting.policy": "--policy policy.toml",
    "protecting.register": "--register nowhere://x",
    "protecting.accept": f"{ANSWERING} | --accept otherwise || {ANSWERING} --set choice=cheapest",
    "protecting.accept_weak": f"{ANSWERING} | --accept-weak",
    "protecting.kept_small": "--method cyclic_perturbation --at-risk 1..9 | --kept-small never ||",
    "protecting.tune": "--tune",
    "protecting.tune_for": "--tune-for sums",
    "protecting.seed": f"{ANSWERING} | --seed 3",
    "protecting.fresh": f"{ANSWERING} | --fresh",
    "publishing.release": "--out out/other.zip",
    "publishing.dossier": "--dossier out/d.zip",
    "publishing.again": "--register left.db --set base=20 | --again yearly "
    "|| --register left_sums.db --method multiplicative_noise",
    "publishing.prepared_by": "--prepared-by A",
    "publishing.approved_by": "--approved-by A",
    "publishing.no_page": "--no-page",
    "publishing.replicates": "--replicates 3",
    "publishing.sign": "--sign signing.key",
    "publishing.dossier_key": "--dossier out/d.zip | --dossier-key nofile.key",
}
COUNTING = {
    "weight": "--weight w",
    "record_key": "--record-key key",
    "design_weight": "--design-weight w",
    "bands": "--band age:10",
    "cuts": "--cut age:0,30",
    "code_lists": "--code-list region=codes.csv",
    "mapping": "--code-list region=short.csv | --map region:c=a",
    "levels": "--levels region,sex=place",
    "level_names": "--level-names region=coarse,fine",
    "draw_keys": "--draw-record-keys",
    "order": "--code-list region=codes.csv | --order name || --code-list region=sides.csv",
}
MEASURING = {
    "measure": "--measure w",
    "holding": "--holding key",
    "request": "--request w",
    "waiver": "--waiver w",
    "shadow": "--shadow age",
    "cost": "--cost w",
    "unit": "--unit sex",
    "spellings": "--spellings merge",
    "by": "--by region",
}

COMMANDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "open": ("", "", dict.fromkeys(READING, COSTLY)),
    "describe": ("counts.csv", "sums.parquet", READING | {"options.order": "--json | --order name"}),
    "tabulate": (
        "people.csv --by region,sex --out out/x.csv",
        "firms.csv --by nace,region --measure turnover --holding ent --spellings apart --out out/x.parquet",
        {f"counting.{name}": text for name, text in (COUNTING | MEASURING).items()}
        | {"out": "--out out/y.csv"},
    ),
    "record-keys": ("people.csv --out out/x.csv", "", {"column": "--column k", "out": "--out out/y.csv"}),
    "rules": ("", "sums.parquet --rule p=10", JUDGING),
    "convert": (
        "counts.csv --out out/x.csv",
        "sums.parquet --out out/x.csv",
        READING
        | JUDGING
        | {
            "format": "--format json-stat",
            "out": "--out out/y.csv",
            "to": "--to sqlite:///out/x.db/t",
            "counts": "--counts",
        },
    ),
    "export": (
        "counts.zip --format csv --out out/x.csv",
        "sums.zip --format csv --out out/x.csv",
        {
            "format": "--format json-stat",
            "out": "--out out/y.csv",
            "apart": "--apart",
            "unit": "--unit persons",
            "source": "--source S",
            "notes": "--note N",
            "date": "--date 2026-11-28",
            "texts_of": "--out out/x.px --format px | --texts-of said.px",
            "texts_in": "--out out/x.px --format px --texts-of said.px | --texts-in zz",
            "licence": "--licence CC0",
            "publisher": "--publisher Office",
            "contact": "--contact us",
            "period": "--period 2025",
            "language": "--written-in en",
            "concept": "--concept residents",
            "total_code": "margins.zip | --total-code ALL",
            "add": "--with intervals",
            "strict": "quoted.zip --format px --out out/x.px | --strict || quoted_sums.zip --format px --out out/x.px",
        },
    ),
    "page": ("counts.zip --out out/x.html", "sums.zip --out out/x.html", {"out": "--out out/y.html"}),
    "check": (
        "counts.csv --threshold 3",
        "wide.parquet",
        READING
        | {
            "threshold": "--threshold 8",
            "rules": "zeros.csv | --rules appetite.toml",
            "queue": "--queue out/queue.json",
            "zeros": "zeros.csv | --zeros",
            "no_classes": "zeros.csv --threshold 1 | --no-classes",
            "sampled": "--sampled 0.1",
            "decisions": "--decisions nofile",
            "decide": "--decide all=approve --who A --why b",
            "who": "--decide all=approve --why b | --who A || --decide all=approve --why b",
            "why": "--decide all=approve --who A | --why b || --decide all=approve --who A",
            "out": "--out out/flags.csv",
        },
    ),
    "cycles design": (
        "--shape 4,4,3",
        "--table wide.parquet",
        _bare(READING)
        | {
            "shape": "--shape 2,2",
            "table": "--table counts.csv",
            "kind": "--kind triangular",
            "keep_order": "--keep-order 1",
            "margins": "--margins v1 ||",
            "height": "--kind strips | --height 1 || --kind strips",
            "repeats": "--repeats 2",
            "cap": "--kind triangular | --cap 2",
            "out": "--out out/c.json",
            "keep": "--keep v1",
            "groupings": "--groupings g:v1=1>x,2>x,3>y",
            "zeros": "--zeros nofile",
        },
    ),
    "cycles design|table": (
        "--kind triangular",
        "",
        _of("--table", READING)
        | {
            "options.scale": "--table counts.csv | --scale 0",
            "groupings": "--table counts.csv --keep g*sex | --groupings g:region=a>x,b>x,c>y",
            "weight": "--table uneven.csv | --lambda 0",
            "theta": "--table uneven.csv | --theta 1000",
        },
    ),
    "cycles check": (
        "cycles.json --table counts.csv",
        "cycles_of_sums.json --table wide.parquet",
        _of("--table", READING)
        | {
            "options.scale": "--scale 0",
            "options.blank": COSTLY,
            "options.order": "--table turned.csv | --order name ||",
            "table": "--table zeros.csv",
            "blocking": "--table zeros.csv | --blocking none ||",
            "passes": "--passes 3",
            "keep": "--keep region",
            "groupings": "--keep g*sex | --groupings g:region=a>x,b>x,c>y",
            "zeros": "--zeros nofile",
        },
    ),
    "protect": (
        "counts.csv --method random_rounding --out out/r.zip --register none",
        "sums.parquet --rule p=10 --out out/r.zip --register none --accept because",
        PROTECTING,
    ),
    "protect-set": (
        "counts.csv --method random_rounding --table one=region*sex --out out/r --register none",
        "",
        {name: text for name, text in PROTECTING.items() if name not in {*OF_SUMS, "publishing.replicates"}}
        | {f"counting.{name}": text for name, text in COUNTING.items() if name != "order"}
        | {
            "listed": "--tables tables.toml",
            "by": "--by region",
            "previous": "--previous nofolder",
            "publishing.tables": "--table two=region",
        },
    ),
    "run": (
        "recipes/one.toml --out out/r",
        "",
        {
            "out": "--out out/s",
            "settings": "--set source=../later.csv",
            "renames": "--map region:c=d",
            "categories": "next/expecting.toml | --categories accept",
        },
    ),
    "batch": (
        "recipes --source counts.csv --workers 1 --out out/r",
        "",
        {"out": "--out out/s", "sources": "--source later.csv", "workers": "--workers 0"},
    ),
    "keys new": ("--out out/k", "", {"out": "--out out/l"}),
    "dossier open": (
        "sealed.zip --key secret.key --out out/d.zip",
        "",
        {"key": "--key nofile", "out": "--out out/e.zip"},
    ),
    "dossier encrypt": (
        "dossier.zip --key secret.key --out out/d.zip",
        "",
        {"key": "--key nofile", "out": "--out out/e.zip"},
    ),
    "dossier retention": ("", "", {"delete": "--delete", "register": "--register nofile"}),
    "keys house": (
        "",
        "",
        {
            "out": "--out out/k",
            "rotate": "--rotate",
            "originals": "--originals nofile",
            "register": "--register x",
        },
    ),
    "infer": (
        "counts.zip",
        "sums.zip",
        _bare(BESIDE_CELLS)
        | {
            "table": "--published counts.csv",
            "mechanism": "--mechanism m.json",
            "prior": "--prior positive",
            "cells": "--cells 0,1",
            "workers": "--workers 0",
            "of": "--of region",
            "groupings": "--of g | --groupings g:region=a>x,b>x,c>y",
            "format": "--format csv",
            "out": "--format csv | --out out/x.csv",
            "way": "--way monte_carlo --seed 1",
            "draws": "--way monte_carlo --seed 1 | --draws 50",
            "seed": "--way monte_carlo --draws 50 | --seed 2 || noise.zip",
            "weigh_attempts": "cycles.zip | --weigh-attempts",
            "contributor.as_contributor": "--as-contributor 8@nace=24,region=n",
            "contributor.within": "--within 50",
            "contributor.rest": "--rest 50 || --as-contributor 8@nace=24,region=n",
        },
    ),
    "infer|published": (
        "--mechanism mechanism.json",
        "",
        _of("--published", BESIDE_CELLS) | {"options.blank": COSTLY},
    ),
    "verify": (
        "counts.zip",
        "sums.zip",
        {
            "fingerprint": "--fingerprint abc",
            "workers": "--workers tcp://nowhere:1",
            "signer": "--signer signing.key.pub",
            "signed": "--signed",
            "quick": "--quick",
        },
    ),
    "analyse": (
        "counts.zip --seed 1 --draws 100",
        "refused: sums.zip",
        _of("--original", READING)
        | {
            "options.blank": COSTLY,
            "statistic": "--statistic cramers_v",
            "model": "--model region+sex",
            "log_odds": "--log-odds region,sex",
            "rate": "--rate region=a",
            "level": "--statistic chi_square --log-odds region,sex | --level 0.5",
            "draws": "--statistic chi_square | --draws 50",
            "original": "--original counts.csv",
            "prior": "--prior positive",
            "seed": "--seed 2",
        },
    ),
    "draw": (
        "counts.zip --seed 1 --out out/d.csv --number 100",
        "refused: sums.zip --out out/d.csv",
        {
            "number": "--number 5",
            "format": "--format parquet",
            "out": "--out out/e.csv",
            "prior": "--prior positive",
            "seed": "--seed 2",
        },
    ),
    "report": (
        "dossier.zip --edition public --out out/r.html",
        "sums.zip --edition public --out out/r.html",
        {
            "edition": "--edition staff",
            "quality": "--quality || dossier.zip --edition public --out out/r.html",
            "texts": "--texts",
            "register": "--register nowhere://x",
            "out": "--out out/s.html",
        },
    ),
    "compare": (
        "counts.csv --run 'random_rounding base=3' --runs-per-method 2 --seed 1 --measures tcap,unchanged_small",
        "sums.parquet --rule p=10",
        READING
        | JUDGING
        | {
            "specs": "--run coarsening",
            "runs_per_method": "--runs-per-method 3",
            "seed": "--seed 2",
            "margins": "--margins region",
            "groupings": "--groupings g:region=a>x,b>x,c>y",
            "key": "--key sex --sensitive region",
            "sensitive": "--key sex --sensitive region",
            "measures": "--measures nonsense",
            "at_risk": "--at-risk 1..9",
            "risk": "--risk nonsense",
            "utility": "--utility nonsense",
            "workers": "--workers x",
            "out": "--out out/c.csv",
        },
    ),
    "selftest": ("--only format", "", {"only": "--only csv", "out": "--out out/q.json"}),
    "count-tables": (
        "--rows 3,4 --cols 2,5",
        "",
        {
            "rows": "--rows 1,6",
            "cols": "--cols 3,4",
            "release": "--release counts.zip",
            "draws": "--draws 7",
            "seed": "--seed 7",
        },
    ),
    "bounds": (
        "counts.csv --release region",
        "sums.parquet --measure turnover --release nace",
        OF_MARGINS
        | {
            "release": "--release region,sex,half",
            "measure": "--measure nonsense",
            "rule": "--rule n=9",
            "cells": "--cells all",
            "at_risk": "--at-risk 1..5",
            "bounds": f"cube.csv {CYCLE} | --bounds shuttle",
        },
    ),
    "widths": ("counts.csv", "sums.parquet --measure turnover", GATHERING | {"criterion": "--criterion n"}),
    "frontier": (
        "counts.csv --release region",
        "sums.parquet --measure turnover --criterion n --release region",
        GATHERING
        | THRESHOLD
        | {
            "threshold.bounds": f"cube.csv {CYCLE} | --bounds shuttle ||",
            "release": "--release region,sex || --release region,nace",
        },
    ),
    "optimal": (
        "counts.csv --method exhaustive",
        "sums.parquet --measure turnover --criterion n --beta 2 --method exhaustive",
        GATHERING
        | THRESHOLD
        | {
            "bounds": "cube.csv --method heuristic | --bounds shuttle || --method heuristic",
            "method": "--method nonsense",
            "seed": "--seed 1",
            "utility": "--utility nonsense",
        },
    ),
    "serve-session": (
        "out/h.db --table counts.csv --user A --query region",
        "",
        _of("--table", GATHERING | THRESHOLD | {"threshold.bounds": "cube.csv | --bounds shuttle ||"})
        | {
            "table": "--table later.csv",
            "query": "--query sex",
            "user": "--user B",
            "rule": "--rule nonsense",
            "set": "--set nonsense=1",
            "replay": "--replay",
        },
    ),
    "serve": (
        "",
        "",
        dict.fromkeys(
            (
                "service",
                "measure",
                "host",
                "port",
                "database",
                "workers",
                "allowed_hosts",
                "allowed_origins",
                "trusted_proxy",
                "secret_file",
            ),
            COSTLY,
        ),
    ),
    "accounts add": (
        "anna --database sqlite:///out/a.db",
        "",
        {"database": "--database sqlite:///out/b.db", "group": "--group g", "role": "--role auditor"},
    ),
    "accounts withdraw": ("anna --database accounts.db", "", {"database": "--database nowhere://x"}),
    "accounts list": ("--database accounts.db", "", {"database": "--database sqlite:///out/b.db"}),
    "ptable": (
        "--D 3 --V 1",
        "",
        {
            "D": "--D 4",
            "V": "--V 2",
            "js": "--js 1",
            "pstay": "--pstay 0.5",
            "mono": "--no-mono",
            "optim": "--D 3 --V 3 --js 2 | --optim 4",
            "read": "--read nofile",
            "out": "--out out/p.csv",
            "format": "--out out/p.csv | --format json",
            "keys": "--out out/p.csv --format ons | --keys 4096",
        },
    ),
    "register list": ("--register left.db", "", {"register": "--register nowhere://x"}),
    "register show": ("1 --register left.db", "", {"register": "--register nowhere://x"}),
    "register check": (
        "counts.csv --register left.db",
        "sums.parquet --register left.db",
        READING | {"register": "--register nowhere://x"},
    ),
    "register withdraw": (
        "1 --register left.db",
        "",
        {"register": "--register nowhere://x", "reason": "--reason x"},
    ),
    "difference": (
        "counts.csv later.csv",
        "sums.parquet fewer.parquet",
        {name: said for name, said in READING.items() if name != "options.order"}
        | {
            "options.tolerance": "off.csv off.csv --totals Total | --tolerance 1",
            "options.blank": "blank.csv blank.csv | --blank missing",
            "old_release": "--old-release counts.zip",
            "new_release": "--new-release again.zip",
            "at_risk": "--at-risk 2..3",
        },
    ),
    "attack": (
        "published.csv --method unknown:sd=1",
        "refused: sums.zip",
        {name: said for name, said in READING.items() if name.partition(".")[2] not in AS_PUBLISHED}
        | {
            "options.marks": "counts.csv | --marks 11=suppressed",
            "options.scale": "--json | --scale 7",
            "options.footer": "--json | --footer 2",
            "options.blank": "blank.csv | --blank missing",
            "method": "--method exact",
            "workers": "--workers 0",
            "out": "--out out/a.html",
            "register": "--register kept.db",
            "count": "--count zzz",
            "total": "--total zzz",
            "groupings": "--groupings zzz",
        },
    ),
    "restore": (
        "published.csv",
        "",
        {
            "missing": "thinned.csv | --missing zero",
            "count": "--count zzz",
            "total": "--total zzz",
            "groupings": "--groupings zzz",
        },
    ),
}


REFUSED = "refused: "
"""Before a table that a command does not take, whatever is asked."""


class Tried:
    """What came of a command line: all that it said, and the files that it wrote."""

    def __init__(self, run: Command, words: list[str]) -> None:
        shutil.rmtree("out", ignore_errors=True)
        shutil.copy("kept.db", "left.db")
        Path("out").mkdir()
        self.outcome: Outcome = run(*words)
        written = sorted(path for path in Path("out").rglob("*") if path.is_file())
        self.files = {str(path): path.read_bytes() for path in written}

    def same(self, other: Tried) -> bool:
        """Return True if both are equal."""
        return self.outcome == other.outcome and self.files == other.files


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file of every kind that an option names."""
    folder = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TABPROTECT_HOME", str(folder / "home"))
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for words in MADE:
            assert main(words.split()) == 0, words
        odd = folder / "odd.px"
        odd.write_text(odd.read_text().replace("DATA=", 'MY_OWN="x";\nDATA='))
        with zipfile.ZipFile("cycles.zip") as bundle:
            bundle.extract("mechanism.json")
        shutil.copy("left.db", "kept.db")
        yield folder


def _declared() -> dict[str, set[str]]:
    """The options of every command."""
    found: dict[str, set[str]] = {}
    for name, parser in commands():
        options = {
            action.dest
            for action in parser._actions
            if action.option_strings and action.help != argparse.SUPPRESS
        }
        found[name] = options - ALWAYS
    return found


def test_every_option_of_every_command_is_tried() -> None:
    tried: dict[str, set[str]] = {}
    for name, (_, _, cases) in COMMANDS.items():
        tried.setdefault(name.partition("|")[0], set()).update(cases)
    declared = {name: options for name, options in _declared().items() if options}
    assert tried == declared


def _words(text: str) -> tuple[list[str], list[str]]:
    """What goes before an option, and the option."""
    before, _, words = text.rpartition("|")
    return shlex.split(before), shlex.split(words)


@pytest.mark.usefixtures("noon")
@pytest.mark.parametrize("measure", ["counts", "magnitudes"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_changes_what_comes_out_or_is_refused(
    place: Path, run: Command, monkeypatch: pytest.MonkeyPatch, name: str, measure: str
) -> None:
    counts, magnitudes, cases = COMMANDS[name]
    table = counts if measure == "counts" else magnitudes
    name = name.partition("|")[0]
    refused, table = table.startswith(REFUSED), table.removeprefix(REFUSED)
    if not table:
        return
    monkeypatch.setenv("TABPROTECT_HOME", str(place / "home"))
    for heads in (place / "home").glob("*heads*"):
        # Files are put back after each command: a register would lack the lines of another test.
        heads.unlink()
    known: dict[tuple[str, ...], Tried] = {}
    ignored = []
    for samples in filter(None, cases.values()):
        of_counts, _apart, of_magnitudes = samples.partition("||")
        before, words = _words(of_counts)
        start = [*name.split(), *shlex.split(table)]
        if measure == "magnitudes":
            before = shlex.split(of_magnitudes)
        named = list(itertools.takewhile(lambda word: not word.startswith("-"), before))
        first = len(name.split())
        start[first : first + len(named)] = named
        start += before[len(named) :]
        plain = known.get(tuple(start)) or Tried(run, start)
        known[tuple(start)] = plain
        tried = Tried(run, [*start, *words])
        both = {plain.outcome.code, tried.outcome.code}
        if refused:
            assert both <= {2, 3, 4, 5} and not tried.files, [*start, *words]
            continue
        # What is refused either way would show nothing.
        assert both & {0, 5, 7} and 1 not in both, (plain.outcome, tried.outcome)
        if tried.same(plain):
            ignored.append(shlex.join([*start, *words]))
    assert not ignored
