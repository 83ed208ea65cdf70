"""How worker processes start: forked from a server that has imported their work, or spawned where there is none.

A spawned process imports everything again, which takes longer than many a simulation. A process that is forked from the
main program has it all at once, but also the locks that other threads hold, such as those that show progress. The
server has one thread and only imports, so its copies are like new processes (see "Contexts and start methods" in the
manual of Python's multiprocessing).
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.context import BaseContext
from typing import Any


def worker_context(work: Callable[..., Any]) -> BaseContext:
    """What starts processes for a piece of work.

    Parameters
    ----------
    work
        A function of a module, which the server imports when it starts. Processes that do something else later import
        what they lack.
    """
    # Apple's libraries start threads, and a process that is forked beside them may crash.
    if sys.platform == "darwin" or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    return context
