"""What PostMark 1.5 prints: its configuration, and a run's report, long or on one line (postmark-1_5.c).

Rates are whole numbers a second, no time is shorter than a second, "deleted" shows what was created, and a megabyte is
2^20 bytes. The one-line report takes the rate of the last deletions over the time of the first creations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .postmark import PostMark, PostMarkSettings

_KIB = 1024
_MIB = 1024 * 1024


class Clock(NamedTuple):
    """What the clock showed (whole s) when the pool was begun, the transactions, the deletions, and at the end."""

    create: int = 0
    transactions: int = 0
    delete: int = 0
    end: int = 0


def report(run: PostMark, clock: Clock) -> str:
    """The report of a run that is through; "" if it ran out of files."""
    if run.out_of_files:
        return ""
    return _terse(run, clock) if run.settings.terse else _verbose(run, clock)


def progress(run: PostMark) -> str:
    """What a run prints on its way."""
    directories = run.settings.subdirectories > 1
    dots = "." * run.progress_dots
    if run.out_of_files:
        dots += (
            "out of files!\nFor this workload, either increase the number of files or\n"
            "decrease the number of transactions.\n"
        )
    else:
        dots += "Done\n"
    return "".join(
        (
            "Creating subdirectories...Done\n" if directories else "",
            f"Creating files...Done\nPerforming transactions{dots}Deleting files...Done\n",
            "Deleting subdirectories...Done\n" if directories else "",
        )
    )


def show(settings: PostMarkSettings, current_directory: str = "") -> str:
    """The configuration as the command ``show`` prints it."""
    low, high, places = settings.low, settings.high, settings.locations
    sizes = f"Files range between {_scaled(low)} and {_scaled(high)} in size"
    if low == high:
        sizes = f"Files are {_scaled(low)} in size"
    lines = [
        "Current configuration is:",
        f"The base number of files is {settings.number}",
        f"Transactions: {settings.transactions}",
        sizes,
        f"Working director{'ies' if len(places) > 1 else 'y'}: {'' if places else current_directory}",
        *(f"\t{place.path} (weight={place.weight})" for place in places),
    ]
    if settings.subdirectories:
        plural = "y" if settings.subdirectories == 1 else "ies"
        lines.append(f"{settings.subdirectories} subdirector{plural} will be used")
    lines += [
        f"Block sizes are: read={_scaled(settings.read_block)}, write={_scaled(settings.write_block)}",
        f"Biases are: read/append={settings.bias_read}, create/delete={settings.bias_create}",
        f"{'U' if settings.buffering else 'Not u'}sing Unix buffered file I/O",
        f"Random number generator seed is {settings.seed}",
        f"Report format is {'terse' if settings.terse else 'verbose'}.",
    ]
    return "\n".join(lines) + "\n"


def _elapsed(end: int, start: int) -> int:
    return end - start or 1


def _verbose(run: PostMark, clock: Clock) -> str:
    total, mixed_s = _elapsed(clock.end, clock.create), _elapsed(clock.delete, clock.transactions)
    create_s, delete_s = _elapsed(clock.transactions, clock.create), _elapsed(clock.end, clock.delete)
    pool, created, alone = run.settings.number, run.created, run.deleted_alone

    def files(text: str, count: int, seconds: int) -> str:
        return f"{text} ({count // seconds} per second)\n"

    def data(verb: str, size: np.float32) -> str:
        return f"\t{scaled_bytes(size)} {verb} ({scaled_bytes(size / np.float32(total))} per second)\n"

    return "".join(
        (
            f"Time:\n\t{total} seconds total\n",
            files(f"\t{mixed_s} seconds of transactions", run.settings.transactions, mixed_s),
            "\nFiles:\n",
            files(f"\t{created} created", created, total),
            files(f"\t\tCreation alone: {pool} files", pool, create_s),
            files(f"\t\tMixed with transactions: {created - pool} files", created - pool, mixed_s),
            files(f"\t{run.read} read", run.read, mixed_s),
            files(f"\t{run.appended} appended", run.appended, mixed_s),
            files(f"\t{created} deleted", created, total),
            files(f"\t\tDeletion alone: {alone} files", alone, delete_s),
            files(f"\t\tMixed with transactions: {run.deleted - alone} files", run.deleted - alone, mixed_s),
            "\nData:\n",
            data("read", run.bytes_read),
            data("written", run.bytes_written),
        )
    )


def _terse(run: PostMark, clock: Clock) -> str:
    total, mixed_s = _elapsed(clock.end, clock.create), _elapsed(clock.delete, clock.transactions)
    create_s = _elapsed(clock.transactions, clock.create)
    pool, created = run.settings.number, run.created
    rates = (
        (run.settings.transactions, mixed_s),
        (created, total),
        (pool, create_s),
        (created - pool, mixed_s),
        (run.read, mixed_s),
        (run.appended, mixed_s),
        (created, total),
        (run.deleted_alone, create_s),
        (run.deleted - run.deleted_alone, mixed_s),
        (run.bytes_read, total),
        (run.bytes_written, total),
    )
    columns = (f"{np.float32(count) / np.float32(seconds):.2f}" for count, seconds in rates)
    return f"{total} {mixed_s} {' '.join(columns)}\n"


def scaled_bytes(size: np.float32) -> str:
    """A sum of bytes as the report prints it."""
    if size / np.float32(_MIB) > 1:
        return f"{size / np.float32(_MIB):.2f} megabytes"
    if size:
        return f"{size / np.float32(_KIB):.2f} kilobytes"
    return f"{size:f} bytes"


def _scaled(size: int) -> str:
    if size >= _MIB:
        return f"{np.float32(size) / np.float32(_MIB):.2f} megabytes"
    if size >= _KIB:
        return f"{np.float32(size) / np.float32(_KIB):.2f} kilobytes"
    return f"{size} bytes"
