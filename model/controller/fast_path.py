"""The fast path of a controller: commands that go past its firmware to one drive.

A command may take it where no data of the volume is ever in the memory, and if one drive of an array that has lost
nothing can serve it: a read within a chunk, and a write to a stripe or a single drive. Sources: HPE Smart Array P824i-p
MR Gen10 user guide, FastPath (no writes to RAID 1, 5 and 6); Linux drivers/scsi/megaraid/megaraid_sas_fp.c (an I/O
within one strip).
"""

from __future__ import annotations

from ..core.device import Device
from ..core.request import READ, Request
from ..layouts import StripedLayout
from ..raid.base.array import Array
from .settings import ControllerSettings, chunk_bytes_of


class FastPath:
    """Which commands of a volume take the fast path.

    Parameters
    ----------
    settings
        How the controller works.
    array
        The volume: an array, or a drive.
    """

    __slots__ = ("_arrays", "_chunk", "_reads", "_writes")

    def __init__(self, settings: ControllerSettings, array: Device) -> None:
        self._arrays = _arrays_of(array)
        self._chunk = min(filter(None, map(chunk_bytes_of, self._arrays)), default=0)
        self._reads = settings.has_fast_path
        plain = not self._arrays or (len(self._arrays) == 1 and isinstance(self._arrays[0].striping, StripedLayout))
        self._writes = self._reads and plain

    def takes(self, request: Request) -> bool:
        """Whether a command takes it now."""
        if not (self._reads if request.op == READ else self._writes):
            return False
        chunk = self._chunk
        if chunk and request.offset // chunk != (request.offset + request.size - 1) // chunk:
            return False
        return all(not array.failed for array in self._arrays)


def _arrays_of(device: Device) -> tuple[Array, ...]:
    """An array and all arrays that it is made of; none for a drive."""
    if not isinstance(device, Array):
        return ()
    return (device, *(array for member in device.members for array in _arrays_of(member)))
