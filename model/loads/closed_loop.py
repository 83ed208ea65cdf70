"""The barest load: a number of I/Os in a device, each replaced by the next when it completes, and nothing measured."""

from __future__ import annotations

from collections.abc import Callable

from mypy_extensions import i64

from ..core.device import Device
from ..core.request import WAITED, Completion, Request

Drawn = tuple[list[int], list[int]]
"""``READ`` or ``WRITE`` of I/Os in order, and their offsets (bytes)."""


class ClosedLoop(Completion):
    """Keeps `outstanding` I/Os in a device; needs no event of its own.

    Parameters
    ----------
    device
        What the I/Os go to.
    draw
        Gives the next I/Os, at least one.
    size
        Bytes of each I/O.
    sync
        Which process waits for each (:attr:`.request.Request.sync`).

    Attributes
    ----------
    completed
        I/Os that are complete.
    """

    __slots__ = ("_at", "_device", "_draw", "_offsets", "_ops", "_size", "_stop", "_stop_at", "_sync", "completed")

    def __init__(self, device: Device, draw: Callable[[], Drawn], size: int, sync: int = WAITED) -> None:
        self._device = device
        self._draw = draw
        self._size: i64 = size
        self._sync: i64 = sync
        self._ops: list[int] = []
        self._offsets: list[int] = []
        self._at: i64 = 0
        self.completed: i64 = 0
        self._stop_at: i64 = -1
        self._stop: Callable[[], object] | None = None

    def start(self, outstanding: int) -> None:
        """Submit the first I/Os."""
        for _ in range(outstanding):
            self._submit()

    def when_completed(self, more: int, stop: Callable[[], object]) -> None:
        """Call `stop` when `more` further I/Os are complete."""
        self._stop_at = self.completed + more
        self._stop = stop

    def done(self, request: Request) -> None:
        """Replace an I/O that is complete."""
        self.completed += 1
        if self.completed == self._stop_at and self._stop is not None:
            self._stop()
        self._submit()

    def _submit(self) -> None:
        at = self._at
        if at == len(self._ops):
            self._ops, self._offsets = self._draw()
            at = 0
        self._at = at + 1
        self._device.submit(Request(self._ops[at], self._offsets[at], self._size, self, 0, self._sync))
