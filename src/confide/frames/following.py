"""How a schema follows its variables when they are computed with, copied and joined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from confide.core.errors import raise_all
from confide.frames.schema import Schema, VariableSchema


def flat(given: Iterable[object]) -> list[Any]:
    """Names and expressions, also those in lists, as one list; None is nothing.

    >>> flat(["a", ["b", "c"], None])
    ['a', 'b', 'c']
    """
    out: list[Any] = []
    for part in given:
        if isinstance(part, (list, tuple, set, frozenset, Iterator)):
            out += part
        elif part is not None:
            out.append(part)
    return out


@dataclass(frozen=True)
class Step:
    """A `select` or `with_columns` of polars: what was asked, of which frame, and what came of it."""

    verb: str
    given: Sequence[Any]
    named: Mapping[str, Any]
    frame: pl.DataFrame
    made: pl.DataFrame

    def followed(self, schema: Schema) -> Schema:
        """The schema of what was made; refused where a number was computed from a user-missing code.

        Whether one was is seen by taking the step again with codes made null: only what changes depended on them, and
        must then be a code itself, taken over as it is.
        """
        read = self._read()
        variables = dict(schema.variables)
        for name, (source, is_copy) in read.items():
            if is_copy:
                said = schema.variables.get(source[0])
                variables.pop(name, None)
                variables |= {} if said is None else {name: replace(said, name=name)}
        coded = {s.name: mask for s in self.frame if (mask := schema.coded(s)).any()}
        doubtful = [s.name for s in self.made if s.dtype.is_numeric() and _depends(read.get(s.name), coded)]
        for name, codes in self._taken_over(doubtful, coded).items():
            said = variables.get(name, VariableSchema(name))
            known = Schema({name: said}).missing_codes(name, codes)
            variables[name] = replace(said, missing=(*said.missing, *(c for c in codes if c not in known)))
        return replace(schema, variables=variables)

    def _read(self) -> dict[str, tuple[list[str], bool]]:
        """By variable made, where polars can tell: the columns it is read from, and whether it is a mere copy."""
        found = {}
        for name, part in [*((None, e) for e in self.given), *self.named.items()]:
            if isinstance(part, str):
                found[name or part] = [part], True
            elif isinstance(part, pl.Series):
                found[name or part.name] = [], False
            elif isinstance(part, pl.Expr) and not part.meta.has_multiple_outputs():
                made = name or part.meta.output_name(raise_if_undetermined=False)
                if made is not None:
                    found[made] = part.meta.root_names(), part.meta.undo_aliases().meta.is_column()
        return found

    def _taken_over(self, doubtful: Collection[str], coded: Mapping[str, pl.Series]) -> dict[str, list[Any]]:
        """The codes that came through unchanged, by variable made."""
        if not doubtful:
            return {}
        bare = self.frame.with_columns(self.frame.get_column(n).set(mask, None) for n, mask in coded.items())
        probe = getattr(bare, self.verb)(*self.given, **self.named)
        aligned = self.made.height == self.frame.height == probe.height
        out, problems = {}, []
        for name in doubtful:
            values, without = self.made.get_column(name), probe.get_column(name)
            touched = values.ne_missing(without) if aligned else ~values.is_in(without.implode(), nulls_equal=True)
            codes = touched & (self._same_code(values, coded) if aligned else self._any_code(values, coded))
            if wrong := int((touched & ~codes & values.is_not_null()).sum()):
                where = f" in {wrong:,} of {self.made.height:,} rows" if aligned else ""
                problems.append(
                    f'{self.verb}: "{name}" would be computed from user-missing codes{where}, as if they were values. '
                    "Make them null first, with data.missing_to_null(...), or leave the schema with data.to_polars()."
                )
            elif codes.any():
                out[name] = values.filter(codes).unique().sort().to_list()
        raise_all(problems)
        return out

    def _same_code(self, values: pl.Series, coded: Mapping[str, pl.Series]) -> pl.Series:
        """Where a value is the code that a variable has in that row."""
        numeric = {n: mask for n, mask in coded.items() if self.frame.schema[n].is_numeric()}
        found = [mask & (values == self.frame.get_column(n)).fill_null(False) for n, mask in numeric.items()]
        return pl.DataFrame(found).fold(lambda a, b: a | b) if found else values.is_null()

    def _any_code(self, values: pl.Series, coded: Mapping[str, pl.Series]) -> pl.Series:
        """Where a value is a code of any variable."""
        codes = {c for n, mask in coded.items() for c in self.frame.get_column(n).filter(mask)}
        numbers = [float(c) for c in codes if isinstance(c, (int, float))]
        return values.cast(pl.Float64).is_in(numbers).fill_null(False)


def _depends(read: tuple[list[str], bool] | None, coded: Collection[str]) -> bool:
    """Whether a variable may be computed from one with codes: a copy has them as they are."""
    return bool(coded) and (read is None or (not read[1] and bool(set(read[0]) & set(coded))))


def joined(
    here: Mapping[str, VariableSchema], there: Mapping[str, VariableSchema], made: Sequence[str],
    keys: Mapping[str, str], suffix: str,
) -> dict[str, VariableSchema]:  # fmt: skip
    """What is known of the variables of two files side by side; `keys`: names here to names there."""
    shared: dict[str, VariableSchema] = {}
    problems = []
    for mine, theirs in keys.items():
        merged = _merged(here[mine], there[theirs])
        if merged is None:
            problems.append(
                f'join: codes of the key "{mine}" mean one thing in one file and another in the other. Recode one of '
                "them, or put what is said of it right: cf.Data(frame, schema)."
            )
        else:
            shared |= {mine: merged, theirs: merged}
    raise_all(problems)
    found = {n: shared.get(n) or here.get(n) or there.get(n) or there[n.removesuffix(suffix)] for n in made}
    return {n: replace(v, name=n) for n, v in found.items() if v != VariableSchema(v.name)}


def _merged(a: VariableSchema, b: VariableSchema) -> VariableSchema | None:
    """What two files say of one key; None where codes or missing codes contradict each other."""
    if any(b.value_labels.get(code, label) != label for code, label in a.value_labels.items()):
        return None
    if a.missing and b.missing and set(a.missing) != set(b.missing):
        return None
    return VariableSchema(
        a.name, a.label or b.label, {**b.value_labels, **a.value_labels}, a.missing or b.missing,
        a.measure or b.measure, a.format or b.format,
    )  # fmt: skip
