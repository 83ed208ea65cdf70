"""How and when a fio job does its I/Os: engine, depth, rates, pauses, and which job waits for which (init.c)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ...core.errors import InputError
from . import values as fio_values
from .options import engine_kind
from .random import DEFAULT_RANDSEED, Seed, Tausworthe, job_seeds
from .reader import OptionReader

MOST_DEPTH = 65_536
DEFAULT_RATE_CYCLE_S = 1.0
PERCENTILES = (1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99)
Fill = Literal["none", "scramble", "zero", "compress", "random", "dedupe"]
"""What fio does with the data of each write."""
_REFILLING: Final[dict[str, Fill]] = {"dedupe_percentage": "dedupe", "buffer_compress_percentage": "compress"}
_SYNC = {"none": "none", "0": "none", "sync": "sync", "1": "sync", "dsync": "dsync"}
_ADVICE = {"0": "none", "1": "pattern", "random": "random", "sequential": "sequential"}


@dataclass(frozen=True, slots=True)
class Depths:
    """How many I/Os an asynchronous engine has under way.

    Attributes
    ----------
    most
        ``iodepth``.
    batch
        ``iodepth_batch``: submitted together.
    least_reaped, most_reaped
        ``iodepth_batch_complete_min`` and ``iodepth_batch_complete_max``.
    low
        ``iodepth_low``: once the queue is full it drains to this.
    """

    most: int = 1
    batch: int = 1
    least_reaped: int = 1
    most_reaped: int = 1
    low: int = 1


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits of the rate.

    Attributes
    ----------
    bytes_per_second
        ``rate``, or ``rate_iops`` times the smallest I/O, of reads, writes and trims; 0: none.
    least_bytes_per_second, least_iops
        ``rate_min`` and ``rate_iops_min``: a slower job ends.
    cycle_s
        ``rate_cycle``: how often that is looked at.
    poisson
        ``rate_process=poisson``.
    ignores_thinking
        ``rate_ignore_thinktime``.
    seeds
        Of the random numbers of a Poisson process.
    smallest
        ``bs``, the smallest of each direction (bytes).
    """

    bytes_per_second: tuple[int, int, int] = (0, 0, 0)
    least_bytes_per_second: tuple[int, int, int] = (0, 0, 0)
    least_iops: tuple[int, int, int] = (0, 0, 0)
    cycle_s: float = DEFAULT_RATE_CYCLE_S
    poisson: bool = False
    ignores_thinking: bool = False
    seeds: tuple[int, int, int] = (0, 0, 0)
    smallest: tuple[int, int, int] = (4096, 4096, 4096)

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return any(self.bytes_per_second)

    @property
    def watched(self) -> bool:
        """Whether the job may end because it is slow."""
        return any(self.least_bytes_per_second) or any(self.least_iops)


@dataclass(frozen=True, slots=True)
class Thinking:
    """Pauses.

    Attributes
    ----------
    pause_s, spin_s
        ``thinktime``, and how much of it is spent with the CPU (``thinktime_spin``).
    blocks, by_issue
        I/Os between them (``thinktime_blocks``), submitted or complete (``thinktime_blocks_type``).
    every_s
        ``thinktime_iotime``; 0: there is none.
    """

    pause_s: float = 0.0
    spin_s: float = 0.0
    blocks: int | None = 1
    by_issue: bool = False
    every_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FioTiming:
    """How and when a job does its I/Os.

    Attributes
    ----------
    engine, kind
        ``ioengine``, and whether it is "sync", "async" or "null".
    depths, rates, thinking
        See there.
    direct
        ``direct``, or not ``buffered``.
    fixed_buffers
        ``fixedbufs``: the buffers are registered with io_uring and stay pinned.
    fill
        What is done with the data of each write: see :data:`Fill`.
    advice
        ``fadvise_hint``: "none", "random", "sequential" or "pattern", which is what the job does.
    invalidate, pre_read
        What is done with the cache before the job.
    sync_writes
        ``sync``: every write is on the medium when it is complete: "none", "sync" with the times of its file, or
        "dsync".
    end_fsync, fsync_on_close
        At the end.
    runtime_s, ramp_s
        ``runtime`` (0: none) and ``ramp_time``.
    delay_s
        ``startdelay``, from the start of fio.
    wait_for, stonewall, new_group
        Which jobs it waits for.
    exits
        ``exitall``: when it ends, so do those of "group", those of "stonewall", or "all"; empty: none.
    """

    engine: str = "psync"
    kind: str = "sync"
    depths: Depths = Depths()
    rates: Rates = Rates()
    thinking: Thinking = Thinking()
    direct: bool = False
    fixed_buffers: bool = False
    fill: Fill = "scramble"
    advice: str = "pattern"
    invalidate: bool = True
    pre_read: bool = False
    sync_writes: str = "none"
    end_fsync: bool = False
    fsync_on_close: bool = False
    runtime_s: float = 0.0
    ramp_s: float = 0.0
    delay_s: float = 0.0
    wait_for: str = ""
    stonewall: bool = False
    new_group: bool = False
    exits: str = ""


def timing_of(reader: OptionReader, thread_number: int, smallest: tuple[int, int, int]) -> FioTiming:
    """Of one clone of a job, whose smallest I/Os are known."""
    engine = reader.section.options.get("ioengine")
    name, kind = engine_kind(engine)
    direct = reader.flag("direct", not reader.flag("buffered", True))
    delay_s = _delay(reader, thread_number)
    if reader.flag("time_based", False) and not reader.seconds("runtime"):
        raise InputError(reader.option("time_based").place, "found it without a runtime", "expected: runtime=TIME")
    return FioTiming(
        engine=name,
        kind=kind,
        depths=_depths(reader) if kind == "async" else Depths(),
        rates=_rates(reader, thread_number, smallest),
        thinking=_thinking(reader),
        direct=direct,
        fixed_buffers=reader.flag("fixedbufs", False),
        fill=_fill(reader),
        advice=_ADVICE[reader.one_of("fadvise_hint", "1", tuple(_ADVICE))],
        invalidate=reader.flag("invalidate", True),
        pre_read=reader.flag("pre_read", False),
        sync_writes=_SYNC[reader.one_of("sync", "none", tuple(_SYNC))],
        end_fsync=reader.flag("end_fsync", False),
        fsync_on_close=reader.flag("fsync_on_close", False),
        runtime_s=reader.seconds("runtime"),
        ramp_s=reader.seconds("ramp_time"),
        delay_s=delay_s,
        wait_for=reader.text("wait_for"),
        stonewall=reader.flag("stonewall", False),
        new_group=reader.flag("new_group", False),
        exits=reader.one_of("exit_what", "group", ("group", "stonewall", "all"))
        if reader.flag("exitall", False)
        else "",
    )


def _fill(reader: OptionReader) -> Fill:
    """What is done with the data of each write.

    Data that compress or repeat are made anew for each write (options.c: their options set ``refill_buffers``). Only
    random data are scrambled (``zero_buffers`` and ``buffer_pattern`` clear ``scramble_buffers``).
    """
    for option, fill in _REFILLING.items():
        if reader.has(option) and reader.number(option, 0, 100):
            return fill
    zero = reader.flag("zero_buffers", False)
    if reader.flag("refill_buffers", False):
        return "zero" if zero else "random"
    scrambles = reader.flag("scramble_buffers", True) and not zero and not reader.has("buffer_pattern")
    return "scramble" if scrambles else "none"


def _delay(reader: OptionReader, thread_number: int) -> float:
    """``startdelay``; of a range fio draws one (init.c, rand_between)."""
    option = reader.option("startdelay")
    low, _, high = option.value.partition("-")
    least = fio_values.seconds(low, option.place) if low else 0.0
    if not high:
        return least
    most = fio_values.seconds(high, option.place)
    if most < least:
        raise reader.refusal("startdelay", "a range from a smaller to a larger time")
    seeds = job_seeds(reader.number("randseed", DEFAULT_RANDSEED), thread_number)
    return least + (most - least) * (Tausworthe(seeds[Seed.START_DELAY]).draw() / Tausworthe.span)


def _depths(reader: OptionReader) -> Depths:
    most = reader.number("iodepth", 1, MOST_DEPTH, least=1)
    batch = reader.number("iodepth_batch", 1, MOST_DEPTH)
    low = reader.number("iodepth_low", 0, MOST_DEPTH)
    least = min(most, reader.number("iodepth_batch_complete_min", 1, MOST_DEPTH))
    return Depths(
        most=most,
        batch=batch if 0 < batch <= most else most,
        least_reaped=least,
        most_reaped=max(least, 1, reader.number("iodepth_batch_complete_max", 0, MOST_DEPTH)),
        low=low if 0 < low <= most else most,
    )


def _rates(reader: OptionReader, thread_number: int, smallest: tuple[int, int, int]) -> Rates:
    rate, iops = reader.rates("rate"), reader.rates("rate_iops")
    if any(rate) and any(iops):
        raise InputError(reader.option("rate_iops").place, "found it beside rate", "expected: one of the two")
    limits = [each or count * size for each, count, size in zip(rate, iops, smallest, strict=True)]
    least = reader.rates("rate_min")
    for limit, below in zip(limits, least, strict=True):
        if limit and below > limit:
            raise reader.refusal("rate_min", "no more than the rate")
    poisson = reader.one_of("rate_process", "linear", ("linear", "poisson")) == "poisson"
    seeds = job_seeds(
        reader.number("randseed", DEFAULT_RANDSEED),
        thread_number,
        reader.flag("randrepeat", True),
        reader.flag("allrandrepeat", False),
    )
    return Rates(
        bytes_per_second=(limits[0], limits[1], limits[2]),
        least_bytes_per_second=least,
        least_iops=reader.rates("rate_iops_min"),
        cycle_s=reader.number("rate_cycle", 1000, least=1) / 1000.0,
        poisson=poisson,
        ignores_thinking=reader.flag("rate_ignore_thinktime", False),
        seeds=(seeds[Seed.POISSON_READ], seeds[Seed.POISSON_WRITE], seeds[Seed.POISSON_TRIM]),
        smallest=smallest,
    )


def _thinking(reader: OptionReader) -> Thinking:
    pause = reader.seconds("thinktime", "us")
    every = reader.seconds("thinktime_iotime")
    spin = reader.seconds("thinktime_spin", "us")
    kind = reader.one_of("thinktime_blocks_type", "complete", ("complete", "issue"))
    return Thinking(
        pause_s=pause,
        spin_s=min(spin, pause),
        blocks=None if every and not reader.has("thinktime_blocks") else max(1, reader.number("thinktime_blocks", 1)),
        by_issue=kind == "issue",
        every_s=every,
    )
