"""Which names and inodes the kernel has in memory, and how it finds the ones that it has not."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import Any

from ..core.engine import Engine
from ..core.signal import NOTHING, Waits
from ..memory.page_cache import PageCache
from ..tasks.cpu import Account
from .inodes import Inodes
from .metadata import Metadata
from .nodes import Directory, File, Names
from .settings import FileSystemSettings

Node = File | Directory


class InodeCache:
    """The kernel's memory of names and inodes (dcache and icache).

    Parameters
    ----------
    engine, cache
        Clock; of the device.
    settings
        Of the file system.
    names, inodes, metadata
        Of its directories, where its inodes are, and its blocks in memory.
    cycle_s
        Seconds of a CPU cycle.
    kept
        How many inodes it keeps; None for all.
    """

    __slots__ = (
        "_atime",
        "_cache",
        "_cycle_s",
        "_engine",
        "_grain",
        "_inodes",
        "_kept",
        "_known",
        "_logs_atimes",
        "_metadata",
        "_mtime",
        "_names",
        "_read_inode_cycles",
        "_read_lately",
        "_scan_cycles",
        "_settings",
    )

    def __init__(
        self,
        engine: Engine,
        cache: PageCache,
        settings: FileSystemSettings,
        names: Names,
        inodes: Inodes,
        metadata: Metadata,
        cycle_s: float,
        kept: int | None,
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._settings = settings
        self._names = names
        self._inodes = inodes
        self._metadata = metadata
        self._cycle_s = cycle_s
        self._kept = kept
        self._known: OrderedDict[Node, None] = OrderedDict()
        self._read_lately: dict[Node, None] = {}
        self._logs_atimes = False
        self._atime = settings.atime
        self._mtime = settings.mtime
        self._grain = settings.time_grain
        self._scan_cycles = settings.scan_cycles
        self._read_inode_cycles = settings.read_inode_cycles

    def spend(self, by: Account, cycles: float) -> Waits:
        """Charge CPU time."""
        return self._cache.spend(cycles * self._cycle_s, by)

    def remember(self, node: Node) -> None:
        """A name and its inode are in memory; the one that was not used for longest goes."""
        node.in_memory = True
        self._known[node] = None
        if self._kept is not None and len(self._known) > self._kept:
            oldest, _ = self._known.popitem(last=False)
            oldest.in_memory = False

    def forget(self, node: Node) -> None:
        """It is gone."""
        self._known.pop(node, None)
        self._read_lately.pop(node, None)

    def drop(self, holds: Callable[[int], bool] | None = None) -> None:
        """No name and no inode is in memory any more (as after a mount), but for those in blocks that are held."""
        kept = [node for node in self._known if holds is not None and holds(node.inode)]
        for node in self._known:
            node.in_memory = False
        self._known.clear()
        for node in kept:
            self.remember(node)

    def look_up(self, node: Node, by: Account) -> Waits:
        """Find a node by its path and read its inode, as far as the kernel does not have them."""
        if not node.in_memory:
            return self._find(node, by)
        if self._kept is not None and node in self._known:
            self._known.move_to_end(node)
        return NOTHING

    def _find(self, node: Node, by: Account) -> Generator[Any, Any, None]:
        parent = node.parent
        if parent is not node:
            yield from self.look_up(parent, by)
            yield from self.search(parent, node.entry, by)
        yield from self.spend(by, self._read_inode_cycles)
        cluster = self._inodes.cluster(node)
        if len(cluster) > 1 and not self._metadata.in_memory(node.inode):
            if by.owed_s:
                yield self._cache.pay(by)
            yield from self._metadata.read_run(cluster, by)
        yield from self._metadata.read([node.inode], by)
        self.remember(node)

    def search(self, directory: Directory, block: int, by: Account) -> Waits:
        """Look for a name that is in a block of the directory."""
        waits = self.spend(by, self._names.looked_at(directory, block) * self._scan_cycles)
        if waits is NOTHING:
            return self._metadata.read(self._names.searched(directory, block), by)
        return self._search(waits, directory, block, by)

    def _search(self, waits: Waits, directory: Directory, block: int, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        yield from self._metadata.read(self._names.searched(directory, block), by)

    def look_up_new(self, path: str, parent: Directory, by: Account) -> Waits:
        """Find that a name is not in a directory, and then where it can be put."""
        if not parent.in_memory:
            return self._look_up_new(self.look_up(parent, by), path, parent, by)
        self.look_up(parent, by)
        waits = self.search(parent, len(parent.blocks) - 1, by)
        if waits is not NOTHING:
            return self._find_room(waits, path, parent, by)
        room = self._names.find_room(parent, path)
        return self.spend(by, self._names.looked_at(parent, room) * self._scan_cycles)

    def _look_up_new(self, waits: Waits, path: str, parent: Directory, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        yield from self._find_room(self.search(parent, len(parent.blocks) - 1, by), path, parent, by)

    def _find_room(self, waits: Waits, path: str, parent: Directory, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        room = self._names.find_room(parent, path)
        yield from self.spend(by, self._names.looked_at(parent, room) * self._scan_cycles)

    def next_tick(self) -> float:
        """From when on a time that is taken now differs.

        An inode is dirty only if its times differ. They are whole seconds where the inode has no room for more
        (fs/inode.c: CURRENT_TIME of 2.4; update_atime and inode_times_differ of 2.6.0 to 2.6.10, current_fs_time
        since), else the kernel's ticks (kernel/time/timekeeping.c, ktime_get_coarse_real_ts64).
        """
        grain = self._grain
        return (self._engine._now // grain + 1.0) * grain

    def note_write(self, file: File) -> None:
        """A file is written: with relatime the next read changes its inode (fs/inode.c, relatime_need_update)."""
        if self._atime == "relative":
            file.atime_due_s = 0.0

    def touch_atime(self, node: Node, by: Account) -> Waits:
        """A file or directory has been read: its inode says when."""
        how = self._atime
        return NOTHING if how == "never" else self._touch(node, "logged" if how == "relative" else how, by)

    def touch_mtime(self, node: Node, by: Account) -> Waits:
        """A file has been written to: its inode says when."""
        return self._touch(node, self._mtime, by)

    def _touch(self, node: Node, how: str, by: Account) -> Waits:
        if how == "logged":
            return self._metadata.touch(node.item, by)
        if how == "unlogged":
            return self._metadata.change_unlogged(node.inode, by)
        return self._touch_later(node, by)

    def _touch_later(self, node: Node, by: Account) -> Generator[Any, Any, None]:
        yield from self._metadata.read([node.inode], by)
        if not self._logs_atimes:
            self._logs_atimes = True
            self._engine.call_at(self._engine._now + self._settings.atime_delay, self._log_atimes)
        self._read_lately[node] = None

    def _log_atimes(self, _: Any) -> None:
        """The inodes of what was read are written back."""
        self._logs_atimes = False
        lately, self._read_lately = self._read_lately, {}
        self._metadata.journal.change([node.item for node in lately], times=True)
