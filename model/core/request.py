"""A request to a device, and what is told when it is complete.

A request is also the event of its own completion: the object that a device already holds is the
clock's heap entry, and a member I/O costs no further allocation. Compiled, the fields are native numbers and a
:class:`Completion` is told by a direct call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64, mypyc_attr

from ..waits.trail import Mark, waited
from .timed import Timed

READ: Final = 0
WRITE: Final = 1
FLUSH: Final = 2
"""The pseudo-request of a drive that is flushed."""
TRIM: Final = 3
"""A discard: its bytes hold no data any more (:mod:`.discard`). Like a write it is odd: ``op & WRITE`` of both is 1."""

ASYNC: Final = 0
WAITED: Final = 1
DIRECT: Final = 2
WRITE_THROUGH: Final = 3
"""Values of :attr:`Request.sync`."""

FLUSHER_ISSUER: Final = -1
RESYNC_ISSUER: Final = -2
PREREAD_ISSUER: Final = -3
DAEMON_ISSUER: Final = -4
"""Issuers that are the kernel's own threads; programs have positive numbers."""

PARITY_THREADS: Final = -16
CRYPT_THREADS: Final = -1 << 16
RESYNC_THREADS: Final = -1 << 20
"""A machine may have several kernel threads of a kind (raid5d, dmcrypt_write, resync), each with its own number.

Each sleeps on its own. :meth:`.engine.Engine.thread_issuer` counts down from this one.
"""


@mypyc_attr(allow_interpreted_subclasses=True)
class Completion:
    """What is told that a request is complete; the class of an object that many requests share."""

    __slots__ = ()

    def done(self, request: Request) -> None:
        """`request` is complete, and the clock stands at the completion."""
        raise NotImplementedError


class Call(Completion):
    """A function that is called with the request when it is complete."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def done(self, request: Request) -> None:
        """Call the function."""
        self.function(request)


@mypyc_attr(free_list_len=1)  # most completions are followed by the next request
class Request(Timed):
    """One I/O to a device.

    Parameters
    ----------
    done
        The :attr:`completion`, or a function that is called with the request when it is complete. A function costs more
        time, so what issues an I/O for every member I/O is a :class:`Completion`.

    Attributes
    ----------
    op
        ``READ``, ``WRITE`` or ``TRIM``.
    offset, size
        Bytes, relative to the device the request is submitted to.
    completion
        Told once when the request is complete; the clock then stands at the completion.
    stage
        Told by the clock when the request's time has come (:meth:`.engine.Engine.complete`); set by the device.
    submitted
        Time (s) at which the device received it; set by the device.
    issuer
        Who issues it: an integer that I/O schedulers use to tell processes apart (anticipation).
    sync
        Which process waits for it: ``ASYNC`` nobody (write-back); ``WAITED`` somebody (a read, an fsync; True is the
        same); ``DIRECT`` somebody, and the block layer knows that no more follows (Linux's REQ_SYNC | REQ_IDLE: an
        O_DIRECT write, which write-back throttling lets pass); ``WRITE_THROUGH`` a write that is done only when it and
        all that the device has acknowledged before are on the medium (flush + FUA: superblock, bitmap, journal).
    parent
        Free for the issuer: the logical request or row this one belongs to.
    trail
        What its time was spent on so far (:mod:`raidsim.model.waits.trail`); None if that is not accounted.
    """

    __slots__ = (
        "completion",
        "issuer",
        "offset",
        "op",
        "parent",
        "size",
        "stage",
        "submitted",
        "sync",
        "trail",
    )

    stage: Completion

    def __init__(
        self,
        op: i64,
        offset: i64,
        size: i64,
        done: Completion | Callable[[Request], Any],
        issuer: i64 = 0,
        sync: i64 = WAITED,
        parent: Any = None,
        trail: Mark | None = None,
    ) -> None:
        self.op = op
        self.offset = offset
        self.size = size
        self.completion: Completion = done if isinstance(done, Completion) else Call(done)
        self.issuer = issuer
        self.sync = sync
        self.parent = parent
        self.submitted = 0.0
        self.trail = trail

    def mark(self, cause: i64, until: float) -> None:
        """Note that it has waited for `cause` until then (s), if its waits are accounted."""
        if self.trail is not None:
            self.trail = waited(self.trail, cause, until)

    def happen(self) -> None:
        """The time has come that the device asked for."""
        self.stage.done(self)

    def complete(self) -> None:
        """Tell that the request is complete."""
        self.completion.done(self)

    def __repr__(self) -> str:
        word = "TRIM" if self.op == TRIM else "WRITE" if self.op else "READ"
        return f"Request({word}, offset={self.offset}, size={self.size})"
