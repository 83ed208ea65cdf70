"""The words with which `zpool create` is told the vdevs of a pool: `raidz2 a b c d log mirror e f cache g`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...core.errors import InputError
from .kinds import MIRROR, RAIDZ, STRIPE

DATA = "data"
USES = (DATA, "special", "log", "cache", "spare")
"""What a vdev is for. Data is what comes first; the others are named."""


class VdevWords(NamedTuple):
    """A vdev as it is written.

    Attributes
    ----------
    use
        One of :data:`USES`.
    kind
        See :func:`~.kinds.vdevs_for`; "stripe" for members without a kind in front.
    members
        Names.
    """

    use: str
    kind: str
    members: list[str]


def vdev_words(words: Sequence[str]) -> list[VdevWords]:
    """The vdevs that the words describe; raises `InputError` if a kind or a use has no members."""
    found: list[VdevWords] = []
    use = DATA
    for word in words:
        if word in USES:
            use = word
            found.append(VdevWords(use, STRIPE, []))
        elif word in RAIDZ or word in (MIRROR, STRIPE) or word.startswith("draid"):
            if found and found[-1].kind == STRIPE and not found[-1].members:
                found.pop()
            found.append(VdevWords(use, word, []))
        else:
            if not found:
                found.append(VdevWords(use, STRIPE, []))
            found[-1].members.append(word)
    for each in found:
        if not each.members:
            raise InputError("vdevs", f"found {each.kind} for {each.use} without members", "expected: names after it")
    return found
