"""Read-ahead of the page cache, one file a kernel generation."""

from __future__ import annotations

from .base import PAGE, HeldPages, ReadAhead
from .freebsd6 import ReadAheadFreeBsd6
from .linux24 import ReadAhead22, ReadAhead24, ReadAhead24Calls
from .linux26 import ReadAhead26
from .linux61 import ReadAhead61, ReadAhead2623
from .linux2611 import ReadAhead2611
from .page_marks import PageMarks

__all__ = [
    "PAGE",
    "READ_AHEAD",
    "HeldPages",
    "PageMarks",
    "ReadAhead",
    "ReadAhead22",
    "ReadAhead24",
    "ReadAhead24Calls",
    "ReadAhead26",
    "ReadAhead61",
    "ReadAhead2611",
    "ReadAhead2623",
    "ReadAheadFreeBsd6",
]

READ_AHEAD: dict[str, type[ReadAhead]] = {
    "2.2": ReadAhead22,
    "2.4": ReadAhead24,
    "2.4-calls": ReadAhead24Calls,
    "2.6": ReadAhead26,
    "2.6.11": ReadAhead2611,
    "2.6.23": ReadAhead2623,
    "6.1": ReadAhead61,
    "freebsd-6": ReadAheadFreeBsd6,
}
"""By the policy's name in the description of a kernel; every one takes the largest window and the end (bytes)."""
