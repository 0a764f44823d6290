"""How many random cases the comparisons with brute force try: so many times the usual number,
by TACIT_TEST_THOROUGH. Which tests run at all is said by markers (pyproject.toml).
"""

from __future__ import annotations

import os

THOROUGH = int(os.environ.get("TACIT_TEST_THOROUGH", "1"))
