"""Verdict: a checker's answer, with the evidence that a stranger can replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any, Literal

from tacit.errors import NotMet
from tacit.model.numbers import fraction_text
from tacit.model.pictures import COLOURS, Gauge, gauges_chart, gauges_html

Status = Literal["holds", "breached", "undecided"]
Certainty = Literal["exact", "conservative", "statistical"]
Scope = Literal["schema", "this data", "this domain"]
Checked = Literal["yes", "no", "cannot"]
Audience = Literal["owner", "shared"]
INTERNAL = "internal"  # the code of what stays undecided because Tacit itself went wrong


@dataclass(frozen=True, slots=True)
class Assumption:
    """What a verdict relies on and cannot prove."""

    id: str
    text: str
    checked: Checked


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why a definition holds. `facts` may be shown to anyone, `personal` only to the owner."""

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    personal: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Witness:
    """The least evidence of a breach.
    `facts` may be shown to anyone, `personal` only to the owner.
    """

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    personal: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a question stays undecided, with a code that the documentation explains."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Waiver:
    """Somebody's word that a check which does not hold is accepted for a time.

    `check` is the check's name, `until` the last day on which it counts, in UTC.
    """

    check: str
    reason: str
    by: str
    until: date

    def __str__(self) -> str:
        """As a sentence.

        >>> print(Waiver("small-wards", "agreed with the board", "A. Bee", date(2030, 1, 31)))
        Waived by A. Bee until 2030-01-31: agreed with the board
        """
        return f"Waived by {self.by} until {self.until.isoformat()}: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """The object of the JSON contract."""
        return {"reason": self.reason, "by": self.by, "until": self.until.isoformat()}


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The answer of one definition to one question.

    `because` says what was found without naming anybody; `story` tells it with a person's values
    and is shown to the owner only, like `personal`: what was measured and names people. `label` is
    what was asked, in a few words ("3-diversity"). `waived` is the word that accepts what does not
    hold; the status stays what it is.

    >>> verdict = Verdict(
    ...     check="k-anonymity",
    ...     label="4-anonymity",
    ...     subject={"release": "april"},
    ...     status="breached",
    ...     because="a group of 1 person, 4 required",
    ...     evidence=Witness("group", {"size": 1}),
    ...     measured={"k": 1},
    ...     required={"k": 4},
    ... )
    >>> print(verdict)
    BREACHED  4-anonymity of april: a group of 1 person, 4 required
    >>> verdict
    <Verdict breached: 4-anonymity of april, a group of 1 person, 4 required>
    >>> bool(verdict)
    Traceback (most recent call last):
    TypeError: a verdict has three outcomes; compare verdict.status
    """

    check: str
    label: str
    subject: Mapping[str, Any]
    status: Status
    because: str
    evidence: Certificate | Witness | Reason
    certainty: Certainty = "exact"
    scope: Scope = "this data"
    protects: str = ""
    against: str = ""
    measure: str = ""
    assumptions: tuple[Assumption, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    required: Mapping[str, Any] = field(default_factory=dict)
    story: str | None = None
    name: str | None = None
    warnings: tuple[str, ...] = ()
    vacuous: bool = False
    seconds: float = 0.0
    personal: Mapping[str, Any] = field(default_factory=dict)
    waived: Waiver | None = None

    def __post_init__(self) -> None:
        kind = {"holds": Certificate, "breached": Witness, "undecided": Reason}[self.status]
        if not isinstance(self.evidence, kind):
            raise TypeError(f"a verdict that is {self.status} carries a {kind.__name__}")

    def __bool__(self) -> bool:
        raise TypeError("a verdict has three outcomes; compare verdict.status")

    def __repr__(self) -> str:
        return (
            f"<Verdict {self.status}: {self.label} of {subject_text(self.subject)}, {self.because}>"
        )

    def raise_for_status(self) -> None:
        """Raise NotMet unless it holds or is waived; what is undecided does not hold."""
        raise_unless_held([self])

    @property
    def witness(self) -> Witness | None:
        """The evidence of a breach, or None."""
        return self.evidence if isinstance(self.evidence, Witness) else None

    @property
    def certificate(self) -> Certificate | None:
        """Why it holds, or None."""
        return self.evidence if isinstance(self.evidence, Certificate) else None

    @property
    def reason(self) -> Reason | None:
        """Why it is undecided, or None."""
        return self.evidence if isinstance(self.evidence, Reason) else None

    @property
    def fails(self) -> bool:
        """Does it count against the release: it does not hold, and nobody waived it?"""
        return self.status != "holds" and self.waived is None

    @property
    def remarks(self) -> list[str]:
        """What is said below it: the waiver, and what to note."""
        waived = [str(self.waived)] if self.waived else []
        return [*waived, *(f"Note: {one}" for one in self.warnings)]

    def __str__(self) -> str:
        word = self.status.upper() if self.status == "breached" else self.status
        text = f"{word:<9} {self.label} of {subject_text(self.subject)}: {self.because}"
        return "\n          ".join(
            [
                text,
                *([self.story] if self.story else []),
                *self.remarks,
            ]
        )

    def gauges(self) -> list[Gauge]:
        """What was measured beside what was required, where both are numbers."""
        return [
            Gauge(f"{self.label}: {key}", float(found), float(self.required[key]), self.status)
            for key, found in self.measured.items()
            if is_number(found) and is_number(self.required.get(key))
        ]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        story = "".join(
            f"<br>{escape(one)}"
            for one in [
                *([self.story] if self.story else []),
                *self.remarks,
            ]
        )
        return (
            f'<div><b style="color:{COLOURS[self.status]}">{escape(self.status)}</b> '
            f"<b>{escape(self.label)}</b> of {escape(subject_text(self.subject))}: "
            f"{escape(self.because)} <i>({escape(self.certainty)})</i>{story}"
            f"<br>{gauges_html(self.gauges())}</div>"
        )

    def plot(self) -> Any:
        """What was measured beside what was required, as an Altair chart (the extra `notebook`)."""
        return gauges_chart(self.gauges(), f"{self.label}: {self.status}")

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object of the JSON contract; `shared` leaves personal values out.

        >>> Verdict(
        ...     check="k-anonymity",
        ...     label="2-anonymity",
        ...     subject={"release": "a"},
        ...     status="holds",
        ...     because="the smallest group has 4 people",
        ...     evidence=Certificate("groups"),
        ...     measured={"k": 4},
        ...     required={"k": 2},
        ... ).to_json()["measured"]
        {'k': '4'}
        """
        owner = audience == "owner"
        document: dict[str, Any] = {
            "check": self.check,
            "name": self.name,
            "subject": as_json(self.subject),
            "status": self.status,
            "certainty": self.certainty,
            "scope": self.scope,
            "protects": self.protects,
            "against": self.against,
            "measure": self.measure,
            "assumptions": [
                {"id": one.id, "text": one.text, "checked": one.checked} for one in self.assumptions
            ],
            "measured": with_decimals({**self.measured, **(self.personal if owner else {})}),
            "required": as_json(self.required),
            **evidence_json(self.evidence, owner=owner),
            "because": f"{self.because}. {self.story}" if owner and self.story else self.because,
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
        }
        if self.vacuous:
            document["vacuous"] = True
        if self.waived:
            document["waived"] = self.waived.to_json()
        return document


def is_number(value: Any) -> bool:
    """Can a bar be drawn of it?

    >>> is_number(Fraction(1, 2)), is_number("distinct"), is_number(True), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
        return False
    return bool(-(10**15) < value < 10**15)


def raise_unless_held(verdicts: Iterable[Verdict]) -> None:
    """Raise NotMet with the verdicts that do not hold and are not waived, where there are any."""
    failed = [one for one in verdicts if one.fails]
    if failed:
        told = "; ".join(f"{one.label} is {one.status}: {one.because}" for one in failed)
        raise NotMet(f"{told}.", verdicts=tuple(failed))


def subject_text(subject: Mapping[str, Any]) -> str:
    """What was judged, as a person says it.

    >>> subject_text({"releases": ["male", "female"]})
    'male, female'
    """
    named = subject.get("release", subject.get("releases", ""))
    return named if isinstance(named, str) else ", ".join(named)


def evidence_json(evidence: Certificate | Witness | Reason, *, owner: bool) -> dict[str, Any]:
    """Exactly one of certificate, witness, reason."""
    if isinstance(evidence, Reason):
        return {"reason": {"code": evidence.code, "text": evidence.text}}
    key = "certificate" if isinstance(evidence, Certificate) else "witness"
    shown = {**evidence.facts, **(evidence.personal if owner else {})}
    return {key: {"kind": evidence.kind, **as_json(shown)}}


def as_json(value: Any) -> Any:
    """Integers and fractions become strings, booleans and lists stay themselves.

    >>> as_json({"k": 4, "gamma": Fraction(1, 2), "equal": True, "sets": [["a"], ["b"]]})
    {'k': '4', 'gamma': '1/2', 'equal': True, 'sets': [['a'], ['b']]}
    """
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Fraction):
        return fraction_text(value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def with_decimals(measured: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON, with the number `x_decimal` beside every fraction x.

    >>> with_decimals({"gamma": Fraction(4, 5), "worlds": 45})
    {'gamma': '4/5', 'gamma_decimal': 0.8, 'worlds': '45'}
    """
    document: dict[str, Any] = {}
    for key, value in measured.items():
        document[key] = as_json(value)
        if isinstance(value, Fraction):
            document[f"{key}_decimal"] = float(value)
    return document
