"""The result of a synthesis: the plan, the files, what was chosen and why, utility and risk beside each other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from confide.attack.results.attack import Attack
from confide.core.errors import InputError, raise_all
from confide.core.files.atomic import atomic_write
from confide.core.result import Result
from confide.core.upward import upward
from confide.frames.roles.result import Roles
from confide.protect.copies import Copies
from confide.protect.plan import Plan
from confide.protect.release import Release

FORMAT = ".csv"


@dataclass(frozen=True, eq=False, repr=False)
class Synthesis(Result):
    """Synthetic data of a whole file.

    - `frame`: one row per variable: `order` in which it was made, `variable`, `kind`, what it `becomes` ("synthetic",
      "recomputed", "kept", "left out"), `model`, `predictors`, `rules` and `why`.
    - `plan`: the same as a plan, which can be saved, changed and carried out again; `release`: what it made, or the
      first of several `copies`; `data`: the public file, or a list of them.
    - `rules`: one row per rule: whether it was found or stated, whose draws keep it, and how many rows break it.
    - `utility`: one row per measure; `compare`: one row per variable, real beside synthetic.
    - `risk`: one row per number: what the strongest intruder finds and learns, and people who are repeated. `attack`:
      that intruder's attack, None where no key is known.
    - `roles`: what variables were taken for. `cautions`: what limits all this, in sentences; they are printed too.
    """

    frame: pl.DataFrame
    plan: Plan
    made: Release | Copies
    data: Any
    rules: pl.DataFrame
    utility: pl.DataFrame
    compare: pl.DataFrame
    risk: pl.DataFrame
    attack: Attack | None
    roles: Roles
    stated: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Keys and sensitive variables that were used, and under "guessed" which of these nobody stated."""
    cautions: tuple[str, ...] = ()

    @property
    def release(self) -> Release:
        """The release, or the first copy."""
        return self.made[0] if isinstance(self.made, Copies) else self.made

    @property
    def copies(self) -> Copies | None:
        """The copies, None where there is one file."""
        return self.made if isinstance(self.made, Copies) else None

    @property
    def refusal(self) -> str:
        """Why the files must not be published; empty where they may be."""
        return self.made.refusal

    def summary(self) -> pl.DataFrame:
        """Utility and risk, one row per number."""
        lines = [
            *((r["measure"], "", r["value"], f"{r['direction']} is better, {r['best']:g} is best")
              for r in self.utility.iter_rows(named=True)),
            *((r["risk"], r["about"], r["value"], r["what"]) for r in self.risk.iter_rows(named=True)),
        ]  # fmt: skip
        schema = {"measure": pl.String, "about": pl.String, "value": pl.Float64, "what": pl.String}
        return pl.DataFrame(lines, schema=schema, orient="row")

    def to_dict(self) -> dict[str, object]:
        """The same as plain data, without records."""
        first = self.release.frame
        return {
            "rows": first.height, "variables": list(first.columns), "copies": len(self.copies or (1,)),
            "order": self.frame.to_dicts(), "rules": self.rules.to_dicts(), "utility": self.utility.to_dicts(),
            "compare": self.compare.to_dicts(), "risk": self.risk.to_dicts(),
            **{k: list(v) for k, v in self.stated.items()}, "cautions": list(self.cautions),
            "plan": self.plan.to_dict(),
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str], overwrite: bool = False, draft: bool = False) -> Path:
        """Write all into a folder, or a table (.csv, .parquet, ...), a chart (.png, .svg) or plain data (.json).

        A folder gets the public files (`synthetic.csv`, or `synthetic-1.csv` and so on for copies), and for their owner
        alone the plan (`plan.toml`) and what was chosen and measured (`synthesis.json`). A draft (made with a seed and
        no vault) is refused unless `draft`, and is then for its owner alone too.
        """
        target = Path(path)
        if target.suffix.lower() == ".json":
            self._write_json(target, overwrite)
            return target
        if target.suffix and not target.is_dir():
            return super().save(path, overwrite)
        if self.refusal and not draft:
            raise InputError(f"{self.refusal} For use inside the agency: draft=True.")
        files = self.files_in(target)
        if not overwrite:
            there = [p for p in (*files, target / "plan.toml", target / "synthesis.json") if p.exists()]
            raise_all(f"{p} exists and is not overwritten." for p in there)
        target.mkdir(parents=True, exist_ok=True)
        write_all(self, dict(zip(files, self._each(), strict=True)), overwrite, draft)
        self.plan.save(target / "plan.toml", overwrite=overwrite)
        os.chmod(target / "plan.toml", 0o600)
        self._write_json(target / "synthesis.json", overwrite)
        return target

    def files_in(self, folder: Path) -> list[Path]:
        """The public files that a folder gets."""
        return numbered(folder / f"synthetic{FORMAT}", len(self._each()))

    def _each(self) -> list[Any]:
        return list(self.made.data) if isinstance(self.made, Copies) else [self.made.data]

    def _write_json(self, target: Path, overwrite: bool) -> None:
        with atomic_write(target, overwrite, private=True) as temporary:
            text = json.dumps(self.to_dict(), indent=2, allow_nan=False, default=str)
            temporary.write_text(text + "\n", encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        return str(upward("synthesis_text")(self))


def numbered(path: Path, many: int) -> list[Path]:
    """Names of so many files: the name itself for one, with numbers for several.

    >>> [p.name for p in numbered(Path("out.csv"), 2)]
    ['out-1.csv', 'out-2.csv']
    """
    return [path] if many == 1 else [path.with_name(f"{path.stem}-{k}{path.suffix}") for k in range(1, many + 1)]


def write_all(found: Synthesis, files: Mapping[Path, Any], overwrite: bool, draft: bool = False) -> None:
    """Write public files, all or none."""
    with ExitStack() as stack:
        places = {p: stack.enter_context(atomic_write(p, overwrite, private=bool(found.refusal))) for p in files}
        for path, data in files.items():
            upward("write")(data, places[path], overwrite=True, draft=draft)
