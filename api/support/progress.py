"""Progress on stderr: a bar on a terminal, an occasional line in other places."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

# Work that takes no longer than a second shows nothing, and does not import what draws.
if TYPE_CHECKING:
    from rich.console import Console

_EVERY_S = 10.0
"""How often a log gets a line."""
_LOOK_S = 0.2
_ADVISE_S, _LONG_S = 10.0, 60.0
"""After this time, work that takes longer than the second is worth some advice."""
_QUIET_S = 1.0
"""What takes no longer needs no progress."""
VARIABLE = "RAIDSIM_PROGRESS"
"""Variable of the environment; 0 shows no progress anywhere."""
Follow = Callable[[Callable[[], float]], None]
"""Takes the function that tells the share of the work that is done (0 to 1); called for every part of the work."""
_FOLLOWED_BY: ContextVar[Follow | None] = ContextVar("followed_by", default=None)


@contextmanager
def followed_by(follow: Follow) -> Iterator[None]:
    """Tell the progress of all calls inside to `follow` instead of showing it."""
    token = _FOLLOWED_BY.set(follow)
    try:
        yield
    finally:
        _FOLLOWED_BY.reset(token)


def wanted(shown: bool) -> bool:
    """Whether progress is shown, if the caller says `shown`."""
    return shown and os.environ.get(VARIABLE) != "0"


def bar_console() -> Console | None:
    """Where a bar can be drawn: a notebook with widgets, or a terminal; otherwise None."""
    from rich.console import Console

    if sys.stderr.isatty():
        return Console(stderr=True)
    shell = sys.modules.get("IPython")  # a program without notebooks does not load it
    there = None if shell is None else shell.get_ipython()
    in_notebook = there is not None and type(there).__name__ == "ZMQInteractiveShell"
    return Console() if in_notebook and importlib.util.find_spec("ipywidgets") is not None else None


@contextmanager
def progress_bar(what: str, percent: bool = False, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show how far `what` is; yields a function that takes (done, of how many), or a percentage and 100."""
    if not wanted(shown):
        yield lambda done, total: None
        return
    console = bar_console()
    if console is None:
        yield _lines(what, percent)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update


def _lines(what: str, percent: bool) -> Callable[[int, int], None]:
    began = last = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_S:
            last = now
            share = f"{done} %" if percent else f"{done} of {total}"
            left = f", about {(now - began) * (total - done) / done:.0f} s left" if done else ""
            print(f"{what}: {share} ({now - began:.0f} s{left})", file=sys.stderr, flush=True)

    return update


@contextmanager
def progress_text(what: str, shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Show that `what` goes on, where nobody knows how long; yields a function that takes what is done just now."""
    if not wanted(shown):
        yield lambda now_doing: None
        return
    console = bar_console()
    if console is None:
        yield _text_lines(what)
        return
    from rich.text import Text

    with console.status(what) as status:
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


@contextmanager
def progress_share(what: str, shown: bool = True, advice: str = "") -> Iterator[Follow]:
    """Show how far `what` is, looked at from outside so that the work itself is the same with and without.

    Parameters
    ----------
    what
        What is going on, in words.
    shown
        If false, show nothing.
    advice
        How it takes less time: shown once, if after 10 s more than a minute is expected in all.

    Notes
    -----
    Yields a function that takes what tells the share that is done (0 to 1); it is called once for every part of the
    work, when the part begins. Nothing is shown in the first second, and nothing at all inside :func:`followed_by`.
    """
    follower = _FOLLOWED_BY.get()
    if follower is not None:
        yield follower
        return
    parts: list[Callable[[], float]] = []
    if not wanted(shown):
        yield parts.append
        return
    over = threading.Event()

    def look() -> None:
        if over.wait(_QUIET_S):
            return
        with progress_bar(what, percent=True) as update:
            began, advised = time.monotonic() - _QUIET_S, not advice
            while True:
                share = min(1.0, max(0.0, parts[-1]())) if parts else 0.0
                if parts:
                    update(round(100 * share), 100)
                passed = time.monotonic() - began
                if not advised and passed >= _ADVISE_S and share * _LONG_S < passed:
                    advised = True
                    minutes = f"about {passed / share / 60:,.0f} min in all" if share else "a long time"
                    print(f"{what}: {minutes}; {advice}", file=sys.stderr, flush=True)
                if over.wait(_LOOK_S):
                    return

    watcher = threading.Thread(target=look, name="progress", daemon=True)
    watcher.start()
    try:
        yield parts.append
    finally:
        over.set()
        watcher.join()
