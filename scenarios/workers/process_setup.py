"""What a process sets up before it simulates: signals, its end with its parent, garbage collection, depth of calls."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from ...compiled.loader import stay_pure

# Most commands start no process, and do without the modules that do.
if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

DEEPEST = 2000
"""Arrays and encrypted devices on each other, at most: what calls inside each other have room for."""
_CALLS_EACH = 12
_OTHERS = 1000


def allow_nesting(devices: int) -> None:
    """Raise the limit of nested calls to what this number of stacked devices needs."""
    needed = _OTHERS + _CALLS_EACH * min(devices, DEEPEST)
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)


_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def interrupts_postponed() -> Iterator[None]:
    """An interrupt that comes meanwhile, and every other signal that ends the command like one, is heeded afterwards.

    pydantic takes the exception for a value that is not of the kind it tries, warns, and goes on with the next kind:
    whoever dumps thousands of scenarios would lose most interrupts that come while it does. And a program that is just
    being started would be nobody's. It is the handlers that are changed: a mask (as for workers, which inherit it)
    leaves the signal to any other thread, and Python has it handled in the main one all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = {each: handler for each in _SIGNALS if callable(handler := signal.getsignal(each))}
    for each in before:
        signal.signal(each, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number, frame in came[:1]:
            before[number](number, frame)


_MORE, _OLDER = 50_000, 20
"""How many objects more than are gone it takes, and of how many searches one is among older objects."""


def search_less() -> None:
    """Search less often than Python does, and never among what is there by now."""
    gc.freeze()
    gc.set_threshold(_MORE, _OLDER, _OLDER)


def forget_finished() -> None:
    """Free what a finished simulation has left in circles, if it was a large one: the next one needs the memory."""
    _, older, oldest = gc.get_count()
    if older or oldest:
        gc.collect()


@contextmanager
def importing() -> Iterator[None]:
    """Import inside without a search for garbage: what modules hold stays as long as the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def end_with_parent() -> None:
    """Begin a worker: it ends when its parent is gone, however that ended, also in the middle of a simulation."""
    from multiprocessing import parent_process

    search_less()
    _leave_interrupts()
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), name="parent watch", daemon=True).start()


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the parent, also where another program has started the server that forked this process."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def begin_from_source() -> None:
    """Begin a worker that imports the model from its source, whether there is a compiled build or not."""
    stay_pure()
    end_with_parent()


def _wait_and_end(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)


def end_pool(pool: ProcessPoolExecutor, at_once: bool) -> None:
    """End a pool; what its workers are at may take long, and is not waited for if they are to end `at_once`."""
    if at_once:
        for process in list((pool._processes or {}).values()):
            process.kill()  # one that is stopped or hangs would not hear of anything else
    pool.shutdown(wait=True, cancel_futures=True)


def end_server() -> None:
    """End the server that has forked this program's workers (:mod:`.start_method`), when they have ended.

    The system counts the CPU time of processes that a command has started and waited for as its own. multiprocessing
    does not wait for the server, and has no public function that does.
    """
    module = sys.modules.get("multiprocessing.forkserver")
    if module is not None:
        with suppress(KeyboardInterrupt):
            module._forkserver._stop()


@contextmanager
def main_left_out() -> Iterator[None]:
    """Processes that are started inside do not run the main program's file again.

    A process that is spawned imports the file of the main program, which does all over again what stands outside of
    ``if __name__ == "__main__"``. Work for workers is a function of raidsim, so they need nothing of that file.
    """
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = before


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
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
