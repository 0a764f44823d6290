"""How thorough the long comparisons with brute force are:
a share of them in every run, all with TACIT_TEST_THOROUGH=5.
"""

from __future__ import annotations

import os

THOROUGH = int(os.environ.get("TACIT_TEST_THOROUGH", "1"))
