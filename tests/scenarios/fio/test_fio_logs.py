"""The logs of fio: every line from I/Os that one can follow by hand, and the iolog read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from raidsim.model.core.request import READ, WRITE
from raidsim.model.fio.statistics import FioCompletions
from raidsim.model.programs.operation import Kind, Operation
from raidsim.scenarios.fio.output.logs import LogLine, latency_log, rate_log, thread_logs, write_logs
from raidsim.scenarios.fio.result import FioRun, ThreadRecord
from raidsim.scenarios.traces.reading import open_trace

BLOCK = 4096


def record(options: dict[str, str], count: int = 20, epoch_s: float = 0.0) -> ThreadRecord:
    """An I/O of 4 KiB each 100 ms, reads and writes in turn, submitted in 1 us and done in 10, 20 ... us more."""
    done = FioCompletions()
    for number in range(count):
        began = epoch_s + number * 0.1
        done.add(number % 2, number * BLOCK, BLOCK, began, began + 1e-6, began + 1e-6 + (number + 1) * 1e-5)
    return ThreadRecord("turns", 3, 0, 0, options, epoch_s, (count - 1) * 0.1 + 3e-4, True, done)


def test_without_averages_every_io_has_a_line() -> None:
    """Protects the columns: ms, ns or kB/s, direction, bytes, offset if asked for, priority."""
    thread = record({"write_lat_log": "", "write_bw_log": "1", "write_iops_log": "x/other", "log_offset": "1"}, 3)
    assert thread_logs(thread) == {
        "turns_bw.3.log": [
            "0, 409600, 0, 4096, 0, 0",
            "100, 204800, 1, 4096, 4096, 0",
            "200, 136533, 0, 4096, 8192, 0",
        ],
        "other_iops.3.log": ["0, 1, 0, 4096, 0, 0", "100, 1, 1, 4096, 4096, 0", "200, 1, 0, 4096, 8192, 0"],
        "turns_slat.3.log": ["0, 1000, 0, 4096, 0, 0", "100, 1000, 1, 4096, 4096, 0", "200, 1000, 0, 4096, 8192, 0"],
        "turns_clat.3.log": ["0, 10000, 0, 4096, 0, 0", "100, 20000, 1, 4096, 4096, 0", "200, 30000, 0, 4096, 8192, 0"],
        "turns_lat.3.log": ["0, 11000, 0, 4096, 0, 0", "100, 21000, 1, 4096, 4096, 0", "200, 31000, 0, 4096, 8192, 0"],
    }


def test_latencies_are_averaged_from_line_to_line() -> None:
    """Protects the means: the I/O that passes the boundary still counts, and what is left comes at the end."""
    thread = record({"log_avg_msec": "500"})
    assert latency_log(thread, "clat") == [
        LogLine(500, 40_000, 1),  # 20, 40 and 60 us, done at 100, 300 and 500 ms
        LogLine(600, 40_000, 0),  # 10, 30, 50 and 70 us, done at 0 to 600 ms
        LogLine(1000, 100_000, 0),
        LogLine(1100, 100_000, 1),
        LogLine(1500, 150_000, 1),
        LogLine(1600, 150_000, 0),
        LogLine(1900, 190_000, 0),
        LogLine(1900, 190_000, 1),
    ]
    largest = latency_log(replace(thread, options={"log_avg_msec": "500", "log_max_value": "1"}), "clat")
    assert largest[:2] == [LogLine(500, 60_000, 1), LogLine(600, 70_000, 0)]


def test_rates_are_those_of_whole_intervals() -> None:
    """Protects bandwidth (KiB/s) and IOPS of intervals: 5 I/Os in each, and none of the one that ends with the job."""
    thread = record({"log_avg_msec": "1000"}, 20)
    assert rate_log(thread, "iops") == [
        LogLine(500, 6, 0),
        LogLine(500, 4, 1),
        LogLine(1000, 4, 0),
        LogLine(1000, 6, 1),
        LogLine(1500, 6, 0),
        LogLine(1500, 4, 1),
    ]
    assert rate_log(thread, "bw")[:2] == [LogLine(500, 24, 0), LogLine(500, 16, 1)]
    slower = replace(thread, options={"log_avg_msec": "1000", "iopsavgtime": "1000"})
    assert rate_log(slower, "iops") == [LogLine(1000, 5, 0), LogLine(1000, 5, 1)]


def test_logs_begin_where_measuring_begins() -> None:
    """Protects the times of jobs with ``ramp_time``, or that start late: they count from there."""
    thread = record({}, 10, epoch_s=7.0)
    assert [line.milliseconds for line in latency_log(thread, "lat")] == [100 * number for number in range(10)]


def test_a_synchronous_engine_has_no_submission_latency() -> None:
    """Protects readers of slat from numbers that fio does not have."""
    assert latency_log(replace(record({}, 4), queued=False), "slat") == []


def test_jobs_share_a_log_if_they_are_told_to(tmp_path: Path) -> None:
    """Protects ``per_job_logs=0``, and the directory from names with a path of their own."""
    options = {"write_iops_log": "/elsewhere/both", "per_job_logs": "0"}
    threads = (record(options, 2), replace(record(options, 3), thread_number=4))
    (path,) = write_logs(FioRun((), (), {}, threads), tmp_path / "logs")
    assert path == tmp_path / "logs" / "both_iops.log"
    assert len(path.read_text(encoding="utf-8").splitlines()) == 5


def test_an_iolog_can_be_replayed(tmp_path: Path) -> None:
    """Protects ``write_iolog``: the reader of recorded traces finds the same I/Os at the same times."""
    kinds = (Kind.OPEN, Kind.READ, Kind.WRITE, Kind.FDATASYNC, Kind.CLOSE)
    places = ((0, 0.0), (0, 0.0), (BLOCK, 0.1), (BLOCK, 0.2), (0, 0.3))
    operations = tuple(
        (Operation(kind, "data", offset, BLOCK), seconds) for kind, (offset, seconds) in zip(kinds, places, strict=True)
    )
    thread = ThreadRecord("job", 1, 0, 0, {"write_iolog": "io.log"}, operations=operations)
    (path,) = write_logs(FioRun((), (), {}, (thread,)), tmp_path)
    assert path.read_text(encoding="utf-8").splitlines() == [
        "fio version 3 iolog",
        "0 data add",
        "0 data open",
        "0 data read 0 4096",
        "100000 data write 4096 4096",
        "200000 data datasync 4096 4096",
        "300000 data close",
    ]
    assert [each[:4] for each in open_trace(path).records()] == [
        (0.0, READ, 0, BLOCK),
        (0.1, WRITE, BLOCK, BLOCK),
    ]
