"""What may hold a request back in front of a queue before it gets a tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..core.request import Request
from ..schedulers import QueuedRequest


class Throttle(Protocol):
    """What a queue of blk-mq asks and tells it (block/blk-rq-qos.c, rq_qos)."""

    def attach(self, release: Callable[[], None], depth: int) -> None:
        """Learn the queue: `release` is called when held-back requests may be asked for again; its depth."""

    def admit(self, request: Request, first: bool) -> bool:
        """Whether `request` may go on; `first` if none waits before it. An admitted request is accounted for."""

    def track(self, queued: QueuedRequest) -> None:
        """An admitted request has become `queued`."""

    def merged(self, queued: QueuedRequest) -> None:
        """A tracked `queued` has been merged into another request."""

    def sent(self, queued: QueuedRequest) -> None:
        """The device has received `queued`."""

    def passed(self, queued: QueuedRequest) -> None:
        """A read or a direct write has been admitted and sent at once."""

    def completed(self, queued: QueuedRequest) -> None:
        """The device has finished `queued`."""
