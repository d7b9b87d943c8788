"""What the shipped files hold: variables, labels, code lists. A test compares docs/reference/data.md with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SEX = {1: "male", 2: "female"}

RACE = {
    1: "White",
    2: "Black",
    3: "Native or other",
    4: "Asian or Pacific",
}

MARITAL = {
    1: "married, spouse present",
    3: "spouse absent",
    4: "widowed",
    5: "divorced",
    6: "separated",
    7: "never married",
}

EDUC = {
    31: "below grade 1",
    32: "grades 1-4",
    33: "grades 5-6",
    34: "grades 7-8",
    35: "grade 9",
    36: "grade 10",
    37: "grade 11",
    38: "grade 12, no diploma",
    39: "high school",
    40: "some college",
    41: "associate",
    43: "bachelor",
    44: "master",
    45: "professional",
    46: "doctorate",
}

TENURE = {
    1: "owned with mortgage",
    2: "owned free and clear",
    3: "rented",
    4: "no rent paid",
}

MARITAL_ACS = {1: "married", 2: "widowed", 3: "divorced", 4: "separated", 5: "never married"}

AREA = {code: f"area {code}" for code in (103, 105, 106, 107, 200, 300, 400)}
"""Public use microdata areas of Rhode Island, by their codes."""

HISPANIC = {0: "no", 1: "yes"}

VOTE = {0: "Clinton", 1: "Dole"}

# FIPS codes; California (6), New York (36) and Texas (48) are not in the file.
# fmt: off
STATE = {
    1: "AL", 2: "AK", 4: "AZ", 5: "AR", 8: "CO", 9: "CT", 10: "DE", 11: "DC",
    12: "FL", 13: "GA", 15: "HI", 16: "ID", 17: "IL", 18: "IN", 19: "IA", 20: "KS",
    21: "KY", 22: "LA", 23: "ME", 24: "MD", 25: "MA", 26: "MI", 27: "MN", 28: "MS",
    29: "MO", 30: "MT", 31: "NE", 32: "NV", 33: "NH", 34: "NJ", 35: "NM", 37: "NC",
    38: "ND", 39: "OH", 40: "OK", 41: "OR", 42: "PA", 44: "RI", 45: "SC", 46: "SD",
    47: "TN", 49: "UT", 50: "VT", 51: "VA", 53: "WA", 54: "WV", 55: "WI", 56: "WY",
}
# fmt: on

Kind = Literal["identifier", "categorical", "numeric", "weight"]


@dataclass(frozen=True)
class Variable:
    """One variable of a shipped file; `codes` for categories, `values` says in words what the others hold.

    >>> Variable("sex", "sex of the householder", "categorical", SEX).describe()
    '1 male; 2 female'
    """

    name: str
    label: str
    kind: Kind
    codes: Mapping[int, str] = field(default_factory=dict)
    values: str = ""

    def describe(self) -> str:
        """The values in words: the code list, or the range and unit."""
        return "; ".join(f"{code} {label}" for code, label in self.codes.items()) or self.values


_AGE = Variable("age", "age of the householder", "numeric", values="years, 15 to 96; top-coded by state")
_KEYS = {
    "sex": Variable("sex", "sex of the householder", "categorical", SEX),
    "race": Variable("race", "race of the householder", "categorical", RACE),
    "marital": Variable("marital", "marital status", "categorical", MARITAL),
    "educ": Variable("educ", "highest level of schooling", "categorical", EDUC),
    "state": Variable("state", "state of residence", "categorical", STATE),
    "age": _AGE,
}

HEADS = (
    Variable("id", "number of the record", "identifier", values="1 to 51,016, arbitrary"),
    _KEYS["sex"],
    _KEYS["race"],
    _KEYS["marital"],
    _KEYS["educ"],
    _KEYS["age"],
    Variable("wage_income", "wages of the householder", "numeric", values="U.S. dollars a year; 0 if none"),
    Variable(
        "other_income",
        "income of the householder other than wages",
        "numeric",
        values="U.S. dollars a year; may be negative",
    ),
    Variable("property_value", "market value of the home", "numeric", values="U.S. dollars; 0 if not the owner"),
    Variable("hh_income", "income of the household", "numeric", values="U.S. dollars a year; may be negative"),
    Variable("weight", "survey weight of the household", "weight", values="households that the record stands for"),
    _KEYS["state"],
    Variable("tenure", "how the home is held", "categorical", TENURE),
    Variable("n_persons", "persons in the household", "numeric", values="1 to 20"),
    Variable("hispanic", "Hispanic origin of the householder", "categorical", HISPANIC),
)

HEADS_POPULATION = (
    *(_KEYS[name] for name in ("state", "sex", "race", "marital", "educ", "age")),
    Variable("n_pop", "householders of the cell in the frame", "numeric", values="count; sums to 1,016,437"),
    Variable("n_sample", "householders of the cell in heads", "numeric", values="count; sums to 51,016"),
)

PERSONS = (
    Variable("household", "number of the household", "identifier", values="1 to 4,226, arbitrary"),
    Variable("area", "area of residence", "categorical", AREA),
    Variable("sex", "sex of the person", "categorical", SEX),
    Variable("age", "age of the person", "numeric", values="years, 15 to 95; top-coded"),
    Variable("race", "race of the person", "categorical", RACE),
    Variable("marital", "marital status", "categorical", MARITAL_ACS),
    Variable("educ", "highest level of schooling", "categorical", EDUC),
    Variable("tenure", "how the home is held", "categorical", TENURE),
    Variable("n_persons", "persons in the household, children too", "numeric", values="1 to 14"),
    Variable("wage_income", "wages of the person", "numeric", values="U.S. dollars a year; 0 if none"),
    Variable(
        "other_income",
        "income of the person other than wages",
        "numeric",
        values="U.S. dollars a year; may be negative",
    ),
    Variable("hh_income", "income of the household", "numeric", values="U.S. dollars a year; may be negative"),
    Variable("weight", "survey weight of the person", "weight", values="people that the record stands for"),
)

WARDS = (
    Variable("ward", "code of the ward", "identifier", values="E05001341 to E05008561"),
    Variable("name", "name of the ward", "identifier", values="123 electoral wards of West Yorkshire"),
    Variable("sex", "sex of the residents", "categorical", SEX),
    Variable("age", "age of the residents", "numeric", values="single years, 16 to 84"),
    Variable("count", "usual residents", "numeric", values="count, 7 to 2,292; sums to 1,723,378"),
)

# Simulated; confide.demo.elites makes them.
ELITES = (
    Variable("age", "age (surrogate)", "numeric", values="simulated: years plus noise"),
    Variable(
        "civil", "civil liberties, four items (surrogate)", "numeric", values="simulated: sum, 6 to 22, plus noise"
    ),
    Variable(
        "can_us", "Canada and U.S., four items (surrogate)", "numeric", values="simulated: sum, 2 to 18, plus noise"
    ),
    Variable("income", "family income (surrogate)", "numeric", values="simulated: 10,000 U.S. dollars a year"),
    Variable("attitude", "attitude, confidential (surrogate)", "numeric", values="simulated: sum, 2 to 10, plus noise"),
)

_LEFT_RIGHT = "1 extremely liberal to 7 extremely conservative"

ANES1996 = (
    Variable("place_pop", "population of the place of residence", "numeric", values="thousands, 0 to 7,300"),
    Variable("tv_news", "how often television news is watched", "numeric", values="days a week, 0 to 7"),
    Variable("self_lr", "where the voter stands", "numeric", values=_LEFT_RIGHT),
    Variable("clinton_lr", "where the voter puts Clinton", "numeric", values=_LEFT_RIGHT),
    Variable("dole_lr", "where the voter puts Dole", "numeric", values=_LEFT_RIGHT),
    Variable("party_id", "party identification", "numeric", values="0 strong Democrat to 6 strong Republican"),
    Variable("age", "age of the voter", "numeric", values="years, 19 to 91"),
    Variable("educ", "level of schooling", "numeric", values="1 lowest to 7 highest"),
    Variable("income", "income of the household", "numeric", values="band, 1 lowest to 24 highest"),
    Variable("vote", "expected vote", "categorical", VOTE),
)

FILES = {
    "heads": ("household_heads.parquet", HEADS),
    "heads_population": ("household_heads_population.parquet", HEADS_POPULATION),
    "persons": ("persons.parquet", PERSONS),
    "wards": ("wards.parquet", WARDS),
    "elites": ("elites.parquet", ELITES),
    "anes1996": ("anes1996.parquet", ANES1996),
}
