"""Which pages stay in memory: the inactive and the active list of Linux (mm/vmscan.c of 2.4 and 2.6).

Pages come in at the end of the inactive list and are reclaimed from its head. One that is used there for the second
time goes to the end of the active list at once (mark_page_accessed). Both lists turn at the same pace: for a share of
the inactive list that is reclaimed, the same share of the active one goes back to the end of the inactive list
(refill_inactive_zone), and has to be used again to return. From 2.6.7 to 2.6.27 it is a share of what is looked at
(shrink_zone), dirty pages that stay among it: many of them at the head of the inactive list wear the active one out. In
2.6.7 and 2.6.8 it is half that share (shrink_zone: the ratio over two). From 2.4.10 to the end of 2.4 the active list
turns at half the pace of what is reclaimed (shrink_caches: the ratio over two), and a page of it that was used in the
meantime goes round once more (refill_inactive: PageTestandClearReferenced), so that metadata outlast a file of several
times the memory that streams past. The lists hold runs of pages of one file, not pages.

The 2.4 of Alan Cox has another memory (rmap), as have 2.4.0 to 2.4.7 (page aging). Both drop what a reader in order has
passed (mm/filemap.c, drop_behind, called for every window of read-ahead; mm/swap.c, drop_page and deactivate_page):
such pages go to the clean or the inactive list, from which pages are taken first, so that what was in memory before the
reader came stays there, and of a file that is read again as much comes from memory as there is.
"""

from __future__ import annotations

from collections import deque

from .paged_file import PagedFile

RUN_BYTES = 1 << 20
"""Longest run of the lists; its pages are reclaimed together."""
_STALE_RUNS = 4096
_MOST_BUSY = 32
"""Dirty runs passed over at a time: what is not reclaimed now is with the next page that comes in."""


class _Run:
    """A run of pages of one file."""

    __slots__ = ("end", "file", "start")

    def __init__(self, file: PagedFile, start: int, end: int) -> None:
        self.file = file
        self.start = start
        self.end = end


class PageMemory:
    """The memory of a host that holds pages of files.

    Parameters
    ----------
    capacity
        Bytes there are for pages.
    counts_activations
        Whether pages that are looked at and stay, being dirty, count as those that are reclaimed.
    second_chance
        Whether active pages that were used go round again, at half the pace (2.4).
    half_pace
        If true, the active list turns at half the pace of the inactive one without a second chance, too.

    Attributes
    ----------
    held
        Bytes of cached pages.
    """

    __slots__ = (
        "_active",
        "_active_bytes",
        "_counts_activations",
        "_deactivate",
        "_inactive",
        "_pace",
        "_passing",
        "_second_chance",
        "_stale",
        "capacity",
        "held",
    )

    def __init__(
        self, capacity: int, counts_activations: bool = False, second_chance: bool = False, half_pace: bool = False
    ) -> None:
        self.capacity = capacity
        self._counts_activations = counts_activations
        self._second_chance = second_chance
        self._pace = 0.5 if second_chance or half_pace else 1.0
        self.held = 0
        self._inactive: deque[_Run] = deque()
        self._active: deque[_Run] = deque()
        self._passing: deque[_Run] = deque()
        self._active_bytes = 0
        self._deactivate = 0.0
        self._stale = 0

    def add(self, file: PagedFile, start: int, end: int, passing: bool = False) -> int:
        """[start, end) of `file` is in memory now; returns how many bytes of it were not before.

        Pages that are `passing` are the first to be reclaimed once they have been used.
        """
        new = file.cached.add(start, end)
        if not new:
            return 0
        self.held += new
        runs = self._passing if passing else self._inactive
        last = runs[-1] if runs else None
        if last is not None and last.file is file and last.end == start and start - last.start < RUN_BYTES:
            last.end = end
        else:
            runs.append(_Run(file, start, end))
            file.listed_runs += 1
        if self.held > self.capacity:
            self._reclaim()
        return new

    def used(self, file: PagedFile, start: int, end: int) -> bool:
        """[start, end) of `file`, which is in memory, has been used; returns whether that has changed nothing.

        A further use changes nothing either, until something is lost of the file (:attr:`.PagedFile.losses`).
        """
        once = file.once
        if once.run_from(start) >= end and file.active.run_from(start) >= end:
            return True
        for at, stop, before in once.parts(start, end):
            if before:
                self._activate(file, at, stop)
            else:
                once.add(at, stop)
        return False

    def _activate(self, file: PagedFile, start: int, end: int) -> None:
        """Pages that were used before are used again: those on the inactive list change over, and are as new there."""
        runs = self._active
        for at, stop, is_active in file.active.parts(start, end):
            if is_active:
                continue
            file.active.add(at, stop)
            file.once.remove(at, stop)
            self._active_bytes += stop - at
            last = runs[-1] if runs else None
            if last is not None and last.file is file and last.end == at and at - last.start < RUN_BYTES:
                last.end = stop
            else:
                runs.append(_Run(file, at, stop))
                file.listed_runs += 1

    def _drop(self, file: PagedFile, start: int, end: int) -> int:
        """Pages are not in memory any more; returns their bytes."""
        file.losses += 1
        gone = file.cached.remove(start, end)
        self.held -= gone
        self._active_bytes -= file.active.remove(start, end)
        file.once.remove(start, end)
        file.forget_marks(start, end)
        return gone

    def forget(self, file: PagedFile, start: int = 0) -> None:
        """The pages of `file` from `start` on are gone."""
        self._drop(file, start, 1 << 62)
        if start == 0:
            self._stale += file.listed_runs
            file.listed_runs = 0
            listed = len(self._inactive) + len(self._active) + len(self._passing)
            if self._stale > _STALE_RUNS and self._stale * 2 > listed:
                self._drop_stale()

    def drop_clean(self) -> None:
        """Reclaim everything that is not dirty."""
        for runs in (self._inactive, self._active, self._passing):
            for run in runs:
                if not run.file.dirty:
                    self._drop(run.file, run.start, run.end)
        self._drop_stale()

    def _drop_stale(self) -> None:
        """Forget runs of which nothing is cached any more."""
        for name in ("_inactive", "_active", "_passing"):
            kept = deque(run for run in getattr(self, name) if run.file.cached.overlaps(run.start, run.end))
            setattr(self, name, kept)
        self._stale = 0

    def _reclaim_passed(self) -> None:
        """Reclaim pages that have been passed, up to the first that has not; those used again are on other lists."""
        passing = self._passing
        while self.held > self.capacity and passing:
            run = passing[0]
            file, at = run.file, run.start
            stop = file.active.run_from(at)
            if stop == at:
                stop = file.once.run_from(at)
                if stop > at:
                    stop = min(stop, run.end, at + self.held - self.capacity)
                    if file.dirty and file.dirty.overlaps(at, stop):
                        self._inactive.append(_Run(file, at, stop))
                        file.listed_runs += 1
                    else:
                        self._drop(file, at, stop)
                elif file.cached.run_from(at) > at:
                    return
                else:
                    following = file.cached.next_start(at)
                    stop = run.end if following is None else following
            run.start = min(stop, run.end)
            if run.start == run.end:
                passing.popleft()
                file.listed_runs = max(0, file.listed_runs - 1)

    def _reclaim(self) -> None:
        if self._passing:
            self._reclaim_passed()
        inactive, active = self._inactive, self._active
        busy = 0
        while self.held > self.capacity and busy < _MOST_BUSY:
            if active and (self._deactivate >= active[0].end - active[0].start or not inactive):
                run = active.popleft()
                self._deactivate = max(0.0, self._deactivate - (run.end - run.start))
                if self._second_chance:
                    self._go_round(run)
                else:
                    run.file.losses += 1
                    self._active_bytes -= run.file.active.remove(run.start, run.end)
                    inactive.append(run)
            if not inactive:
                return
            run = inactive.popleft()
            if run.file.active and run.file.active.overlaps(run.start, run.end):
                self._keep_inactive(run)
            elif run.file.dirty and run.file.dirty.overlaps(run.start, run.end):
                inactive.append(run)
                busy += 1
                if self._counts_activations:
                    self._looked_at(run.end - run.start)
            else:
                file = run.file
                gone = self._drop(file, run.start, run.end)
                file.listed_runs = max(0, file.listed_runs - 1)
                self._looked_at(gone)

    def _go_round(self, run: _Run) -> None:
        """Active pages that were used stay, and those that were not go back, where one use makes them active again."""
        file = run.file
        file.listed_runs -= 1
        file.losses += 1
        for start, end, is_active in file.active.parts(run.start, run.end):
            if not is_active:
                continue
            for at, stop, used in file.once.parts(start, end):
                file.listed_runs += 1
                if used:
                    file.once.remove(at, stop)
                    self._active.append(_Run(file, at, stop))
                else:
                    file.once.add(at, stop)
                    self._active_bytes -= file.active.remove(at, stop)
                    self._inactive.append(_Run(file, at, stop))

    def _looked_at(self, size: int) -> None:
        """Bytes of the inactive list that were at its head: that share of the active one is due, or half of it."""
        inactive_bytes = max(RUN_BYTES, self.held - self._active_bytes)
        self._deactivate += self._pace * size * self._active_bytes / inactive_bytes

    def _keep_inactive(self, run: _Run) -> None:
        """Put those parts of a run back to the head of the inactive list that are not on the active one."""
        file = run.file
        left = [_Run(file, at, stop) for at, stop, active in file.active.parts(run.start, run.end) if not active]
        file.listed_runs += len(left) - 1
        self._inactive.extendleft(reversed(left))
