"""The registry of definitions: adding one means adding a module and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.definitions.alpha_k import AlphaK
from tacit.definitions.base import Definition
from tacit.definitions.c_k_safety import CKSafety
from tacit.definitions.dissimilarity import Dissimilarity
from tacit.definitions.eps_m import EpsM
from tacit.definitions.k_anonymity import KAnonymity
from tacit.definitions.k_e import KE
from tacit.definitions.l_diversity import LDiversity
from tacit.definitions.rho1_rho2 import Rho1Rho2
from tacit.definitions.risk import Risk
from tacit.definitions.semantic import Semantic
from tacit.definitions.skyline import Skyline
from tacit.definitions.t_closeness import TCloseness
from tacit.definitions.variance import Variance

DEFINITIONS: dict[str, type[Definition]] = {
    KAnonymity.check_name: KAnonymity,
    LDiversity.check_name: LDiversity,
    Risk.check_name: Risk,
    Rho1Rho2.check_name: Rho1Rho2,
    Semantic.check_name: Semantic,
    TCloseness.check_name: TCloseness,
    AlphaK.check_name: AlphaK,
    KE.check_name: KE,
    Variance.check_name: Variance,
    EpsM.check_name: EpsM,
    Dissimilarity.check_name: Dissimilarity,
    CKSafety.check_name: CKSafety,
    Skyline.check_name: Skyline,
}


def define(kind: str, parameters: Mapping[str, Any]) -> Definition:
    """The definition that a plan's check asks for; parameters carry the names of the plan file.

    >>> define("k-anonymity", {"k": 4})
    KAnonymity(k=4, missing='own-group')
    """
    named = {key.replace("-", "_"): value for key, value in parameters.items()}
    return DEFINITIONS[kind](**named)
