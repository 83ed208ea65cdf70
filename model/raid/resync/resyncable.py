"""What a resync thread needs of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...core.device import Device
from ..base.array_load import ArrayLoad
from ..base.submitter import Submitter


class Resyncable(Protocol):
    """An array that can rebuild a range of its members."""

    resync_thread: Submitter | None
    daemon_resync_bytes: list[int]
    resync_under_way: list[int]

    @property
    def members(self) -> list[Device]:
        """In slot order."""

    @property
    def rebuilding(self) -> frozenset[int]:
        """Slots that take writes but do not hold everything yet."""

    @property
    def foreground_bytes(self) -> int:
        """What the members have completed, but for resync."""

    @property
    def resync_bytes(self) -> int:
        """Bytes per member to rebuild."""

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild one range."""

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read and compare one range."""

    def rebuilt(self, slot: int) -> None:
        """`slot` holds everything again."""

    @property
    def check_bytes(self) -> int:
        """Bytes to check, of the address space that a check counts in."""

    @property
    def daemon_submits(self) -> bool:
        """Whether md's own thread submits what the resync thread asks for."""

    def synchronise(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Make one range consistent after a crash."""

    @property
    def reshape_bytes(self) -> int:
        """Bytes to reshape, of the address space that a reshape counts in; 0: it is in no other layout."""

    def reshape(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Bring one range into the new layout."""

    def watch_load(self) -> ArrayLoad:
        """Count the array's own I/O from now on."""
