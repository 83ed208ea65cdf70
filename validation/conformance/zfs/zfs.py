"""Checks the map of a pool's blocks and its intent log against recorded pools: `raidsim conformance --kind zfs`.

A case is the sizes or the vdevs of a pool's blocks, or a phase: cold reads (whole or degraded), writes of blocks,
synchronous writes, a scrub, a replacement, or a trim. It matches if at most one in a hundred of its requests (or
commits) differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....model.zfs.arc.prefetch import Prefetch
from ....model.zfs.arc.settings import PrefetchSettings
from ....model.zfs.map.pool import SPECIAL
from ..base import KindResult, Progress, TruthFile
from .operations import Operation, operation, touched
from .reads import ReadCheck, shown
from .recording import Block, Phase, Recording, Request, is_volume
from .scrub import replace_differences, return_differences, scrub_differences
from .sync import SyncCheck
from .trim import trim_differences
from .writes import write_differences

_TOLERATED = 100
_SMALL = re.compile(r"s(\d+)#")
_PARTITION_SCAN = 128 * 1024
"""Bytes at the beginning of a volume that the kernel reads at an import, in search of partitions."""
_NO_MODEL = {"resilver": "what a resilver leaves to write", "arc": "the ARC"}
"""Kinds of phases that are not compared."""


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare all recorded pools."""
    result = KindResult("zfs")
    for file in files:
        progress(file.path.name)
        _Replay(file.path.name, Recording(file.path.name, file.content), result).run()
    return result


class _Replay:
    """The phases of a recording in order, with what is cached, lost and moved."""

    def __init__(self, file: str, recording: Recording, result: KindResult) -> None:
        self.file, self.recording, self.result = file, recording, result
        self.lost: frozenset[int] = frozenset()
        self.cached: dict[str, set[int]] = {}
        self.ahead: dict[str, Prefetch] = {}
        self.moved: dict[str, set[int]] = {}
        self.sync = SyncCheck(recording)
        self.cold = self.degraded = False
        self.away: frozenset[int] = frozenset()
        self.meanwhile: list[Request] = []
        self.resilver: list[Request] = []

    def run(self) -> None:
        """Check all cases."""
        self._sizes()
        self._classes()
        for number, phase in enumerate(self.recording.phases):
            self._state(phase)
            done = self._operation(phase)
            if phase.name == "replace":
                self._record(phase, *replace_differences(self.recording, phase, self._standing()))
            elif phase.name in ("online", "online.sync"):
                self.resilver += phase.requests
                if phase.name == "online.sync" and phase.requests and self.meanwhile:
                    self._record(phase, *return_differences(self.recording, self.meanwhile, self.resilver, self.away))
            elif phase.name == "trim":
                self._record(phase, *trim_differences(self.recording, phase))
            elif phase.kind in _NO_MODEL:
                if phase.requests:
                    self.result.skip(self.file, phase.name, f"no check of {_NO_MODEL[phase.kind]}")
            elif phase.kind == "scrub" and phase.name == "scrub":
                self._record(phase, *scrub_differences(self.recording, phase, self._standing(), self.lost))
            elif done is not None and done.commits:
                self._record(phase, *self.sync.differences(phase, done))
            elif done is not None and self.cold and self._reads(done):
                self._read(phase, done)
            self._written(number, phase)
            if done is not None and done.writes and self.cold:
                self.moved.setdefault(done.file, set()).update(self._touched(done))

    def _state(self, phase: Phase) -> None:
        """An import empties the caches; a member that gets nothing after `zpool offline` is lost until it is online."""
        if phase.kind == "import":
            self.cached, self.ahead, self.cold = {}, {}, True
            self.sync = SyncCheck(self.recording)
        if phase.name == "offline.sync":
            pool, seen = self.recording.pool, {each.member for each in phase.requests}
            written = [leaves for vdev in range(len(pool.vdevs)) if seen & set(leaves := pool.leaves(vdev))]
            self.lost, self.degraded = frozenset().union(*written) - seen, True
        if phase.name.startswith("online"):
            self.away = self.away | self.lost
            self.lost = frozenset()
        elif self.lost:
            self.meanwhile += phase.requests

    def _operation(self, phase: Phase) -> Operation | None:
        words = phase.op.split()
        blocks = self._blocks(words[1]) if len(words) > 2 else []
        return operation(phase, blocks[-1].offset + blocks[-1].lsize if blocks else 0)

    def _last(self) -> str:
        return "zdb2" if "zdb2" in self.recording.snapshots else "zdb"

    def _blocks(self, file: str) -> list[Block]:
        return self.recording.blocks(self._last(), file)

    def _touched(self, done: Operation) -> set[int]:
        blocks = self._blocks(done.file)
        return touched(done.calls, blocks[0].lsize) if blocks else set()

    def _known(self, file: str) -> list[Block]:
        """The blocks of a file whose places are known."""
        moved = self.moved.get(file, set())
        return [block for block in self._blocks(file) if block.offset not in moved]

    def _standing(self) -> list[Block]:
        """All blocks that have not moved since their places were recorded."""
        moved = {block for file in self.moved for block in self._blocks(file) if block.offset in self.moved[file]}
        objects = self.recording.snapshots[self._last()].values()
        return [block for blocks in objects for block in blocks if block.level == 0 and block not in moved]

    def _reads(self, done: Operation) -> bool:
        """Whether records are read: by reads, and by writes of parts of records."""
        blocks = self._blocks(done.file)
        whole = bool(blocks) and all(not (offset | size) % blocks[0].lsize for offset, size in done.calls)
        return bool(blocks) and not (done.writes and whole)

    def _sizes(self) -> None:
        found, compared = [], 0
        for moment, objects in self.recording.snapshots.items():
            for name, blocks in objects.items():
                for block in blocks:
                    compared += 1
                    asize = self.recording.pool.vdevs[block.vdev].asize(block.psize)
                    if asize != block.asize:
                        place = f"{moment} {name}, block of {block.psize} bytes"
                        found.append(f"{place}: recorded {block.asize}; the model takes {asize}")
        self.result.record(self.file, f"sizes of {compared} blocks", shown(found))

    def _classes(self) -> None:
        """Which blocks are on the special vdevs; a dataset called s32 has special_small_blocks=32K."""
        pool = self.recording.pool
        if not pool.of_role(SPECIAL):
            return
        found, compared = [], 0
        for name, blocks in self.recording.snapshots[self._last()].items():
            small = _SMALL.match(name)
            for block in blocks:
                compared += 1
                role = pool.role(block.psize, int(small[1]) * 1024 if small else 0) if not block.level else SPECIAL
                if pool.roles[block.vdev] != role:
                    found.append(f"{name}, block of {block.psize} bytes: the model's is {role}")
        self.result.record(self.file, f"vdevs of {compared} blocks", shown(found))

    def _read(self, phase: Phase, done: Operation) -> None:
        cached = self.cached.setdefault(done.file, set())
        blocks, known = self._blocks(done.file), self._known(done.file)
        size = blocks[0].lsize
        ahead = None
        if not is_volume(done.file):
            count = blocks[-1].offset // size + 1
            ahead = self.ahead.setdefault(done.file, Prefetch(PrefetchSettings(), count, size))
        elif not cached:
            cached.update(range(0, _PARTITION_SCAN, size))
        if known:
            check = ReadCheck(self.recording, known, self.lost)
            self._record(phase, *check.differences(phase, done, cached, ahead, self.degraded))

    def _written(self, number: int, phase: Phase) -> None:
        """Compare the writes of blocks that a phase leaves in places that were recorded.

        What `zpool sync` writes after an operation is in the next phase; a timed transaction group is in its own.
        """
        done = self._operation(phase)
        if done is None or not done.writes or done.commits or self.cold:
            return
        requests = list(phase.requests)
        following = self.recording.phases[number + 1 : number + 2]
        if following and following[0].name == f"{phase.name}.sync":
            requests += following[0].requests
        later = self._later(number, done.file)
        for moment, end in self._moments().items():
            if number < end:
                rewritten = set().union(*(blocks for at, blocks in later if at < end))
                blocks = [block for block in self.recording.blocks(moment, done.file) if block.offset not in rewritten]
                self._record(phase, *write_differences(self.recording, requests, done, blocks, self.lost))
                return

    def _later(self, number: int, file: str) -> list[tuple[int, set[int]]]:
        """Phases after this one that write the file, with the blocks that they write."""
        found = []
        for at, phase in enumerate(self.recording.phases[number + 1 :], number + 1):
            done = self._operation(phase)
            if done is not None and done.writes and done.file == file:
                found.append((at, self._touched(done)))
        return found

    def _moments(self) -> dict[str, int]:
        """The phase before which the block pointers of each moment were read."""
        phases = self.recording.phases
        imports = next((k for k, phase in enumerate(phases) if phase.kind == "import"), len(phases))
        first = next((k for k, phase in enumerate(phases) if phase.kind in ("overwrite", "sync")), imports)
        ends = {"zdb1": min(first, imports), self._last(): imports}
        return {moment: ends[moment] for moment in sorted(self.recording.snapshots) if moment in ends}

    def _record(self, phase: Phase, found: list[str], compared: int) -> None:
        if compared:
            few = len(found) * _TOLERATED <= compared
            summary = f"{len(found)} of {compared} differ" if found else ""
            self.result.record(self.file, phase.name, "" if few else f"{summary}\n{shown(found)}")
