"""Read-ahead of the page cache, one file a kernel generation; every module of the package is searched for policies."""

from __future__ import annotations

from ..files.plugins import Room, room_of
from .base import PAGE, HeldPages, ReadAhead
from .freebsd6 import ReadAheadFreeBsd6
from .linux24 import ReadAhead22, ReadAhead24, ReadAhead24Calls
from .linux26 import ReadAhead26
from .linux61 import ReadAhead61, ReadAhead2623
from .linux2611 import ReadAhead2611
from .page_marks import PageMarks

READ_AHEAD: Room[type[ReadAhead]] = room_of("read-ahead policy", __name__, ReadAhead)
"""By the policy's name in the description of a kernel; each is made by `opened`."""

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
