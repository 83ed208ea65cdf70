"""Recorded synchronous writes: each commit's requests by size, and the members that are flushed."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ....model.zfs.intent_log.log import Commit, IntentLog
from ....model.zfs.intent_log.records import LogRules, log_records
from ....model.zfs.map.pool import LOG, NORMAL
from ....model.zfs.map.vdev import joined
from .operations import Operation
from .recording import Phase, Recording, is_volume

_UNCHECKED = 2
"""Commits of a phase that are not compared: the sizes of their blocks depend on all that was committed before."""


class Burst(NamedTuple):
    """Writes, and the flushes that follow them: sizes in sectors, members written and flushed."""

    sizes: tuple[int, ...]
    written: frozenset[int]
    flushed: tuple[int, ...]


def bursts(phase: Phase) -> list[Burst]:
    """The bursts of a phase: each ends with its last flush."""
    found: list[Burst] = []
    sizes: list[int] = []
    written: set[int] = set()
    flushed: list[int] = []
    for request in phase.requests:
        if not request.sectors:
            flushed.append(request.member)
        elif "W" in request.rwbs:
            if flushed:
                found.append(Burst(tuple(sorted(sizes)), frozenset(written), tuple(sorted(flushed))))
                sizes, written, flushed = [], set(), []
            sizes.append(request.sectors)
            written.add(request.member)
    if sizes:
        found.append(Burst(tuple(sorted(sizes)), frozenset(written), tuple(sorted(flushed))))
    return found


class SyncCheck:
    """The intent logs of a pool's datasets since its last import.

    Parameters
    ----------
    recording
        The pool.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.pool = recording.pool
        self.logs: dict[str, IntentLog] = {}

    def differences(self, phase: Phase, done: Operation) -> tuple[list[str], int]:
        """What is different, and how many commits were compared."""
        dataset = done.file.partition("/")[0] if "/" in done.file or is_volume(done.file) else ""
        log_device = bool(self.pool.of_role(LOG))
        record = self.recording.record_bytes(done.file)
        rules = LogRules(record, log_device, throughput=phase.name.startswith("thr_"))
        first = dataset not in self.logs
        log = self.logs.setdefault(dataset, IntentLog(rules))
        log.rules = rules
        calls = [[call] for call in done.calls] if done.synchronous else [done.calls]
        commits = [log.commit(log_records(rules, each, done.synchronous)) for each in calls]
        checked = commits[_UNCHECKED:] if len(commits) > 1 else [] if first else commits
        waiting = bursts(phase)
        found = []
        for number, commit in enumerate(checked, len(commits) - len(checked)):
            sizes = self._sizes(commit, record)
            place = next((k for k, burst in enumerate(waiting) if burst.sizes == sizes), None)
            if place is None:
                got = waiting[min(number, len(waiting) - 1)].sizes if waiting else ()
                found.append(f"commit {number}: recorded {_counted(got)}; the model writes {_counted(sizes)}")
                continue
            burst = waiting[place]
            leaves = [
                leaf
                for vdev in range(len(self.pool.vdevs))
                if burst.written & set(self.pool.leaves(vdev))
                for leaf in self.pool.leaves(vdev)
            ]
            if list(burst.flushed) != leaves:
                found.append(f"commit {number}: flushed {burst.flushed}; the model flushes {leaves}")
            waiting = waiting[place + 1 :]
        return found, len(checked)

    def _sizes(self, commit: Commit, record: int) -> tuple[int, ...]:
        """Sectors of the requests of a commit, wherever its blocks lie in the vdev."""
        normal = self.pool.of_role(NORMAL)[0]
        log = next(iter(self.pool.of_role(LOG)), normal)
        vdev = self.pool.vdevs[log]
        sizes = [place[2] for block in commit.blocks for place in joined(vdev.writes(0, block.written(vdev)))]
        for _ in commit.in_place:
            sizes += [place[2] for place in joined(self.pool.vdevs[normal].writes(0, record))]
        return tuple(sorted(sizes))


def _counted(sizes: tuple[int, ...]) -> str:
    return ", ".join(f"{count} x {size}" for size, count in sorted(Counter(sizes).items())) + " sectors"
