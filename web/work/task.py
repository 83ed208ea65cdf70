"""What a task is: a question that a worker process answers (:mod:`.runs`), and how much of it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol, TypeVar

from ...api.answer.units import format_duration
from ...api.support.progress import followed_by

Result_co = TypeVar("Result_co", covariant=True)


class Progress:
    """How far the work is: parts one after the other, of which the current one may say its own share.

    Parameters
    ----------
    tell
        Takes what is found before all is done.
    """

    def __init__(self, tell: Callable[[object], None] | None = None) -> None:
        self.parts = 1
        self.done = 0
        self._within: Callable[[], float] = float
        self._tell = tell

    def answer(self, found: object) -> None:
        """A first answer, to be shown while the rest of the work is done, whose share is counted anew."""
        self.done = 0
        self._within = float
        self.tell(found)

    def tell(self, found: object) -> None:
        """What is known so far; kept if a limit stops the task."""
        if self._tell is not None:
            self._tell(found)

    def within(self, share: Callable[[], float]) -> None:
        """A separate function gives the current part."""
        self._within = share

    @contextmanager
    def told(self) -> Iterator[None]:
        """The functions of `raidsim` called inside tell the share of the current part."""
        with followed_by(self.within):
            yield

    def next_part(self) -> None:
        """The current part is over."""
        self.done += 1
        self._within = float

    @property
    def share(self) -> float:
        """Share of the work that is done, 0 to 1."""
        within = min(1.0, max(0.0, self._within()))
        return min(1.0, (self.done + within) / max(1, self.parts))


class Task(Protocol[Result_co]):
    """A piece of work."""

    CPU_S: ClassVar[float]
    """CPU time (s) after which it is stopped."""
    SHORT: ClassVar[bool]
    """If true, it goes to the lane of short tasks."""

    def perform(self, progress: Progress) -> Result_co:
        """Do it; `InputError` if the scenario cannot be run."""


AnyTask = Task[Any]


def stopped(task: AnyTask) -> str:
    """What is said of a task that reached its limit."""
    return (
        f"stopped after {format_duration(task.CPU_S)} of CPU time, the limit of this page; what is known until then is "
        "kept; choose a shorter run, a smaller load or fewer disks"
    )
