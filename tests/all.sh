#!/bin/sh
# Everything that must hold: format, lint, types, import contracts, all tests, the engine's tests
# where Qt is not installed, desktop metadata, and the frozen program. Within eight minutes on two
# cores: the engine's tests, the window's, and all that is no test run side by side. What is quick
# runs beside them too, so that no core waits for it.
set -eu
cd "$(dirname "$0")/.."
export QT_QPA_PLATFORM=offscreen
# Compiled once and kept: workers and the programs that tests start take seconds each otherwise.
unset PYTHONDONTWRITEBYTECODE
# As the program itself has it: four workers have no thread to spare for a product of matrices.
export OPENBLAS_NUM_THREADS=1

step() { printf '\n== %s\n' "$*"; }

# Rows side by side: the two cores have always something to do, for windows wait a lot.
beside() { (set -e; "$1") >"build/$1.log" 2>&1 & }

without_qt() { .venv-engine/bin/python -P -m pytest -q -p no:pytest-qt "$@"; }
ENGINE="tests/engine tests/cli tests/library tests/server"

aside() {
  step types, import contracts
  # Writing what a next run could begin with takes longer than it is worth to a fresh clone.
  .venv/bin/mypy --cache-dir=/dev/null
  .venv/bin/lint-imports
  step the frozen program
  .venv/bin/python packaging/build.py --smoke
  .venv/bin/python packaging/deb.py --smoke
  step the documentation, every example run
  .venv/bin/sphinx-build -q -W --keep-going -b html resources/docs/site build/site
  step the examples of the library
  # A house of its own: what was refused in somebody's weighs in what they print.
  TABPROTECT_HOME=$(mktemp -d)
  export TABPROTECT_HOME
  without_qt -p no:cacheprovider --doctest-modules tabprotect/__init__.py tabprotect/library
}

# A worker that has nothing left takes from the other one.
windows() {
  step the window, languages, what holds of the whole
  .venv/bin/pytest -q -n 2 --dist worksteal \
    --ignore=tests/engine --ignore=tests/cli --ignore=tests/library --ignore=tests/server
}

checked() {
  step format, lint, desktop metadata
  .venv/bin/ruff format --check .
  .venv/bin/ruff check .
  desktop-file-validate packaging/linux/org.tabprotect.Tabprotect.desktop
  # The program has no page on the web; validators from 1.0 on take that for a failure, and only
  # they know the name of it.
  validated || validated --override=url-homepage-missing=info
}

validated() {
  appstreamcli validate --no-net "$@" packaging/linux/org.tabprotect.Tabprotect.metainfo.xml
}

engine() {
  step the engine, the command line, the library and the server without Qt
  if .venv-engine/bin/python -c "import PySide6" 2>/dev/null; then
    echo "PySide6 is installed where it must not be" >&2
    return 1
  fi
  without_qt -n 2 --dist worksteal $ENGINE
}

mkdir -p build
beside aside
aside=$!
.venv/bin/python tests/engine_environment.py .venv-engine
# What the workers import is compiled once: else each of the four does it, at the same time.
if ! without_qt --collect-only $ENGINE >build/collected.log; then
  kill $aside
  tail -n 60 build/collected.log
  exit 1
fi
beside windows
windows=$!
beside checked
checked=$!
failed=0
engine || failed=1
# What the other rows said is shown when they are done.
for row in checked aside windows; do
  eval "wait \$$row" || failed=1
  cat "build/$row.log"
done
exit $failed
