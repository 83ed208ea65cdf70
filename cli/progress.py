"""Progress on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

_EVERY_S = 10.0
"""How often a log gets a line."""


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far `what` is; yields a function that takes (done, of how many)."""
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update


def _lines(what: str) -> Callable[[int, int], None]:
    began = last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_S:
            last = now
            print(f"{what}: {done} of {total} ({now - began:.0f} s)", file=sys.stderr, flush=True)

    return update


@contextmanager
def progress_text(what: str) -> Iterator[Callable[[str], None]]:
    """Show that `what` goes on, where nobody knows how long; yields a function that takes what is done just now."""
    if not sys.stderr.isatty():
        yield _text_lines(what)
        return
    with Console(stderr=True).status(what) as status:
        yield lambda now_doing: status.update(Text(f"{what}: {now_doing}"))


def _text_lines(what: str) -> Callable[[str], None]:
    began = last = time.monotonic()
    count = 0

    def update(now_doing: str) -> None:
        nonlocal last, count
        count += 1
        now = time.monotonic()
        if now - last >= _EVERY_S:
            last = now
            print(f"{what}: {count}, {now_doing} ({now - began:.0f} s)", file=sys.stderr, flush=True)

    return update
