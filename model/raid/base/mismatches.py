"""What a repair finds wrong: ranges whose parity or copies differ, spread evenly over an array.

md compares every block of a range by itself; here a range of the resync differs as a whole, or not at all.
"""

from __future__ import annotations


class Mismatches:
    """The ranges that differ, of those that a repair compares.

    Attributes
    ----------
    share
        Their share, 0 to 1.
    """

    __slots__ = ("_due", "share")

    def __init__(self) -> None:
        self.share = self._due = 0.0

    def next(self) -> bool:
        """Whether the range that is compared next differs, so that the repair writes it."""
        if not self.share:
            return False
        self._due += self.share
        if self._due < 1.0:
            return False
        self._due -= 1.0
        return True
