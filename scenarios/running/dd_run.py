"""dd on devices: the parts of it that are simulated, and how long all of them take (:mod:`.dd_stages`).

A read is steady from the start. A write has up to four parts: at the start memory takes all, until the kernel's
background threshold; then the kernel writes back, and dirty memory grows as far as the program is faster; from the
limit on the program is throttled to what the devices take; and at its close dd waits until nothing is dirty.
The caches of drives and controllers take data in faster than the media. So a part is measured once they are full, or
once they have stopped filling; what they hold in the end is a head start, which is subtracted from the time. A dd that
is not longer than a measurement is simulated from its first byte to its close.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from ...model.core.exact_sums import sum_in_order
from ...model.loads.dd import Dd
from ..description.workloads import DdSpec
from ..machine.machine import BuiltMachine
from .base.bit_caches import BitCaches
from .base.buffers import Buffers, head_start
from .base.run import Run
from .base.sample import Sample

_NO_GROWTH = 0.02
"""Dirty memory that grows by less than this share of the rate does not grow; two measurements whose growth differs by
less are the same regime."""
_LOOK_S = 0.002
"""How often a write is looked at where the I/O scheduler has no cycle."""
_SAME_LEVEL_BYTES = 1 << 19
"""Dirty memory that swings is back where it was within this."""
_SWING_PASSES = 4
"""By this many passes of write-back it rises and falls without growing."""
_LONGEST = 4
"""A write that does not settle is measured over this many times its bytes."""
_LONGEST_OPEN = 32
"""The same of one whose dirty memory may be swinging: by then a swing is a few per cent of what was written."""
_BESIDE_REBUILD = 4
"""Beside a rebuild reads and writes are measured over this many times their bytes, and writes over as many times their
cycles of the I/O scheduler: the thread naps for a quarter of a second, which falls into one sample or the next."""
_WHOLE = 2
"""A write of up to this many times the bytes of a measurement is simulated whole."""
_STEADY = 0.05
"""Caches that grow by less than this share of what is written do not fill any more."""
_WINDOWS, _MOST_WINDOWS = 16, 64
"""Caches that fill are looked at each time the first part of them has been written, at most the second times."""
_MOST_MEASURED = 256 << 20
"""A measurement is as long as the caches are large, up to this many bytes."""
_ROWS_BY_CHANCE = 16
"""A write of whole blocks to RAID 4, 5 or 6 that the devices limit is measured over this many times its bytes, after as
many: which rows are complete when they are written is chance, the rate of a quarter of a second varies by 20 %."""
_CLOSE_COUNTS = 0.1
"""From this share of all data on, the rate of write-back at the close is measured by itself."""


class Write:
    """The parts of a write, each simulated if it is reached.

    Parameters
    ----------
    built
        Makes the machine, for a part in the middle (false) or the close (true).
    total
        Bytes of all programs.
    sample, watch
        How much of each part is simulated; called with every run before it begins.
    """

    def __init__(
        self, built: Callable[[bool], BuiltMachine], total: int, sample: Sample, watch: Callable[[Run], None]
    ) -> None:
        self._built = built
        self._total = total
        self._sample = sample
        self._watch = watch

    def seconds(self) -> tuple[Run, float]:
        """The run of the part that takes longest, and how long (s) all of it takes."""
        total, sample = self._total, self._sample
        start = StartRun(self._built(False), sample)
        self._watch(start)
        start.run()
        if start.is_whole:
            return start, start.span
        background = min(start.machine.memory.limits.flush_above, start.machine.memory.limits.settled, total)
        parts: list[tuple[Run, float]] = [(start, background / start.rate)]
        left, dirty, drains = total - background, float(background), True
        measured: WriteRun | None = None
        steady = 0.0
        if left:
            measured = free = self._measured(throttled=False)
            steady, drains = free.rate, free.grows
            freely = min(float(left), free.fills_after(free.growth) * free.rate) if drains else float(left)
            parts.append((free, freely / free.rate))
            dirty += max(0.0, free.growth) * freely / free.rate if drains else 0.0
            if freely < left:
                measured = throttled = self._measured(throttled=True)
                steady = rate_without_growth(free, throttled)
                parts.append((throttled, (left - freely) / steady))
            elif drains:
                steady = free.rate - free.growth
        if measured is None or dirty > _CLOSE_COUNTS * total:
            measured = self._measured(throttled=False, closing=int(dirty))
            closing = measured.rate - measured.growth
        else:
            closing = measured.rate - max(0.0, measured.growth) if drains else max(steady, measured.port_rate)
        parts.append((measured, dirty / closing))
        spent = sum_in_order(seconds for _, seconds in parts)
        drained = total if drains else int(dirty)
        spent -= head_start(drained, measured.held, measured.port_rate, steady or closing)
        return max(parts, key=lambda part: part[1])[0], spent

    def _measured(self, throttled: bool, closing: int = 0) -> WriteRun:
        run = WriteRun(self._built(closing > 0), self._sample, throttled, closing)
        self._watch(run)
        run.run()
        return run


def rate_without_growth(free: WriteRun, throttled: WriteRun) -> float:
    """Rate (bytes/s) at which dirty memory, and what caches hold, stay as they are.

    The programs' rate and the growth both mix the times when the programs run and when the disks drain, so between two
    measurements one is linear in the other.
    """
    if free.growth - throttled.growth < _NO_GROWTH * free.rate:
        return throttled.rate
    share = -throttled.growth / (free.growth - throttled.growth)
    return throttled.rate + min(1.0, max(-1.0, share)) * (free.rate - throttled.rate)


class _DdRun(Run):
    """dd processes."""

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        workload = machine.scenario.workload
        assert isinstance(workload, DdSpec)
        self.workload = workload
        self._times = _BESIDE_REBUILD if machine.resyncs else 1
        self.bit_caches = BitCaches(machine)

    def _begin(self) -> None:
        super()._begin()
        self.bit_caches.begin()


class ReadRun(_DdRun):
    """dd processes that read; the slowest one ends the run, as ``time`` has it.

    Attributes
    ----------
    rates
        Bytes per second of each process during the measurement, in the order of the targets.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        self.rates = [0.0] * len(machine.dds)

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        wanted = self.sample.read_bytes * self._times
        whole = min(int(wanted * (1 + self.sample.warm_up)), self.workload.size)
        begun = self.workload.start
        return min(dd.position - begun for dd in self.machine.dds) / whole

    def run(self) -> float:
        """Seconds per byte of one process."""
        engine = self.machine.engine
        wanted = self.sample.read_bytes * self._times
        measured = min(wanted, self.workload.size)
        warm_up = min(int(wanted * self.sample.warm_up), self.workload.size - measured)
        spans: list[float] = []

        def program(number: int, dd: Dd) -> Generator[Any, Any, None]:
            if warm_up:
                dd.size = warm_up
                yield engine.spawn(dd.read())
            if not self.began:
                self._begin()
            begun = engine.now
            dd.start, dd.size = dd.position, measured
            yield engine.spawn(dd.read())
            spans.append(engine.now - begun)
            self.rates[number] = measured / spans[-1]

        engine.run(engine.all_of([engine.spawn(program(*each)) for each in enumerate(self.machine.dds)]))
        return max(spans) / measured


class StartRun(_DdRun):
    """dd processes that write from the beginning: all of a short write with its close, or what memory takes at first.

    Attributes
    ----------
    is_whole
        Whether the write is short, so that it is simulated to its end.
    rate
        Bytes per second of all processes.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        measured = sample.write_bytes * self._times
        self.is_whole = self.workload.size <= _WHOLE * measured
        self.rate = 0.0
        if not self.is_whole:
            memory = machine.memory
            limits = memory.limits
            most = min(limits.flush_above, limits.settled) // len(machine.dds)
            for dd in machine.dds:
                # Whole blocks, so that a write in pieces reads nothing at its end that the next one would find.
                dd.size = max(1 << 20, min(int(measured * sample.warm_up), most) >> 20 << 20)

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        dds = self.machine.dds
        return sum(dd.bytes_done for dd in dds) / sum(dd.size for dd in dds)

    def run(self) -> None:
        """Measure the rate, until the close of a short write."""
        machine, engine = self.machine, self.machine.engine
        self._begin()
        engine.run(engine.all_of([engine.spawn(dd.write()) for dd in machine.dds]))
        if self.is_whole:
            engine.run(engine.all_of([engine.spawn(dd.close()) for dd in machine.dds]))
        self.rate = sum(dd.size for dd in machine.dds) / engine.now


class WriteRun(_DdRun):
    """dd processes in the middle of a long write, or at its close.

    Parameters
    ----------
    throttled
        Begin with as much dirty memory as throttles the programs; otherwise with as much as starts the write-back.
    closing
        Dirty bytes with which the programs close their devices; 0: they go on writing.

    Attributes
    ----------
    rate
        Bytes per second of all processes.
    growth
        Bytes per second by which dirty memory, and what caches below hold, grow.
    port_rate
        Bytes per second that the devices take while their caches fill; 0 without caches.
    held
        Bytes of the programs' data in caches at the end.
    kernel_limits
        The kernel's thresholds as they are without cutting the swing.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample, throttled: bool, closing: int = 0) -> None:
        super().__init__(machine, sample)
        self.rate = self.growth = self.port_rate = self.held = 0.0
        self._throttled = throttled
        self._closing = closing
        self._buffers = Buffers(machine, self.workload.targets)
        memory = machine.memory
        limits = self.kernel_limits = memory.limits
        lowest = max(limits.flush_below, limits.flush_above - sample.dirty_swing_bytes)
        # A kernel that slows writers needs seconds to find the rate of the devices. Then dirty memory stays at one
        # level, so here it is held there.
        memory.limits = replace(limits, flush_below=lowest, limit=limits.settled, balance=False)
        processes = len(machine.dds)
        self._sampled = sample.write_bytes * self._times * processes
        self._measured = max(self._sampled, int(min(_MOST_MEASURED, self._buffers.capacity)))
        in_pieces = any(dd.in_pieces for dd in machine.dds)
        if (throttled or closing) and self._buffers.gathers_rows and not in_pieces:
            self._measured = max(self._measured, _ROWS_BY_CHANCE * self._sampled)
        needed = (_LONGEST_OPEN * self._sampled + (1 + _LONGEST) * self._measured) // processes
        needed += int(4 * self._buffers.capacity)
        dirty = closing or (limits.settled if throttled else min(limits.flush_above, limits.limit))
        for number, dd in enumerate(machine.dds):
            dd.cache.balance = None
            self._place(number, dd, dirty // processes, needed)

    def _place(self, number: int, dd: Dd, dirty: int, needed: int) -> None:
        """Put a process behind the bytes that are dirty when it begins, with room to write what is needed."""
        capacity = self.machine.kernel.cache.reach(dd.cache.device.capacity)
        together = self.workload.targets.count(self.workload.targets[number])
        first, last = 0, capacity
        if together > 1:
            first, last = dd.start, dd.start + (capacity - self.workload.start) // together
        share = min(dirty, (last - first) // 2) >> 20 << 20
        begin = max(first, min(dd.start, last - share - needed))
        begin -= begin % self.machine.kernel.cache.block_on(capacity) if begin != dd.start else 0
        dd.cache.mark_dirty(begin, begin + share)
        dd.position = dd.start = begin + share
        dd.size = min(needed, last - dd.start)

    @property
    def share(self) -> float:
        """See :attr:`Run.share`; a run that does not settle takes longer than this expects."""
        return min(1.0, self._done() / (self._measured * (1 + self.sample.warm_up)))

    @property
    def grows(self) -> bool:
        """Whether the programs make more dirty than the devices take."""
        return self.growth > _NO_GROWTH * self.rate

    def fills_after(self, growth: float) -> float:
        """When dirty memory that grows so fast (bytes/s, above 0) throttles the programs (s)."""
        limits = self.kernel_limits
        return max(0, limits.settled - limits.flush_above) / growth

    def _is_open(self, rise: int, moved: int, seconds: float) -> bool:
        """Whether what dirty memory has risen by (bytes) may be a swing or a growth that throttles the programs."""
        if self._throttled or self._closing or not 0 < rise <= _SWING_PASSES * self.kernel_limits.pass_bytes:
            return False
        total = self.workload.size * len(self.machine.dds)
        return self.fills_after(rise / seconds) * moved / seconds < total

    def _done(self) -> int:
        """Bytes that the programs have written, or brought to their devices by closing them."""
        if self._closing:
            return self._closing - self._dirty()
        return sum(dd.bytes_done for dd in self.machine.dds)

    def _dirty(self) -> int:
        return self.machine.memory.dirty_bytes + self.machine.memory.writeback_bytes

    def run(self) -> None:
        """Measure rate and growth over whole cycles."""
        machine, engine = self.machine, self.machine.engine
        self._closing = min(self._closing, self._dirty())
        programs = [engine.spawn(dd.close() if self._closing else dd.write()) for dd in machine.dds]
        finished = engine.event()

        def watch() -> Generator[Any, Any, None]:
            yield from self._fill()
            self._begin()
            yield from self._measure()
            finished.succeed()

        engine.spawn(watch())
        engine.run(engine.any_of([finished, engine.all_of(programs)]))
        self.held = self._buffers.held()
        if not finished.triggered:
            done = self._closing or sum(dd.bytes_done for dd in machine.dds)
            self.rate = self.port_rate = done / engine.now

    @property
    def _step_s(self) -> float:
        return self.machine.scheduler_cycle_s or _LOOK_S

    def _fill(self) -> Generator[Any, Any, None]:
        """Warm up, until caches do not fill any more.

        Meanwhile dirty memory stays where it begins. Caches of hard disks that begin to fill are then full at once.
        """
        machine, engine, buffers = self.machine, self.machine.engine, self._buffers
        memory, step = machine.memory, self._step_s
        limits = memory.limits
        if not self._throttled:
            held_there = min(limits.limit, limits.flush_above + 2 * limits.pass_bytes)
            memory.limits = replace(limits, limit=held_there)
        share = 1.0 if self._measured >= _ROWS_BY_CHANCE * self._sampled else self.sample.warm_up
        window = max(self._measured * share, buffers.capacity / _WINDOWS)
        for _ in range(_MOST_WINDOWS):
            done, held, began = self._done(), buffers.held(), engine.now
            while self._done() - done < window:
                yield engine.timeout(step)
            moved, grown = self._done() - done, buffers.held() - held
            self.port_rate = max(self.port_rate, moved / (engine.now - began))
            if grown <= _STEADY * moved:
                break
            dd = machine.dds[0]
            buffers.fill(dd.position / dd.cache.device.capacity)
        memory.limits = limits

    def _measure(self) -> Generator[Any, Any, None]:
        engine, memory, buffers = self.machine.engine, self.machine.memory, self._buffers
        swings = memory.limits.flush_below < memory.limits.flush_above and not self._closing
        step, measured = self._step_s, self._measured
        done, level, held, began = self._done(), self._dirty(), buffers.held(), engine.now
        cycles, last = 0, done
        while True:
            yield engine.timeout(step)
            cycles += 1
            now_done, now = self._done(), engine.now
            moved, rise = now_done - done, 0 if self._closing else self._dirty() - level
            settled = not swings or (abs(rise) <= _SAME_LEVEL_BYTES and now_done > last)
            last = now_done
            if moved <= rise:
                continue  # nothing has been written back yet, so this says nothing about the disks
            enough = moved >= measured and cycles >= self.sample.cycles * self._times
            if enough and moved < _LONGEST_OPEN * self._sampled and self._is_open(rise, moved, now - began):
                continue
            if (enough and settled) or moved >= _LONGEST * measured:
                self.rate = moved / (now - began)
                grown = 0.0 if swings and settled else float(rise)
                self.growth = (grown + buffers.held() - held) / (now - began)
                return
