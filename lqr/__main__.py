"""``python -m lqr`` is the same as ``lqr``."""

import sys

from lqr.cli import main

if __name__ == "__main__":
    sys.exit(main())
