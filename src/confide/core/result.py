"""What every result has in common: a tidy frame, a summary, a chart, a way into a file, a table in a notebook."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from confide.core.errors import InputError
from confide.core.upward import upward
from confide.core.visible import visible

if TYPE_CHECKING:
    import polars as pl

PICTURES = (".html", ".png", ".svg")
SHOWN = 25
"""Rows of a table in a notebook."""


class Result:
    """A result: `frame`, `summary()`, `chart()`, `save(path)`, and a table in notebooks.

    `private`: its files are for their owner alone, since they tell of the original.
    """

    private: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def frame(self) -> pl.DataFrame:
            """The result as a tidy table."""

    def summary(self) -> pl.DataFrame | Result:
        """The result in a few rows."""
        return self.frame

    def chart(self) -> Any:
        """The result as a picture (altair)."""
        return upward("picture_of")(self)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the frame (.csv, .parquet, .xlsx, ...) or the chart (.html, .png, .svg); the ending says which.

        What tells of the original is readable by its owner alone; an existing file is refused unless `overwrite`.

        >>> import tempfile
        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(300), seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = cf.Intruder(knows=["sex", "race"]).attack(release).save(f"{folder}/units.csv")
        ...     made.name, oct(made.stat().st_mode & 0o777)
        ('units.csv', '0o600')
        """
        if is_picture(path):
            return _drawn(self, path, overwrite, self.private)
        return Path(upward("write")(self.frame, path, overwrite=overwrite, private=self.private))

    def _repr_html_(self) -> str:
        """A table for notebooks: the summary, so no record that a printout would not show."""
        import polars as pl

        found = self.summary()
        frame = found if isinstance(found, pl.DataFrame) else found.frame
        name, head = type(self).__name__, visible(repr(self).partition("\n")[0])
        said = head if head[:1].isalnum() and not head.startswith(f"{name}(") else name
        plain: Any = {"tbl_hide_dataframe_shape": True, "tbl_hide_column_data_types": True}
        with pl.Config(tbl_rows=SHOWN, tbl_cols=-1, fmt_str_lengths=80, **plain):
            return f"<p>{escape(said)}</p>{frame._repr_html_()}"


class Public(Result):
    """A result that is made to go out: files of its table are public, and a draft is refused unless asked for."""

    private: ClassVar[bool] = False

    def save(self, path: str | os.PathLike[str], overwrite: bool = False, draft: bool = False) -> Path:
        """Write what is public (.csv, .parquet, .xlsx, ...); or the chart (.html, .png, .svg), for its owner alone.

        A draft is refused; `draft=True` writes it for use inside the agency, readable by its owner alone.
        """
        if is_picture(path):
            return _drawn(self, path, overwrite, private=True)
        return Path(upward("write")(self._public(), path, overwrite=overwrite, draft=draft))

    def _public(self) -> Any:
        """What goes out."""
        return self.frame


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file asks for a picture; refused where it asks for nothing that can be written.

    >>> is_picture("map.svg"), is_picture("map.csv")
    (True, False)
    """
    suffix = Path(path).suffix.lower()
    known = upward("FORMATS")
    if suffix in PICTURES or suffix in known:
        return suffix in PICTURES
    raise InputError(
        f'A result is saved as a table ({", ".join(known)}) or as a picture ({", ".join(PICTURES)}), not as "{suffix}".'
    )


def _drawn(result: Result, path: str | os.PathLike[str], overwrite: bool, private: bool) -> Path:
    return Path(upward("save_chart")(result.chart(), path, overwrite, private))
