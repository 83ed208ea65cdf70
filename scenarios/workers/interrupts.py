"""Ctrl-C in the middle of what must not be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
