"""For what a request is: which logical I/Os it serves, through arrays, queues and controllers.

What is caused by what follows the calls: what a device sends while it is given a request is for that request, and so is
what it sends when something it has sent for it is complete. Where a device puts work aside, whoever watches it keeps
the frame with the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from ...model.core.request import DAEMON_ISSUER, FLUSHER_ISSUER, READ, RESYNC_ISSUER, RESYNC_THREADS, Call, Request
from ...model.raid.metadata.superblock import MetadataWrite
from ...model.waits.causes import CAUSES, CPU
from ...model.waits.trail import Mark, spans, waited
from .events import LogicalIO, Op, Wait


class Frame(NamedTuple):
    """For what something is done.

    Attributes
    ----------
    causes
        Recorded logical I/Os.
    kind
        As :attr:`Command.kind`.
    array
        The array, controller or encrypting device that does it, if one does.
    op
        What was asked of it.
    """

    causes: tuple[int, ...]
    kind: str
    array: Any = None
    op: int = READ


class RecordedError(Exception):
    """All that was to be recorded has been; nobody wants the rest of the run."""


class Causes:
    """Follows requests from the workload's I/Os on.

    Parameters
    ----------
    ios
        Logical I/Os that are recorded.
    stops
        Whether the run ends with `RecordedError` when all of them are complete.

    Attributes
    ----------
    on
        Whether anything is noted.
    finished
        Whether all of them are complete, so that nothing more is noted.
    current
        For what is done what is done now; None between events, and for what the workload itself does.
    assigned
        The same for requests that were put aside before they are submitted.
    parts_of_pass
        CPU time of a thread that has been worked out and will be charged at the end of its pass: what, seconds, causes.
    """

    def __init__(self, ios: int, stops: bool) -> None:
        self._most = ios
        self._stops = stops
        self._engine: Any = None
        self._targets: set[int] = set()
        self.on = False
        self.forget()

    def forget(self) -> None:
        """Begin anew, with the next request."""
        self.finished = False
        self.current: Frame | None = None
        self.assigned: dict[Request, Frame | None] = {}
        self._frames: dict[Request, Frame] = {}
        self._logical: dict[Request, int] = {}
        self._open: dict[int, LogicalIO] = {}
        self._closed: dict[int, LogicalIO] = {}
        self.parts_of_pass: list[tuple[str, float, tuple[int, ...]]] = []

    @property
    def ios(self) -> list[LogicalIO]:
        """The logical I/Os in order of arrival."""
        known = self._closed | self._open
        return [known[number] for number in sorted(known)]

    def frame_of(self, request: Request) -> Frame | None:
        """For what a request is that is under way, if that is known."""
        return self._frames.get(request)

    def submitting(self, submit: Any, array: bool = False) -> Any:
        """A device's `submit`, which tells for what the device does what it does meanwhile; an `array` is named."""

        def noted(device: Any, request: Request) -> None:
            if self.on:
                before = self.current
                self.meet(device, request)
                frame = self._frames[request]
                self.current = frame._replace(array=device, op=request.op) if array else frame
                submit(device, request)
                self.current = before
            else:
                submit(device, request)

        return noted

    def meet(self, device: Any, request: Request, ended: Callable[[Request, Frame], None] | None = None) -> None:
        """Know for what `request` is, and go back to whoever sent it when it is complete."""
        if request in self._frames:
            return
        issuer = self.assigned.pop(request, self.current)
        frame = self._frames[request] = self._frame(device, request, issuer)
        if issuer is None and frame.kind == "resync":
            issuer = frame
        completion = request.completion

        def noted(completed: Request) -> None:
            frame = self._frames.get(request)
            if self.on and frame is not None:
                if ended is not None:
                    ended(request, frame)
                self._io_ended(request)
            self._frames.pop(request, None)
            before, self.current = self.current, issuer
            completion.done(completed)
            self.current = before

        request.completion = Call(noted)

    def _frame(self, device: Any, request: Request, issuer: Frame | None) -> Frame:
        parts = getattr(request, "parts", None)
        if parts is not None:
            frames = [self.known(part) for part in parts]
            kind = next((frame.kind for frame in frames if frame is not None), _unknown(request))
            return Frame(union(frame.causes for frame in frames if frame is not None), kind)
        if isinstance(request, MetadataWrite):
            return Frame(issuer.causes if issuer is not None else (), "metadata")
        if isinstance(request.parent, Request) and request.parent in self._frames:
            frame = self._frames[request.parent]
            # An array that hands a whole I/O on says what it is for; one that does so later says only for whom.
            return issuer if issuer is not None and issuer.causes == frame.causes else frame
        if issuer is not None:
            return issuer
        kind = kind_of(request)
        if id(device) in self._targets and kind != "resync":
            return Frame(self._io_began(device, request, kind), kind)
        return Frame((), _unknown(request))

    def known(self, part: Request) -> Frame | None:
        """The frame of a block I/O, or of the one it was cut from."""
        if part not in self._frames:
            part = getattr(part.completion, "_whole", part)
        return self._frames.get(part)

    def _io_began(self, device: Any, request: Request, kind: str) -> tuple[int, ...]:
        number = len(self._open) + len(self._closed)
        if number >= self._most:
            return ()
        op, now = op_of(request.op), self._engine.now
        if request.trail is None:
            request.trail = Mark(None, 0, now)
        self._open[number] = LogicalIO(
            number, device.name, kind, op, request.offset, request.size, request.issuer, now, None
        )
        self._logical[request] = number
        return (number,)

    def _io_ended(self, request: Request) -> None:
        number = self._logical.pop(request, None)
        if number is None:
            return
        io, now = self._open.pop(number), self._engine.now
        assert request.trail is not None
        waits = tuple(
            Wait(CAUSES[cause], max(began, io.began_s), ended)
            for cause, began, ended in spans(waited(request.trail, CPU, now))
            if ended > io.began_s
        )
        self._closed[number] = replace(io, ended_s=now, waits=waits)
        if len(self._closed) == self._most:
            self.finished = True
            self.on = False
            if self._stops:
                raise RecordedError

    def doing_for(self, call: Any, frame_of: Callable[..., Frame], what: str = "") -> Any:
        """`call`, done for what `frame_of` its arguments says; with `what` it returns the CPU time that takes."""

        def noted(*arguments: Any) -> Any:
            if not self.on:
                return call(*arguments)
            before = self.current
            self.current = frame = frame_of(*arguments)
            found = call(*arguments)
            self.current = before
            if what and found:
                self.parts_of_pass.append((what, found, frame.causes))
            return found

        return noted

    def doing(self, call: Any) -> Any:
        """`call` of a device with a request: what it does is for that request."""

        def noted(device: Any, request: Request, *rest: Any) -> None:
            before = self.current
            frame = self._frames.get(request)
            if frame is not None:
                self.current = frame._replace(array=device, op=request.op)
            call(device, request, *rest)
            self.current = before

        return noted


def kind_of(request: Request) -> str:
    """What a request is for, by whose it is."""
    if request.issuer == RESYNC_ISSUER or request.issuer <= RESYNC_THREADS:
        return "resync"
    return {FLUSHER_ISSUER: "write-back", DAEMON_ISSUER: "metadata"}.get(request.issuer, "load")


def _unknown(request: Request) -> str:
    """The same, if nothing is known of who has sent it."""
    kind = kind_of(request)
    return "other" if kind == "load" else kind


def op_of(op: int) -> Op:
    """``READ`` or ``WRITE`` in words."""
    return "write" if op else "read"


def union(groups: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """All causes of several groups, in order."""
    return tuple(sorted({cause for group in groups for cause in group}))
