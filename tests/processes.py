"""What became of processes that a test has started."""

from __future__ import annotations

import os

PATIENCE_S = 1200.0
"""Wall-clock time after which a process hangs. With 25 other processes on two cores a test got 4 % of a core."""


def is_there(process: int) -> bool:
    """Whether there is a process of that number; of a negative one, a process of that group."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
