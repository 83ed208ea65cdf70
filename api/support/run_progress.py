"""Progress of many runs whose times are about known: how many are done, and how much time is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .progress import bar_console, wanted

if TYPE_CHECKING:
    from rich.progress import Progress

    from ...calibration.simulation.run_times import RunTimes

_EVERY_S = 10.0
"""How often a log gets a line."""


class RunsShown:
    """Shows how far runs are; on a terminal as a bar, in other places as a line every ten seconds.

    Parameters
    ----------
    what
        What is going on, in words.
    shown
        If false, show nothing.
    """

    def __init__(self, what: str, shown: bool) -> None:
        self.what = what
        self._shown = wanted(shown)
        self._bar: Progress | None = None
        self._times: RunTimes | None = None
        self._begun = self._said = time.monotonic()

    def update(self, done: int, total: int, times: RunTimes) -> None:
        """Note how many runs are done, of how many."""
        self._times = times
        if self._bar is not None:
            runs = f"{done:,} of {total:,} runs"
            self._bar.update(self._bar.task_ids[0], completed=times.share, runs=runs)
        elif self._shown and time.monotonic() - self._said >= _EVERY_S:
            self._said = time.monotonic()
            passed = time_in_words(self._said - self._begun)
            runs = f"{done:,} of {total:,} runs ({100 * times.share:.0f} %)"
            print(f"{self.what}: {runs}, {passed} passed, {self.left()} left", file=sys.stderr, flush=True)

    def left(self) -> str:
        """The time that is left, in words."""
        return "" if self._times is None else f"about {time_in_words(self._times.left_s())}"

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Print inside, without the bar, which would be in the way."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        yield
        self._bar.start()

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Show the bar inside."""
        console = bar_console() if self._shown else None
        if console is None:
            yield
            return
        from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
        from rich.text import Text

        left = self.left

        class TimeLeft(ProgressColumn):
            def render(self, task: Task) -> Text:
                said = left()
                return Text(f"{said} left" if said else "")

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        with Progress(
            *columns, TextColumn("{task.fields[runs]}"), TimeLeft(), console=console, transient=True
        ) as self._bar:
            self._bar.add_task(self.what, total=1.0, runs="")
            try:
                yield
            finally:
                self._bar = None


@contextmanager
def runs_progress(what: str, shown: bool = True) -> Iterator[RunsShown]:
    """Show how far runs are; yields what takes the numbers."""
    progress = RunsShown(what, shown)
    with progress.showing():
        yield progress


def time_in_words(seconds: float) -> str:
    """A time as people say it: `40 s`, `7 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
