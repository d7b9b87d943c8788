"""The subtraction-attribution probability of Smith and Elliot."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.tables.published import Published
from confide.tables.published_areas import PublishedTables


def sap(published: Published | PublishedTables, known: Any = None, **options: Any) -> pl.DataFrame:
    r"""The probability that somebody who knows n people of a published table recovers a zero by subtracting them.

    .. math:: SAP(n) = P\{\text{for some target cell } i: \max_{x \in P(s)} x_i = s_i\}

    s is a simple random sample of n people, as counts; P(s) the tables of whole numbers that agree with everything
    published and hold the sample. A recovered zero: nobody but the known people is in that cell.

    - `published`: what `Table.publish` or `Tables.publish` returns
    - `known`: how many people are known: a number, or several as `range(25)` (default 0 to 20). Or a frame of the
      people themselves, one row each, with columns of the table; a missing value is not known of that person
    - `targets`: cells whose zeros count (positions, a mask, or levels as `{"county": "B"}`); default all possible ones
    - `aggregates`: margins whose zeros count instead of cells', as `[["sex"], ["sex", "age"]]`
    - `depth`: all margins of up to so many variables
    - `fractions`: exact fractions as well, in the column `fraction`
    - `prove`: False leaves out whole-number proofs where sums do not nest in two families; the result is a lower bound
    - `draws`, `seed`: of the simulation for releases that are too large to be exact
    - `threads`, `progress`: for many areas; never change a result

    Returns a frame with n, sap, standard_error (0 where nothing was simulated), lower and upper (between which it lies;
    95 percent interval of a simulation), status: "exact", "lower bound", "between bounds", "estimate" or "not proven".
    For many areas also area and people; n is cut to an area's people there. For one table n > N is refused.

    `published.attack(...)` takes the same options and knows more: risks of cells, expected zeros, certificates.

    References: Smith and Elliot (2008).

    >>> import confide as cf
    >>> published = cf.Table([2, 1, 3]).publish(cf.RoundCells(3), margins="total")
    >>> sap(published, known=range(4)).select("n", pl.col("sap").round(4), "status").rows()
    [(0, 0.0, 'exact'), (1, 0.1667, 'exact'), (2, 0.3333, 'exact'), (3, 0.5, 'exact')]
    """
    if not isinstance(published, (Published, PublishedTables)):
        raise InputError('sap needs a published table: table.publish(cf.RoundCells(5), margins="total").')
    return published.attack(known, **options).frame
