"""A thread that submits an array's resync I/O: see :mod:`raidsim.model.block.kernel_thread`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...core.request import Request


class Submitter(Protocol):
    """A thread that submits an array's resync I/O: see :mod:`raidsim.model.block.kernel_thread`."""

    def submit(self, slot: int, request: Request) -> None:
        """Submit `request` to a member now, or when the thread is awake."""

    def end_range(self) -> None:
        """A range has been submitted."""

    def compute(self, seconds: float, then: Callable[[], None]) -> None:
        """Compute for so long (s) before it goes on with `then`."""
