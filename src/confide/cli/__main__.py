"""`python -m confide.cli`."""

from confide.cli.main import main

raise SystemExit(main())
