"""Causes that are in the jobs and not in the machine: how, where and next to what they read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .case import Case, Change, Form, drives_of
from .measured import Measurements

_OTHER_LOADS: tuple[dict[str, Any], ...] = (
    {"pattern": "sequential", "block_size": "1MiB", "read_share": "100%", "depth": 2},
    {"pattern": "random", "block_size": "16KiB", "read_share": "70%", "depth": 16},
)
_INNER = 0.9
"""Share of the capacity behind which a test is at the end of the drives."""
_SMALL = 1 << 30
_SECTOR_63 = 63 * 512
_READ_AHEADS = {"4KiB": "off", "32KiB": "32 KiB"}
_IN_MEMORY = 1 << 20
"""Bytes of a file that is in memory after its first I/Os, as a larger one is after a longer time."""


def _other_load(case: Case, measured: Measurements) -> Iterator[Form]:
    for load in _OTHER_LOADS:
        yield Form(Change({}, {}, load))


def _one_at_a_time(case: Case, measured: Measurements) -> Iterator[Form]:
    if any(job.load["depth"] > 1 for job in measured.jobs):
        yield Form(Change({}, {"depth": 1}))


def _flush(case: Case, measured: Measurements) -> Iterator[Form]:
    if any(job.load["read_share"] < 1 and "fsync" not in job.load for job in measured.jobs):
        yield Form(Change({}, {"fsync": 1}))


def _inner_tracks(case: Case, measured: Measurements) -> Iterator[Form]:
    capacity = case.spec.capacity(case.target)
    if drives_of(case, True) and not any("start" in job.load or "span" in job.load for job in measured.jobs):
        yield Form(Change({}, {"start": f"{int(_INNER * capacity) >> 20 << 20}B"}))


def _small_file(case: Case, measured: Measurements) -> Iterator[Form]:
    if not any("span" in job.load for job in measured.jobs) and case.spec.capacity(case.target) > 8 * _SMALL:
        yield Form(Change({}, {"span": f"{_SMALL}B"}))


def _misaligned(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.cache is None and not any("start" in job.load for job in measured.jobs):
        yield Form(Change({}, {"start": f"{_SECTOR_63}B"}), case.drives[0])


def _through_memory(measured: Measurements, known: tuple[bool | None, ...]) -> bool:
    """Whether a job that only reads is known, or not known, to go past the page cache."""
    return any(job.direct in known and job.load["read_share"] == 1 for job in measured.jobs)


def _buffered(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.pool is None and _through_memory(measured, (None,)):
        yield Form(Change({}, {"direct": False}))


def _in_memory(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.pool is None and _through_memory(measured, (None, False)):
        yield Form(Change({}, {"direct": False, "span": f"{_IN_MEMORY}B", "start": None}))


def _small_read_ahead(case: Case, measured: Measurements) -> Iterator[Form]:
    read_in_order = any(job.load["pattern"] == "sequential" and job.direct is False for job in measured.jobs)
    for size, words in _READ_AHEADS.items() if read_in_order and case.pool is None else ():
        yield Form(Change({"read_ahead": size}, {}), value=words)


JOB_FORMS: dict[str, Callable[[Case, Measurements], Iterator[Form]]] = {
    "other load": _other_load,
    "one at a time": _one_at_a_time,
    "buffered": _buffered,
    "file in memory": _in_memory,
    "small read-ahead": _small_read_ahead,
    "flush after each write": _flush,
    "inner tracks": _inner_tracks,
    "small file": _small_file,
    "misaligned": _misaligned,
}
"""By name in the catalogue."""
