"""What an array asks of its superblocks and its write-intent bitmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...core.request import Request


class Metadata(Protocol):
    """What an array writes in addition to the data: see :mod:`raidsim.model.raid.metadata.array_metadata`."""

    def before_write(self, request: Request, write: Callable[[Request], None]) -> None:
        """Call ``write(request)`` once the metadata on the members allow it."""

    def plug(self) -> None:
        """A task begins to submit several writes."""

    def unplug(self) -> None:
        """It has submitted all, or goes to sleep."""

    def begin_call(self, issuer: int) -> None:
        """The pieces of one write of the task `issuer` follow."""

    def end_call(self, issuer: int) -> None:
        """All pieces have come."""

    @property
    def has_bitmap(self) -> bool:
        """Whether a write-intent bitmap is among them."""

    @property
    def holds_writers(self) -> bool:
        """Whether the submitter of a write sleeps now."""

    @property
    def holds_thread(self) -> bool:
        """Whether the array's own thread does."""

    def when_written(self, callback: Callable[[], None]) -> None:
        """Call back once, when it writes to the members no more."""
