"""Every I/O of a fio job as it completed, for the logs that want each of them."""

from __future__ import annotations

from array import array


class FioCompletions:
    """Reads, writes and trims in the order of their completion, a column for each thing known of them.

    Attributes
    ----------
    op
        0 read, 1 write, 2 trim.
    offset, size
        Bytes.
    began_s, issued_s, ended_s
        When fio began to prepare it, when it was submitted, and when fio saw it complete (s).
    """

    __slots__ = ("began_s", "ended_s", "issued_s", "offset", "op", "size")

    def __init__(self) -> None:
        self.op = array("b")
        self.offset = array("q")
        self.size = array("q")
        self.began_s = array("d")
        self.issued_s = array("d")
        self.ended_s = array("d")

    def add(self, op: int, offset: int, size: int, began_s: float, issued_s: float, ended_s: float) -> None:
        """One more."""
        self.op.append(op)
        self.offset.append(offset)
        self.size.append(size)
        self.began_s.append(began_s)
        self.issued_s.append(issued_s)
        self.ended_s.append(ended_s)
