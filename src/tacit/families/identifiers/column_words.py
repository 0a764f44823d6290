"""The words of a column's name, and whether they say something.

Words are written without accents and in small letters, as `words_of` reads names.
"""

from __future__ import annotations

import re
import unicodedata

SUFFIX_FROM = 6  # letters: netincome is an income, but percentage is no age
PREFIX_FROM = 8  # letters: nationalityofmother; but not original, regional
PLURALS = ("", "s", "es", "n", "en", "e")


def words(listed: str) -> frozenset[str]:
    """A list of words as a set."""
    return frozenset(listed.split())


# People whom a table is about: a number of theirs tells its people apart.
PERSON = words(
    """
    applicant beneficiary borrower cardholder citizen client customer donor employee guest individual inhabitant
    insured member participant passenger patient person pupil recipient resident respondent student subject
    subscriber taxpayer tenant user voter worker
    arbeitnehmer buerger burger einwohner kunde kunden mieter mitarbeiter mitglied patienten patientin personen
    proband probanden schuler schueler studenten versicherte versicherten versicherter
    abonne adherent assure beneficiaire citoyen employe eleve etudiant habitant patiente personne salarie usager
    utilisateur
    afiliado alumno asegurado beneficiario ciudadano cliente empleado estudiante habitante paciente persona socio
    trabajador usuario
    """  # noqa: E501
)
# People who stand beside them.
OTHERS = words(
    """
    author child contact doctor driver father guardian holder mother nurse owner parent partner physician spouse
    staff teacher
    arzt ehepartner kind lehrer mutter personal vater
    conjoint enfant enseignant medecin mere pere
    conyuge hijo madre medico padre profesor
    """  # noqa: E501
)
ANYBODY = PERSON | OTHERS
# These are also names of things.
ALSO_THINGS = words("child contact enfant hijo individual kind personal staff subject")
BARE_NAMES = words("name names namen nom noms nombre nombres")
NAME_PARTS = words(
    "first last full middle maiden given family birth legal preferred sur fore complet "
    "completo voll"
)
BARE_NUMBERS = words(
    "id ids no nr num number nummer numero code key kennung identifier identifiant identificador"
)


def words_of(name: str) -> list[str]:
    """The words of a column's name: small letters, no accents, no digits.

    >>> words_of("BoroCT2010"), words_of("Größe in cm"), words_of("zip-code"), words_of("patientID")
    (['boro', 'ct'], ['grosse', 'in', 'cm'], ['zip', 'code'], ['patient', 'id'])
    """
    plain = "".join(
        one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one)
    )
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return [part for word in re.findall(r"[^\W\d_]+", spaced.casefold()) for part in apart(word)]


def apart(word: str) -> tuple[str, ...]:
    """A person's name or number that is written in one word.

    >>> apart("customername"), apart("patientid"), apart("surname")
    (('customer', 'name'), ('patient', 'id'), ('surname',))
    """
    for ending in ("name", "nummer", "number", "nr", "id", "no"):
        before = word.removesuffix(ending)
        if before != word and before in ANYBODY:
            return before, ending
    return (word,)


def is_persons_name(said: list[str]) -> bool:
    """Whether it is just a name, or the name of somebody; product_name is neither."""
    others = set(said) - BARE_NAMES
    return len(others) < len(set(said)) and others <= ANYBODY | NAME_PARTS | {
        "of",
        "de",
        "del",
        "der",
        "des",
    }


def says(said: list[str], phrase: str) -> bool:
    """Whether the words of a name contain a phrase, also as a part of a long word.

    >>> says(["net", "income"], "income"), says(["haushaltseinkommen"], "einkommen")
    (True, True)
    >>> says(["zipcode"], "zip code"), says(["village"], "age"), says(["original"], "origin")
    (True, False, False)
    """
    if f" {phrase} " in f" {' '.join(said)} ":
        return True
    joined = phrase.replace(" ", "")
    if joined == "".join(said):
        return True
    return any(is_part(joined, word) for word in said)


def is_part(part: str, word: str) -> bool:
    """Whether a word is a known one, its plural, or a compound with it."""
    if word in {part + ending for ending in PLURALS} and (len(part) > 3 or word == part):
        return True
    return (len(part) >= SUFFIX_FROM and word.endswith(part)) or (
        len(part) >= PREFIX_FROM and word.startswith(part)
    )
