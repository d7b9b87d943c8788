"""What methods share that draw synthetic values of one variable from a model of it given others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from confide.core.errors import InputError, Problems
from confide.frames.columns import F64, Column, Records
from confide.protect.likelihoods.silent import Silent
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import SYNTHETIC, View
from confide.protect.seam.learning import learnt
from confide.protect.seam.mechanism import Mechanism
from confide.protect.seam.words import listed
from confide.protect.shared.predictors import Predictors
from confide.protect.shared.standing_apart import States


class FromOthers(Mechanism):
    """One variable, drawn from a model of it `given` others.

    Models are fitted on original values, of so many records as `learn` says, drawn at random, or of all (None);
    predictions use what the plan has made of the given variables so far.
    """

    given: str | Sequence[str]
    learn: int | None = None

    role: ClassVar[str] = "random"
    one_variable: ClassVar[bool] = True
    needs_released: ClassVar[bool] = True

    def check_names(self) -> Problems:
        """Names as tuples; what is wrong with them, to which further checks may add."""
        problems = Problems()
        self.names_in(problems, "given")
        itself = f"{self.where}: a variable cannot be predicted from itself; leave it out of given."
        problems.when(self.variable in self.given, itself)
        many = self.learn
        wrong = many is not None and (isinstance(many, bool) or not isinstance(many, int) or many < 1)
        said = "learn is how many records the model is learnt from, from 1 upwards; None for all."
        problems.when(wrong, f"{self.where}: {said}")
        return problems

    def at_once(self) -> str:
        if self.learn is not None:
            return ""
        return (
            f"{self.where} learns its model from all records at once. For a file that is read in parts say from how "
            "many, drawn at random, as in learn=100_000: the model is then used for all."
        )

    @property
    def learns_from(self) -> int | None:
        return self.learn

    def true_or_false(self, name: str, problems: Problems, optional: bool = False) -> None:
        """Note what is neither."""
        given, more = getattr(self, name), ", or None to let the file decide" if optional else ""
        wrong = not isinstance(given, bool) and not (optional and given is None)
        problems.when(wrong, f"{self.where}: {name} is true or false{more}.")

    @property
    def from_words(self) -> str:
        """What it is drawn from, as words for a step go on after the variable."""
        return f" given {listed(self.given)}" if self.given else ""

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(self.given)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - the same model, fitted to the release
        """Someone who knows only the method and its variables fits the model to the release."""
        return self

    def sort(self, sorts: Mapping[str, str]) -> str:  # noqa: ARG002
        """Values are synthetic: given what they were drawn from they do not depend on the true one."""
        return SYNTHETIC

    def two_parts(self, original: Records, zeros: bool | None) -> tuple[Predictors, States, F64, F64]:
        """Predictors, who stands apart, and the design and values of those who do not."""
        original = self.learnt(original)
        column = original[self.variable]
        self.has_values(column)
        predictors = Predictors.of(original, self.given, self.where)
        x = predictors.matrix(original)
        states = States.of(column, predictors, x, zeros)
        regular = states.regular(column)
        return predictors, states, x[regular], column.values[regular]

    def learnt(self, records: Records) -> Records:
        """The records that the model is learnt from."""
        return learnt(records, self.learn, self.stream)

    def has_values(self, column: Column) -> None:
        """Refuse a column without any."""
        if bool(column.missing.all()):
            raise InputError(f"{self.where}: the column is missing in every record; there is nothing to learn from.")


def says_nothing(view: View, about: tuple[str, ...]) -> Evidence:
    """Evidence of synthetic values: none, by itself."""
    return Evidence(about, likelihood=Silent(view.released.n))
