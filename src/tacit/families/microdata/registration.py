"""Registration of microdata: the checks that a plan may ask, and their keys."""

from __future__ import annotations

from typing import Literal

from tacit.families.registration import (
    NAME,
    OUT,
    CheckKey,
    CheckKind,
    Registration,
    choice,
    integer,
    number,
    optional,
)
from tacit.model.release import Microdata

FOR_MICRODATA = optional(
    CheckKey("sensitive", "column", "condition"),
    choice("missing", "own-group", "match-any", "error"),
)


def check(
    name: str,
    definition: str,
    *parameters: CheckKey,
    sensitive: Literal["any", "some", "one"] = "one",
) -> CheckKind:
    """A check of one generalized copy of a table."""
    return CheckKind(
        name,
        f"microdata.definitions.{definition}",
        (Microdata,),
        (*parameters, *FOR_MICRODATA, *OUT, *NAME),
        sensitive=sensitive,
    )


CHECKS = (
    check("k-anonymity", "k_anonymity.KAnonymity", integer("k", "4"), sensitive="any"),
    check(
        "l-diversity",
        "l_diversity.LDiversity",
        choice("kind", "distinct", "entropy", "recursive"),
        number("l", "3"),
        *optional(
            number("c", "3"),
            CheckKey("dont-care", "list", "[flu]"),
            CheckKey("negative", "list", "[cancer]"),
            number("c2", "10"),
        ),
        sensitive="some",
    ),
    check(
        "t-closeness",
        "t_closeness.TCloseness",
        number("t", "0.2"),
        *optional(choice("distance", "equal", "ordered", "hierarchical")),
    ),
    check("alpha-k", "alpha_k.AlphaK", number("alpha"), integer("k")),
    check("k-e", "k_e.KE", integer("k"), number("e", "5000")),
    check("eps-m", "eps_m.EpsM", number("epsilon", "1000"), number("m", "2")),
    check("variance", "variance.Variance", number("v", "100")),
    check("c-k-safety", "c_k_safety.CKSafety", number("c"), integer("k")),
    check("skyline", "skyline.Skyline", integer("l"), integer("k"), integer("m"), number("c")),
    check(
        "rho1-rho2",
        "rho1_rho2.Rho1Rho2",
        number("rho1", "0.1"),
        number("rho2"),
        *optional(CheckKey("prior", "file", "prior.csv")),
    ),
    check(
        "dissimilarity",
        "dissimilarity.Dissimilarity",
        number("epsilon", "0.1"),
        number("delta"),
        integer("k"),
    ),
    check(
        "semantic",
        "semantic.Semantic",
        CheckKey("measure", "any", "{positive: 0.5}"),
        *optional(
            CheckKey("protect", "any", "{equals: all}"),
            CheckKey("against", "any", "{negations: 1}"),
        ),
    ),
    check(
        "risk",
        "risk.Risk",
        number("at-most", "0.1"),
        *optional(
            choice("attacker", "prosecutor", "journalist", "marketer"),
            CheckKey("population", "text", "city"),
        ),
        sensitive="any",
    ),
    check(
        "m-invariance",
        "m_invariance.MInvariance",
        integer("m", "2"),
        *optional(choice("kind", "unique", "values")),
    ),
)
REGISTRATION = Registration("microdata", CHECKS)
