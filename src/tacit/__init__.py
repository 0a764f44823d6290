"""Tacit tells a data owner what a release would disclose.

    >>> import tacit
    >>> tacit.KAnonymity(k=4).label
    '4-anonymity'

`import tacit` loads the standard library only; each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.api import LoadedPlan as LoadedPlan
    from tacit.api import anonymize as anonymize
    from tacit.api import attack as attack
    from tacit.api import check as check
    from tacit.api import check_all as check_all
    from tacit.api import load as load
    from tacit.api import overlapping_views as overlapping_views
    from tacit.api import perfect_privacy as perfect_privacy
    from tacit.api import profile as profile
    from tacit.api import restore as restore
    from tacit.api import synthesize as synthesize
    from tacit.api import view_safety as view_safety
    from tacit.api.anonymizer import KAnonymizer as KAnonymizer
    from tacit.api.progress import progress as progress
    from tacit.api.results import Anonymized as Anonymized
    from tacit.api.results import FurtherViews as FurtherViews
    from tacit.api.results import SyntheticTable as SyntheticTable
    from tacit.checking.assess import Assessment as Assessment
    from tacit.errors import NotMet as NotMet
    from tacit.errors import Refused as Refused
    from tacit.errors import TacitError as TacitError
    from tacit.families.microdata.definitions.alpha_k import AlphaK as AlphaK
    from tacit.families.microdata.definitions.c_k_safety import CKSafety as CKSafety
    from tacit.families.microdata.definitions.dissimilarity import Dissimilarity as Dissimilarity
    from tacit.families.microdata.definitions.eps_m import EpsM as EpsM
    from tacit.families.microdata.definitions.k_anonymity import KAnonymity as KAnonymity
    from tacit.families.microdata.definitions.k_e import KE as KE
    from tacit.families.microdata.definitions.l_diversity import LDiversity as LDiversity
    from tacit.families.microdata.definitions.m_invariance import MInvariance as MInvariance
    from tacit.families.microdata.definitions.replay.replay import replay as replay
    from tacit.families.microdata.definitions.rho1_rho2 import Rho1Rho2 as Rho1Rho2
    from tacit.families.microdata.definitions.risk import Risk as Risk
    from tacit.families.microdata.definitions.semantic import Semantic as Semantic
    from tacit.families.microdata.definitions.skyline import Skyline as Skyline
    from tacit.families.microdata.definitions.t_closeness import TCloseness as TCloseness
    from tacit.families.microdata.definitions.variance import Variance as Variance
    from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy as GammaPrivacy
    from tacit.families.overlaps.definitions.k_rsind import KRsind as KRsind
    from tacit.families.overlaps.definitions.k_sind import KSind as KSind
    from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy as PerfectPrivacy
    from tacit.families.worlds.definitions.e_safety import ESafety as ESafety
    from tacit.families.worlds.definitions.g_safety import GSafety as GSafety
    from tacit.gateway.client.connection import connect as connect
    from tacit.model.verdict import Assumption as Assumption
    from tacit.model.verdict import Certificate as Certificate
    from tacit.model.verdict import Reason as Reason
    from tacit.model.verdict import Verdict as Verdict
    from tacit.model.verdict import Witness as Witness

try:
    __version__ = version("tacit-privacy")
except PackageNotFoundError:
    __version__ = "0+unknown"

HOMES = {
    "anonymize": "tacit.api",
    "Anonymized": "tacit.api.results",
    "attack": "tacit.api",
    "profile": "tacit.api",
    "progress": "tacit.api.progress",
    "KAnonymizer": "tacit.api.anonymizer",
    "check": "tacit.api",
    "check_all": "tacit.api",
    "load": "tacit.api",
    "overlapping_views": "tacit.api",
    "perfect_privacy": "tacit.api",
    "restore": "tacit.api",
    "FurtherViews": "tacit.api.results",
    "synthesize": "tacit.api",
    "SyntheticTable": "tacit.api.results",
    "view_safety": "tacit.api",
    "LoadedPlan": "tacit.api",
    "Assessment": "tacit.checking.assess",
    "connect": "tacit.gateway.client.connection",
    "GSafety": "tacit.families.worlds.definitions.g_safety",
    "GammaPrivacy": "tacit.families.overlaps.definitions.gamma_privacy",
    "KSind": "tacit.families.overlaps.definitions.k_sind",
    "KRsind": "tacit.families.overlaps.definitions.k_rsind",
    "ESafety": "tacit.families.worlds.definitions.e_safety",
    "KAnonymity": "tacit.families.microdata.definitions.k_anonymity",
    "LDiversity": "tacit.families.microdata.definitions.l_diversity",
    "AlphaK": "tacit.families.microdata.definitions.alpha_k",
    "CKSafety": "tacit.families.microdata.definitions.c_k_safety",
    "Dissimilarity": "tacit.families.microdata.definitions.dissimilarity",
    "EpsM": "tacit.families.microdata.definitions.eps_m",
    "MInvariance": "tacit.families.microdata.definitions.m_invariance",
    "PerfectPrivacy": "tacit.families.queries.definitions.perfect_privacy",
    "KE": "tacit.families.microdata.definitions.k_e",
    "Skyline": "tacit.families.microdata.definitions.skyline",
    "TCloseness": "tacit.families.microdata.definitions.t_closeness",
    "Variance": "tacit.families.microdata.definitions.variance",
    "Rho1Rho2": "tacit.families.microdata.definitions.rho1_rho2",
    "Semantic": "tacit.families.microdata.definitions.semantic",
    "replay": "tacit.families.microdata.definitions.replay.replay",
    "Risk": "tacit.families.microdata.definitions.risk",
    "NotMet": "tacit.errors",
    "Refused": "tacit.errors",
    "TacitError": "tacit.errors",
    "Assumption": "tacit.model.verdict",
    "Certificate": "tacit.model.verdict",
    "Reason": "tacit.model.verdict",
    "Verdict": "tacit.model.verdict",
    "Witness": "tacit.model.verdict",
}
__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
