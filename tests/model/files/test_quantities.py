"""Sizes, times and rates: what is read, what is refused, and how they are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.model.files.quantities import (
    format_duration,
    format_rate,
    format_size,
    parse_fraction,
    parse_frequency,
    parse_rate,
    parse_rotation,
    parse_size,
    parse_time,
)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("64KiB", 65536),
        ("64 KiB", 65536),
        ("64kib", 65536),
        ("1.5GiB", 3 * 2**29),
        ("0.5KiB", 512),
        ("1kB", 1000),
        ("80GB", 80 * 10**9),
        ("1MB", 10**6),
        ("1MiB", 2**20),
        ("2TB", 2 * 10**12),
        ("65536", 65536),
        (65536, 65536),
        ("1e9B", 10**9),
        ("0", 0),
        ("512 bytes", 512),
        ("9007199254740993B", 2**53 + 1),
    ],
)
def test_sizes_are_exact(written: object, size: int) -> None:
    """Protects the difference between MB and MiB, and every byte of sizes beyond 2^53."""
    assert parse_size(written) == size


@pytest.mark.parametrize("written", ["64K", "64k", "1M", "2G", "3t", "64KB", "1Ki"])
def test_ambiguous_sizes_name_both_readings(written: str) -> None:
    """Protects against reading "64K" as 64,000 when the writer meant 65,536."""
    with pytest.raises(InputError, match="ambiguous") as caught:
        parse_size(written, "--chunk")
    assert caught.value.place == "--chunk"
    assert "iB" in caught.value.found
    assert str(parse_size(written.rstrip("KkMGtBi") + written.lstrip("0123456789")[0].upper() + "iB")).isdigit()


@pytest.mark.parametrize(
    "written",
    ["1bit", "1b", "8Mb", "0.1KiB", "0.5", "-1B", -1, math.nan, math.inf, True, None, [1], {}, 64.0, "", " ", "KiB"]
    + ["nan", "inf", "1e9999B", "1e20GB", "9EiB", "12:30", "1_000", "1,5MB", "1 000B", "\N{FULLWIDTH DIGIT ONE}B"],
)
def test_nonsense_sizes_are_refused(written: object) -> None:
    """Protects against silently taking bits, fractions of a byte, negatives, NaN, booleans and huge exponents."""
    with pytest.raises(InputError, match="expected"):
        parse_size(written)


@given(st.integers(min_value=0, max_value=2**40), st.sampled_from(["B", "kB", "MB", "KiB", "MiB"]))
def test_whole_sizes_scale_exactly(number: int, unit: str) -> None:
    """Protects the conversion from rounding: any whole number of a unit is that many times the unit."""
    assert parse_size(f"{number}{unit}") == number * parse_size(f"1{unit}")


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_an_input_error(text: str) -> None:
    """Protects the command line from tracebacks: no text makes the parser fail in another way."""
    for parse in (parse_size, parse_time, parse_rate, parse_fraction):
        try:
            number = parse(text)
        except InputError:
            continue
        assert number >= 0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("8.9ms", 0.0089), ("208us", 208e-6), ("208\N{MICRO SIGN}s", 208e-6), ("10ns", 1e-8), ("3 min", 180.0)]
    + [("2h", 7200.0), ("1d", 86400.0), (0, 0.0), ("1e3s", 1000.0)],
)
def test_times_are_the_nearest_float(written: object, seconds: float) -> None:
    """Protects the unit factors, and that 8.9ms is 0.0089 and not its neighbor."""
    assert parse_time(written) == seconds


@pytest.mark.parametrize("written", ["8.9", 8.9, 60, "8m", "1M", "60sec", "-3ms", "inf", "1e-400s", True, "1:30"])
def test_times_without_a_clear_unit_are_refused(written: object) -> None:
    """Protects against a seek of 8.9 read as seconds and "8m" read as minutes."""
    with pytest.raises(InputError, match="ms"):
        parse_time(written, "seek")


@pytest.mark.parametrize(
    ("written", "rate"), [("60MB/s", 60e6), ("133.3MB/s", 133.3e6), ("1.5GiB/s", 1.5 * 2**30), ("512 kB/s", 512e3)]
)
def test_rates(written: str, rate: float) -> None:
    """Protects bytes per second, decimal and binary."""
    assert parse_rate(written) == rate


@pytest.mark.parametrize(
    "written", ["60", 60, "60MB", "0MB/s", "-1MB/s", "3Gbit/s", "300Mb/s", "60MBps", math.nan, "60K/s"]
)
def test_rates_that_say_nothing_are_refused(written: object) -> None:
    """Protects against link rates in bits, rates of 0 and rates without a time."""
    with pytest.raises(InputError, match="per second"):
        parse_rate(written, "link.rate")


def test_rotation_frequency_and_fraction() -> None:
    """Protects the remaining units, and that 30 is not taken for 30 %."""
    assert parse_rotation("7200rpm") == 7200
    assert parse_frequency("1.67GHz") == 1.67e9
    assert parse_fraction("1%") == 0.01
    assert parse_fraction(0.25) == parse_fraction("0.25") == 0.25
    for parse, written in ((parse_rotation, 7200), (parse_rotation, "0rpm"), (parse_frequency, "3.2")):
        with pytest.raises(InputError):
            parse(written)
    with pytest.raises(InputError, match="30%"):
        parse_fraction(30)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (512, "512 B"), (65536, "64 KiB"), (1500, "1.46 KiB"), (80 * 10**9, "74.5 GiB"), (2**20 - 1, "1 MiB")],
)
def test_sizes_are_written_with_binary_prefixes(size: int, text: str) -> None:
    """Protects tables from "1024 KiB" and from decimal prefixes on binary numbers."""
    assert format_size(size) == text
    assert format_rate(size) == text + "/s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.0089, "8.9 ms"), (208e-6, "208 us"), (9.9999e-4, "1 ms"), (59.99, "1 min"), (90, "1 min 30 s")]
    + [(7500, "2 h 5 min"), (216000, "2 d 12 h"), (-0.5, "-500 ms"), (1e-12, "0.001 ns")],
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    """Protects against "60 s" beside "1 min" and against exponents in a table."""
    assert format_duration(seconds) == text


@given(st.floats(-8.9, 1.77))
def test_a_duration_below_a_minute_is_read_as_it_was_written(decades: float) -> None:
    """Protects tables of times: what is written is what was measured, to three digits."""
    assert parse_time(format_duration(10**decades)) == pytest.approx(10**decades, rel=0.0051)


@given(st.integers(min_value=0, max_value=2**20), st.sampled_from([1, 2**10, 2**20]))
def test_a_written_whole_size_reads_back(number: int, unit: int) -> None:
    """Protects copying a printed size into a file: it is the same size or within the digits shown."""
    size = number * unit
    text = format_size(size)
    try:
        again = parse_size(text)
    except InputError:
        return  # "1.46 KiB" is a rounded display, not a size
    assert abs(again - size) <= size * 0.005
