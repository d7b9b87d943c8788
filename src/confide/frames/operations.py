"""What can be done with a `Data` so that its schema follows: the operations of polars that people use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.frames.following import Step, flat, joined
from confide.frames.schema import Schema

Expression: TypeAlias = str | pl.Expr | pl.Series | float | None
Names: TypeAlias = str | Iterable[str]


class Operations:
    """Rows and columns chosen, computed, renamed and joined. Each takes what polars takes, and gives a new value."""

    _frame: pl.DataFrame
    schema: Schema
    refusal: str

    def _made(self, frame: pl.DataFrame, schema: Schema | None = None, refusal: str = "") -> Self:
        """Other records with the same schema, or with another; what must not be published stays so."""
        raise NotImplementedError

    def _polars(self, verb: str, *args: Any, **named: Any) -> pl.DataFrame:
        """What polars makes of the bare frame; a column that is not there is named, with the one that was meant."""
        try:
            made: pl.DataFrame = getattr(self._frame, verb)(*args, **named)
            return made
        except pl.exceptions.ColumnNotFoundError as error:
            name = f'{error}""'.split('"')[1]
            raise InputError(f'{verb}: there is no column "{name}".{did_you_mean(name, self._frame.columns)}') from None
        except pl.exceptions.PolarsError as error:  # its words may quote a value
            raise InputError(f"{verb}: polars refuses this ({type(error).__name__}).") from error
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, TypeError) and verb not in ("filter", "sort", "drop", "select", "with_columns"):
                raise  # of arguments that have names, the public door tells which one does not fit
            raise InputError(f"{verb}: {str(error).splitlines()[0].rstrip('.')}.") from error

    def filter(self, *predicates: pl.Expr | pl.Series | Iterable[bool], **equal: object) -> Self:
        """The records for which all predicates hold.

        >>> import confide as cf
        >>> cf.Data({"age": [31, 42]}).filter(pl.col("age") > 40).height
        1
        """
        return self._made(self._polars("filter", *predicates, **equal))

    def head(self, n: int = 5) -> Self:
        """The first records.

        >>> import confide as cf
        >>> cf.Data({"age": [31, 42]}).head(1)["age"].to_list()
        [31]
        """
        return self._made(self._polars("head", n))

    def tail(self, n: int = 5) -> Self:
        """The last records.

        >>> import confide as cf
        >>> cf.Data({"age": [31, 42]}).tail(1)["age"].to_list()
        [42]
        """
        return self._made(self._polars("tail", n))

    def slice(self, offset: int, length: int | None = None) -> Self:
        """Records from a position on.

        >>> import confide as cf
        >>> cf.Data({"age": [31, 42, 57]}).slice(1, 1)["age"].to_list()
        [42]
        """
        return self._made(self._polars("slice", offset, length))

    def sample(
        self, n: int | None = None, *, fraction: float | None = None, with_replacement: bool = False,
        shuffle: bool = False, seed: int | None = None,
    ) -> Self:  # fmt: skip
        """Some records at random: `n` of them, or a `fraction`.

        >>> import confide as cf
        >>> cf.Data({"age": [31, 42, 57]}).sample(2, seed=1).height
        2
        """
        how = {"with_replacement": with_replacement, "shuffle": shuffle, "seed": seed}
        return self._made(self._polars("sample", n, fraction=fraction, **how))

    def sort(
        self, by: Names | pl.Expr | Iterable[pl.Expr], *more: str | pl.Expr, descending: bool | list[bool] = False,
        nulls_last: bool = False,
    ) -> Self:  # fmt: skip
        """The records in order; records that agree stay in theirs.

        >>> import confide as cf
        >>> cf.Data({"age": [42, 31]}).sort("age")["age"].to_list()
        [31, 42]
        """
        how = {"descending": descending, "nulls_last": bool(nulls_last), "maintain_order": True}
        return self._made(self._polars("sort", by, *more, **how))

    def drop(self, *columns: Names) -> Self:
        """All variables but these.

        >>> import confide as cf
        >>> cf.Data({"age": [31], "sex": ["f"]}).drop("age").columns
        ['sex']
        """
        return self._made(self._polars("drop", *columns))

    def rename(self, mapping: Mapping[str, str]) -> Self:
        """Variables under other names, old to new; what is known of them goes along.

        >>> import confide as cf
        >>> cf.Data({"age": [31]}).rename({"age": "years"}).columns
        ['years']
        """
        return self._made(self._polars("rename", mapping), self.schema.rename(mapping))

    def select(self, *columns: Expression | Iterable[Expression], **named: Expression) -> Self:
        """These variables, in this order; expressions as in `with_columns`.

        >>> import confide as cf
        >>> cf.Data({"age": [31], "sex": ["f"]}).select("sex").columns
        ['sex']
        """
        return self._computed("select", columns, named)

    def with_columns(self, *columns: Expression | Iterable[Expression], **named: Expression) -> Self:
        """The same records with variables added or replaced.

        A replaced variable keeps its labels and user-missing codes, a copy (``pl.col("pay").alias("wage")``) has
        them too, and a variable that took codes over as they are (by a cast, say) has those codes. A *number*
        computed from a user-missing code is refused. True-or-false values and text are not checked, so that a column
        can be made that says where a code is.

        >>> import confide as cf
        >>> said = cf.Schema({"pay": cf.VariableSchema("pay", label="Pay", missing=(9999,))})
        >>> data = cf.Data({"pay": [1200, 9999]}, said).with_columns(pl.col("pay").cast(pl.Float64), wage="pay")
        >>> data.schema.variable("pay").missing, data.schema.variable("wage").label
        ((9999,), 'Pay')
        """
        return self._computed("with_columns", columns, named)

    def _computed(self, verb: str, columns: Iterable[object], named: Mapping[str, object]) -> Self:
        given = flat(columns)
        made = self._polars(verb, *given, **named)
        return self._made(made, Step(verb, given, named, self._frame, made).followed(self.schema))

    def join(
        self, other: object, on: Names | None = None,
        how: Literal["inner", "left", "right", "full", "semi", "anti"] = "inner", *,
        left_on: Names | None = None, right_on: Names | None = None, suffix: str = "_right",
    ) -> Self:  # fmt: skip
        """This file beside another, record by record where keys agree; variables of both bring their schemas.

        The order is that of this file (of the other for ``how="right"``). A variable of the other whose name is taken
        gets the `suffix`. A key whose codes mean one thing here and another there is refused.

        >>> import confide as cf
        >>> sex = cf.Schema({"sex": cf.VariableSchema("sex", value_labels={1: "male", 2: "female"})})
        >>> there = cf.Data({"id": [2, 1], "sex": [1, 2]}, sex)
        >>> dict(cf.Data({"id": [1, 2], "age": [31, 42]}).join(there, on="id").schema.variable("sex").value_labels)
        {1: 'male', 2: 'female'}
        """
        there = other if isinstance(other, Operations) else type(self)(other)  # type: ignore[call-arg]
        for what, names in (("on", on), ("left_on", left_on), ("right_on", right_on)):
            if names is not None and not isinstance(names, (str, list, tuple)):
                raise InputError(
                    f"join: {what} is the name of a column or a list of names, not {type(names).__name__}."
                )
        keys = list(zip(flat([left_on or on]), flat([right_on or on]), strict=False))
        for file, whose, at in ((self, "this", 0), (there, "the other", 1)):
            for name in (pair[at] for pair in keys):
                if name not in file._frame.columns:
                    hint = did_you_mean(str(name), file._frame.columns)
                    raise InputError(f'join: {whose} file has no column "{name}".{hint}')
        order = {"coalesce": True, "maintain_order": "right_left" if how == "right" else "left_right"}
        on_keys = {"on": on, "left_on": left_on, "right_on": right_on}
        extra = {} if how in ("semi", "anti") else order
        made = self._polars("join", there._frame, how=how, suffix=suffix, **on_keys, **extra)
        said = [{n: file.schema.variable(n) for n in file._frame.columns} for file in (self, there)]
        variables = joined(said[0], said[1], made.columns, dict(keys), suffix)
        return self._made(made, replace(self.schema, variables=variables), there.refusal)

    def missing_to_null(self, *variables: Names) -> Self:
        """User-missing codes as null, and no longer declared: of the variables named, or of all.

        >>> import confide as cf
        >>> data = cf.Data({"pay": [1200, 9999]}, cf.Schema({"pay": cf.VariableSchema("pay", missing=(9999,))}))
        >>> data.missing_to_null("pay").with_columns(pl.col("pay") / 1000)["pay"].to_list()
        [1.2, None]
        """
        frame = self._polars("select", flat(variables)) if variables else self._frame
        found, columns = dict(self.schema.variables), []
        for values in frame:
            said = self.schema.variable(values.name)
            if said.missing:
                columns.append(values.set(self.schema.coded(values), None))
                codes = self.schema.missing_codes(said.name, said.value_labels)
                kept = {c: t for c, t in said.value_labels.items() if c not in codes}
                found[said.name] = replace(said, value_labels=kept, missing=())
        return self._made(self._frame.with_columns(columns), replace(self.schema, variables=found))
