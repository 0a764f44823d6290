"""A small hospital for tests of the gateway: its plan, and a decider on it."""

from __future__ import annotations

from pathlib import Path

from tacit.engines.open import open_engine
from tacit.gateway.policy.decisions import Decider
from tacit.gateway.policy.policy import GatewayPolicy, policy_of
from tacit.plan.read.load import load_plan

HOSPITAL = """version: 1
tables:
  patients:
    columns: {name: text, age: integer, illness: text, ward: text}
    nullable: []
    rows: [[Ann, 30, flu, A], [Bob, 40, cancer, B], [Cy, 50, flu, B]]
  wards: {columns: {ward: text, nurse: text}, nullable: [], rows: [[A, Kim], [B, Lee]]}
secrets:
  cancer: "SELECT name FROM patients WHERE illness = 'cancer'"
releases:
  flu: {query: "SELECT name, age FROM patients WHERE illness = 'flu'"}
  staff: {query: "V(n, w) :- wards(w, n)"}
  old: {query: "SELECT * FROM flu WHERE age > 40"}
roles:
  nurses: {default: allow, deny: [cancer]}
  clerks: {default: deny, deny: [cancer], allow: [staff, flu]}
  porters: {default: deny, allow: [wards]}
"""


def policy(folder: Path, text: str = HOSPITAL) -> GatewayPolicy:
    """The policy of a plan that is written to a folder."""
    (folder / "tacit.yaml").write_text(text, "utf-8")
    plan = load_plan(folder / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        return policy_of(plan, engine)


def decider(folder: Path, text: str = HOSPITAL) -> Decider:
    """A decider for a plan that is written to a folder."""
    return Decider(policy(folder, text))
