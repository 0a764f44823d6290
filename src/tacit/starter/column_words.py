"""What a column's name says: words of four languages, and what each tells about a person.

Guesses are proposals that the owner corrects, so the lists are short and prefer what is common.
Words are written without accents and in small letters, as `words_of` reads names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tacit.families.identifiers.column_words import (
    ALSO_THINGS,
    ANYBODY,
    BARE_NUMBERS,
    PERSON,
    is_persons_name,
    says,
    words_of,
)

Role = Literal["identifier", "quasi-identifier", "sensitive"]
Family = Literal["person", "record", "name", "age", "birth", "postal", "place", "date", "other"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name says: the column's role, and in words what it seems to hold.

    `family` says how the column is treated: a number given to a person tells people apart, an age
    gets bands, a postal code is masked.
    """

    role: Role
    what: str
    family: Family = "other"


NAME = Meaning("identifier", "a person's name", "name")
NUMBER = Meaning("identifier", "a number given to a person", "person")
OTHERS_NUMBER = Meaning("identifier", "a number given to somebody", "name")
WHO = Meaning("identifier", "a person", "name")
RECORD = Meaning("identifier", "a record number", "record")

VOCABULARY: tuple[tuple[Meaning, str], ...] = (
    (
        NAME,
        "surname, first name, last name, given name, family name, middle name, forename, full "
        "name, maiden name, nickname, fname, lname, nachname, vorname, familienname, geburtsname, "
        "prenom, apellido, nom de famille",
    ),
    (
        NUMBER,
        "ssn, nss, nhs, medicare, medicaid, social security, national id, national insurance, "
        "insurance number, insurance id, tax id, tax number, passport, driver license, drivers "
        "license, license number, mrn, medical record, health card, policy number, staff number, "
        "versicherungsnummer, versichertennummer, versicherungs nr, vers nr, svnr, ahv, "
        "steuernummer, steuer id, ausweisnummer, personalausweis, reisepass, personalnummer, "
        "patientennummer, kundennummer, matrikelnummer, mitgliedsnummer, securite sociale, numero "
        "de securite sociale, nir, passeport, matricule, carte vitale, dni, nif, curp, cpf, "
        "pasaporte, seguridad social, historia clinica, insee",
    ),
    (
        Meaning("identifier", "a bank account or card", "name"),
        "iban, bic, bank account, account number, account no, credit card, card number, "
        "kontonummer, konto, kreditkarte, kartennummer, compte bancaire, numero de compte, carte "
        "bancaire, cuenta bancaria, numero de cuenta, tarjeta",
    ),
    (
        Meaning("identifier", "an e-mail address", "name"),
        (
            "email, e mail, mail, email address, e mail address, mailadresse, courriel, "
            "correo, correo electronico"
        ),
    ),
    (
        Meaning("identifier", "a phone number", "name"),
        "phone, telephone, cell, cellphone, mobile, fax, tel, telefon, telefonnummer, handy, "
        "handynummer, mobilnummer, telefono, movil, celular",
    ),
    (
        Meaning("identifier", "an address", "name"),
        "address, addr, street, street name, house number, adresse, anschrift, strasse, "
        "hausnummer, hausnr, rue, direccion, calle, domicilio",
    ),
    (
        Meaning("identifier", "somebody's trace on a network", "name"),
        "ip, ip address, ip addr, mac address, url, username, user name, login, device id, imei, "
        "benutzername, nom utilisateur, nombre de usuario",
    ),
    (
        Meaning("identifier", "a vehicle", "name"),
        (
            "license plate, number plate, vin, kfz kennzeichen, autokennzeichen, "
            "immatriculation, matricula"
        ),
    ),
    (
        RECORD,
        "id, uid, uuid, guid, pid, identifier, record number, record no, row number, case number, "
        "case no, laufnummer, lfd nr, lfdnr, kennung, aktenzeichen, fallnummer, identifiant, "
        "identificador",
    ),
    (
        Meaning("quasi-identifier", "an age", "age"),
        "age, ages, alter, lebensalter, edad, years old, age group",
    ),
    (
        Meaning("quasi-identifier", "a date or year of birth", "birth"),
        "birth, birthday, born, dob, date of birth, birth date, birthdate, birth year, year of "
        "birth, yob, geburtsdatum, geburtstag, geburtsjahr, geb, gebdat, gebdatum, naissance, "
        "date de naissance, annee de naissance, nacimiento, fecha de nacimiento, fecha "
        "nacimiento, fecha nac",
    ),
    (
        Meaning("quasi-identifier", "a sex or gender"),
        "sex, gender, geschlecht, sexe, genre, sexo, genero",
    ),
    (
        Meaning("quasi-identifier", "a postal code", "postal"),
        "zip, zipcode, zip code, postcode, post code, postal, postal code, plz, postleitzahl, "
        "code postal, codigo postal",
    ),
    (
        Meaning("quasi-identifier", "an area code", "postal"),
        "fips, geoid, tract, census tract, gemeindeschluessel, gemeindeschlussel, ags, code insee",
    ),
    (
        Meaning("quasi-identifier", "a place", "place"),
        "city, town, village, municipality, place, county, state, province, region, district, "
        "borough, neighborhood, neighbourhood, country, residence, location, address city, "
        "canton, latitude, longitude, lat, lon, lng, origin, destination, birthplace, place of "
        "birth, native country, stadt, ort, wohnort, geburtsort, gemeinde, kreis, landkreis, "
        "bundesland, land, kanton, bezirk, ville, commune, departement, pays, lieu, lieu de "
        "naissance, ciudad, pueblo, municipio, provincia, pais, barrio, lugar, lugar de "
        "nacimiento",
    ),
    (
        Meaning("quasi-identifier", "a nationality"),
        "nationality, citizenship, nation, nationalitat, nationalitaet, staatsangehorigkeit, "
        "staatsangehoerigkeit, staatsburgerschaft, nationalite, nacionalidad",
    ),
    (
        Meaning("quasi-identifier", "a race or ethnicity"),
        "race, ethnicity, ethnic, ethnic group, hispanic, ancestry, ethnie, herkunft, raza, etnia",
    ),
    (
        Meaning("quasi-identifier", "a marital status or family"),
        "marital, marital status, married, civil status, relationship, household size, family "
        "size, children, familienstand, zivilstand, beziehungsstatus, kinder, kinderzahl, etat "
        "civil, situation familiale, enfants, estado civil, hijos",
    ),
    (
        Meaning("quasi-identifier", "an education"),
        "education, educ, degree, schooling, school, university, bildung, schulabschluss, "
        "abschluss, ausbildung, diplome, etudes, educacion, estudios",
    ),
    (
        Meaning("quasi-identifier", "an occupation"),
        "occupation, job, job title, profession, employment, employer, workclass, industry, "
        "company, veteran, beruf, tatigkeit, taetigkeit, arbeitgeber, branche, metier, emploi, "
        "employeur, ocupacion, profesion, empleo, trabajo",
    ),
    (
        Meaning("quasi-identifier", "a language"),
        (
            "language, mother tongue, sprache, muttersprache, langue, langue maternelle, "
            "idioma, lengua"
        ),
    ),
    (
        Meaning("quasi-identifier", "the date of an event", "date"),
        "admission, admission date, discharge, discharge date, visit date, date of death, "
        "admitted, aufnahmedatum, entlassdatum, entlassungsdatum, sterbedatum, date entree, date "
        "sortie, fecha de ingreso, fecha de alta",
    ),
    (
        Meaning("sensitive", "a health condition"),
        "condition, disease, diagnosis, diagnoses, illness, icd, icd code, symptom, syndrome, "
        "disorder, comorbidity, cancer, tumor, hiv, aids, covid, diabetes, depression, pregnant, "
        "pregnancy, allergy, disability, mental health, health status, health, medical history, "
        "cause of death, infection, vaccinated, vaccination, diagnose, krankheit, erkrankung, "
        "befund, schwanger, schwangerschaft, behinderung, todesursache, gesundheit, allergie, "
        "maladie, diagnostic, symptome, sante, enceinte, grossesse, handicap, cause du deces, "
        "enfermedad, diagnostico, sintoma, salud, embarazo, discapacidad, causa de muerte, cause "
        "of admission, reason for admission",
    ),
    (
        Meaning("sensitive", "a treatment"),
        "treatment, therapy, procedure, surgery, operation, dose, medication, medicine, drug, "
        "drugs, prescription, behandlung, therapie, medikament, medikation, wirkstoff, eingriff, "
        "traitement, medicament, ordonnance, chirurgie, tratamiento, terapia, medicamento, "
        "receta, cirugia",
    ),
    (
        Meaning("sensitive", "a measurement of the body"),
        "blood, blood pressure, blood type, systolic, diastolic, bmi, cholesterol, glucose, "
        "genotype, mutation, blutdruck, blutgruppe, blutzucker, groupe sanguin, tension "
        "arterielle, grupo sanguineo, presion arterial",
    ),
    (
        Meaning("sensitive", "an income or a fortune"),
        "salary, income, wage, wages, earnings, pay, wealth, debt, loan, credit, balance, net "
        "worth, gehalt, einkommen, lohn, verdienst, vermogen, vermoegen, schulden, salaire, "
        "revenu, revenus, dette, patrimoine, salario, sueldo, ingreso, ingresos, renta, deuda, "
        "patrimonio",
    ),
    (
        Meaning("sensitive", "a habit"),
        "smoker, smoking, alcohol, raucher, alkohol, fumeur, alcool, fumador",
    ),
    (
        Meaning("sensitive", "a religion"),
        (
            "religion, religious, faith, belief, church, konfession, glaube, confession, "
            "croyance, creencia"
        ),
    ),
    (
        Meaning("sensitive", "a political opinion or membership"),
        "political, politics, party, vote, voted, voting, ideology, union membership, trade "
        "union, politisch, partei, wahl, gewerkschaft, politique, syndicat, politica, partido, "
        "voto, sindicato",
    ),
    (
        Meaning("sensitive", "a sexual orientation"),
        "sexual orientation, sexuality, sexuelle orientierung, sexualitat, orientation sexuelle, "
        "orientacion sexual",
    ),
    (
        Meaning("sensitive", "an offence"),
        "crime, criminal, offence, offense, conviction, arrest, recidivism, straftat, vorstrafe, "
        "delikt, delit, infraction, condamnation, delito, condena",
    ),
    (
        Meaning("sensitive", "a result or score"),
        "result, outcome, score, grade, gpa, fico, rating, test result, performance, evaluation, "
        "ergebnis, bewertung, zensur, resultat, resultado, puntuacion, calificacion",
    ),
)


def meaning_of(name: str) -> Meaning | None:
    """What a column's name says; the longest word that is known counts.

    >>> meaning_of("dateOfBirth").what, meaning_of("HIV_status").what, meaning_of("Straße").what
    ('a date or year of birth', 'a health condition', 'an address')
    >>> meaning_of("patient_name").what, meaning_of("customerId").what
    ("a person's name", 'a number given to a person')
    >>> meaning_of("product_name"), meaning_of("percentage"), meaning_of("language").what
    (None, None, 'a language')
    """
    said = words_of(name)
    if is_persons_name(said):
        return NAME
    if ANYBODY & set(said) and BARE_NUMBERS & set(said):
        return NUMBER if PERSON & set(said) else OTHERS_NUMBER
    if len(said) == 1 and said[0] in ANYBODY - ALSO_THINGS:
        return WHO
    found = [
        (len(phrase.replace(" ", "")), meaning)
        for phrase, meaning in phrases()
        if says(said, phrase)
    ]
    return max(found, key=lambda one: one[0])[1] if found else None


def phrases() -> Iterator[tuple[str, Meaning]]:
    """Every known word or phrase with its meaning."""
    for meaning, listed in VOCABULARY:
        for phrase in listed.split(", "):
            yield phrase, meaning
