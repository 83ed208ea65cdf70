"""Work for processes that end in the middle of it, once or always; a module of its own, so that they find it."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def square(number: int) -> int:
    """Work that is done."""
    return number * number


def die_once(argument: tuple[Path, int]) -> int:
    """The process that comes first is killed, as one that takes too much memory is."""
    mark, number = argument
    if number == 3:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return square(number)
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def die_always(number: int) -> int:
    """Every process that begins with 3 is killed."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)
