"""dm-cache: blocks of a slow device that are hit often live on a fast one; LVM's ``--type cache``.

An I/O goes to where its block is. Blocks move between the devices behind it: promoted by the policy
(:mod:`.smq`) after misses, written back while the origin is idle, demoted to make room. A block that moves takes no
writes until it is copied; I/Os under way come first. While the policy promotes, a write of a whole block goes
straight into the cache. Modes: ``writeback`` leaves writes in the cache; ``writethrough`` writes to both devices at
once; ``passthrough`` uses the origin alone and drops what it writes from the cache.
Source: Linux 6.1, drivers/md/dm-cache-target.c (map_bio, mg_start, mg_complete, check_migrations, do_waker,
process_flush_bio, spare_migration_bandwidth).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...core.device import Device, flush_all
from ...core.engine import Engine
from ...core.join import Parts
from ...core.request import READ, WRITE, Call, Request
from ...tasks.host import Host
from ...waits.causes import CACHED_BLOCK
from ..copier import Copier
from ..device import CACHE, ORIGIN, CacheDevice
from ..levels import LEVELS, NONE
from ..settings import TICK_S, DmCacheSettings
from ..warm import WarmBlocks
from .commits import Commits
from .move import Move
from .smq import DEMOTE, PROMOTE, WRITE_BACK, Smq, Work

IDLE_S: Final = 1.0
"""The origin is idle after this time (s) without I/O there."""
_MOST_TICKS: Final = 130
"""Ticks without I/O beyond this number change nothing."""


class DmCache(CacheDevice):
    """The cache.

    Parameters
    ----------
    engine, name, members, host, cache_bytes
        As of a :class:`raidsim.model.cache.device.CacheDevice`.
    metadata
        The device of the metadata.
    settings
        How it is set up.
    metadata_base
        Where the metadata begin on their device (bytes).

    Attributes
    ----------
    promotions, demotions, writebacks
        Blocks moved so far.
    policy, commits
        Its parts.
    """

    __slots__ = (
        "_cache_ended",
        "_copier",
        "_idle_since",
        "_moves",
        "_next_tick",
        "_on_origin",
        "_origin_ended",
        "_settings",
        "_shared",
        "_ticking",
        "_timer",
        "_under_way",
        "_working",
        "commits",
        "demotions",
        "policy",
        "promotions",
        "writebacks",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        metadata: Device,
        host: Host,
        settings: DmCacheSettings,
        cache_bytes: int = 0,
        metadata_base: int = 0,
    ) -> None:
        length = settings.block_bytes
        super().__init__(engine, name, members, members[ORIGIN].capacity, host, cache_bytes, length)
        self._settings = settings
        places = self._size // length
        passes = settings.mode == "passthrough"
        self.policy = Smq(places, -(-self.capacity // length), not passes, engine.now)
        self.commits = Commits(engine, metadata, metadata_base)
        self._copier = Copier(engine, members, host)
        self._shared: dict[int, int] = {}
        self._moves: dict[int, Move] = {}
        self._origin_ended = Call(self._end_on_origin)
        self._cache_ended = Call(self._end)
        self._next_tick = engine.now + settings.first_tick_s
        self._timer = self._working = False
        self._ticking: Request | None = None
        self._under_way = self._on_origin = 0
        self._idle_since = -math.inf

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        super().start_statistics()
        self.promotions = self.demotions = self.writebacks = 0

    @property
    def dirty_bytes(self) -> int:
        """What the cache holds that is not on the origin."""
        return sum(self.policy.dirty) * self._settings.block_bytes

    @property
    def held_bytes(self) -> int:
        """What the cache holds."""
        return self.policy.resident * self._settings.block_bytes

    @property
    def warm_piece_bytes(self) -> int:
        """Bytes of the pieces in which a warm cache is filled: a block."""
        return self._settings.block_bytes

    @property
    def warm_pieces(self) -> int:
        """How many of them fit into it."""
        return self.policy.places

    def warm(self, found: WarmBlocks) -> None:
        """Have these blocks in the cache from the start, the more popular ones higher in the policy's queues."""
        count, keeps = len(found.blocks), self._settings.mode == "writeback"
        for rank, block in enumerate(found.blocks):
            self.policy.fill(block, rank * LEVELS // count, keeps and found.written[rank])
        if self.policy.dirty_blocks:
            self._wait_for_tick()

    # An I/O.

    def _map(self, request: Request) -> None:
        now = self._engine._now
        if now >= self._next_tick:
            self.settle(now)
        if self._ticking is None:
            self._ticking = request
        block = request.offset // self._settings.block_bytes
        move = self._moves.get(block)
        if move is not None and (request.op != READ or move.blocks_reads):
            move.waiting.append(request)
            return
        op, mode, policy = request.op, self._settings.mode, self.policy
        whole = op != READ and mode == "writeback" and request.size == self._settings.block_bytes
        waiting = len(policy.waiting)
        place = policy.lookup(block, whole)
        if len(policy.waiting) > waiting:
            if whole and policy.waiting[-1].kind == PROMOTE:
                self._begin(policy.waiting.pop(), request)
                return
            self._wake()
        self._count_access(op, place != NONE)
        if place == NONE or mode == "passthrough":
            if place != NONE and op != READ:
                self._drop(block, place, request)
            else:
                self._pass_on(ORIGIN, request, request.offset, block)
            return
        at = place * self._settings.block_bytes + request.offset % self._settings.block_bytes
        if op != READ and mode == "writethrough" and not policy.dirty[place]:
            self._hold(block)
            self._on_origin += 1
            size, issuer, sync, trail = request.size, request.issuer, request.sync, request.trail
            both = Parts(2, Request(WRITE, at, size, self._origin_ended, issuer, sync, request, trail))
            self._below(ORIGIN, Request(WRITE, request.offset, size, both, issuer, sync, trail=trail))
            self._below(CACHE, Request(WRITE, at, size, both, issuer, sync, trail=trail))
            return
        if op != READ:
            policy.set_dirty(place, True)
            self._wait_for_tick()
        self._pass_on(CACHE, request, at, block)

    def _pass_on(self, slot: int, request: Request, at: int, block: int) -> None:
        """Send an I/O to a member; until it is complete its block does not move."""
        self._hold(block)
        ended = self._cache_ended
        if slot == ORIGIN:
            self._on_origin += 1
            ended = self._origin_ended
        sync, issuer = request.sync, request.issuer
        self._below(slot, Request(request.op, at, request.size, ended, issuer, sync, request, request.trail))

    def _hold(self, block: int) -> None:
        self._shared[block] = self._shared.get(block, 0) + 1

    def _end_on_origin(self, below: Request) -> None:
        self._leaves_origin()
        self._end(below)

    def _leaves_origin(self) -> None:
        self._on_origin -= 1
        if not self._on_origin:
            self._idle_since = self._engine._now

    def _end(self, below: Request) -> None:
        """An I/O is complete."""
        request: Request = below.parent
        if below.trail is not None:
            request.trail = below.trail
        self._finish(request)

    def _finish(self, request: Request) -> None:
        block = request.offset // self._settings.block_bytes
        left = self._shared[block] - 1
        if left:
            self._shared[block] = left
        else:
            del self._shared[block]
            move = self._moves.get(block)
            if move is not None and move.quiet is not None:
                quiet, move.quiet = move.quiet, None
                self._copier.work(quiet)
        if request is self._ticking:
            self._ticking = None
            self.policy.tick(self._engine._now)
        request.complete()

    # A block that moves.

    def _begin(self, work: Work, overwrite: Request | None = None) -> None:
        """Move a block once no I/O to it is under way."""
        move = self._moves[work.block] = Move(work, overwrite, overwrite is not None)
        if overwrite is None:
            self._under_way += 1
        self._when_quiet(work.block, move, lambda: self._move(work, move))

    def _when_quiet(self, block: int, move: Move, then: Callable[[], object]) -> None:
        if block in self._shared:
            move.quiet = then
        else:
            then()

    def _move(self, work: Work, move: Move) -> None:
        length = self._settings.block_bytes
        origin, cache = work.block * length, work.place * length
        overwrite = move.overwrite
        if overwrite is not None:
            issuer, sync = overwrite.issuer, overwrite.sync
            self._below(CACHE, Request(WRITE, cache, length, lambda _: self._moved(work, move), issuer, sync))
            return
        size = min(length, self.capacity - origin)
        if work.kind == PROMOTE:
            self._copier.copy(ORIGIN, origin, CACHE, cache, size, lambda: self._moved(work, move))
        elif self.policy.dirty[work.place]:
            self._copier.copy(CACHE, cache, ORIGIN, origin, size, lambda: self._moved(work, move))
        else:
            self._lock(work, move)

    def _moved(self, work: Work, move: Move) -> None:
        self._copier.work(lambda: self._lock(work, move))

    def _lock(self, work: Work, move: Move) -> None:
        """Keep reads out as well, and change the mapping when none is under way."""
        move.blocks_reads = True
        self._when_quiet(work.block, move, lambda: self._remap(work, move))

    def _remap(self, work: Work, move: Move) -> None:
        if work.kind == WRITE_BACK:
            self._complete(work, move)
            return
        self.commits.change(work.place)
        if work.kind == DEMOTE:
            self.commits.after(lambda: self._complete(work, move))
        else:
            self._complete(work, move)

    def _complete(self, work: Work, move: Move) -> None:
        policy = self.policy
        if work.kind == WRITE_BACK:
            self.writebacks += 1
            policy.set_dirty(work.place, False)
        elif work.kind == DEMOTE:
            self.demotions += 1
        else:
            self.promotions += 1
        policy.complete(work)
        if move.overwrite is None:
            self._under_way -= 1
        else:
            policy.set_dirty(work.place, True)
            self._wait_for_tick()
            if move.overwrite is self._ticking:
                self._ticking = None
                policy.tick(self._engine._now)
            move.overwrite.mark(CACHED_BLOCK, self._engine._now)
            move.overwrite.complete()
        self._release(work.block, move)
        self._wake()

    def _release(self, block: int, move: Move) -> None:
        """Let what has waited for a block go on."""
        del self._moves[block]
        while move.waiting:
            request = move.waiting.popleft()
            request.mark(CACHED_BLOCK, self._engine._now)
            self._map(request)

    def _drop(self, block: int, place: int, request: Request) -> None:
        """Take a block that is written out of the cache (passthrough)."""
        move = self._moves[block] = Move(None, request, True)

        def drop() -> None:
            self.demotions += 1
            self.policy.invalidate(place)
            self.commits.change(place)
            self.commits.after(lambda: self._release(block, move))
            self._pass_on(ORIGIN, request, request.offset, block)

        self._when_quiet(block, move, lambda: self._copier.work(drop))

    # The worker.

    def _wake(self) -> None:
        if not self._working:
            self._working = True
            self._copier.work(self._check_moves)

    def _check_moves(self) -> None:
        self._working = False
        while True:
            work = self.policy.next_work(self._idle())
            if work is None:
                return
            self._begin(work)

    def _idle(self) -> bool:
        """Whether the origin is idle, and one more block may be written back."""
        length, most = self._settings.block_bytes, self._settings.migration_threshold
        if self._on_origin or (self._under_way + 1) * length > most:
            return False
        return self._engine._now - self._idle_since > IDLE_S

    def settle(self, now: float) -> None:
        """Catch up on the ticks until now."""
        missed = int((now - self._next_tick) / TICK_S)
        if missed > _MOST_TICKS:
            self._next_tick += (missed - _MOST_TICKS) * TICK_S
        while self._next_tick <= now:
            self.policy.tick(self._next_tick)
            self._next_tick += TICK_S
        if self.policy.dirty_blocks or self.policy.waiting:
            self._wake()

    def _wait_for_tick(self) -> None:
        """Have the worker run at its next time, since there is something to write back."""
        if not self._timer:
            self._timer = True
            self._engine.call_at(max(self._next_tick, self._engine._now), self._tick)

    def _tick(self, _: Any) -> None:
        self._timer = False
        self.settle(self._engine._now)
        if self.policy.dirty_blocks:
            self._wait_for_tick()

    def flush(self, done: Callable[[], None]) -> None:
        """Commit the mappings that have changed, then flush the origin and the cache."""

        def committed() -> None:
            flush_all(self._members, done)

        self._copier.work(lambda: self.commits.after(committed))
