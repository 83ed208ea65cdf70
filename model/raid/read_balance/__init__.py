"""How a mirror chooses the member that serves a read: one policy a class, every module of the package searched."""

from __future__ import annotations

from ...core.errors import ModelError
from ...files.plugins import classes_in
from .ataraid import AtaRaid
from .base import ReadBalance
from .gmirror import GmirrorLoad, GmirrorPrefer, GmirrorRoundRobin, GmirrorSplit
from .linux24 import Md24
from .linux26 import Md26
from .linux61 import Md61, Md61Raid10
from .primary import PrimaryOnly


def _by_name() -> dict[str, type[ReadBalance]]:
    found: dict[str, type[ReadBalance]] = {}
    for policy in classes_in(__name__, __path__):
        if issubclass(policy, ReadBalance) and "name" in vars(policy) and policy.name:
            if policy.name in found:
                other = found[policy.name].__module__
                raise ModelError(f"read balance {policy.name!r} is in two files: {other} and {policy.__module__}")
            found[policy.name] = policy
    return dict(sorted(found.items()))


READ_BALANCE = _by_name()
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
