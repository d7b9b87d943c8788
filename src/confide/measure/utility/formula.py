"""Formulas such as ``log(hh_income) ~ age + C(race) * sex``, read without evaluating anything.

formula:  factor ~ sum                     sum:      product + product - product ...
product:  crossed * crossed ...            crossed:  atom : atom ...
atom:     factor, 1, 0 or (sum)
factor:   name, C(name), log(name), log1p(name), sqrt(name), I(name ** number), I(name > number) (also >=, <, <=,
          ==, !=; text for categories in quotes)
poly(name, k) stands for name + I(name ** 2) + ... + I(name ** k). A name with spaces goes in `backticks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Any

from confide.core.errors import InputError

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"""
    r"""|"(?P<text>[^"]*)"|'(?P<text2>[^']*)'|(?P<sign>\*\*|>=|<=|==|!=|[~+\-*:(),><]))"""
)
FUNCTIONS = ("C", "log", "log1p", "sqrt", "I", "poly")
COMPARISONS = (">", ">=", "<", "<=", "==", "!=")


@dataclass(frozen=True)
class Factor:
    """One variable in a formula: `how` is "as it is", "C", "log", "log1p", "sqrt", "**" or a comparison."""

    variable: str
    how: str = "as it is"
    value: float | str | None = None

    def __str__(self) -> str:
        if self.how == "as it is":
            return self.variable
        if self.how in ("**", *COMPARISONS):
            shown = f'"{self.value}"' if isinstance(self.value, str) else f"{self.value:g}"
            return f"I({self.variable} {self.how} {shown})"
        return f"{self.how}({self.variable})"


Term = tuple[Factor, ...]
"""Factors that are multiplied; the empty term is the intercept."""


@dataclass(frozen=True)
class Formula:
    """A response and terms, the intercept first, then main effects, then interactions.

    >>> read_formula("log(y) ~ a * b - 1").terms == read_formula("log(y) ~ 0 + a + b + a:b").terms
    True
    """

    text: str
    response: Factor
    terms: tuple[Term, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable, the response's first."""
        return tuple(dict.fromkeys([self.response.variable, *(f.variable for t in self.terms for f in t)]))


def read_formula(text: str) -> Formula:
    """A formula from its text; anything that is not in the language is refused.

    >>> read_formula("y ~ poly(x, 2) + C(g)").variables
    ('y', 'x', 'g')
    >>> read_formula("y ~ exp(x)")
    Traceback (most recent call last):
    ...
    confide.InputError: Formula "y ~ exp(x)": there is no function exp; there are C, log, log1p, sqrt, I, poly.
    """
    if not isinstance(text, str) or text.count("~") != 1:
        raise InputError('A formula is text with one ~ in it, such as "log(hh_income) ~ age + C(race) + sex".')
    reader = Reader(text, "Formula")
    response = reader.factor()
    if len(response) != 1:
        raise reader.wrong("the response before ~ is one variable")
    reader.take("~")
    terms = reader.sum({(): None})
    reader.end()
    if (response[0],) in terms:
        raise reader.wrong("the response is also after ~")
    if not terms:
        raise reader.wrong("there is nothing after ~; write 1 for a mean alone")
    return Formula(text, response[0], tuple(sorted(terms, key=len)))


class Reader:
    """Walks over the tokens of a text. `what` names the text in errors."""

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what, self.at = text, what, 0
        self.tokens = self._split(text)

    def _split(self, text: str) -> list[tuple[str, Any]]:
        tokens: list[tuple[str, Any]] = []
        at = 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                place = at + len(text[at:]) - len(text[at:].lstrip())
                hint = "; write a power as I(x ** 2)" if text[place] == "^" else ""
                raise self.wrong(f"{text[place]} (character {place + 1}) is not part of the language{hint}")
            kind = {"quoted": "name", "text2": "text"}.get(found.lastgroup, found.lastgroup)
            value = found[found.lastgroup]
            tokens.append((kind, float(value) if kind == "number" else value))
            at = found.end()
        return tokens

    def wrong(self, why: str) -> InputError:
        """An error that shows the text."""
        return InputError(f'{self.what} "{self.text}": {why}.')

    def peek(self) -> tuple[str, Any]:
        """The next token, without taking it."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def sign(self, *signs: str) -> str | None:
        """The next token if it is one of the signs."""
        kind, value = self.peek()
        if kind == "sign" and value in signs:
            self.at += 1
            return str(value)
        return None

    def take(self, wanted: str) -> Any:
        """The next token, which must be of a kind ("name", "number", "text") or a sign."""
        kind, value = self.peek()
        if wanted not in (kind, value if kind == "sign" else None):
            shown = "the end" if kind == "end" else f'"{value}"' if kind != "number" else f"{value:g}"
            words = {"name": "a name", "number": "a number", "text": "text in quotes"}.get(wanted, f'"{wanted}"')
            raise self.wrong(f"expected {words} instead of {shown}")
        self.at += 1
        return value

    def end(self) -> None:
        """Nothing may be left."""
        if self.at < len(self.tokens):
            sign = self.peek()[1]
            hint = "; write a power as I(x ** 2), all pairs as (a + b) * (a + b)" if sign == "**" else ""
            raise self.wrong(f'"{sign}" is not expected there{hint}')

    def sum(self, start: dict[Term, None]) -> dict[Term, None]:
        """Terms added and removed, in order, each once."""
        terms = dict(start)
        how = self.sign("+", "-") or "+"
        while True:
            for term, added in self.product().items():
                if (how == "+") == added:
                    terms[term] = None
                else:
                    terms.pop(term, None)
            following = self.sign("+", "-")
            if following is None:
                return terms
            how = following

    def product(self) -> dict[Term, bool]:
        """a * b is a + b + a:b. Each term with whether it is added (0 takes the intercept away)."""
        terms = self.crossed()
        while self.sign("*"):
            other = self.crossed()
            if not (all(terms.values()) and all(other.values())):
                raise self.wrong("0 cannot be multiplied")
            terms = terms | other | _crossed(terms, other)
        return terms

    def crossed(self) -> dict[Term, bool]:
        """a:b is the interaction alone."""
        terms = self.atom()
        while self.sign(":"):
            terms = _crossed(terms, self.atom())
        return terms

    def atom(self) -> dict[Term, bool]:
        """A factor, a number 0 or 1, or a sum in parentheses."""
        kind, value = self.peek()
        if self.sign("("):
            inner = dict.fromkeys(self.sum({}), True)
            self.take(")")
            return inner
        if kind == "number":
            if value not in (0, 1):
                raise self.wrong("a number alone is 1 (the intercept) or 0 (no intercept)")
            self.at += 1
            return {(): value == 1}
        return {(f,): True for f in self.factor()}

    def factor(self) -> list[Factor]:
        """One variable, with a function around it or not; poly gives several."""
        name = str(self.take("name"))
        if not self.sign("("):
            return [Factor(name)]
        if name not in FUNCTIONS:
            raise self.wrong(f"there is no function {name}; there are {', '.join(FUNCTIONS)}")
        variable = str(self.take("name"))
        found = [Factor(variable, name)]
        if name == "poly":
            self.take(",")
            degree = self.take("number")
            if degree not in range(1, 10):
                raise self.wrong("poly takes a whole number from 1 to 9")
            found = [Factor(variable), *(Factor(variable, "**", float(k)) for k in range(2, int(degree) + 1))]
        if name == "I":
            found = [self._inside(variable)]
        if self.peek() != ("sign", ")"):
            raise self.wrong(f"{name}() holds no more than that; log1p(x) is the logarithm of x + 1")
        self.take(")")
        return found

    def _inside(self, variable: str) -> Factor:
        """What I() may hold."""
        how = self.sign("**", *COMPARISONS)
        if how is None:
            raise self.wrong("I() holds a power such as x ** 2 or a comparison such as x > 10")
        if self.peek()[0] == "text" and how in ("==", "!="):
            return Factor(variable, how, str(self.take("text")))
        if self.peek()[0] == "name" and how in ("==", "!="):
            raise self.wrong(f"after {how} comes a number, or a category in quotes")
        minus = -1.0 if self.sign("-") else 1.0
        return Factor(variable, how, minus * float(self.take("number")))


def _crossed(a: dict[Term, bool], b: dict[Term, bool]) -> dict[Term, bool]:
    """Each term with each; a factor with itself is itself."""
    return {tuple(sorted({*x, *y}, key=str)): True for x, y in product(a, b)}
