"""The eighteen identifiers of HIPAA are found by name and by value, and what may stay stays."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

import pytest

from oracles import identifiers as oracle
from tacit.checking.assess import assess
from tacit.families.identifiers.definitions.hipaa_identifiers import HipaaIdentifiers
from tacit.families.identifiers.finding import findings
from tacit.families.identifiers.forms import kinds_of_value
from tacit.families.identifiers.kinds import KINDS, kinds_of_name
from tacit.families.identifiers.question import question_of
from tacit.families.identifiers.rules import (
    ages_that_stay_not,
    births_that_stay_not,
    date_may_stay,
    zip_may_stay,
)
from tacit.plan.read.load import load_plan
from thorough import THOROUGH

BY_NAME = {
    "A": [
        "name",
        "patient_name",
        "LastName",
        "firstname",
        "pt_nm",
        "surname",
        "doctor",
        "employer",
    ],
    "B": ["address", "home_city", "County", "latitude", "census_tract"],
    "D": ["phone", "mobile_phone", "telephone_number"],
    "E": ["fax", "fax_number"],
    "F": ["email", "e-mail", "EmailAddress"],
    "G": ["ssn", "social_security_number"],
    "H": ["mrn", "patient_id", "medical_record_number", "chart_no", "patientno"],
    "I": ["member_id", "medicare_number", "insurance_id"],
    "J": ["account_number", "iban", "credit_card"],
    "K": ["license_number", "License", "passport", "drivers_lic", "cert_no"],
    "L": ["vin", "license_plate", "plate_no"],
    "M": ["device_serial", "mac_address", "serial_number", "serialno", "device_sn"],
    "N": ["url", "website"],
    "O": ["ip", "ip_address"],
    "P": ["fingerprint", "voice_print"],
    "Q": ["photo", "portrait"],
    "R": ["id", "visit_id", "username", "customer_no"],
}
GEO = "42.4440, -76.5019"
BY_VALUE = {
    "B": ["13053-4417", "12 Main St", "221B Baker Street", "Ithaca, NY 13053", "P.O. Box 7", GEO],
    "C": [
        *("1985-07-04", "7/4/1985", "4.7.85", "July 4, 1985", "4 Jul", datetime.date(1985, 7, 4)),
        *("04JUL1985", "4-Jul-85", "Jul-85", "07/1985", "07-1985", "1985-Q3", "Q3 1985"),
        *("the 4th of July", "at 19850704 10:30", "1985\u201307\u201304"),
    ],
    "D": [
        *("607-555-0199", "(607) 555-0199", "+44 20 7946 0958", "1 607 555 0199", "607.555.0199"),
        *("607\u2013555\u20130199", "607/555-0199", "tel: 6075550199"),
    ],
    "F": ["ann@example.org", "see ann.bee+x@mail.example.org."],
    "G": ["078-05-1120", "078 05 1120", "SSN 078051120"],
    "H": ["MRN 4471120", "mrn#0012"],
    "J": ["4111111111111111", "DE89 3704 0044 0532 0130 00"],
    "L": ["1M8GDM9AXKP042788"],
    "M": ["00:1b:44:11:3a:b7"],
    "N": ["https://example.org/ann", "www.example.org", "mail.example.com/ann"],
    "O": ["192.168.1.20", "2001:db8::7"],
    "Q": ["faces/17.jpg", "data:image/png;base64,AAAA"],
    "R": ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", "d41d8cd98f00b204e9800998ecf8427e"],
}
NOTHING = [
    *("flu", "20-29", "[20, 30)", "130**", "E11.9", "1980-1989", "50000-60000", "1985", "2.5"),
    *("5.1.1", "120/80", "12:30", "3", "1e-05", "-17.25", "+1.5", "A-12-B"),
    *("4.9497824966833416e-05", "0.4111111111111111", "1200-1399", "MARCH1", "pt 12", "0-1999"),
    *(13053, 98.6, True, "Some-college", "Prof-specialty", "10,000", "2 of 3", "HbA1c 7.5 %"),
]
HARMLESS = [
    "sex",
    "race",
    "language",
    "product_name",
    "percentage",
    "state",
    "country",
    "bmi",
    "pt",
    "pt_inr",
    "no_children",
    "device_type",
]


def letters(found: object) -> set[str]:
    return {one.letter for one in found}  # type: ignore[attr-defined]


def test_there_are_eighteen_with_the_letters_of_the_rule() -> None:
    assert "".join(one.letter for one in KINDS) == "ABCDEFGHIJKLMNOPQR"


@pytest.mark.parametrize("letter", BY_NAME)
def test_a_kind_is_found_by_the_name_of_its_column(letter: str) -> None:
    for name in BY_NAME[letter]:
        assert letter in letters(kinds_of_name(name)), name
        assert letter in letters(one.kind for one in findings(name, ["x", "z"], 2, 2026)), name
        assert not list(findings(name, ["*", "***", None], 3, 2026)), "it shows nothing"


@pytest.mark.parametrize("letter", BY_VALUE)
def test_a_kind_is_found_by_the_form_of_a_value(letter: str) -> None:
    for value in BY_VALUE[letter]:
        assert letter in letters(kinds_of_value(value)), value
        texts = [value, f"note: {value}, so"] if isinstance(value, str) else [value]
        for text in texts:
            assert letter in letters(one.kind for one in findings("note", [text], 1, 2026)), text


@pytest.mark.parametrize("value", NOTHING, ids=str)
def test_what_has_no_form_is_not_taken_for_an_identifier(value: object) -> None:
    assert kinds_of_value(value) == ()


@pytest.mark.parametrize("name", HARMLESS)
def test_what_may_stay_is_not_found_by_its_name(name: str) -> None:
    assert list(findings(name, ["a", "b"], 40, 2026)) == []


def test_a_zip_code_may_stay_as_the_oracle_says() -> None:
    draw = random.Random(23)
    for _ in range(200 * THOROUGH):
        area = draw.choice(oracle.SMALL) if draw.random() < 0.5 else f"{draw.randrange(1000):03}"
        digits = (area + f"{draw.randrange(100):02}")[: draw.randint(0, 5)]
        label = digits.ljust(5, "*")
        assert zip_may_stay(label) == oracle.zip_may_stay(label), label


@pytest.mark.parametrize(
    "label", ["13053-13068", "1305", "13*", 601, 3601, "K1A 0B1", "13053-****"]
)
def test_a_zip_code_that_is_not_understood_may_not_stay(label: object) -> None:
    assert not zip_may_stay(label)


def test_ages_and_years_of_birth_may_stay_as_the_oracle_says() -> None:
    draw = random.Random(23)
    seen = set()
    for _ in range(2000 * THOROUGH):
        spans: list[tuple[int, int | None]] = [
            (low, low + draw.choice([0, 4, 9])) for low in draw.sample(range(60, 95), 2)
        ]
        ends = draw.sample([65, 85, 89, 90, 91], draw.choice([0, 0, 1, 1, 2]))
        spans += [(low, None) for low in ends]
        told = [age_label(draw, *one) for one in spans]
        right = oracle.ages_may_stay(spans)
        assert (not ages_that_stay_not(told)) == right, told
        births = [(None if high is None else 2026 - high, 2026 - low) for low, high in spans]
        labels = [birth_label(draw, *one) for one in births]
        assert (not births_that_stay_not(labels, 2026)) == right, labels
        assert oracle.births_may_stay(births, 2026) == right
        seen.add(right)
    assert seen == {True, False}


def age_label(draw: random.Random, low: int, high: int | None) -> object:
    if high is None:
        ways = [f"{low}+", f">={low}", f">{low - 1}", f"{low} or older", f"{low} years or over"]
        return draw.choice(ways)
    if low == high:
        return draw.choice([low, str(low)])
    return draw.choice([f"{low}-{high}", f"[{low}, {high + 1})", f"{low} to {high}"])


def birth_label(draw: random.Random, low: int | None, high: int) -> object:
    if low is None:
        return draw.choice(
            [f"<={high}", f"<{high + 1}", f"{high} or earlier", f"before {high + 1}"]
        )
    return draw.choice([high, str(high)]) if low == high else f"{low}-{high}"


def test_of_a_date_the_year_may_stay_however_it_is_written() -> None:
    draw = random.Random(23)
    for _ in range(300 * THOROUGH):
        day = datetime.date(1920, 1, 1) + datetime.timedelta(days=draw.randrange(38_000))
        for form in ("%Y-%m-%d", "%Y-%m", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%B %d, %Y", "%b %Y"):
            text = day.strftime(form)
            assert not date_may_stay(text), text
            assert "C" in letters(kinds_of_value(text)), text
        assert date_may_stay(str(day.year)) and date_may_stay(day.year)
        assert date_may_stay(f"{day.year}-{day.year + 9}") and not kinds_of_value(str(day.year))
    assert not date_may_stay(day) and not date_may_stay("7") and not date_may_stay("19850704")


def test_a_column_that_only_says_whether_is_no_identifier() -> None:
    assert not list(findings("passport", ["yes", "no"], 2, 2026))
    assert not list(findings("deceased", [0, 1], 2, 2026))
    assert list(findings("passport", ["yes", "C01X00T47"], 2, 2026))


def test_texts_that_all_differ_are_a_code_where_there_are_enough() -> None:
    codes = [f"x{number}" for number in range(20)]
    assert [one.kind.letter for one in findings("sample", codes, 20, 2026)] == ["R"]
    assert not list(findings("sample", codes[:19], 19, 2026))
    assert not list(findings("sample", codes, 21, 2026))


def test_the_verdict_is_the_same_whatever_the_order_of_rows() -> None:
    rows = [("13053", 91), ("130**", 40), ("03601", 95)]
    one, other = (
        HipaaIdentifiers().check(question_of("r", ["zip", "age"], some, 2026))
        for some in (rows, rows[::-1])
    )
    assert one == other and one.status == "breached"
    assert one.measured == {"columns": 2} and one.required == {"columns": 0, "year": 2026}


PLAN = """version: 1
tables:
  stays:
    columns: {name: text, zip: text, ward: text, note: text}
    rows: [[Ann, "13053", A, better], [Bob, "13068", A, worse]]
    identifiers: [name]
    quasi-identifiers: [zip]
    insensitive: [ward]
    sensitive: [note]
    hierarchies: {zip: {mask: right}}
releases:
  raw: {table: stays}
  coarse: {table: stays, generalization: {zip: 2}}
  names: {query: "SELECT name FROM stays"}
  notes: {query: "SELECT note FROM stays"}
published: [names]
checks:
- include: {policy: hipaa-safe-harbor, release: RELEASE}
"""


@pytest.mark.parametrize(
    ("release", "status"),
    [("raw", "breached"), ("coarse", "holds"), ("names", "breached"), ("notes", "holds")],
)
def test_copies_and_views_are_looked_at_as_they_go_out(
    release: str, status: str, tmp_path: Path
) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN.replace("RELEASE", release))
    [found] = assess(load_plan(tmp_path / "tacit.yaml"))
    assert (found.status, found.name) == (status, "hipaa-safe-harbor/identifiers")
    assert found.subject.get("given", []) == ([] if release == "names" else ["names"])
