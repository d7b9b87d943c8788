"""`python -m papers.huckett FOLDER`."""

import sys

from papers.huckett.paper import main

sys.exit(main())
