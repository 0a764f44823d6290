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
    from tacit.api import Anonymized as Anonymized
    from tacit.api import FurtherViews as FurtherViews
    from tacit.api import LoadedPlan as LoadedPlan
    from tacit.api import SyntheticTable as SyntheticTable
    from tacit.api import anonymize as anonymize
    from tacit.api import check as check
    from tacit.api import check_all as check_all
    from tacit.api import load as load
    from tacit.api import overlapping_views as overlapping_views
    from tacit.api import perfect_privacy as perfect_privacy
    from tacit.api import restore as restore
    from tacit.api import synthesize as synthesize
    from tacit.api import view_safety as view_safety
    from tacit.assess import Assessment as Assessment
    from tacit.client.connection import connect as connect
    from tacit.definitions.alpha_k import AlphaK as AlphaK
    from tacit.definitions.c_k_safety import CKSafety as CKSafety
    from tacit.definitions.dissimilarity import Dissimilarity as Dissimilarity
    from tacit.definitions.e_safety import ESafety as ESafety
    from tacit.definitions.eps_m import EpsM as EpsM
    from tacit.definitions.g_safety import GSafety as GSafety
    from tacit.definitions.gamma_privacy import GammaPrivacy as GammaPrivacy
    from tacit.definitions.k_anonymity import KAnonymity as KAnonymity
    from tacit.definitions.k_e import KE as KE
    from tacit.definitions.k_rsind import KRsind as KRsind
    from tacit.definitions.k_sind import KSind as KSind
    from tacit.definitions.l_diversity import LDiversity as LDiversity
    from tacit.definitions.perfect_privacy import PerfectPrivacy as PerfectPrivacy
    from tacit.definitions.replay import replay as replay
    from tacit.definitions.rho1_rho2 import Rho1Rho2 as Rho1Rho2
    from tacit.definitions.semantic import Semantic as Semantic
    from tacit.definitions.skyline import Skyline as Skyline
    from tacit.definitions.t_closeness import TCloseness as TCloseness
    from tacit.definitions.variance import Variance as Variance
    from tacit.errors import Refused as Refused
    from tacit.errors import TacitError as TacitError
    from tacit.model.verdict import Assumption as Assumption
    from tacit.model.verdict import Certificate as Certificate
    from tacit.model.verdict import Reason as Reason
    from tacit.model.verdict import Verdict as Verdict
    from tacit.model.verdict import Witness as Witness

try:
    __version__ = version("tacit")
except PackageNotFoundError:
    __version__ = "0+unknown"

HOMES = {
    "anonymize": "tacit.api",
    "Anonymized": "tacit.api",
    "check": "tacit.api",
    "check_all": "tacit.api",
    "load": "tacit.api",
    "overlapping_views": "tacit.api",
    "perfect_privacy": "tacit.api",
    "restore": "tacit.api",
    "FurtherViews": "tacit.api",
    "synthesize": "tacit.api",
    "SyntheticTable": "tacit.api",
    "view_safety": "tacit.api",
    "LoadedPlan": "tacit.api",
    "Assessment": "tacit.assess",
    "connect": "tacit.client.connection",
    "GSafety": "tacit.definitions.g_safety",
    "GammaPrivacy": "tacit.definitions.gamma_privacy",
    "KSind": "tacit.definitions.k_sind",
    "KRsind": "tacit.definitions.k_rsind",
    "ESafety": "tacit.definitions.e_safety",
    "KAnonymity": "tacit.definitions.k_anonymity",
    "LDiversity": "tacit.definitions.l_diversity",
    "AlphaK": "tacit.definitions.alpha_k",
    "CKSafety": "tacit.definitions.c_k_safety",
    "Dissimilarity": "tacit.definitions.dissimilarity",
    "EpsM": "tacit.definitions.eps_m",
    "PerfectPrivacy": "tacit.definitions.perfect_privacy",
    "KE": "tacit.definitions.k_e",
    "Skyline": "tacit.definitions.skyline",
    "TCloseness": "tacit.definitions.t_closeness",
    "Variance": "tacit.definitions.variance",
    "Rho1Rho2": "tacit.definitions.rho1_rho2",
    "Semantic": "tacit.definitions.semantic",
    "replay": "tacit.definitions.replay",
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
    return [*globals(), *HOMES]
