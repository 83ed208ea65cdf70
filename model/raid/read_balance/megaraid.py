"""Read balance of LSI, Avago and Broadcom MegaRAID: near its last command, unless that member has more to do.

The Linux driver chooses the member of a RAID 1 read itself where a command bypasses the firmware, by the rule of the
firmware ("keep driver in sync with Firmware"). Source: drivers/scsi/megaraid/megaraid_sas_fp.c,
megasas_get_best_arm_pd and LB_PENDING_CMDS_DEFAULT.

A single reader stays on one member. Of two readers with deep queues each keeps a member only until their queues differ
by more than four commands; then commands of both go to both members, whose heads move between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.request import Request
from .base import ReadBalance

MOST_MORE: Final = 4
"""Commands that the nearest member may have more than the other one."""


class MegaRaid(ReadBalance):
    """The member whose last command is nearest, unless its queue is longer than the shortest by more than four.

    "Nearest" is the distance from the end of the command that was last sent to the member, the first copy of equals.
    """

    __slots__ = ()
    name = "megaraid"
    marks_clean = False

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        head, pending = self.head, self.pending
        offset: int = request.offset
        best, distance, calmest = -1, 0, candidates[0]
        for number, slot in enumerate(candidates):
            away = (offset if offsets is None else offsets[number]) - head[slot]
            if away < 0:
                away = -away
            if best < 0 or away < distance:
                best, distance = slot, away
            if pending[slot] < pending[calmest]:
                calmest = slot
        chosen = calmest if pending[best] > pending[calmest] + MOST_MORE else best
        place = offset if offsets is None else offsets[list(candidates).index(chosen)]
        head[chosen] = place + request.size
        return chosen

    def ended(self, slot: int, end: int) -> None:
        """Completions do not move what was sent last."""
        self.pending[slot] -= 1
