"""Work for processes that die in the middle of it, once or always, or never end; a module, so that they find it."""

from __future__ import annotations

import os
import signal
import time
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


def hang(number: int) -> int:
    """The process that begins with 2 waits for what does not come."""
    while number == 2:
        time.sleep(60)
    return square(number)


def stop(number: int) -> int:
    """The process that begins with 2 is stopped, so that it hears of no signal but the last one."""
    if number == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    return square(number)
