"""When simulated time passes: with the wall clock, or as fast as the clients' requests come.

**With the wall clock** a request that arrives at wall time t enters the array at t, also when the simulation is behind:
then it is simulated later, and its answer is late. Lateness is counted.

**As fast as possible** simulated time stands still while a client reacts to an answer. It goes on when the array has as
many requests as before the answer, or when no request comes for `PATIENCE_S` of real time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from time import perf_counter

from .array import Io, ServedArray
from .counts import Counts

PATIENCE_S = 0.002
"""As fast as possible: real time without a request after which the clients have reacted."""
_SLICE_S = 0.001
"""Simulated time between two looks at what is complete, while the simulation is behind."""
_TURN_S = 0.002
"""Real time that the simulation takes before the connections get a turn."""
_COARSE_S = 0.0002
"""A timer of :func:`precise_loop` is late by 0.05 to 0.15 ms; shorter waits poll."""
_IDLE_S = 0.02
"""Real time between two steps of an array that has no request (a rebuild goes on)."""
_EVENTS = 200
_MANY = 1 << 30


def precise_loop() -> asyncio.AbstractEventLoop:
    """An event loop whose timers are precise to a microsecond; those of the usual one (epoll) are whole milliseconds.

    A server that polls for a millisecond before each answer takes that CPU time from the client on the same cores.
    """
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


class Pace:
    """Lets simulated time pass, and answers requests when their time comes.

    Parameters
    ----------
    array
        The array.
    speed
        Simulated seconds per second of the wall clock; None for as fast as possible.
    """

    def __init__(self, array: ServedArray, speed: float | None) -> None:
        self.array = array
        self.speed = speed
        self.counts = Counts(speed)
        self.outstanding = 0
        self._began = perf_counter()
        self._woken: asyncio.Future[bool] | None = None
        self._expected = _MANY
        self._answering = False
        self._answered: list[Io] = []
        self._senders: list[Callable[[], None]] = []

    def now(self) -> float:
        """The simulated time (s) that the wall clock asks for."""
        engine_now = self.array.engine.now
        return engine_now if self.speed is None else max(engine_now, (perf_counter() - self._began) * self.speed)

    def changed(self) -> None:
        """Somebody has changed the array: requests may be complete."""
        self._wake(True)

    def arrive(self, io: Io) -> None:
        """A request has arrived now."""
        self.outstanding += 1
        self.array.submit(io, self.now())
        self._wake(True)

    def answered(self, io: Io) -> None:
        """The answer of a request is sent now: count its latency, and the lateness of the answer."""
        self._answered.append(io)
        if not self._answering:
            self._count()

    def send_later(self, send: Callable[[], None]) -> None:
        """Call `send` after the answers of the requests that are complete now."""
        if self._answering:
            self._senders.append(send)
        else:
            send()

    def _count(self) -> None:
        now, speed = perf_counter() - self._began, self.speed
        for io in self._answered:
            self.counts.add(io, 0.0 if speed is None else max(0.0, now - io.completed_s / speed))
        self._answered.clear()

    async def run(self) -> None:
        """Let time pass until this is canceled."""
        self._began = perf_counter()
        if self.speed is None:
            await self._as_fast_as_possible()
        else:
            await self._with_the_wall_clock(self.speed)

    async def _with_the_wall_clock(self, speed: float) -> None:
        engine = self.array.engine
        while True:
            wanted, turn = self.now(), perf_counter() + _TURN_S
            while engine.now < wanted and perf_counter() < turn:
                engine.run_to(min(wanted, max(engine.peek(), engine.now + _SLICE_S)))
                self.answer()
            if engine.now < wanted:
                await asyncio.sleep(0)
                continue
            wait_s = _IDLE_S
            if self.outstanding:
                self.array.must_go_on()
                wait_s = min(wait_s, (engine.peek() - self.now()) / speed - _COARSE_S)
            if wait_s > 0:
                await self._request_within(wait_s)
            else:
                await asyncio.sleep(0)

    async def _as_fast_as_possible(self) -> None:
        while True:
            if not self.outstanding:
                if not await self._request_within(PATIENCE_S):
                    self._expected = _MANY
                    await self._request_within(None)
                continue
            if self.outstanding < self._expected:
                if await self._request_within(PATIENCE_S):
                    continue
                self._expected = self.outstanding
            self._expected = self.outstanding
            if self.array.run_to_completion(_EVENTS):
                self.answer()
            else:
                await asyncio.sleep(0)

    def answer(self) -> None:
        """Answer what is complete: the answers of one client go out together."""
        if not self.array.ended:
            return
        self._answering = True
        try:
            for io in self.array.take_ended():
                self.outstanding -= 1
                io.done(io)
        finally:
            self._answering = False
        for send in self._senders:
            send()
        self._senders.clear()
        self._count()

    async def _request_within(self, seconds: float | None) -> bool:
        """Wait for a request, for `seconds` at most; whether one came."""
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, self._wake, False)
        try:
            return await self._woken
        finally:
            self._woken = None
            if timer is not None:
                timer.cancel()

    def _wake(self, came: bool) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(came)
