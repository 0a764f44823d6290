"""A transformer in the style of scikit-learn, which it does not need: k-anonymous tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, Self

from tacit.api import anonymize
from tacit.api.definition_arguments import definitions_of
from tacit.api.results import Anonymized
from tacit.errors import InputError, ParameterError
from tacit.families.definition import Definition
from tacit.families.microdata.definitions.k_anonymity import KAnonymity


class KAnonymizer:
    """Generalizes a table until everybody looks like k - 1 others, at the least loss.

    Rows come in random order, so that nothing lines up with the true table: a `y` is refused, and
    in a ColumnTransformer rows would be glued to those of others.
    `transform` takes only the table that was fitted: levels that protect these people promise
    nothing to others. After `fit`, `result_` is what `anonymize` found.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame({"age": [28, 29, 31, 37]})
    >>> made = tacit.KAnonymizer(k=2, hierarchies={"age": {"ranges": [10]}}).fit_transform(people)
    >>> sorted(made["age"])
    ['20-29', '20-29', '30-39', '30-39']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi_identifiers: str | Sequence[str] | None = None,
        sensitive: str | Sequence[str] = (),
        insensitive: str | Sequence[str] = (),
        person: str | Sequence[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        require: Definition | Sequence[Definition] = (),
        method: Literal["lattice", "mondrian", "window"] = "lattice",
        suppress: Any = 0,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.sensitive = sensitive
        self.insensitive = insensitive
        self.person = person
        self.hierarchies = hierarchies
        self.require = require
        self.method = method
        self.suppress = suppress

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments, as scikit-learn asks for them."""
        return {name: one for name, one in vars(self).items() if not name.endswith("_")}

    def set_params(self, **params: Any) -> Self:
        """Change arguments, as scikit-learn does."""
        for name, one in params.items():
            if name not in self.get_params():
                raise ParameterError(f"KAnonymizer does not take {name}.", parameter=name)
            setattr(self, name, one)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 (as scikit-learn calls it)
        """Search the levels. Without `quasi_identifiers`, those are the columns with a hierarchy.

        Raises NotMet where no table meets what is asked.
        """
        if y is not None:
            raise InputError(
                "y would not line up with the rows, which come in random order.",
                hint="Leave y out; make it a column of X, under sensitive or insensitive.",
            )
        none = self.require is None or (isinstance(self.require, Sequence) and not self.require)
        further = () if none else definitions_of(self.require, "require")
        found: Anonymized = anonymize(
            X,
            [KAnonymity(k=self.k), *further],
            quasi_identifiers=(
                list(self.hierarchies or ())
                if self.quasi_identifiers is None
                else self.quasi_identifiers
            ),
            sensitive=self.sensitive,
            insensitive=self.insensitive,
            person=self.person,
            hierarchies=self.hierarchies,
            method=self.method,
            suppress=self.suppress,
        )
        found.raise_for_status()
        self.result_, self.fitted_ = found, X
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The generalized table of the rows that were fitted; other rows are refused."""
        if not hasattr(self, "result_"):
            raise InputError("transform comes after fit.", hint="Call fit_transform(X).")
        same = X is self.fitted_ or (type(X) is type(self.fitted_) and bool(X.equals(self.fitted_)))
        if not same:
            raise InputError(
                "these are other rows than those that were fitted: the levels that were found "
                "protect only those.",
                hint="Call fit_transform on this table.",
            )
        return self.result_.table

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: N803
        """Search the levels, and give the generalized table."""
        return self.fit(X, y).transform(X)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator, to show a pipeline in a notebook."""
        utils: Any = import_module("sklearn.utils")
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(),
            input_tags=utils.InputTags(string=True, categorical=True, allow_nan=True),
            requires_fit=True,
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        return f"KAnonymizer(k={self.k})"
