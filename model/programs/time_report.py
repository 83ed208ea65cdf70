"""What ``time`` of the shell and dd print when a program ends."""

from __future__ import annotations

from .phase_result import PhaseResult


def time_lines(result: PhaseResult) -> str:
    """The three lines of bash's ``time``: minutes, and seconds to the millisecond."""
    times = (("real", result.seconds), ("user", result.user_s), ("sys", result.cpu_s - result.user_s))
    return "\n" + "".join(f"{name}\t{_minutes(seconds)}\n" for name, seconds in times)


def dd_lines(result: PhaseResult, block: int, rate: bool = True) -> str:
    """What dd prints: whole and partial blocks, and since coreutils 5.3 (2005) also bytes, time and rate.

    Its MB is 10^6 bytes.
    """
    whole, part = divmod(result.bytes, block)
    records = f"{whole}+{1 if part else 0} records"
    lines = f"{records} in\n{records} out\n"
    if not rate:
        return lines
    size = f"{result.bytes} bytes ({_decimal(result.bytes)}B) copied"
    return f"{lines}{size}, {result.seconds:.6g} seconds, {_decimal(result.rate)}B/s\n"


def _minutes(seconds: float) -> str:
    whole, thousandths = divmod(round(1000 * seconds), 1000)
    return f"{whole // 60}m{whole % 60}.{thousandths:03d}s"


def _decimal(value: float) -> str:
    """A number of bytes as GNU tools shorten it: one digit after the point below 10."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            scaled = value / factor
            return f"{scaled:.1f} {prefix}" if scaled < 9.95 else f"{scaled:.0f} {prefix}"
    return f"{value:.0f} "
