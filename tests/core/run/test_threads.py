"""Threads that work side by side share the cores."""

from __future__ import annotations

import threading

import pytest

from confide.core.run.threads import beside, run_pieces, thread_count


def test_cores_are_shared_by_those_who_work_beside() -> None:
    alone = thread_count(None)
    seen: list[int] = []
    there, go = threading.Barrier(alone + 1), threading.Event()

    def work() -> None:
        with beside():
            there.wait()
            seen.append(thread_count(None))
            go.wait()

    workers = [threading.Thread(target=work) for _ in range(alone)]
    for worker in workers:
        worker.start()
    there.wait()
    while len(seen) < alone:
        pass
    go.set()
    for worker in workers:
        worker.join()
    assert seen == [1] * alone
    assert thread_count(None) == alone
    assert thread_count(3) == 3


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_piece_is_worked_on_once(threads: int) -> None:
    seen: list[int] = []
    told: list[int] = []
    tellers: set[int] = set()

    def done(n: int) -> None:
        told.append(n)
        tellers.add(threading.get_ident())

    run_pieces(lambda a, b: seen.extend(range(a, b)), [(i, i + 3) for i in range(0, 30, 3)], threads, done)
    assert sorted(seen) == list(range(30))
    assert told == [3] * 10
    assert tellers == {threading.get_ident()}


def test_threads_work_at_the_same_time() -> None:
    met = threading.Barrier(2)
    run_pieces(lambda _a, _b: met.wait(timeout=10) and None, [(0, 1), (1, 2)], 2, lambda _: None)
    assert met.broken is False


@pytest.mark.parametrize("bad", [0, 1, 7])
def test_an_error_ends_the_work_and_is_heard(bad: int) -> None:
    begun: list[int] = []

    def work(a: int, _: int) -> None:
        begun.append(a)
        if a == bad:
            raise ValueError("no such piece")

    many = threading.active_count()
    with pytest.raises(ValueError, match="no such piece"):
        run_pieces(work, [(i, i + 1) for i in range(100_000)], 2, lambda _: None)
    assert len(begun) < 100_000
    assert threading.active_count() == many
