"""The words with which `zpool create` is told the vdevs of a pool: `raidz2 a b c d log mirror e f cache g`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ...core.errors import InputError
from .kinds import DRAID, EXPECTED, MIRROR, RAIDZ, STRIPE

DATA = "data"
USES = (DATA, "special", "log", "cache", "spare")
"""What a vdev is for. Data is what comes first; the others are named."""
MIRRORS = "mirrors"
"""In place of a kind: mirrors of two."""
_SEVERAL = re.compile(r"(?:(\d+) *x *)?(\S+)")
_CHILDREN = re.compile(r":(\d+)c")
_PAIR = 2


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


class Alike(NamedTuple):
    """Vdevs that are alike.

    Attributes
    ----------
    kind
        See :func:`~.kinds.vdevs_for`.
    number
        How many; None if nothing says so.
    members
        Of each, where the kind says so.
    pairs
        Whether it is "mirrors", of two members each.
    """

    kind: str
    number: int | None
    members: int | None
    pairs: bool


def is_kind(word: str) -> bool:
    """Whether a word is a kind of vdev, or seems to be one."""
    return word in RAIDZ or word in (MIRROR, STRIPE) or word.startswith(DRAID)


def are_alike(text: str) -> bool:
    """Whether :func:`shared_out` knows what `text` means."""
    return _alike(text) is not None


def alike(text: str) -> Alike:
    """The vdevs that a text means which :func:`are_alike`."""
    found = _alike(text)
    if found is None:
        raise InputError("vdevs", f"found {text!r}", f"{EXPECTED}, mirrors or several: 2 x raidz2")
    return found


def _alike(text: str) -> Alike | None:
    match = _SEVERAL.fullmatch(text.strip())
    if match is None or not (is_kind(match[2]) or (match[2] == MIRRORS and match[1] is None)):
        return None
    pairs, children = match[2] == MIRRORS, _CHILDREN.search(match[2])
    kind = MIRROR if pairs else match[2]
    count = None if match[1] is None else int(match[1])
    return Alike(kind, count, None if children is None else int(children[1]), pairs)


def shared_out(text: str, members: Sequence[str]) -> str | None:
    """The words of a pool whose vdevs are alike and share out `members`, in order; None if `text` is no such thing.

    Parameters
    ----------
    text
        A kind ("raidz2"), a number of them ("2 x raidz2") or "mirrors", of two members each.

    Raises
    ------
    InputError
        If the members cannot be shared out.

    Examples
    --------
    >>> shared_out("2 x mirror", ["a", "b", "c", "d"])
    'mirror a b mirror c d'
    """
    found = _alike(text)
    if found is None:
        return None
    kind = found.kind
    count = len(members) // _PAIR if found.pairs else 1 if found.number is None else found.number
    each = len(members) // count if count else 0
    if not each or each * count != len(members):
        wrong = f"found {text} of {len(members)} members"
        raise InputError("vdevs", wrong, "expected: vdevs of equally many members, and all members in one")
    shares = [members[start : start + each] for start in range(0, len(members), each)]
    return " ".join(word for share in shares for word in (kind, *share))


def vdev_words(words: Sequence[str]) -> list[VdevWords]:
    """The vdevs that the words describe; raises `InputError` if a kind or a use has no members."""
    found: list[VdevWords] = []
    use = DATA
    for word in words:
        if word in USES:
            use = word
            found.append(VdevWords(use, STRIPE, []))
        elif is_kind(word):
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
