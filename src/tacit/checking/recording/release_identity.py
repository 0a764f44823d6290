"""Identity of a release: what it is, apart from its name, its recipients and its answer, so that a
change of it is found out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tacit.families.family import kind_of

if TYPE_CHECKING:
    from tacit.ledger.key import Key
    from tacit.plan.plan import Plan


def definition_of(plan: Plan, name: str, key: Key) -> str:
    """The keyed hash of what a release is: equal as long as it is the same one.

    Files with answers are left out: whether an answer is the same one is compared by itself.
    """
    release = plan.releases[name]
    described = kind_of(release).described(release, plan)
    return key.mac("definition", json.dumps(described, sort_keys=True, default=str).encode())
