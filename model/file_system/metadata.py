"""Metadata blocks in memory: read when they are needed and not there, changed through the journal."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from functools import partial
from typing import Any

from ..core.request import FLUSHER_ISSUER, READ, Request
from ..core.signal import NOTHING, Signal, Waits
from ..memory.page_cache import PageCache
from ..tasks.cpu import Account
from .groups import Groups
from .journal import Journal
from .settings import FileSystemSettings


class Metadata:
    """The metadata blocks of one file system.

    Parameters
    ----------
    cache
        Of the device.
    journal
        What takes the changes.
    settings, groups
        Of the file system.

    Attributes
    ----------
    reads
        Blocks that were not in memory.
    """

    __slots__ = ("_block", "_cache", "_groups", "_in_pieces", "_losses", "_settings", "_settled", "journal", "reads")

    def __init__(self, cache: PageCache, journal: Journal, settings: FileSystemSettings, groups: Groups) -> None:
        self._cache = cache
        self._settings = settings
        self._groups = groups
        self._block = settings.block
        self._in_pieces = bool(settings.space_header)
        self.journal = journal
        self.reads = 0
        # Blocks that are in memory and whose use changes nothing, until something is lost of the device's pages.
        self._settled: set[int] = set()
        self._losses = 0

    def in_memory(self, address: int) -> bool:
        """Whether the block need not be read."""
        if self.journal.holds(address):
            return True
        if not self._in_pieces:
            return self._cached(address, self._block)
        pieces = self._groups.pieces_at(address)
        if not pieces:
            return self._cached(address, self._block)
        return all(self._cached(start, size) for start, size in pieces)

    def _cached(self, start: int, size: int) -> bool:
        return self._cache.device_file.cached.run_from(start) >= start + size

    def read(self, addresses: list[int], by: Account, begin: int = 0) -> Waits:
        """Read those blocks, from the one with number `begin` on, that are not in memory, one after the other."""
        block = self._block
        number = begin
        while number < len(addresses):
            address = addresses[number]
            address -= address % block
            number += 1
            if not self._used(address):
                return self._read(address, addresses, number, by)
        return NOTHING

    def _used(self, address: int) -> bool:
        """Use a block, if it is in memory; returns whether it is."""
        file, pages = self._cache.device_file, self._cache.pages
        settled = self._settled
        if file.losses != self._losses:
            settled.clear()
            self._losses = file.losses
        elif address in settled:
            return True
        if not self.in_memory(address):
            return False
        if pages.used(file, address, address + self._block) and self._cached(address, self._block):
            settled.add(address)
        return True

    def _read(self, address: int, addresses: list[int], begin: int, by: Account) -> Generator[Any, Any, None]:
        """Read a block that is not in memory, and then what is not of `addresses` from number `begin` on."""
        cache, block = self._cache, self._block
        file = cache.device_file
        if by.owed_s:
            yield cache.pay(by)
        if not self.in_memory(address):
            self.reads += 1
            pieces, cluster = self._groups.pieces_at(address), self._groups.cluster_at(address)
            if pieces:
                yield from self._read_pieces(pieces, by)
            elif cluster is not None:
                yield from cache.fetch(file, cluster, cluster + self._settings.inode_cluster, by)
            else:
                yield from cache.fetch(file, address, address + block, by)
        yield from self.read(addresses, by, begin)

    def _read_pieces(self, pieces: list[tuple[int, int]], by: Account) -> Generator[Any, Any, None]:
        """Read what is missing of the header of a group, piece by piece."""
        cache = self._cache
        for address, size in pieces:
            if self._cached(address, size):
                continue
            done = Signal()
            cache.device.submit(Request(READ, address, size, partial(_arrived, done), by.issuer))
            cache.device.unplug()
            yield done
            cache.pages.add(cache.device_file, address, address + size)

    def read_along(self, addresses: Iterable[int]) -> None:
        """Read what write-back needs to give bytes a place and is not in memory; nobody waits for it.

        The kernel waits: what it is about to write comes by the time of these reads later.
        """
        cache, block = self._cache, self._block
        for address in addresses:
            address -= address % block
            if self.in_memory(address):
                continue
            self.reads += 1
            cluster = self._groups.cluster_at(address)
            whole = [(address, block)] if cluster is None else [(cluster, self._settings.inode_cluster)]
            for start, size in self._groups.pieces_at(address) or whole:
                if not self._cached(start, size):
                    cache.device.submit(Request(READ, start, size, _ignored, FLUSHER_ISSUER))
                    cache.pages.add(cache.device_file, start, start + size)

    def read_run(self, blocks: range, by: Account) -> Waits:
        """Read contiguous blocks together, as far as they are not in memory."""
        file = self._cache.device_file
        missing = [address for address in blocks if address < file.size and not self.in_memory(address)]
        if not missing:
            return NOTHING
        self.reads += len(missing)
        return self._cache.fetch(file, missing[0], missing[-1] + self._block, by)

    def change_one(self, address: int, by: Account) -> Waits:
        """Change one block, as :meth:`change` does."""
        block = self._block
        start = address - address % block
        if not self._used(start):
            return self.change([address], [], by)
        addresses = [address]
        if self._held_back(addresses):
            return self._change(NOTHING, addresses, by)
        self.journal.change(addresses)
        return self._cache.throttle(by) if self._cache.memory.over_limit else NOTHING

    def change(self, addresses: Iterable[int], fresh: Collection[int], by: Account) -> Waits:
        """Change blocks; the ones in `fresh` are new and not read before."""
        unique: dict[int, None] = {}
        read: list[int] = []
        block = self._block
        for address in addresses:
            if address not in unique:
                unique[address] = None
                address -= address % block
                if not fresh or address not in fresh:
                    read.append(address)
        for address in fresh:
            unique[address] = None
        waits = self.read(read, by)
        if waits is not NOTHING or self._held_back(unique):
            return self._change(waits, unique, by)
        self.journal.change(unique)
        return self._cache.throttle(by) if self._cache.memory.over_limit else NOTHING

    def _change(self, waits: Waits, addresses: Collection[int], by: Account) -> Generator[Any, Any, None]:
        """Change blocks when what is waited for has come."""
        yield from waits
        yield from self._begin(addresses, by)
        self.journal.change(addresses)
        if self._cache.memory.over_limit:
            yield from self._cache.throttle(by)

    def touch(self, address: int, by: Account) -> Waits:
        """Change times in a block, for which nobody is held back."""
        addresses = (address,)
        waits = self.read([address - address % self._block], by)
        if waits is not NOTHING or self._held_back(addresses):
            return self._touch(waits, addresses, by)
        self.journal.change(addresses, times=True)
        return NOTHING

    def _touch(self, waits: Waits, addresses: Collection[int], by: Account) -> Generator[Any, Any, None]:
        """Change times when what is waited for has come."""
        yield from waits
        yield from self._begin(addresses, by)
        self.journal.change(addresses, times=True)

    def _held_back(self, addresses: Collection[int]) -> bool:
        """Whether who changes these blocks has to wait for the journal."""
        return self.journal.full or self.journal.in_shadow(addresses) is not None

    def _begin(self, addresses: Collection[int], by: Account) -> Generator[Any, Any, None]:
        """Wait until the journal has room, and until it does not write these blocks."""
        if self.journal.full:
            if by.owed_s:
                yield self._cache.pay(by)
            yield from self.journal.make_room()
        while (on_its_way := self.journal.in_shadow(addresses)) is not None:
            if by.owed_s:
                yield self._cache.pay(by)
            else:
                yield on_its_way

    def change_unlogged(self, address: int, by: Account) -> Generator[Any, Any, None]:
        """Change a block past the journal."""
        yield from self.read([address], by)
        if not self.journal.holds(address):
            self._cache.mark_dirty(self._cache.device_file, address, address + self._block)


def _ignored(_: Request) -> None:
    pass


def _arrived(signal: Signal, _: Request) -> None:
    signal.fire()
