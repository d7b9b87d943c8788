"""`python -m papers.reiter FOLDER`."""

import sys

from papers.reiter.paper import main

sys.exit(main())
