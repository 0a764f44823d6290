"""Ctrl-C belongs to Python, also while and after CP-SAT works."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("ortools")

AFTER = """
import os, signal, time
from tacit.families.worlds.formula import Condition
from tacit.families.worlds.world_solver import find
find([Condition(((1,), (2,)))])
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(9)
except KeyboardInterrupt:
    print("caught")
"""
DURING = """
import os, signal, threading
from tacit.families.worlds.world_solver import module, solve
cp = module()
model = cp.CpModel()
put = [[model.new_bool_var("") for _ in range(24)] for _ in range(25)]
for one in put:
    model.add_exactly_one(one)
for hole in zip(*put):  # 25 pigeons in 24 holes, told so that no presolve sees it
    for first in range(25):
        for second in range(first):
            model.add_bool_or([hole[first].negated(), hole[second].negated()])
solver = cp.CpSolver()
solver.parameters.cp_model_presolve = False
solver.parameters.symmetry_level = 0
solver.parameters.linearization_level = 0
solver.parameters.num_workers = 1
solver.parameters.max_time_in_seconds = 100
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    solve(solver, model)
except KeyboardInterrupt:
    print("caught")
"""


@pytest.mark.parametrize("script", [AFTER, DURING], ids=["after", "during"])
def test_ctrl_c_is_raised_as_ever(script: str) -> None:
    script = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + script
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=90, check=False
    )
    assert found.stdout == "caught\n", found.stderr
