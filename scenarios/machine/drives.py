"""What a drive of a machine is simulated as, and the queue in front of it.

Classes that only some machines need are imported where they are made, so other modules tell drives apart here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.solid_state.spec import SolidStateSpec

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ...model.block.bio_queue import BioQueue
    from ...model.block.request_queue import RequestQueue
    from ...model.block.single_queue import BlockQueue
    from ...model.disk.actuators.split_drive import SplitDrive
    from ...model.disk.hard_disk import HardDisk
    from ...model.solid_state.drive import SolidState

    Drive = HardDisk | SplitDrive | SolidState
    """What a drive of a machine is simulated as."""
    Queue = BlockQueue | RequestQueue | BioQueue
    """A device behind a kernel's request queue."""


def is_solid_state(drive: Drive) -> TypeIs[SolidState]:
    """Whether a drive is a solid-state drive."""
    return isinstance(drive.spec, SolidStateSpec)
