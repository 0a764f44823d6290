"""The registry of definitions: adding one means adding a module and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

from tacit.families.definition import Definition

# Each check with the module and the class of its definition.
OF_MICRODATA = {
    "k-anonymity": "microdata.definitions.k_anonymity.KAnonymity",
    "l-diversity": "microdata.definitions.l_diversity.LDiversity",
    "risk": "microdata.definitions.risk.Risk",
    "rho1-rho2": "microdata.definitions.rho1_rho2.Rho1Rho2",
    "semantic": "microdata.definitions.semantic.Semantic",
    "t-closeness": "microdata.definitions.t_closeness.TCloseness",
    "alpha-k": "microdata.definitions.alpha_k.AlphaK",
    "k-e": "microdata.definitions.k_e.KE",
    "variance": "microdata.definitions.variance.Variance",
    "eps-m": "microdata.definitions.eps_m.EpsM",
    "dissimilarity": "microdata.definitions.dissimilarity.Dissimilarity",
    "c-k-safety": "microdata.definitions.c_k_safety.CKSafety",
    "skyline": "microdata.definitions.skyline.Skyline",
}
OF_QUERIES = {
    "perfect-privacy": "queries.definitions.perfect_privacy.PerfectPrivacy",
}
OF_WORLDS = {
    "g-safety": "worlds.definitions.g_safety.GSafety",
    "e-safety": "worlds.definitions.e_safety.ESafety",
}
OF_OVERLAPS = {
    "gamma-privacy": "overlaps.definitions.gamma_privacy.GammaPrivacy",
    "k-sind": "overlaps.definitions.k_sind.KSind",
    "k-rsind": "overlaps.definitions.k_rsind.KRsind",
}
OF_SYNTHETIC = {
    "differential-privacy": "synthetic.definitions.differential_privacy.DifferentialPrivacy",
    "probabilistic-dp": "synthetic.definitions.probabilistic_dp.ProbabilisticDp",
}


class Registry(MutableMapping[str, type[Definition]]):
    """Definitions by the name of their check; each is loaded when it is first asked for.

    A command that asks one question should not wait for all the others to be read.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)
        self._loaded: dict[str, type[Definition]] = {}

    def __getitem__(self, name: str) -> type[Definition]:
        if name not in self._loaded:
            module, _, kind = self._homes[name].rpartition(".")
            self._loaded[name] = getattr(import_module(f"tacit.families.{module}"), kind)
        return self._loaded[name]

    def __setitem__(self, name: str, definition: type[Definition]) -> None:
        self._homes.setdefault(name, "")
        self._loaded[name] = definition

    def __delitem__(self, name: str) -> None:
        del self._homes[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes


DEFINITIONS = Registry({**OF_MICRODATA, **OF_QUERIES, **OF_WORLDS, **OF_OVERLAPS, **OF_SYNTHETIC})
MICRODATA = Registry(OF_MICRODATA)  # those that judge a generalized copy of a table


def define(kind: str, parameters: Mapping[str, Any]) -> Definition:
    """The definition that a plan's check asks for; parameters carry the names of the plan file.

    >>> define("k-anonymity", {"k": 4})
    KAnonymity(k=4, missing='own-group')
    """
    named = {key.replace("-", "_"): value for key, value in parameters.items()}
    return DEFINITIONS[kind](**named)
