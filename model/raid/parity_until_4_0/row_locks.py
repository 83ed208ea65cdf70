"""RAID 4 and 5 of the RAID patches for Linux 2.2: a stripe takes no more blocks while it is at work.

Their driver locks a stripe (a row of blocks, one of every member) when its thread takes it, until all its reads or
writes have ended; a process that submits another block of a locked stripe blocks, and its later I/O is delayed with it.
A sole reader in order therefore has one chunk under way at a time, as the next one lies in the same rows, on the next
member, and what it reads ahead comes while it does nothing else. A row that is written in order is not gathered but
written block by block, each with its parity. Source: raid5.c of the patches (handle_stripe, lock_stripe, find_stripe,
wait_on_stripe).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ...core.request import Request

Piece = tuple[int, int, int, int]
"""Row, data index, low, high."""


class RowLocks:
    """Takes pieces of requests one after the other; one of rows that are at work keeps those behind it waiting.

    Parameters
    ----------
    start
        Begins to read or write a piece for its request.
    started
        Called when pieces have been begun: md's thread runs the plugs after that.
    """

    __slots__ = ("_at_work", "_going_on", "_idle_callbacks", "_start", "_started", "_waiting")

    def __init__(self, start: Callable[[Request, Piece], None], started: Callable[[], None]) -> None:
        self._start = start
        self._started = started
        self._at_work: dict[int, list[tuple[int, int]]] = {}
        self._waiting: deque[tuple[Request, Piece]] = deque()
        self._idle_callbacks: list[Callable[[], None]] = []
        self._going_on = False

    @property
    def waits(self) -> bool:
        """Whether pieces wait for rows."""
        return bool(self._waiting)

    def when_free(self, callback: Callable[[], None]) -> None:
        """Call back once when no piece waits any more."""
        self._idle_callbacks.append(callback)

    def add(self, request: Request, piece: Piece) -> None:
        """Do a piece, for a request of its own, when its rows are free and those before it have begun."""
        self._waiting.append((request, piece))
        self._go_on()

    def unlock(self, piece: Piece) -> None:
        """A piece has been read or written."""
        row, _, low, high = piece
        at_work = self._at_work[row]
        at_work.remove((low, high))
        if not at_work:
            del self._at_work[row]
        self._go_on()

    def _go_on(self) -> None:
        if self._going_on:  # a piece that the cache holds ends at once
            return
        self._going_on = True
        begun = False
        while self._waiting and self._is_free(self._waiting[0][1]):
            request, piece = self._waiting.popleft()
            row, _, low, high = piece
            self._at_work.setdefault(row, []).append((low, high))
            self._start(request, piece)
            begun = True
        self._going_on = False
        if begun:
            self._started()
        if self._idle_callbacks and not self._waiting:
            callbacks, self._idle_callbacks = self._idle_callbacks, []
            for callback in callbacks:
                callback()

    def _is_free(self, piece: Piece) -> bool:
        row, _, low, high = piece
        return all(high <= a or b <= low for a, b in self._at_work.get(row, ()))
