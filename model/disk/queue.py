"""In which order a drive serves the commands it knows: one policy a class.

A drive without command queuing knows one command at a time; the others wait in the host and come first in, first
out. With tagged or native command queuing the drive orders those it knows itself: :mod:`.shortest_positioning`.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ..core.request import Request


class DiskQueue(Protocol):
    """Commands waiting for the head."""

    def __len__(self) -> int:
        """How many wait."""

    def push(self, request: Request) -> None:
        """Add a command."""

    def next(self, now: float) -> Request:
        """Remove and return the next one to serve, at `now` (s)."""


class Fcfs(deque[Request]):
    """First come, first served."""

    __slots__ = ()

    push = deque.append

    def next(self, now: float) -> Request:
        """The oldest command."""
        return self.popleft()
