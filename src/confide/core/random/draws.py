"""Random draws by row: what a protection method asks for, and the two ways of answering.

`Counter` looks each draw up by key, row and attempt (`philox`), so that a release does not depend on how the file was
cut into parts. `Stream` draws one number after another from a NumPy generator: for simulations that nobody
publishes, and for records of releases that were made so.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.core.random import philox

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

ONE = np.zeros(1, dtype=np.int64)
"""The row of a draw that belongs to the whole file."""


class Draws(Protocol):
    """Random numbers for rows, which are numbers of records (or of anything else that is counted).

    `attempt` rises where a value is drawn again. `word` tells apart several numbers of one row and attempt. A
    `Stream` needs neither, and methods must ask in one fixed order.
    """

    def of(self, name: str) -> Draws:
        """Draws of their own for one purpose within a step."""

    def uniform(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        """Numbers in [0, 1), one for each row."""

    def normal(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        """Standard normal numbers."""

    def exponential(self, rows: I64) -> F64:
        """Exponential numbers of mean 1."""

    def chisquare(self, df: float) -> float:
        """One number for the whole file."""

    def integers(self, rows: I64, low: I64, high: I64, word: int = 0) -> I64:
        """Whole numbers from low to high, both included, each as likely."""

    def whole(self, limit: int, row: int = 0, word: int = 0) -> int:
        """One whole number from 0 up to, but not including, a limit."""

    def order(self, rows: I64) -> I64:
        """Positions 0..n-1 in random order."""

    def sample(self, rows: I64, size: int) -> I64:
        """Positions of a simple random sample without replacement, sorted."""

    def generator(self) -> np.random.Generator:
        """A generator, for functions that a user wrote."""


@dataclass(frozen=True)
class Counter:
    """Draws looked up by key and row. `key`: 16 bytes.

    >>> draws = Counter(bytes(16))
    >>> bool((draws.uniform(np.arange(9))[3:6] == draws.uniform(np.arange(3, 6))).all())
    True
    """

    key: bytes = field(repr=False)

    @property
    def _key(self) -> tuple[int, int]:
        return int.from_bytes(self.key[:8], "little"), int.from_bytes(self.key[8:16], "little")

    def of(self, name: str) -> Counter:
        return Counter(hashlib.sha256(self.key + b"|" + name.encode()).digest()[:16])

    def words(self, rows: I64, attempt: int = 0, word: int = 0) -> philox.U64:
        """The random words themselves, 64 bits each."""
        return philox.words(self._key, np.asarray(rows, dtype=np.int64), attempt, word)

    def uniform(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        # Read with a sign, which the upper bit no longer is: such numbers become real ones in half the time.
        return np.asarray((self.words(rows, attempt, word) >> np.uint64(11)).view(np.int64) * 2.0**-53)

    def _inside(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        """Numbers in (0, 1), never 0 or 1, for distribution functions turned round."""
        return np.asarray(((self.words(rows, attempt, word) >> np.uint64(12)).view(np.int64) + 0.5) * 2.0**-52)

    def normal(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        from scipy.special import ndtri

        return np.asarray(ndtri(self._inside(rows, attempt, word)))

    def exponential(self, rows: I64) -> F64:
        return np.asarray(-np.log(self._inside(rows)))

    def chisquare(self, df: float) -> float:
        from scipy.special import gammaincinv

        return float(2.0 * gammaincinv(df / 2.0, self._inside(ONE)[0]))

    def integers(self, rows: I64, low: I64, high: I64, word: int = 0) -> I64:
        many = np.asarray(high, dtype=np.int64) - low + 1
        return np.asarray(low + np.minimum((self.uniform(rows, word=word) * many).astype(np.int64), many - 1))

    def whole(self, limit: int, row: int = 0, word: int = 0) -> int:
        return min(int(self.uniform(ONE + row, word=word)[0] * limit), limit - 1)

    def order(self, rows: I64) -> I64:
        first = self.words(rows)
        if len(rows) >= philox.MANY and (found := _sorted(first)) is not None:
            return found
        order = np.argsort(first)
        if len(order) > 1 and bool((np.diff(first[order]) == 0).any()):  # ties are decided by a second word
            order = np.lexsort((self.words(rows, word=1), first))
        return np.asarray(order, dtype=np.int64)

    def sample(self, rows: I64, size: int) -> I64:
        return np.sort(self.order(rows)[:size])

    def generator(self) -> np.random.Generator:
        words = np.frombuffer(hashlib.sha256(self.key + b"|generator").digest(), dtype="<u8")
        return np.random.Generator(np.random.Philox(key=words[:2]))


def _sorted(words: philox.U64) -> I64 | None:
    """Positions in the order of many random words, by a compiled loop; None where two of them are equal."""
    from confide.core.random.philox_loops import sort_words

    n = len(words)
    bits = min(max(n.bit_length() - 1, 1), 20)  # buckets of about two, as long as their ends stay in the cache
    order, keys = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.uint64)
    ends = np.zeros(2**bits + 1, dtype=np.int64)
    return order if sort_words(words, np.uint64(64 - bits), ends, keys, order) else None


@dataclass(frozen=True)
class Stream:
    """Draws one after another from a generator, whatever the rows.

    >>> bool((Stream(np.random.default_rng(1)).uniform(np.arange(2)) == np.random.default_rng(1).random(2)).all())
    True
    """

    rng: np.random.Generator

    def of(self, name: str) -> Stream:  # noqa: ARG002 - one sequence for all purposes
        return self

    def uniform(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:  # noqa: ARG002
        return self.rng.random(len(rows))

    def normal(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:  # noqa: ARG002
        return self.rng.standard_normal(len(rows))

    def exponential(self, rows: I64) -> F64:
        return self.rng.standard_exponential(len(rows))

    def chisquare(self, df: float) -> float:
        return float(self.rng.chisquare(df))

    def integers(self, rows: I64, low: I64, high: I64, word: int = 0) -> I64:  # noqa: ARG002
        return self.rng.integers(low, high, endpoint=True)

    def whole(self, limit: int, row: int = 0, word: int = 0) -> int:  # noqa: ARG002
        return int(self.rng.integers(limit))

    def order(self, rows: I64) -> I64:
        return self.rng.permutation(len(rows)).astype(np.int64)

    def sample(self, rows: I64, size: int) -> I64:
        return np.sort(self.rng.choice(len(rows), size=size, replace=False)).astype(np.int64)

    def generator(self) -> np.random.Generator:
        return self.rng


class UnitsOfRows(Protocol):
    """The units of rows, looked up by the numbers of rows: an array, or what has it on disk."""

    def __getitem__(self, rows: Any, /) -> Any: ...


@dataclass(frozen=True)
class PerUnit:
    """The same draws for all rows of a unit: those of the unit's number. `units`: of each row of the file.

    >>> draws = PerUnit(Counter(bytes(16)), np.array([0, 0, 2]))
    >>> len(set(draws.uniform(np.arange(3)).tolist()))
    2
    """

    draws: Draws
    units: UnitsOfRows

    def _each(self, rows: I64) -> tuple[I64, I64]:
        known, of = np.unique(self.units[rows], return_inverse=True)
        return known, of

    def of(self, name: str) -> PerUnit:
        return PerUnit(self.draws.of(name), self.units)

    def uniform(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        known, of = self._each(rows)
        return self.draws.uniform(known, attempt, word)[of]

    def normal(self, rows: I64, attempt: int = 0, word: int = 0) -> F64:
        known, of = self._each(rows)
        return self.draws.normal(known, attempt, word)[of]

    def exponential(self, rows: I64) -> F64:
        known, of = self._each(rows)
        return self.draws.exponential(known)[of]

    def chisquare(self, df: float) -> float:
        return self.draws.chisquare(df)

    def integers(self, rows: I64, low: I64, high: I64, word: int = 0) -> I64:
        u = self.uniform(rows, word=word)
        many = np.asarray(high, dtype=np.int64) - low + 1
        return np.asarray(low + np.minimum((u * many).astype(np.int64), many - 1))

    def whole(self, limit: int, row: int = 0, word: int = 0) -> int:
        return self.draws.whole(limit, int(self.units[row]), word)

    def order(self, rows: I64) -> I64:
        return self.draws.order(self.units[rows])

    def sample(self, rows: I64, size: int) -> I64:
        return self.draws.sample(self.units[rows], size)

    def generator(self) -> np.random.Generator:
        return self.draws.generator()
