"""The logs of ``write_bw_log``, ``write_iops_log`` and ``write_lat_log`` (stat.c and iolog.c of fio 3.33).

A line is ``time in ms, value, direction, bytes of the I/O, [offset,] priority``. Without ``log_avg_msec`` there is a
line for every I/O. With it, latencies are the mean (with ``log_max_value`` the largest) of all that completed since
the last line, and rates are those of the interval; bytes and offset are then 0. Latencies are in ns, bandwidth is in
KiB/s - but that of single I/Os, bytes over completion latency, in thousands of bytes a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....model.files.atomic_file import write_whole
from ....model.fio.statistics import FioCompletions
from ....model.programs.fio import values as fio_values
from ....model.programs.operation import Kind
from ..result import FioRun, ThreadRecord
from .numbers import whole_ms

_DIRECTIONS = 3
_ACTIONS = {
    Kind.OPEN: "open",
    Kind.CLOSE: "close",
    Kind.READ: "read",
    Kind.WRITE: "write",
    Kind.TRIM: "trim",
    Kind.FSYNC: "sync",
    Kind.FDATASYNC: "datasync",
}
_RATE_INTERVAL_MS = "500"
"""``bwavgtime`` and ``iopsavgtime``, unless they are given; a shorter ``log_avg_msec`` replaces them."""


class LogLine(NamedTuple):
    """A line of a log.

    Attributes
    ----------
    milliseconds
        When, from where measuring began.
    value
        Nanoseconds, KiB/s or IOPS.
    direction
        0 read, 1 write, 2 trim.
    size, offset
        Of the I/O; 0 in averages.
    """

    milliseconds: int
    value: int
    direction: int
    size: int = 0
    offset: int = 0

    def text(self, offset: bool) -> str:
        """As fio writes it, with the offset if it is asked for (``log_offset``)."""
        place = f"{self.offset}, " if offset else ""
        return f"{self.milliseconds}, {self.value}, {self.direction}, {self.size}, {place}0"


def write_logs(run: FioRun, directory: Path) -> list[Path]:
    """Write the logs that the jobs ask for into a directory, which is made if it is not there.

    Parameters
    ----------
    run
        The run.
    directory
        Where. Of the names in the job file only the last part is taken.

    Returns
    -------
    list of Path
        What was written, in order.
    """
    directory.mkdir(parents=True, exist_ok=True)
    texts: dict[Path, list[str]] = {}
    for thread in run.threads:
        for name, lines in thread_logs(thread).items():
            texts.setdefault(directory / name, []).extend(lines)
    for path, lines in texts.items():
        write_whole(path, "".join(f"{line}\n" for line in lines))
    return list(texts)


def thread_logs(thread: ThreadRecord) -> dict[str, list[str]]:
    """The logs of one job, line by line, by the names of their files; jobs may share a file."""
    options = thread.options
    own = fio_values.flag(options.get("per_job_logs", ""), "per_job_logs")
    ending = f".{thread.thread_number}.log" if own else ".log"
    offset = fio_values.flag(options.get("log_offset", "0"), "log_offset")
    found = {}
    for option, kinds in (
        ("write_bw_log", ("bw",)),
        ("write_iops_log", ("iops",)),
        ("write_lat_log", ("slat", "clat", "lat")),
    ):
        if option not in options:
            continue
        # A flag without a value is the name of the job.
        prefix = Path(options[option]).name if options[option] not in ("", "1") else thread.jobname
        for kind in kinds:
            lines = rate_log(thread, kind) if kind in ("bw", "iops") else latency_log(thread, kind)
            found[f"{prefix}_{kind}{ending}"] = [line.text(offset) for line in lines]
    if "write_iolog" in options:
        found[Path(options["write_iolog"]).name] = list(iolog(thread))
    return found


def latency_log(thread: ThreadRecord, kind: str) -> list[LogLine]:
    """Of "slat" (none for an engine that does not queue), "clat" or "lat"."""
    if kind == "slat" and not thread.queued:
        return []
    done = _Done(thread, by_issue=kind == "slat")
    begin = done.issued_s if kind == "clat" else done.began_s
    end = done.issued_s if kind == "slat" else done.ended_s
    values = np.rint((end - begin) * 1e9).astype(np.int64)
    interval = _interval(thread)
    if not interval:
        return done.lines(values)
    largest = fio_values.flag(thread.options.get("log_max_value", "0"), "log_max_value")
    lines, last = [], [0] * _DIRECTIONS
    windows: list[list[int]] = [[] for _ in range(_DIRECTIONS)]

    def close(direction: int, milliseconds: int) -> None:
        samples = windows[direction]
        value = max(samples) if largest else int(sum(samples) / len(samples) + 0.5)
        lines.append(LogLine(milliseconds, value, direction))
        windows[direction] = []

    for milliseconds, value, direction in zip(
        done.milliseconds.tolist(), values.tolist(), done.direction.tolist(), strict=True
    ):
        windows[direction].append(value)
        if milliseconds - last[direction] >= interval:
            close(direction, milliseconds)
            last[direction] = milliseconds - milliseconds % interval
    for direction in range(_DIRECTIONS):
        if windows[direction]:
            close(direction, whole_ms(thread.run_s))
    return lines


def rate_log(thread: ThreadRecord, kind: str) -> list[LogLine]:
    """Of "bw" or "iops"."""
    done = _Done(thread)
    interval = _interval(thread)
    if not interval:
        latency = np.rint((done.ended_s - done.issued_s) * 1e9).astype(np.int64)
        return done.lines(done.size * 1_000_000 // np.maximum(latency, 1) if kind == "bw" else np.ones_like(latency))
    option = f"{kind}avgtime"
    interval = min(interval, fio_values.number(thread.options.get(option, _RATE_INTERVAL_MS), option))
    # fio's clock of rates stops before the job's last moment: the interval that ends there has no line.
    intervals = max(0, -(-whole_ms(thread.run_s) // interval) - 1)
    number = done.milliseconds // interval
    weights = done.size if kind == "bw" else None
    sums = np.bincount(number * _DIRECTIONS + done.direction, weights, _DIRECTIONS * intervals).astype(np.int64)
    per = 1024 * interval if kind == "bw" else interval
    return [
        LogLine((place // _DIRECTIONS + 1) * interval, total * 1000 // per, place % _DIRECTIONS)
        for place, total in enumerate(sums[: _DIRECTIONS * intervals].tolist())
        if total
    ]


def iolog(thread: ThreadRecord) -> Iterator[str]:
    """What a job began, as ``write_iolog`` writes it (version 3), to be read by ``read_iolog``."""
    yield "fio version 3 iolog"
    for name in dict.fromkeys(operation.file for operation, _ in thread.operations):
        yield f"0 {name} add"
    for operation, seconds in thread.operations:
        line = f"{round(seconds * 1e6)} {operation.file} {_ACTIONS[operation.kind]}"
        opens = operation.kind in (Kind.OPEN, Kind.CLOSE)
        yield line if opens else f"{line} {operation.offset} {operation.size}"


class _Done:
    """The I/Os of a job in the order of their completion, or of their submission; times from where its logs begin."""

    def __init__(self, thread: ThreadRecord, by_issue: bool = False) -> None:
        found = thread.completions or FioCompletions()
        times = [np.array(column) - thread.epoch_s for column in (found.began_s, found.issued_s, found.ended_s)]
        order = np.argsort(times[1 if by_issue else 2], kind="stable")
        self.began_s, self.issued_s, self.ended_s = (each[order] for each in times)
        self.direction = np.array(found.op, dtype=np.int64)[order]
        self.offset = np.array(found.offset, dtype=np.int64)[order]
        self.size = np.array(found.size, dtype=np.int64)[order]
        passed = np.maximum(self.issued_s if by_issue else self.ended_s, 0.0)
        self.milliseconds = np.floor(passed * 1000 + 1e-6).astype(np.int64)

    def lines(self, values: npt.NDArray[np.int64]) -> list[LogLine]:
        """One for each."""
        columns = (self.milliseconds, values, self.direction, self.size, self.offset)
        return [LogLine(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _interval(thread: ThreadRecord) -> int:
    """``log_avg_msec``; 0 is none."""
    return fio_values.number(thread.options.get("log_avg_msec", "0"), "log_avg_msec")
