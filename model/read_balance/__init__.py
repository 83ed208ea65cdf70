"""How a mirror chooses the member that serves a read: one policy a class."""

from __future__ import annotations

from .ataraid import AtaRaid
from .base import ReadBalance
from .gmirror import GmirrorLoad, GmirrorPrefer, GmirrorRoundRobin, GmirrorSplit
from .linux24 import Md24
from .linux26 import Md26
from .linux61 import Md61, Md61Raid10
from .primary import PrimaryOnly

READ_BALANCE: dict[str, type[ReadBalance]] = {
    "ataraid": AtaRaid,
    "gmirror-load": GmirrorLoad,
    "gmirror-prefer": GmirrorPrefer,
    "gmirror-round-robin": GmirrorRoundRobin,
    "gmirror-split": GmirrorSplit,
    "md-2.4": Md24,
    "md-2.6": Md26,
    "md-6.1": Md61,
    "md-6.1-raid10": Md61Raid10,
    "primary": PrimaryOnly,
}
"""The policies by name; each is made from the number of mirrors, or from the members' kinds by `for_members`."""

__all__ = [
    "READ_BALANCE",
    "AtaRaid",
    "GmirrorLoad",
    "GmirrorPrefer",
    "GmirrorRoundRobin",
    "GmirrorSplit",
    "Md24",
    "Md26",
    "Md61",
    "Md61Raid10",
    "PrimaryOnly",
    "ReadBalance",
]
