"""``python -m tabprotect``: the command line."""

from tabprotect.cli.main import main

raise SystemExit(main())
