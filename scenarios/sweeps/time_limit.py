"""Ending what takes too long, from within the process that does it."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TextIO

GRACE_S = 20.0
"""How long after its limit something that cannot be interrupted ends with its process."""


class TimeIsUp(BaseException):
    """Raised in the middle of what has taken too long; no handler of ordinary errors catches it."""


@contextmanager
def time_limit(seconds: float | None, own_process: bool) -> Iterator[None]:
    """Raise `TimeIsUp` inside this context after `seconds`, in any thread and on any system.

    Parameters
    ----------
    seconds
        The limit; None: there is none.
    own_process
        End the process a little later if that does not help, as in the middle of a call into a library.
    """
    if seconds is None:
        yield
        return
    caller = threading.get_ident()
    guard = threading.Lock()
    over = False

    def interrupt() -> None:
        with guard:
            if not over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(caller), ctypes.py_object(TimeIsUp))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    if own_process:
        faulthandler.dump_traceback_later(seconds + GRACE_S, exit=True, file=_nowhere())
    timer.start()
    try:
        yield
    finally:
        with guard:
            over = True
        timer.cancel()
        if own_process:
            faulthandler.cancel_dump_traceback_later()


@cache
def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
