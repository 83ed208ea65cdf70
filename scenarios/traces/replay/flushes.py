"""The flushes of a recorded trace: an fsync of a program makes the devices write their caches to the medium."""

from __future__ import annotations

from ....model.core.device import Wrapper
from ....model.core.request import FLUSH, Request


class FlushedDevice(Wrapper):
    """A device that also takes flushes as requests, as a trace has them."""

    __slots__ = ()

    def submit(self, request: Request) -> None:
        """Pass a request on, a flush in its own way."""
        if request.op == FLUSH:
            self.device.flush(request.complete)
        else:
            self.device.submit(request)
