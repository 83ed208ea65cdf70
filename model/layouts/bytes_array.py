"""Arrays of real bytes: write through a layout, lose members, and read everything back.

No time passes here; this is the proof that a layout and its parity keep what they promise, and a way to look at what
a member holds. Parity is kept as a real array keeps it: full rows compute it from the new data, partial ones read,
modify and write, degraded ones recover the row first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import Protocol

import numpy as np

from ..core.errors import ArrayFailed, ModelError
from .layout import Layout
from .nested import NestedLayout
from .parity import ParityLayout
from .parity_bytes import Block, gf_multiply, gf_power, q_syndrome, recover, xor


class ByteStore(Protocol):
    """Something that holds bytes and can be lost: a member, or an array inside another one."""

    @property
    def failed(self) -> bool:
        """Whether it has lost data."""

    def get(self, offset: int, size: int) -> Block:
        """Return a copy of a range."""

    def put(self, offset: int, block: Block) -> None:
        """Write a range."""


class ByteMember:
    """One disk's worth of bytes, zero at first.

    Parameters
    ----------
    size
        Bytes.
    """

    __slots__ = ("_bytes",)

    def __init__(self, size: int) -> None:
        self._bytes: Block | None = np.zeros(size, dtype=np.uint8)

    @property
    def failed(self) -> bool:
        return self._bytes is None

    def lose(self) -> None:
        """Forget everything; whoever reads or writes from now on gets an error."""
        self._bytes = None

    def get(self, offset: int, size: int) -> Block:
        return self._alive()[offset : offset + size].copy()

    def put(self, offset: int, block: Block) -> None:
        self._alive()[offset : offset + block.size] = block

    def _alive(self) -> Block:
        if self._bytes is None:
            raise ModelError("a lost member was read or written")
        return self._bytes


class ByteArray(ABC):
    """An array over byte stores; make one with :func:`byte_array`.

    Parameters
    ----------
    layout
        Where the bytes go.
    stores
        One for each member of the layout.
    """

    __slots__ = ("layout", "stores")

    def __init__(self, layout: Layout, stores: Sequence[ByteStore]) -> None:
        self.layout = layout
        self.stores = tuple(stores)

    @property
    def lost(self) -> frozenset[int]:
        """The members that have lost data."""
        return frozenset([member for member, store in enumerate(self.stores) if store.failed])

    @property
    def failed(self) -> bool:
        return not self.layout.tolerates(self.lost)

    def lose(self, member: int) -> None:
        """Lose a member; of a nested array, a member of one of its groups (numbered as in its layout)."""
        store = self.stores[member]
        if not isinstance(store, ByteMember):
            raise ModelError(f"member {member} of {self.layout!r} is an array: lose one of its members")
        store.lose()

    def read(self, offset: int, size: int) -> bytes:
        """Return a range.

        Raises
        ------
        ArrayFailed
            If more members are lost than the layout tolerates.
        ModelError
            If the range is empty or goes beyond the array.
        """
        return self.get(offset, size).tobytes()

    def write(self, offset: int, data: bytes) -> None:
        """Write a range; raises like :meth:`read`."""
        self.put(offset, np.frombuffer(data, dtype=np.uint8))

    @abstractmethod
    def get(self, offset: int, size: int) -> Block:
        """Return a range as numpy bytes; raises like :meth:`read`."""

    @abstractmethod
    def put(self, offset: int, block: Block) -> None:
        """Write numpy bytes; raises like :meth:`read`."""

    def _refuse_if_failed(self) -> frozenset[int]:
        lost = self.lost
        if not self.layout.tolerates(lost):
            members = ", ".join(map(str, sorted(lost)))
            raise ArrayFailed(f"{self.layout!r} does not survive the loss of {members}")
        return lost


class _CopiedBytes(ByteArray):
    """Linear, RAID 0, 1 and 10: each piece is on one member, or a full copy on several."""

    __slots__ = ()

    def get(self, offset: int, size: int) -> Block:
        lost = self._refuse_if_failed()
        parts = []
        for _, length, places in self.layout.copies(offset, size):
            member, at = next(place for place in places if place[0] not in lost)
            parts.append(self.stores[member].get(at, length))
        return np.concatenate(parts)

    def put(self, offset: int, block: Block) -> None:
        lost = self._refuse_if_failed()
        for logical, length, places in self.layout.copies(offset, block.size):
            for member, at in places:
                if member not in lost:
                    self.stores[member].put(at, block[logical - offset : logical - offset + length])


class _ParityBytes(ByteArray):
    """RAID 3, 4, 5 and 6."""

    __slots__ = ("_layout",)

    def __init__(self, layout: ParityLayout, stores: Sequence[ByteStore]) -> None:
        super().__init__(layout, stores)
        self._layout = layout

    def get(self, offset: int, size: int) -> Block:
        lost = self._refuse_if_failed()
        parts = []
        for row, pieces in self._by_row(offset, size):
            touched = self._layout.row(row).data
            if any(touched[index] in lost for index, *_ in pieces):
                data = self._recovered(row, lost)
                parts += [data[index][inside : inside + length] for index, inside, length, _ in pieces]
            else:
                at = row * self._layout.chunk_bytes
                parts += [self.stores[touched[index]].get(at + inside, length) for index, inside, length, _ in pieces]
        return np.concatenate(parts)

    def put(self, offset: int, block: Block) -> None:
        lost = self._refuse_if_failed()
        for row, pieces in self._by_row(offset, block.size):
            news = [(index, inside, block[at - offset : at - offset + length]) for index, inside, length, at in pieces]
            if sum(new.size for _, _, new in news) == self._layout.stripe_bytes:
                self._store_row(row, [new for _, _, new in news], lost)
            elif lost:
                data = [chunk.copy() for chunk in self._recovered(row, lost)]
                for index, inside, new in news:
                    data[index][inside : inside + new.size] = new
                self._store_row(row, data, lost)
            else:
                self._modify(row, news)

    def _by_row(self, offset: int, size: int) -> list[tuple[int, list[tuple[int, int, int, int]]]]:
        """Return for each row its pieces: data index, offset in the chunk, size, logical offset."""
        layout = self._layout
        located = []
        for _, _, length, logical in layout.extents(offset, size):
            row, index, inside = layout.locate(logical)
            located.append((row, (index, inside, length, logical)))
        return [(row, [piece for _, piece in group]) for row, group in groupby(located, key=lambda part: part[0])]

    def _recovered(self, row: int, lost: frozenset[int]) -> list[Block]:
        """Return all data chunks of a row, reading only members that are left."""
        layout = self._layout
        chunk = layout.chunk_bytes
        data, p, q = layout.row(row)
        blocks = [None if member in lost else self.stores[member].get(row * chunk, chunk) for member in data]
        p_block = None if p in lost else self.stores[p].get(row * chunk, chunk)
        q_block = None if q is None or q in lost else self.stores[q].get(row * chunk, chunk)
        return recover(blocks, p_block, q_block, layout.exponents(row) or None)

    def _store_row(self, row: int, blocks: Sequence[Block], lost: frozenset[int]) -> None:
        layout = self._layout
        data, p, q = layout.row(row)
        found = {p: xor(blocks), **dict(zip(data, blocks, strict=True))}
        if q is not None:
            found[q] = q_syndrome(blocks, layout.exponents(row))
        for member, block in found.items():
            if member not in lost:
                self.stores[member].put(row * layout.chunk_bytes, block)

    def _modify(self, row: int, news: Sequence[tuple[int, int, Block]]) -> None:
        """Read-modify-write: the change of the data is added to P, and times its power of 2 to Q."""
        layout = self._layout
        data, p, q = layout.row(row)
        for index, inside, new in news:
            at = row * layout.chunk_bytes + inside
            store = self.stores[data[index]]
            change = store.get(at, new.size) ^ new
            store.put(at, new)
            self.stores[p].put(at, self.stores[p].get(at, new.size) ^ change)
            if q is not None:
                scaled = gf_multiply(change, gf_power(layout.exponents(row)[index]))
                self.stores[q].put(at, self.stores[q].get(at, new.size) ^ scaled)


class _NestedBytes(ByteArray):
    """An array whose members are arrays; `stores` are those, `lose` counts their members."""

    __slots__ = ("_layout", "_outer")

    def __init__(self, layout: NestedLayout, groups: Sequence[ByteArray]) -> None:
        super().__init__(layout, groups)
        self._layout = layout
        self._outer = byte_array(layout.outer, groups)

    @property
    def lost(self) -> frozenset[int]:
        return frozenset(
            [
                member
                for member in range(self._layout.members)
                for group, inner in [self._layout.place(member)]
                if inner in self._group(group).lost
            ]
        )

    def lose(self, member: int) -> None:
        group, inner = self._layout.place(member)
        self._group(group).lose(inner)

    def get(self, offset: int, size: int) -> Block:
        self._refuse_if_failed()
        return self._outer.get(offset, size)

    def put(self, offset: int, block: Block) -> None:
        self._refuse_if_failed()
        self._outer.put(offset, block)

    def _group(self, group: int) -> ByteArray:
        store = self.stores[group]
        assert isinstance(store, ByteArray)
        return store


def byte_array(layout: Layout, stores: Sequence[ByteStore] | None = None) -> ByteArray:
    """Return an array of real bytes.

    Parameters
    ----------
    layout
        Any layout.
    stores
        What its members are; blank members of the layout's sizes unless given.
    """
    if isinstance(layout, NestedLayout):
        return _NestedBytes(layout, [byte_array(group) for group in layout.groups])
    members = [ByteMember(size) for size in layout.member_bytes] if stores is None else stores
    if isinstance(layout, ParityLayout):
        return _ParityBytes(layout, members)
    return _CopiedBytes(layout, members)
