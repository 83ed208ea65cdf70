"""fio's log of I/Os of a whole run (``fio --write_iolog``): the jobs one after the other, as they end."""

from __future__ import annotations

from collections.abc import Iterator

from ..result import FioRun
from .logs import iolog


def run_iolog(run: FioRun) -> Iterator[str]:
    """Its lines."""
    for thread in sorted(run.threads, key=lambda each: (each.ended_s, each.thread_number)):
        yield from iolog(thread)
