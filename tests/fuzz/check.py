"""What is expected of a reader: it returns, or it refuses with one clear message; soon, and in little memory."""

from __future__ import annotations

import re
import resource
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from raidsim.model.core.errors import InputError
from raidsim.tests.fuzz.targets import Target

SECONDS = 1.0
"""CPU time after which a reader hangs, of an input of :data:`LONGEST` bytes at the most."""
LONGEST = 64 << 10
MEGABYTES = 250
"""Memory that reading one input may take, besides what the process has already."""
_LONGEST_MESSAGE = 3100


class Finding(NamedTuple):
    """What a reader did that it must not.

    Attributes
    ----------
    kind
        "exception", "slow", "memory" or "message".
    words
        What happened.
    where
        Says whether two findings are the same one.
    """

    kind: str
    words: str
    where: str


class _TooLong(BaseException):
    """No `Exception`: a reader that catches everything must not catch this."""


def trial(target: Target, data: bytes, seconds: float = SECONDS, most_bytes: int | None = None) -> Finding | None:
    """What is wrong with what a reader does with some bytes; None if nothing is.

    Parameters
    ----------
    target, data
        The reader, and what it reads.
    seconds
        CPU time that it may take.
    most_bytes
        Memory that it may take; not looked at unless given.
    """
    had = _forget_peak() if most_bytes is not None else 0
    began = time.process_time()
    try:
        with _alarm(seconds):
            target.read(data)
    except InputError as error:
        wrong = _wrong_message(error)
        if wrong is not None:
            return wrong
    except _TooLong as error:
        return Finding("slow", f"still running after {seconds:g} s", _innermost(error))
    except Exception as error:
        return Finding("exception", traceback.format_exc(), f"{type(error).__name__} {_innermost(error)}")
    spent = time.process_time() - began
    if spent > seconds:
        return Finding("slow", f"{spent:.2f} s", "slow")
    if most_bytes is not None and (taken := peak_bytes() - had) > most_bytes:
        return Finding("memory", f"{taken >> 20} MiB", "memory")
    return None


def peak_bytes() -> int:
    """The most memory that this process has had so far (bytes).

    Where /proc tells, what the program had: ``ru_maxrss`` begins with what its parent had when it forked.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text(encoding="ascii"))):
        return int(found[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_peak() -> int:
    """Have the peak begin with what the process has now; how much that is (bytes)."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5", encoding="ascii")  # Documentation/filesystems/proc.rst: resets the peak
    return peak_bytes()


def _wrong_message(error: InputError) -> Finding | None:
    """A message that is no single line of bounded length, or has what would do something to a terminal."""
    text, where = str(error), _innermost(error)
    if not (error.place and error.found and error.expected):
        return Finding("message", f"says too little: {text!r}", where)
    if len(text) > _LONGEST_MESSAGE:
        return Finding("message", f"{len(text)} characters: {text[:200]!r}", where)
    if not text.isprintable():
        bad = sorted({character for character in text if not character.isprintable()})
        return Finding("message", f"has {bad!r}: {text[:300]!r}", where)
    return None


def _innermost(error: BaseException) -> str:
    """The line of our own code that an exception comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/tests/" not in frame.filename and "site-packages" not in frame.filename]
    own = [frame for frame in own if "/lib/python" not in frame.filename] or list(frames)
    return f"{own[-1].filename.rsplit('/', 1)[-1]}:{own[-1].lineno}"


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` after so much CPU time."""

    def too_long(_: int, __: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
