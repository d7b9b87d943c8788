"""`python -m papers.fienberg FOLDER`."""

import sys

from papers.fienberg.paper import main

sys.exit(main())
