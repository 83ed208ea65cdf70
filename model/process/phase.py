"""What a program did between two looks at the clock, which is what it prints its figures from."""

from __future__ import annotations


class Phase:
    """What a program did between two looks at the clock.

    Attributes
    ----------
    name
        Of the mark it began with.
    began, ended
        Times (s).
    cpu_s
        CPU time of the process and its children.
    bytes, operations
        Moved by read and write calls; number of operations of other kinds (seeks, creates, deletes).
    """

    __slots__ = ("began", "bytes", "cpu_s", "ended", "name", "operations")

    def __init__(self, name: str, began: float) -> None:
        self.name = name
        self.began = self.ended = began
        self.cpu_s = 0.0
        self.bytes = 0
        self.operations = 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began
