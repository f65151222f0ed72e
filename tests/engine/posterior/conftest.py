"""Make the oracle beside these tests importable (pytest's importlib mode adds no folder)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
