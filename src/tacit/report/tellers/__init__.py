"""Tellers: how the answers about each kind of release are told, in the terminal and on pages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from tacit.families.catalog import FAMILY_OF
from tacit.report.tellers.teller import Teller

__all__ = ["Teller", "teller_of"]


def teller_of(check: str) -> Teller:
    """Who tells the answers of a check; a kind of release without a teller of its own is told as
    any verdict can be.
    """
    return _teller(FAMILY_OF.get(check, ""))


@cache
def _teller(family: str) -> Teller:
    name = f"{__name__}.{family}"
    if not family or find_spec(name) is None:
        return Teller()
    found: Teller = import_module(name).TELLER
    return found
