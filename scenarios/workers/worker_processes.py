"""What pools of processes need: workers that end with their parent or at once, and interrupts only for the parent."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process, resource_tracker
from multiprocessing.connection import wait

from .garbage import search_less


def end_with_parent() -> None:
    """Begin a worker: it ends when its parent is gone, however that ended, also in the middle of a simulation."""
    search_less()
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), name="parent watch", daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def end_pool(pool: ProcessPoolExecutor, at_once: bool) -> None:
    """End a pool; what its workers are at may take long, and is not waited for if they are to end `at_once`."""
    if at_once:
        for process in list((pool._processes or {}).values()):
            process.kill()  # one that is stopped or hangs would not hear of anything else
    pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupts_left_to_parent() -> Iterator[None]:
    """Ctrl-C reaches the whole process group, but the parent alone acts on it.

    It is held back while processes are started: they are born with it held back, and stay so, also while they import.
    One that comes meanwhile reaches the parent when that is over. Where signals cannot be held back nothing happens.
    With the first process multiprocessing starts its resource tracker, and lets interrupts through when that is born,
    before the process is: so the tracker is started first.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
