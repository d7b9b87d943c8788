"""Run a study: pieces of work (a plan, a repeat) side by side, each kept as soon as it is done."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import TYPE_CHECKING

from confide.core.errors import InputError, raise_all
from confide.core.random.seeds import checked_seed, fresh_seed
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import beside, calm, thread_count
from confide.core.scale.engine import Engine
from confide.core.version import __version__
from confide.frames.scan.scan import Scan
from confide.study.collect import collected
from confide.study.evaluate import Evaluated, evaluate
from confide.study.groups import Groups
from confide.study.kept import keep
from confide.study.levels import Ways, contenders, every, only, stated
from confide.study.pieces.keys import Piece, fingerprint, pieces_of
from confide.study.pieces.restored import restored
from confide.study.pieces.store import Store
from confide.study.scanned import Scanning
from confide.study.statement.checks import EVERYTHING
from confide.study.statement.file_risks import file_risk_columns

if TYPE_CHECKING:
    from confide.study.result import StudyResult
    from confide.study.statement.study import Study

LARGE = 300_000
"""Rows from which pieces run one after another, each on all cores: side by side they would not fit in memory."""


def run_study(
    study: Study, folder: str | os.PathLike[str] | None, *, progress: Progress, threads: int | None, overwrite: bool,
    engine: Engine | None = None,
) -> StudyResult:  # fmt: skip
    """Compute what is missing, and put all of it together."""
    with nullcontext() if folder is None else Store.opened(folder) as store:
        return run_in(study, store, progress=progress, threads=threads, overwrite=overwrite, engine=engine)


def run_in(
    study: Study, store: Store | None, *, progress: Progress, threads: int | None, overwrite: bool, alone: bool = False,
    engine: Engine | None = None,
) -> StudyResult:  # fmt: skip
    """The same in a folder that is open already. `alone`: pieces one after another, each on all cores; so are those of
    a scan, which `engine` works on."""
    scanning = Scanning.of(engine) if isinstance(study.data, Scan) else None
    if scanning is None and engine is not None:
        raise InputError("engine goes with a study of a scan: Study(cf.scan(...), ...).run(engine=cf.Local(...)).")
    began, cores = time.perf_counter(), thread_count(threads)
    seed = _settled_seed(study, store, overwrite)
    pieces = pieces_of(study, seed)
    found = {} if store is None else _kept(study, store, pieces)
    codes = {v for c in study.candidates for v in c.plan.categorical}
    people = None if scanning is not None else study.data
    groups = None if people is None else Groups.of(people, study.intruders.values(), codes, study.groups)
    with calm(), progress_bar("comparing releases", len(pieces), progress) as done:
        many = Counter(p.key for p in pieces)
        done(sum(many[key] for key in found))
        order = _Order(study, pieces, found)
        work = _worker(study, groups, store, order.ways, scanning)
        one_by_one = alone or scanning is not None
        for piece, evaluated in _worked(work, order, cores, LARGE if one_by_one else study.data.height):
            found[piece.key] = evaluated
            done(many[piece.key])
    result = collected(study, seed, [(p, found[p.key]) for p in pieces], time.perf_counter() - began)
    if store is not None:
        keep(result, store.folder)
    return result


class _Order:
    """Pieces to be computed, repeats of one plan together, since they share what is believed: first its first repeat,
    in which every level that could find more is tried, then the others, at those that may win.

    `found`: pieces that are there, by key; more of them while others are computed.
    """

    def __init__(self, study: Study, pieces: Sequence[Piece], found: Mapping[str, Evaluated]) -> None:
        self.strongest, self.found = study.strongest, found
        self.first = {p.candidate.name: p.key for p in pieces if p.repeat == 0}
        place = {name: i for i, name in enumerate(self.first)}
        once = {p.key: p for p in reversed(pieces) if p.key not in found}  # plans may be equal under two names
        self.left = sorted(once.values(), key=lambda p: (place[p.candidate.name], p.repeat))

    def ways(self, piece: Piece) -> Ways:
        """The levels at which intruders attack in a piece."""
        if not self.strongest:
            return stated
        return only(contenders(self.found[self._before(piece)].met)) if piece.repeat else every

    def following(self) -> Piece | None:
        """The piece to begin next, which is then no longer left; None where all that are left wait for others."""
        for i, piece in enumerate(self.left):
            if not (self.strongest and piece.repeat) or self._before(piece) in self.found:
                return self.left.pop(i)
        return None

    def _before(self, piece: Piece) -> str:
        return self.first[piece.candidate.name]


def _worker(
    study: Study, groups: Groups | None, store: Store | None, ways: Callable[[Piece], Ways], scanning: Scanning | None
) -> Callable[[Piece, int | None], Evaluated]:
    def one(piece: Piece, threads: int | None) -> Evaluated:
        c = piece.candidate
        if scanning is not None:
            return scanning.evaluate(
                study.data, c.plan, study.intruders, study.measures, piece.seed, study.threshold, threads, study.items,
                ways(piece), study.on_file,
            )  # fmt: skip
        return evaluate(
            study.source, c.plan, study.intruders, study.measures, piece.seed, study.threshold, study.copies_of(c),
            threads, groups, "quick" if piece.repeat else "thorough", study.items, ways(piece),
            study.learns, study.on_file,  # type: ignore[arg-type]
        )  # fmt: skip

    def work(piece: Piece, threads: int | None) -> Evaluated:
        c = piece.candidate
        try:
            made = one(piece, threads)
        except InputError as e:
            raise InputError(f'plan "{c.name}": {e}') from e
        if c.name == study.everything.name:
            raise_all([*hopeless(made)])
        if store is not None:
            store.put(piece.key, made.to_dict())
        return made

    return work


def hopeless(anchor: Evaluated) -> Iterator[str]:
    """What cannot even be computed when nothing is altered is a mistake in the study, not a property of a plan."""
    for name, why in anchor.refused.items():
        yield f'intruder "{name}": {why}'
    for name, value in anchor.utility.items():
        if value is None:
            yield f'utility "{name}": {anchor.details[name]}'
    for found in anchor.learnt:
        if found.numbers["learnt"] is None:
            yield f'learns "{found.variable}", intruder "{found.intruder}": {found.said}'
    for name, why in anchor.file_refused.items():
        yield f'file_risks "{name}": {why}'


def _worked(
    work: Callable[[Piece, int | None], Evaluated], order: _Order, cores: int, rows: int
) -> Iterator[tuple[Piece, Evaluated]]:
    """Pieces as they are done: the file as it is first and alone, since it shows most mistakes, others side by side."""
    side_by_side = cores if rows < LARGE else 1
    while order.left and (side_by_side == 1 or order.left[0].candidate.name == EVERYTHING):
        piece = order.following()
        assert piece is not None  # nothing else is under way that it could wait for
        yield piece, work(piece, cores)

    def shared(piece: Piece) -> Evaluated:
        with beside():
            return work(piece, None)

    with ThreadPoolExecutor(side_by_side) as pool:
        running: dict[Future[Evaluated], Piece] = {}
        try:
            while True:
                while len(running) < side_by_side and (piece := order.following()) is not None:
                    running[pool.submit(shared, piece)] = piece
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _settled_seed(study: Study, store: Store | None, overwrite: bool) -> int:
    """The study's seed: its own, else the one that an earlier run in the folder drew. Another study is refused."""
    if store is None:
        return checked_seed(study.seed)
    mark, there = fingerprint(study), store.statement()
    if there is not None and there.get("fingerprint") != mark and not overwrite:
        raise InputError(
            f"{store.folder} holds another study (data, plans, intruders, measures, seed, repeats or version differ). "
            "Give another folder, or overwrite=True: what can be used again will be."
        )
    drawn = fresh_seed() if there is None else int(there["seed"])
    seed = drawn if study.seed is None else checked_seed(study.seed)
    store.state({"fingerprint": mark, "seed": str(seed), "version": __version__, "title": study.title})
    return seed


def _kept(study: Study, store: Store, pieces: Sequence[Piece]) -> dict[str, Evaluated]:
    """Pieces that an earlier run finished; a file that is damaged, changed or made otherwise counts as none."""
    out: dict[str, Evaluated] = {}
    damaged = set()
    for piece in pieces:
        held = restored(
            store.get(piece.key), list(study.intruders), [m.name for m in study.measures], study.learnt_by,
            file_risk_columns(study.on_file),
        )  # fmt: skip
        if held is not None:
            out[piece.key] = held
        elif store.has(piece.key):
            damaged.add(piece.key)
    if damaged:
        said = "1 piece was damaged and is" if len(damaged) == 1 else f"{len(damaged):,} pieces were damaged and are"
        print(f"confide: {said} computed again.", file=sys.stderr)
    return out
