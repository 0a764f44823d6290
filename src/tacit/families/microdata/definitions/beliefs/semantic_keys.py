"""The three values of a semantic definition as a plan writes them: read, and refused at the place.

An error names the key it is about by its path: `measure.positive`, `against.0.negations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError, did_you_mean
from tacit.families.microdata.definitions.beliefs.background_adversary import BackgroundAdversary
from tacit.families.microdata.definitions.beliefs.disclosure_measures import (
    DisclosureMeasure,
    Negative,
    Positive,
    Ratio,
    Uninformative,
    Upward,
)
from tacit.families.microdata.definitions.beliefs.predicates import Protect
from tacit.families.microdata.definitions.beliefs.prior import FilePrior
from tacit.families.parameters import number, whole
from tacit.model.numbers import plain

PROTECT = ("equals", "dont-care", "in", "range", "within")
AGAINST = ("negations", "known-people", "implications", "prior")
MEASURE = ("positive", "negative", "uninformative", "ratio", "rho1", "rho2")


def wrong(place: str, message: str, hint: str) -> ParameterError:
    """An error at a key."""
    return ParameterError(message, parameter=place, hint=hint)


def at(place: str, read: Callable[..., Any], written: Any, **bounds: Any) -> Any:
    """A number; what is wrong with it is wrong at its key."""
    try:
        return read(place.rpartition(".")[2], written, **bounds)
    except ParameterError as error:
        raise wrong(place, error.message, error.hint or "") from None


def keys_of(written: Any, place: str, known: Sequence[str], says: str, example: str) -> None:
    """A mapping, all of whose keys are known."""
    name = place.partition(".")[0]
    if not isinstance(written, Mapping) or not written:
        raise wrong(place, f"{name} says {says}.", f"Write for example {name}: {example}.")
    for key in written:
        if key not in known:
            raise wrong(place, f"{name} takes no {key!r}.", did_you_mean(str(key), known))


# -- measure ------------------------------------------------------------------------------------


def read_measures(written: Any) -> tuple[DisclosureMeasure, ...]:
    """The measures of a check; all of them must hold.

    >>> read_measures({"positive": "3/4", "negative": 0.1})
    (Positive(c=Fraction(3, 4)), Negative(c=Fraction(1, 10)))
    >>> read_measures({"positve": 1})
    Traceback (most recent call last):
    tacit.errors.ParameterError: measure takes no 'positve'. Did you mean 'positive'?
    """
    if isinstance(written, DisclosureMeasure):
        return (written,)
    if (
        isinstance(written, tuple)
        and written
        and all(isinstance(one, DisclosureMeasure) for one in written)
    ):
        return written
    keys_of(written, "measure", MEASURE, "how much learning is too much", "{positive: 0.5}")
    measures = [READ[key](value) for key, value in written.items() if key in READ]
    if "rho1" in written or "rho2" in written:
        measures.append(read_upward(written.get("rho1"), written.get("rho2"), "measure."))
    return tuple(measures)


def read_positive(written: Any) -> Positive:
    """A belief that must not be reached."""
    because = "is no limit: no belief is below 0 or above 1"
    return Positive(at("measure.positive", number, written, above=0, most=1, because=because))


def read_negative(written: Any) -> Negative:
    """A belief below which nobody may fall."""
    c = at("measure.negative", number, written, above=0, most=1)
    if c == 1:
        message = "negative=1 would need everybody to be sure of everything."
        raise wrong("measure.negative", message, "Use 0 < negative < 1.")
    return Negative(c)


def read_uninformative(written: Any) -> Uninformative:
    """How far a belief may move."""
    epsilon = at("measure.uninformative", number, written, least=0, most=1)
    if epsilon == 1:
        message = "uninformative=1 protects nobody: no belief can move further."
        raise wrong("measure.uninformative", message, "Use 0 <= uninformative < 1.")
    return Uninformative(epsilon)


def read_ratio(written: Any) -> Ratio:
    """A factor, or e to a power.

    >>> read_ratio("e^0.5")
    Ratio(r=None, exponent=Fraction(1, 2))
    """
    if isinstance(written, str) and written.startswith("e^"):
        power, because = written.removeprefix("e^"), "leaves no room: no belief could move"
        return Ratio(exponent=at("measure.ratio", number, power, above=0, because=because))
    because = "is no factor between a smaller and a greater belief"
    return Ratio(r=at("measure.ratio", number, written, least=1, because=because))


def read_upward(rho1: Any, rho2: Any, place: str = "") -> Upward:
    """0 < rho1 < rho2 < 1.

    >>> read_upward(0.5, 0.5)
    Traceback (most recent call last):
    tacit.errors.ParameterError: rho1=0.5 is not below rho2=0.5. Use 0 < rho1 < rho2 < 1.
    """
    hint = "Use 0 < rho1 < rho2 < 1."
    for name, value, other in (("rho1", rho1, "rho2"), ("rho2", rho2, "rho1")):
        if value is None:
            raise wrong(place + other, f"{other} needs {name}.", hint)
    low = at(f"{place}rho1", number, rho1, above=0)
    high = at(f"{place}rho2", number, rho2, above=0)
    if high >= 1:
        message = f"rho2={plain(high)} protects nobody: no belief is above it."
        raise wrong(f"{place}rho2", message, hint)
    if low >= high:
        raise wrong(f"{place}rho1", f"rho1={plain(low)} is not below rho2={plain(high)}.", hint)
    return Upward(low, high)


READ: dict[str, Callable[[Any], DisclosureMeasure]] = {
    "positive": read_positive,
    "negative": read_negative,
    "uninformative": read_uninformative,
    "ratio": read_ratio,
}


# -- against ------------------------------------------------------------------------------------


def read_adversaries(written: Any) -> tuple[BackgroundAdversary, ...]:
    """The adversaries of a check: a mapping is one who knows all of it, a list has several.

    >>> read_adversaries([{"negations": 2}, {"known-people": 3}])[1].known_people
    3
    """
    if isinstance(written, BackgroundAdversary):
        return (written,)
    if written in (None, (), [], {}):
        return (BackgroundAdversary(),)
    if isinstance(written, list | tuple):
        return tuple(read_adversary(one, f"against.{place}") for place, one in enumerate(written))
    return (read_adversary(written, "against"),)


def read_adversary(written: Any, place: str) -> BackgroundAdversary:
    """One adversary."""
    if isinstance(written, BackgroundAdversary):
        return written
    keys_of(written, place, AGAINST, "what the other side may know", "{negations: 1}")
    numbers = {
        name.replace("-", "_"): at(f"{place}.{name}", whole, value, least=0)
        for name, value in written.items()
        if name != "prior"
    }
    prior = read_file(written["prior"], f"{place}.prior") if "prior" in written else None
    return BackgroundAdversary(**numbers, prior=prior)


def read_file(written: Any, place: str) -> FilePrior | str:
    """The name of a prior's file, or a prior."""
    if isinstance(written, FilePrior) or (isinstance(written, str) and written.strip()):
        return written
    hint = "Write for example prior: prior.csv."
    raise wrong(place, "prior is the name of a CSV file.", hint)


# -- protect ------------------------------------------------------------------------------------


def read_protect(written: Any) -> Protect:
    """What a check protects.

    >>> read_protect({"equals": "all", "dont-care": ["healthy"]})
    Protect(equals=None, dont_care=('healthy',), sets=(), ranges=(), within=None)
    >>> read_protect({"within": 500}).equals
    ()
    """
    if isinstance(written, Protect):
        return written
    keys_of(written, "protect", PROTECT, "what must not be learned", "{equals: all}")
    fields = {FIELDS[name][0]: FIELDS[name][1](value) for name, value in written.items()}
    if fields.get("dont_care") and fields.setdefault("equals", None) is not None:
        message = "dont-care belongs to equals: all."
        raise wrong("protect.dont-care", message, "List what to protect, or what not.")
    return Protect(**{"equals": (), **fields})


def read_equals(written: Any) -> tuple[Any, ...] | None:
    """All values, or some."""
    return None if written == "all" else values_of("equals", written)


def values_of(name: str, written: Any) -> tuple[Any, ...]:
    """A list of values."""
    values = written if isinstance(written, list | tuple) else [written]
    if not values or any(one is None or isinstance(one, list | tuple | Mapping) for one in values):
        hint = f"Write for example {name}: [flu, cancer]."
        raise wrong(f"protect.{name}", f"{name} needs a list of values.", hint)
    return tuple(values)


def read_sets(written: Any) -> tuple[tuple[Any, ...], ...]:
    """One set of values, or several."""
    if isinstance(written, list | tuple) and any(isinstance(one, list | tuple) for one in written):
        return tuple(values_of("in", one) for one in written)
    return (values_of("in", written),)


def read_ranges(written: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    """One pair [low, high], or several."""
    place, hint = "protect.range", "Write for example range: [0, 1000]."
    pairs = written if isinstance(written, list | tuple) else [written]
    if not any(isinstance(one, list | tuple) for one in pairs):
        pairs = [pairs]
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise wrong(place, "range needs two numbers, the lowest and the highest.", hint)
    ranges = [(at(place, number, low), at(place, number, high)) for low, high in pairs]
    for low, high in ranges:
        if low > high:
            raise wrong(place, f"range ends before it begins: {plain(low)} to {plain(high)}.", hint)
    return tuple(ranges)


def read_within(written: Any) -> Fraction:
    """A distance."""
    distance: Fraction = at("protect.within", number, written, least=0, because="is no distance")
    return distance


FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "equals": ("equals", read_equals),
    "dont-care": ("dont_care", lambda written: values_of("dont-care", written)),
    "in": ("sets", read_sets),
    "range": ("ranges", read_ranges),
    "within": ("within", read_within),
}
