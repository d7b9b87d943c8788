"""Trials of a search: candidates carried out side by side, as rows of a study's table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import TypeVar

import polars as pl

from confide.core.errors import InputError, raise_all
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import calm, thread_count
from confide.study.collect import study_frame
from confide.study.evaluate import Evaluated, evaluate, is_random, repeat_seed
from confide.study.levels import Ways, contenders, every, only
from confide.study.run import LARGE, hopeless
from confide.study.search.worst import may_be_worst, with_others
from confide.study.statement.file_risks import file_risk_columns
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate

T = TypeVar("T")
R = TypeVar("R")


def as_long_as(
    more: Callable[[T], bool], work: Callable[[T, int], R], items: Sequence[T], rows: int, threads: int | None,
    one_by_one: bool = False,
) -> list[R]:  # fmt: skip
    """`work(item, threads)` for the first items, as many as there is time for: each begins in its turn, if `more`
    still says so of it. What is left out is always the end, however many threads work."""
    cores, lock, left = thread_count(threads), Lock(), iter(enumerate(items))
    found: dict[int, R] = {}

    def worker(own: int) -> None:
        while True:
            with lock:
                at = next(left, None)
                if at is None or not more(at[1]):
                    deque(left, maxlen=0)
                    return
            found[at[0]] = work(at[1], own)

    many = min(cores, len(items)) if rows < LARGE and not one_by_one else 1
    with calm():
        if many <= 1:
            worker(cores)
        else:
            with ThreadPoolExecutor(many) as pool:
                workers = [pool.submit(worker, 1) for _ in range(many)]
                try:
                    for running in as_completed(workers):
                        running.result()
                finally:
                    with lock:
                        deque(left, maxlen=0)  # nobody begins another item
    return [found[k] for k in sorted(found)]


def side_by_side(
    work: Callable[[T, int], R], items: Sequence[T], rows: int, threads: int | None, what: str, progress: Progress
) -> list[R]:
    """`work(item, threads)` for every item, in order; a large file takes all cores for one item at a time."""
    cores = thread_count(threads)
    many = cores if rows < LARGE else 1
    with calm(), progress_bar(what, len(items), progress) as done:

        def counted(item: T) -> R:
            found = work(item, cores if many == 1 else 1)
            done(1)
            return found

        if many == 1 or len(items) < 2:
            return [counted(item) for item in items]
        with ThreadPoolExecutor(many) as pool:
            running = [pool.submit(counted, item) for item in items]
            try:
                return [future.result() for future in running]
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def tried(
    study: Study, candidates: Sequence[Candidate], seed: int, threads: int | None, what: str, progress: Progress,
    fresh: bool = False, worst: bool = False,
) -> pl.DataFrame:  # fmt: skip
    """Every candidate in every repeat, as rows of a study's table.

    Repeats with fresh seeds have numbers of their own, since they are not the same draws as those of other plans. What
    cannot be computed even when nothing is altered is an error, as in a study. `worst`: only who finds most people
    counts; whoever surely finds fewer in the first release of a candidate attacks none of the others, and has the
    numbers of the first.
    """
    first = study.repeats if fresh else 0
    pieces = [(c, 0) for c in candidates]
    # Repeats of one plan together: they share what is believed, and there is room for that of few plans.
    pieces += [(c, r) for c in candidates if is_random(c.plan) for r in range(1, study.repeats)]
    win: dict[str, Ways] = {}
    ahead: dict[str, Evaluated] = {}

    def work(piece: tuple[Candidate, int], cores: int) -> Evaluated:
        c, r = piece
        before = ahead.get(c.name)
        names = study.intruders if before is None or not worst else may_be_worst(before.met)
        try:
            made = evaluate(study.source, c.plan, {name: study.intruders[name] for name in names}, study.measures,
                            repeat_seed(seed, r, fresh=fresh), study.threshold, threads=cores, items=study.items,
                            ways=win.get(c.name, every), file_risks=study.on_file)  # fmt: skip
        except InputError as e:
            raise InputError(f'plan "{c.name}": {e}') from e
        if c.name == study.everything.name:
            raise_all([*hopeless(made)])
        return made if before is None else with_others(made, before)

    found: list[Evaluated] = []
    for part in (pieces[: len(candidates)], pieces[len(candidates) :]):
        found += side_by_side(work, part, study.data.height, threads, what, progress)
        ahead |= {c.name: e for (c, r), e in zip(pieces, found, strict=False) if r == 0}
        win |= {name: only(contenders(e.met)) for name, e in ahead.items()}
    order = {c.name: k for k, c in enumerate(candidates)}
    met = [(c, first + r, made) for (c, r), made in zip(pieces, found, strict=True)]
    met.sort(key=lambda each: (order[each[0].name], each[1]))
    return study_frame(met, [m.name for m in study.measures], file_risks=list(file_risk_columns(study.on_file)))
