"""The eighteen kinds of identifiers of HIPAA, and names of columns that hold them.

The letters are those of 45 CFR 164.514(b)(2)(i), which asks for those of relatives, employers and
household members too. Names are English words, as `words_of` reads them, or short for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tacit.families.identifiers.column_words import (
    ALSO_THINGS,
    ANYBODY,
    BARE_NUMBERS,
    is_persons_name,
    says,
    words_of,
)


@dataclass(frozen=True, slots=True)
class IdentifierKind:
    """One of the eighteen: its letter, and what it is."""

    letter: str
    what: str

    def __str__(self) -> str:
        return f"{self.what} ({self.letter})"


NAMES = IdentifierKind("A", "names")
PLACES = IdentifierKind("B", "places smaller than a state")
DATES = IdentifierKind("C", "dates, or ages over 89")
PHONES = IdentifierKind("D", "telephone numbers")
FAXES = IdentifierKind("E", "fax numbers")
EMAILS = IdentifierKind("F", "e-mail addresses")
SOCIAL = IdentifierKind("G", "social security numbers")
RECORDS = IdentifierKind("H", "medical record numbers")
PLANS = IdentifierKind("I", "health plan beneficiary numbers")
ACCOUNTS = IdentifierKind("J", "account numbers")
LICENSES = IdentifierKind("K", "certificate or license numbers")
VEHICLES = IdentifierKind("L", "vehicle identifiers")
DEVICES = IdentifierKind("M", "device identifiers")
URLS = IdentifierKind("N", "web addresses")
IPS = IdentifierKind("O", "IP addresses")
BODIES = IdentifierKind("P", "biometric identifiers")
PHOTOS = IdentifierKind("Q", "photographs and comparable images")
OTHERS = IdentifierKind("R", "other identifying numbers or codes")
KINDS = (
    NAMES,
    PLACES,
    DATES,
    PHONES,
    FAXES,
    EMAILS,
    SOCIAL,
    RECORDS,
    PLANS,
    ACCOUNTS,
    LICENSES,
    VEHICLES,
    DEVICES,
    URLS,
    IPS,
    BODIES,
    PHOTOS,
    OTHERS,
)

PHRASES: tuple[tuple[IdentifierKind, str], ...] = (
    (
        NAMES,
        "surname, forename, nickname, initials, fname, lname, maiden, full name, first name, "
        "last name, middle name, given name, family name, next of kin, employer",
    ),
    (
        PLACES,
        "address, addr, street, house number, city, town, village, municipality, county, "
        "precinct, parish, borough, district, neighborhood, neighbourhood, tract, block group, "
        "fips, geoid, geocode, latitude, longitude, lat, lon, lng, coordinates, birthplace, "
        "place of birth, residence, suburb, hamlet, cbsa, gps, geohash",
    ),
    (
        DATES,
        "date, day, month, birth, birthday, born, dob, yob, birthdate, admission, admitted, "
        "discharge, discharged, death, deceased, died, dod, timestamp, datetime, dttm, admit",
    ),
    (PHONES, "phone, telephone, cellphone, mobile, tel"),
    (FAXES, "fax"),
    (EMAILS, "email, e mail, email address, e mail address"),
    (SOCIAL, "ssn, social security, social sec"),
    (
        RECORDS,
        "mrn, medical record, medical record number, med rec, medrec, chart number, patient id, "
        "patient number, patient no, patient nr, hospital number",
    ),
    (
        PLANS,
        "health plan, beneficiary id, beneficiary number, member id, member number, insurance id, "
        "insurance number, medicare id, medicare number, medicaid id, medicaid number, "
        "policy number, subscriber id, subscriber number",
    ),
    (
        ACCOUNTS,
        "account number, account no, account id, acct, bank account, iban, credit card, "
        "card number",
    ),
    (
        LICENSES,
        "license number, licence number, license no, driver license, drivers license, "
        "certificate number, certificate no, passport",
    ),
    (
        VEHICLES,
        "vin, license plate, licence plate, number plate, plate number, vehicle id, "
        "vehicle number, vehicle identification number, vehicle registration, registration number",
    ),
    (
        DEVICES,
        "device id, device number, device serial, serial number, serial no, imei, mac address, udi",
    ),
    (URLS, "url, uri, website, web site, web address, homepage"),
    (IPS, "ip, ip address, ip addr"),
    (
        BODIES,
        "biometric, fingerprint, finger print, voiceprint, voice print, faceprint, retina scan, "
        "iris scan",
    ),
    (PHOTOS, "photo, photograph, picture, portrait, selfie, mugshot, face image"),
    (
        OTHERS,
        "id, ids, uid, uuid, guid, identifier, record number, record no, case number, case no, "
        "encounter number, accession, nhs number, tax number, npi, username, user name, "
        "login, barcode, hash, twitter, facebook, instagram, linkedin",
    ),
)
# These say it only where they are the whole name: a device type is no device.
WHOLE = {
    "location": PLACES,
    "medicare": PLANS,
    "medicaid": PLANS,
    "account": ACCOUNTS,
    "license": LICENSES,
    "licence": LICENSES,
    "certificate": LICENSES,
    "vehicle": VEHICLES,
    "device": DEVICES,
    "plate": VEHICLES,
    "serial": DEVICES,
    "mac": DEVICES,
    "image": PHOTOS,
}
# Short for words of a longer name: a column that is only called PT is a time of the blood.
SHORT = {
    **dict.fromkeys(("no", "nr", "num", "nbr"), "number"),
    "nm": "name",
    "cd": "code",
    "dt": "date",
    "pt": "patient",
    "cert": "certificate",
    "lic": "license",
    "sn": "serial",
}
ZIP = "zip, zipcode, zip code, zcta, postcode, post code, postal code, postal"
AGE = "age, ages, years old"
BIRTH = "birth, birthday, born, dob, yob, birthdate"


@cache
def kinds_of_name(name: str) -> tuple[IdentifierKind, ...]:
    """The kinds that a column's name speaks of. A phrase inside of a longer one does not count: an
    e-mail address is no address.

    >>> [one.letter for one in kinds_of_name("home_address")], kinds_of_name("email_address")
    (['B'], (IdentifierKind(letter='F', what='e-mail addresses'),))
    >>> [one.letter for one in kinds_of_name("birthCity")], kinds_of_name("language")
    (['B', 'C'], ())
    """
    said = spelled_out(name)
    found = [(phrase, kind) for kind, phrase in phrases() if says(said, phrase)]
    longest = [
        kind
        for phrase, kind in found
        if not any(phrase != other and inside(phrase, other) for other, _ in found)
    ]
    longest += [WHOLE[one] for one in said if said == [one] and one in WHOLE]
    if is_persons_name(said) or (len(said) == 1 and said[0] in ANYBODY - ALSO_THINGS):
        longest.append(NAMES)
    if not longest and ANYBODY & set(said) and BARE_NUMBERS & set(said):
        longest.append(OTHERS)
    return tuple(kind for kind in KINDS if kind in longest)


def phrases() -> Iterator[tuple[IdentifierKind, str]]:
    """Every phrase with its kind."""
    for kind, listed in PHRASES:
        for phrase in listed.split(", "):
            yield kind, phrase


def inside(phrase: str, other: str) -> bool:
    """Are the words of a phrase among those of another one?"""
    return set(phrase.split()) < set(other.split())


@cache
def is_called(name: str, listed: str) -> bool:
    """Does a column's name say one of the listed phrases?

    >>> is_called("ZIPCode", ZIP), is_called("age_group", AGE), is_called("percentage", AGE)
    (True, True, False)
    """
    return any(says(spelled_out(name), phrase) for phrase in listed.split(", "))


def spelled_out(name: str) -> list[str]:
    """The words of a column's name, with the longer word for what is short for it.

    >>> spelled_out("adm_dt"), spelled_out("PT")
    (['adm', 'date'], ['pt'])
    """
    said = words_of(name)
    return [SHORT.get(one, one) for one in said] if len(said) > 1 else said
