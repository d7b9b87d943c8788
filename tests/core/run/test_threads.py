"""Threads that work side by side share the cores."""

from __future__ import annotations

import threading

from confide.core.run.threads import beside, thread_count


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
