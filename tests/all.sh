#!/bin/sh
# Everything that must hold: format, lint, types, import contracts, all tests, the engine's tests
# where Qt is not installed, desktop metadata, and the frozen program.
set -eu
cd "$(dirname "$0")/.."
export QT_QPA_PLATFORM=offscreen
# Compiled once and kept: workers and the programs that tests start take seconds each otherwise.
unset PYTHONDONTWRITEBYTECODE

step() { printf '\n== %s\n' "$*"; }

# On one core each: what they say is shown when they are done.
aside() {
  step the frozen program
  .venv/bin/python packaging/build.py --smoke
  .venv/bin/python packaging/deb.py --smoke
  step the documentation, every example run
  .venv/bin/sphinx-build -q -W --keep-going -b html resources/docs/site build/site
}
mkdir -p build
(aside) >build/aside.log 2>&1 &
aside=$!

step format, lint, types, import contracts
.venv/bin/ruff format --check .
.venv/bin/ruff check .
.venv/bin/mypy
.venv/bin/lint-imports

step desktop metadata
desktop-file-validate packaging/linux/org.tabprotect.Tabprotect.desktop
appstreamcli validate --no-net packaging/linux/org.tabprotect.Tabprotect.metainfo.xml

step the engine, the command line and the library without Qt
python3 -m venv .venv-engine
.venv-engine/bin/pip install -q -c packaging/constraints.txt -e ".[test]"
if .venv-engine/bin/python -c "import PySide6" 2>/dev/null; then
  echo "PySide6 is installed where it must not be" >&2
  exit 1
fi
if wait $aside; then cat build/aside.log; else cat build/aside.log && exit 1; fi
.venv-engine/bin/pytest -q -n 2 -p no:pytest-qt tests/engine tests/cli tests/library tests/server
.venv-engine/bin/pytest -q -p no:pytest-qt --doctest-modules tabprotect/__init__.py tabprotect/library

step all tests
.venv/bin/pytest -q -n 2 --ignore=tests/engine --ignore=tests/cli --ignore=tests/library --ignore=tests/server
