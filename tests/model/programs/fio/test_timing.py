"""How and when a fio job does its I/Os, read from its options."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio import values as fio_values
from raidsim.model.programs.fio.reader import OptionReader
from raidsim.model.programs.fio.sections import sections
from raidsim.model.programs.fio.timing import Depths, FioTiming, Rates, Thinking, timing_of


def timing(options: str) -> FioTiming:
    """Of the options of one job."""
    (section,) = sections("[a]\n" + "\n".join(options.split()), "a.fio")
    return timing_of(OptionReader(section), 1, (4096, 4096, 4096))


def test_a_job_without_options_waits_for_each_io() -> None:
    """fio's defaults: psync, buffered, no limits."""
    assert timing("") == FioTiming(rates=Rates(seeds=timing("").rates.seeds))


def test_depths() -> None:
    """Protects fio's fixing up: a batch of 0 is the whole depth, low is the depth, at most as many as least."""
    assert timing("ioengine=libaio iodepth=16").depths == Depths(16, 1, 1, 1, 16)
    given = "iodepth=16 iodepth_batch_submit=0 iodepth_batch_complete=4 iodepth_low=8 iodepth_batch_complete_max=6"
    assert timing("ioengine=libaio " + given).depths == Depths(16, 16, 4, 6, 8)
    assert timing("iodepth=16").depths == Depths(), "a synchronous engine has one"


def test_rates_are_per_direction() -> None:
    """An empty place is no limit; IOPS count smallest I/Os."""
    assert timing("rate=1m").rates.bytes_per_second == (1 << 20,) * 3
    assert timing("rate=,500k").rates.bytes_per_second == (0, 512000, 512000)
    assert timing("rate_iops=100,50").rates.bytes_per_second == (409600, 204800, 204800)


def test_pauses_are_in_microseconds() -> None:
    """But thinktime_iotime in seconds, which replaces the default of one block."""
    assert timing("thinktime=50 thinktime_spin=80").thinking == Thinking(50e-6, 50e-6)
    assert timing("thinktime=1ms thinktime_iotime=2").thinking == Thinking(1e-3, 0.0, None, False, 2.0)


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("5", "s", 5.0),
        ("5", "us", 5e-6),
        ("2m", "s", 120.0),
        ("1h", "s", 3600.0),
        ("20ms", "us", 0.02),
        ("3sec", "s", 3),
    ],
)
def test_times(text: str, unit: str, seconds: float) -> None:
    """Protects fio's units of time."""
    assert fio_values.seconds(text, "x", unit) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "kb_base", "size"),
    [("4k", 1000, 4000), ("4KiB", 1000, 4096), ("4kb", 1000, 4000), ("0x1000", 1024, 4096), ("1g", 1024, 1 << 30)],
)
def test_sizes_by_kb_base(text: str, kb_base: int, size: int) -> None:
    """As the real fio reads them."""
    assert fio_values.size(text, "x", 0, kb_base) == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("runtime=soon", "line 2, runtime: found 'soon'; expected: a time in s"),
        ("ioengine=libaio iodepth=0", "line 3, iodepth: found '0'; expected: 1 or more"),
        ("startdelay=5-2", "startdelay: found '5-2'"),
        ("rate=1m rate_min=2m", "rate_min: found '2m'; expected: no more than the rate"),
        ("sync=maybe", "sync: found 'maybe'; expected: none, 0, sync, 1, dsync"),
        ("direct=2", "direct: found '2'; expected: 0 or 1"),
    ],
)
def test_errors_name_the_option(options: str, message: str) -> None:
    """One clear message each."""
    with pytest.raises(InputError) as error:
        timing(options)
    assert message in str(error.value)
