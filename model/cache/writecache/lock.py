"""dm-writecache's lock: a commit holds it until it is on the medium, and all that comes meanwhile waits in order.

Who holds it may also wait until the reads or the writes under way at the cache are complete.
Source: Linux 6.1, drivers/md/dm-writecache.c (wc_lock, writecache_wait_for_ios).
"""

from __future__ import annotations

from collections.abc import Callable


class WritecacheLock:
    """The lock, and the I/Os under way at the cache.

    Attributes
    ----------
    held
        Whether something that takes time holds it.
    """

    __slots__ = ("_quiet", "_under_way", "_waiting", "held")

    def __init__(self) -> None:
        self.held = False
        self._waiting: list[Callable[[], None]] = []
        self._under_way = [0, 0]
        self._quiet: list[list[Callable[[], None]]] = [[], []]

    def take(self, then: Callable[[], None]) -> None:
        """Go on with `then` when nothing holds the lock; what takes time sets :attr:`held`, and releases it later."""
        if self.held:
            self._waiting.append(then)
        else:
            then()

    def release(self) -> None:
        """Let what waits have it, one after the other."""
        self.held = False
        waiting, self._waiting = self._waiting, []
        for number, then in enumerate(waiting):
            if self.held:
                self._waiting = waiting[number:] + self._waiting
                return
            then()

    def begin(self, op: int) -> None:
        """A read or a write of the cache begins."""
        self._under_way[op] += 1

    def end(self, op: int) -> None:
        """It is complete."""
        self._under_way[op] -= 1
        if not self._under_way[op]:
            quiet, self._quiet[op] = self._quiet[op], []
            for then in quiet:
                then()

    def when_quiet(self, op: int, then: Callable[[], None]) -> None:
        """Go on with `then` when no reads, or no writes, are under way at the cache."""
        if self._under_way[op]:
            self._quiet[op].append(then)
        else:
            then()
