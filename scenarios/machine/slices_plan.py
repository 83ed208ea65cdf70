"""The plan of a partition or a logical volume: ranges of the devices below."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.layouts import Layout


@dataclass(frozen=True, slots=True)
class SlicesPlan:
    """A partition or a logical volume.

    Attributes
    ----------
    name
        Its name.
    slices
        Of each device below: its name, and the first byte and the size of the range.
    layout
        Map of a logical volume over its ranges; None: a partition, whose I/O only gets another offset.
    max_request
        Bytes of the largest request that a logical volume passes on; 0: not limited.
    """

    name: str
    slices: tuple[tuple[str, int, int], ...]
    layout: Layout | None
    max_request: int = 0
