"""When simulated time passes: with the wall clock, or as fast as the clients' requests come.

**With the wall clock** a request that arrives at wall time t enters the array at t, also when the simulation is behind:
then it is simulated later, and its answer is late. Lateness is counted.

**As fast as possible** simulated time stands still while a client reacts to an answer. It goes on when the array has as
many requests as before the answer, or when no request comes for `PATIENCE_S` of real time.
"""

from __future__ import annotations

import asyncio
from time import perf_counter

from .array import Io, ServedArray
from .counts import Counts

PATIENCE_S = 0.002
"""As fast as possible: real time without a request after which the clients have reacted."""
_SLICE_S = 0.001
"""Simulated time between two looks at what is complete, while the simulation is behind."""
_TURN_S = 0.002
"""Real time that the simulation takes before the connections get a turn."""
_COARSE_S = 0.0015
"""A timer of the event loop is late by up to 1 ms; shorter waits poll."""
_IDLE_S = 0.02
"""Real time between two steps of an array that has no request (a rebuild goes on)."""
_EVENTS = 200
_MANY = 1 << 30


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
        """The answer of a request has been sent: count its latency, and the lateness of the answer."""
        late_s = 0.0
        if self.speed is not None:
            late_s = max(0.0, perf_counter() - self._began - io.completed_s / self.speed)
        self.counts.add(io, late_s)

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
                self._answer()
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
                self._answer()
            else:
                await asyncio.sleep(0)

    def _answer(self) -> None:
        if self.array.ended:
            for io in self.array.take_ended():
                self.outstanding -= 1
                io.done(io)

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
