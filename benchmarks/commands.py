"""What a user's commands do once they have started: a trace replayed behind a kernel's queues, scenarios simulated.

The start itself is measured by :mod:`.startup`.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.traces.reading import open_trace
from raidsim.scenarios.traces.replay.replay import ReplayOptions, replay

from .components import Chore
from .loads import DRIVE, random_draws

_MACHINE = """
machine: {{model: server, drives: {{model: {drive}, count: {count}}}}}
{arrays}
workload: {{kind: load}}
"""
_RAID5 = "arrays: {md0: {level: raid5, chunk: 64KiB}}"
_RECORDS = 1 << 14
"""Of the trace; more are replayed by playing it again."""
_SPAN, _SIZE, _WRITE_SHARE, _DEPTH = 240_000_000_000, 4096, 0.3, 16


class ReplayedTrace:
    """A trace of random small I/Os, as `raidsim replay --closed --depth 16` reads and plays it; a record counts.

    Parameters
    ----------
    drives
        One by itself, or so many in RAID 5.
    """

    def __init__(self, drives: int) -> None:
        self._spec = document_from(
            _MACHINE.format(drive=DRIVE, count=drives, arrays="" if drives == 1 else _RAID5)
        ).spec()
        folder = mkdtemp(prefix="raidsim-bench-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / "random.spc"
        draws = random_draws(Engine(), _SPAN, _SIZE, _WRITE_SHARE)
        lines = [
            f"0,{offset // 512},{_SIZE},{'r' if op == READ else 'w'},{number / 1000:.3f}"
            for number, (op, offset) in zip(range(_RECORDS), draws, strict=False)
        ]
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        self._trace = open_trace(path, "spc", discards=True)

    def run(self, count: int) -> int:
        """See :class:`.components.Chore`."""
        left = count
        while left > 0:
            played = min(left, _RECORDS)
            replay(self._spec, self._trace.columns, ReplayOptions(depth=_DEPTH, limit=played))
            left -= played
        return count


class SimulatedScenario:
    """A scenario of the library for a given time, as `raidsim run` simulates it; an I/O of a member counts."""

    def __init__(self, name: str, warm_up: str, duration: str) -> None:
        self._spec = read_document(name, [f"warm_up={warm_up}", f"duration={duration}"]).spec()

    def run(self, count: int) -> int:
        """See :class:`.components.Chore`."""
        done = 0
        while done < count:
            done += simulate(self._spec).member_ios
        return done


COMMANDS: dict[str, Callable[[], Chore]] = {
    "replay --closed on one disk: a record": partial(ReplayedTrace, 1),
    "replay --closed on RAID 5 of 8: a record": partial(ReplayedTrace, 8),
    "run home-nas": partial(SimulatedScenario, "home-nas", "2s", "10s"),
    "run database-server": partial(SimulatedScenario, "database-server", "2s", "10s"),
    "run vm-host": partial(SimulatedScenario, "vm-host", "1s", "5s"),
    "run backup-target": partial(SimulatedScenario, "backup-target", "1s", "5s"),
    "run journaled-archive": partial(SimulatedScenario, "journaled-archive", "1s", "4s"),
    "run nvme-raid10": partial(SimulatedScenario, "nvme-raid10", "0s", "2ms"),
}
"""By what the user types."""
