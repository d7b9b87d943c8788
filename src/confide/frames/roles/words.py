"""Words in names and labels of variables that tell what a variable is, without accents, in several languages.

Words of a name are compared whole: "age" is not found in "wage" or "village". Names that run words together
("birthyear") are listed as they are written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from confide.frames.doubts import CODES, ENDINGS


def terms(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


NAMES_PEOPLE = terms("""
    name names surname lastname firstname forename fullname familyname givenname vorname nachname nom prenom nombre
    apellido apellidos cognome navn fornavn etternavn efternavn namn efternamn imie nazwisko nome sobrenome achternaam
    voornaam ssn nino nhs cpr personnummer fodselsnummer pesel bsn dni nif nie curp rut cpf aadhaar passport passnr
    phone telephone telefon telefono mobile email mail iban account konto address adresse adres direccion street strasse
    plate license licence vin imei ip url username user login insurance policy
""")
"""What names one person: never released."""

COUNTED_TOO = terms("""
    mobile phone telephone telefon mail email user insurance policy account konto address adresse plate license licence
    ip url street login
""")
"""Of these, words that also begin names of counts and amounts: minutes of a mobile, days of insurance."""

NUMBERS_PEOPLE = terms("""
    id ids uid uuid guid pid persid personid person_id caseid case_id respid respondent_id recordid record_id rowid
    idno identifier identifiant serial serialno seqn number nr no nummer numero index key key_id
""")
"""What numbers records, persons or units."""

UNITS = terms("""
    hh hhid hid household households hushold haushalt menage hogar famiglia family famid familie serial serialno
    dwelling firm company enterprise establishment betrieb school class classid panel cluster
    haushaltsnummer haushaltsnr haushaltsid
""")
"""What several rows may share as one unit."""

WEIGHTS = terms("""
    weight weights weighting wgt wgts wt wts pwgt pwgtp hwgt wgtp perwt hhwt pweight finalwt finalweight expansion
    gewicht gewichte poids ponderation pond peso ponderacion vekt vikt vaegt wagt waga paino peso_amostral hochrechnung
    grossing hochrechnungsfaktor hochrechnungsgewicht
""")
BODY = terms("body kg lb lbs kilo kilos kilogram pounds birth gram grams height bmi korper corps corporal")
"""A weight that is not that of a survey."""

BODIES = terms("""
    height stature waist hip hips girth bmi cholesterol pressure systolic diastolic pulse glucose birthweight groesse
    grosse korpergrosse taille talla altura estatura altezza hoyde langd lengte wzrost pituus
""")
"""Measures of a body: a weight beside them may be its weight."""

SURVEYS = terms("""
    survey sampling sample design final expansion grossing calibrated calibration person household student respondent
    replicate population cross sectional longitudinal base analysis frequency inverse probability
""")
"""Words that say that a weight is that of a survey."""

PLAIN_WEIGHTS = terms("weight weights wt gewicht gewichte poids peso vekt vikt vaegt waga paino")
"""Names of weights that bodies have too."""

PLACES = CODES - terms("""
    code codes cd occ occp occupation isco soc ind indp industry naics naicsp nace sic isic diagnosis icd icd9 icd10 drg
    atc cpt ancestry language lang religion birthplace pob pobp beruf yrke beroep profession profesion profissao
    professione oficio branche bransch block
""") | terms("st city town village residence wohnort ort lieu localite ciudad cidade citta urban rural urbanicity"
               " urbanisation urbanization"
               " division place latitude longitude lat lon lng")  # fmt: skip
"""Where somebody lives."""

KNOWN: dict[str, tuple[frozenset[str], str]] = {
    "age": (terms("""age agep ages alter alder edad eta idade leeftijd wiek ika birth born birthdate birthday dob
        birthdt birthdat bdate
        birthyear yob geburtsjahr geburtsdatum geboren naissance nacimiento nascita fodselsaar fodelsear fodelsedatum
        nascimento geboortejaar urodzenia syntymavuosi"""), "age or birth"),
    "sex": (terms("sex gender sexe sexo sesso geschlecht kjonn kon koen kon geslacht plec sukupuoli genre genero"),
            "sex"),
    "origin": (terms("""race rac1p ethnicity ethnic eth ethn ethnie origin hispanic hisp latino nationality
        citizenship citizen nativity nation nationalite nacionalidad staatsangehorigkeit nationalitat statsborgerskab
        birthplace pob pobp cob cit ancestry raza raca cor herkunft hautfarbe"""), "origin"),
    "marital": (terms("""marital marst mar marstat married maritalstatus civil civilstatus civilstand sivilstand
        mstat mstatus civst civstat marstatus relstat
        familienstand etatcivil estadocivil burgerlijke zivilstand"""), "marital status"),
    "schooling": (terms("""educ education schl schooling school grade qualification edu bildung abschluss
        diplome educacion educacao istruzione utdanning utbildning uddannelse opleiding koulutus wyksztalcenie
        isced"""), "schooling"),
    "work": (terms("""occ occp occupation occup isco soc job profession beruf yrke beroep profesion profissao
        professione zawod ammatti industry ind indp naics naicsp nace sic isic employer labour labor employment esr
        empstat emp empst empstatus worker cow branche bransch rank"""), "work"),
    "household": (terms("""hhsize famsize householdsize nperson npers persons children kids nchild relationship relp
        hhtype housing tenure rooms vehicles cars"""), "the household"),
    "language": (terms("language lang religion relig sprache langue idioma lingua religionszugehorigkeit konfession"
                         " military mil veteran vet lanp"), "language, religion or service"),
    "firm": (terms("""employees headcount legalform exporter sizeclass founded
        beschaftigte rechtsform effectif"""), "the firm"),
}  # fmt: skip
"""What a neighbour, an employer or a register knows of a person, in the order in which it is usually known."""

PRIVATE: dict[str, tuple[frozenset[str], str]] = {
    "money": (terms("""income incomes earn earnings wage wages salary pay pension benefit benefits tax taxes debt
        savings wealth assets rent mortgage expenditure spending spent property price value cost loan einkommen lohn
        gehalt rente steuer vermogen revenu revenus salaire impot ingreso ingresos renta salario sueldo renda rendimento
        reddito stipendio inntekt inkomst lon indkomst lonn inkomen dochod tulot turnover profit sales umsatz
        inc grossinc netinc hhinc totinc persinc incgrp incgroup
        pincp wagp hincp"""), "money"),
    "health": (terms("""health disease illness diagnosis icd icd9 icd10 drg hiv aids cancer diabetes depression
        disability disabled dis drug drugs alcohol smoking smoker bmi pressure cholesterol treatment medication hospital
        mental pregnant pregnancy abortion gesundheit krankheit sante maladie salud enfermedad helse sykdom symptom
        died death dead deceased mortality suicide selfharm
        atc cpt"""), "health"),
    "conduct": (terms("""crime criminal arrest conviction sentence offence offense police vote voted voting party
        politics political opinion attitude satisfaction union bullied bullying harassed harassment
        victim abuse violence sexual orientation
        partei vote wahl"""), "conduct or opinions"),
}  # fmt: skip
"""What an intruder would like to learn."""

LOOKED_UP = terms("property value price home house rooms vehicles turnover sales")
"""Private things that registers may hold all the same."""

COMPOUND = 7
"""Letters of a listed word that may also end a longer one: einkommen in nettoeinkommen."""
COUNTED = terms("n num number count anzahl antal nombre size no")


def words_of(text: str) -> list[str]:
    """The words of a name or a label, without accents and in small letters; runs of words also as one.

    >>> words_of("householdSize"), words_of("Âge au 1.1.")
    (['household', 'size'], ['age', 'au', '1', '1'])
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower().replace("ø", "o").replace("æ", "ae").replace("ß", "ss")
    return [w for w in re.split(r"[^a-z0-9]+", apart) if w]


def said(words: Iterable[str], of: frozenset[str]) -> str:
    """The first word that is in a list, also before digits or "code", or where all words run together; else empty.

    >>> said(["race", "2"], KNOWN["origin"][0]), said(["wage"], KNOWN["age"][0]), said(["q1"], PLACES)
    ('race', '', '')
    >>> said(["kommunekode"], PLACES), said(["nettoeinkommen"], PRIVATE["money"][0])
    ('kommune', 'einkommen')
    """
    every = list(words)
    ends = [o for w in every for o in of if len(o) >= COMPOUND and w.endswith(o)]
    bare = [w.removesuffix(e) for w in every for e in ENDINGS if w.endswith(e)]
    for word in [*every, "".join(every), *(w.rstrip("0123456789") for w in every), *bare]:
        if word in of:
            return word
    return min(ends, default="")
