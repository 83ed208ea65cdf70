"""A log of operations that does not grow in memory, and says what it was told."""

from __future__ import annotations

import tempfile
import tracemalloc

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.operation import Kind, Operation
from raidsim.scenarios.fio.operation_log import OperationLog
from raidsim.tests.faults.disk import files_no_longer_than


def _operation(number: int) -> tuple[Operation, float]:
    kind = (Kind.READ, Kind.WRITE, Kind.TRIM)[number % 3]
    return Operation(kind, f"/dev/md{number % 2}", number << 12, 4096, 4096), number / 3


def test_what_was_told_is_read_again_and_again() -> None:
    """Protects the log: every operation in its order, also while more come, on both sides of the limit of memory."""
    log = OperationLog()
    for count in (10, 30_000):
        for number in range(count):
            log.add(*_operation(number))
    expected = [_operation(number) for count in (10, 30_000) for number in range(count)]
    assert list(log) == expected
    reading = iter(log)
    assert next(reading) == expected[0]
    reading.close()  # type: ignore[attr-defined]
    log.add(*_operation(5))
    assert list(log) == [*expected, _operation(5)]
    assert log.files == ("/dev/md0", "/dev/md1")


def test_memory_is_flat() -> None:
    """Protects long jobs: from the limit on, ten times as many operations take no more memory."""
    log = OperationLog()

    def most(numbers: range) -> int:
        for number in numbers:
            log.add(*_operation(number))
        tracemalloc.reset_peak()
        for _ in log:
            pass
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        few, many = most(range(8_000)), most(range(8_000, 80_000))
    finally:
        tracemalloc.stop()
    assert many < few + (1 << 20)


def test_a_full_disk_is_one_message(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects long jobs where the folder for temporary files is small: what to do, not a traceback."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("small")))
    log = OperationLog()

    def fill() -> None:
        for number in range(100_000):
            log.add(*_operation(number))

    with files_no_longer_than(1 << 19), pytest.raises(InputError, match="room there, or another folder in TMPDIR"):
        fill()
