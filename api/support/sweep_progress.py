"""How far a sweep is, on stderr: a bar on a terminal, an occasional line in other places, both with the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ...model.files.quantities import format_duration
from ...scenarios.sweeps.sweep import SweepProgress
from .progress import bar_console, wanted

_EVERY_S = 10.0


@contextmanager
def sweep_progress(name: str, shown: bool = True) -> Iterator[Callable[[SweepProgress], None]]:
    """Show how far a sweep is; yields a function that is told. What was there already counts for nothing."""
    if not wanted(shown):
        yield lambda progress: None
        return
    console = bar_console()
    if console is None:
        yield _lines(name)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name.replace("[", r"\["), total=None, left="")
        clock = _Clock()

        def update(progress: SweepProgress) -> None:
            left = clock.left(progress)
            bar.update(task, completed=progress.settled, total=progress.runs, left=_words(progress, left))

        yield update


class _Clock:
    """Knows how long the rest takes, from what was simulated since it was made."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def left(self, progress: SweepProgress) -> float | None:
        """Seconds; None while nobody can know."""
        if not progress.simulated:
            return None
        return self.seconds / progress.simulated * (progress.runs - progress.settled)


def _words(progress: SweepProgress, left: float | None) -> str:
    failed = f"{progress.failed:,} without result, " if progress.failed else ""
    return failed + (f"{format_duration(round(left))} left" if left is not None else "")


def _lines(name: str) -> Callable[[SweepProgress], None]:
    clock = _Clock()
    last = 0.0

    def update(progress: SweepProgress) -> None:
        nonlocal last
        if clock.seconds - last < _EVERY_S or progress.settled >= progress.runs:
            return
        last = clock.seconds
        words = _words(progress, clock.left(progress))
        print(f"{name}: {progress.settled:,} of {progress.runs:,}, {words}", file=sys.stderr, flush=True)

    return update
