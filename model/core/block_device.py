"""A block device with a request queue, as the page cache sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .request import Request


class BlockDevice(Protocol):
    """A device with a request queue: what the page cache needs beyond :class:`~raidsim.model.core.request.Device`."""

    name: str

    @property
    def capacity(self) -> int:
        """Bytes."""

    @property
    def has_room(self) -> bool:
        """Whether more writes may be queued."""

    def submit(self, request: Request) -> None:
        """Queue a request."""

    def unplug(self) -> None:
        """Let held-back requests go: somebody waits for them."""

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call back once when more writes may be queued."""
