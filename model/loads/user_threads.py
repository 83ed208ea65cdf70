"""The threads of independent users: each submits one I/O and waits until it is complete.

md blocks a thread until the superblock marks the array dirty (md_write_start), for a write of its bitmap and for a
stripe head, and the block layer blocks it for a tag. A program with one thread then submits nothing at all. Users of a
server have a thread each, so that nobody waits for the I/O of another user.
"""

from __future__ import annotations

from typing import Final

_APART: Final = (1 << 10) * 9 * 5 * 7 * 11 * 13
"""Distance between the issuer numbers of a load's threads; larger than the number of jobs.

It is a multiple of all numbers up to 16, so that the threads of a job stay on one core and one client of a network,
which are dealt out by the issuer's number."""


class UserThreads:
    """The threads of one load's users. A thread whose I/O is complete is used again, so that there are few of them.

    Parameters
    ----------
    issuer
        Issuer number of the first thread.
    """

    __slots__ = ("_first", "_free", "_made")

    def __init__(self, issuer: int) -> None:
        self._first = issuer
        self._free = [issuer]
        self._made = 1

    def take(self) -> int:
        """The issuer number of a thread that has no I/O; it has one from now on."""
        if self._free:
            return self._free.pop()
        self._made += 1
        return self._first + (self._made - 1) * _APART

    def give_back(self, issuer: int) -> None:
        """The I/O of the thread is complete."""
        self._free.append(issuer)
