"""Recorded reads of files that are not cached: every request is made of the columns of blocks that were asked for."""

from __future__ import annotations

from collections.abc import Iterator

from ....model.zfs.arc.prefetch import Prefetch
from ....model.zfs.map.mirror import Mirror, side_load
from .operations import Operation, touched
from .pieces import Owned, PieceIndex
from .recording import Block, Phase, Recording, Request

_ANSWER_US, _COPY_US = 15.0, 0.7
"""Time (us) from a member's answer until its mirror counts it, and time to copy a sector of a member in memory, both on
the recorded CPU. Fitted to the reads of mirrors; the sides are the same from 5 to 35 us, and from 0.6 us a sector."""
_SHOWN = 8


class ReadCheck:
    """The reads of one phase.

    Parameters
    ----------
    recording
        The pool.
    blocks
        The file's blocks with known places, by offset.
    lost
        Members that are lost.
    """

    def __init__(self, recording: Recording, blocks: list[Block], lost: frozenset[int]) -> None:
        self.recording = recording
        self.blocks = blocks
        self.lost = lost
        pool = recording.pool
        pieces = []
        for number, block in enumerate(blocks):
            # Any side may serve a mirror's read; which one it has to be depends on the loads at that time.
            mirror = isinstance(pool.vdevs[block.vdev], Mirror)
            of = pool.scrubs if mirror else pool.reads
            pieces += [Owned(piece, number) for piece in of(block.vdev, block.dva, block.psize, lost)]
        self.index = PieceIndex(pieces)
        self.read: set[int] = set()

    def differences(
        self, phase: Phase, done: Operation, cached: set[int], ahead: Prefetch | None, stale: bool = False
    ) -> tuple[list[str], int]:
        """What is different, and how many requests were compared.

        Parameters
        ----------
        phase, done
            The phase and its operation.
        cached
            Offsets of blocks that were read before; those of this phase are added.
        ahead
            Prefetch of the file; None if something in front of ZFS reads ahead.
        stale
            If true, a block that is not read at all has moved since its place was recorded.
        """
        size = self.blocks[0].lsize
        asked = touched(done.calls, size) - cached
        further: set[int] = set()
        if ahead is not None:
            # What the kernel was told is random is not seen by the prefetch; some recordings did not tell it.
            further = read_ahead(done, size, cached, ahead.copied() if done.random else ahead)
        if not done.random:
            asked |= further
        wanted = {number for number, block in enumerate(self.blocks) if block.offset in asked}
        allowed = None
        if ahead is not None:
            allowed = {number for number, block in enumerate(self.blocks) if block.offset in asked | further}
        missing = {number: self._once(number) for number in wanted}
        found: list[str] = []
        compared = 0
        history: dict[int, list[Request]] = {}
        for request in phase.requests:
            if not request.rwbs.startswith("R"):
                continue
            place = (request.member, request.sector, request.sectors)
            made_of = self.index.exactly(*place)
            if made_of:
                compared += 1
                found += self._wrong(request, made_of, history, allowed)
                for owned in made_of:
                    self.read.add(owned.block)
                    missing.get(owned.block, set()).discard(self._name(owned))
            elif self.index.within(*place):
                compared += 1
                found.append(f"{_words(request)}: not the columns of blocks")
            history.setdefault(request.member, []).append(request)
        left = [
            f"block at {self.blocks[number].offset}: {sector} + {sectors} of member {member} not read"
            for number, places in missing.items()
            if not stale or number in self.read
            for member, sector, sectors in places
        ]
        cached |= {self.blocks[number].offset for number in self.read | wanted}
        return found + left, compared + len(left)

    def _name(self, owned: Owned) -> tuple[int, int, int]:
        """A piece; that of a mirror is the same on all sides (member -1)."""
        side = -1 if isinstance(self._vdev(owned.block), Mirror) else owned.piece.member
        return (side, owned.piece.sector, owned.piece.sectors)

    def _once(self, number: int) -> set[tuple[int, int, int]]:
        """What is read for a block."""
        block = self.blocks[number]
        pieces = self.recording.pool.reads(block.vdev, block.dva, block.psize, self.lost)
        return {self._name(Owned(piece, number)) for piece in pieces}

    def _vdev(self, number: int) -> object:
        return self.recording.pool.vdevs[self.blocks[number].vdev]

    def _wrong(
        self,
        request: Request,
        made_of: list[Owned],
        history: dict[int, list[Request]],
        allowed: set[int] | None,
    ) -> Iterator[str]:
        if allowed is not None and any(owned.block not in allowed for owned in made_of):
            yield f"{_words(request)}: of a block that was not asked for"
        block = self.blocks[made_of[0].block]
        vdev = self.recording.pool.vdevs[block.vdev]
        if isinstance(vdev, Mirror):
            first = self.recording.pool.first[block.vdev]
            gone = frozenset(member - first for member in self.lost)
            loads = [self._load(history.get(first + side, []), request) for side in range(vdev.members)]
            side = vdev.side(block.dva, gone, loads)
            if first + side != request.member:
                yield f"{_words(request)}: the model reads member {first + side}"

    def _load(self, before: list[Request], request: Request) -> int:
        """Load of a side when the request came."""
        taken = self.recording.service_us + _ANSWER_US
        under_way = sum(earlier.us + taken + _COPY_US * earlier.sectors > request.us for earlier in before)
        last_end = before[-1].sector + before[-1].sectors if before else -1
        return side_load(under_way, last_end, request.sector, self.recording.rotating)


def read_ahead(done: Operation, size: int, cached: set[int], ahead: Prefetch) -> set[int]:
    """Offsets of the blocks that are read ahead of the calls of an operation."""
    known = {offset // size for offset in cached}
    found: set[int] = set()
    for offset, length in done.calls:
        first, last = offset // size, (offset + length - 1) // size
        blocks = range(first, last + 1)
        stream = ahead.read(first, len(blocks), 0.0)
        missed = not known.issuperset(blocks)
        known.update(blocks)
        if stream is not None:
            further = set(range(*ahead.run(stream, missed))) - known
            known |= further
            found |= further
    return {block * size for block in found}


def shown(found: list[str]) -> str:
    """The first differences, one a line."""
    rest = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "\n".join(found[:_SHOWN] + rest)


def _words(request: Request) -> str:
    return f"member {request.member}: {request.sector} + {request.sectors}"
