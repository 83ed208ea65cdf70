"""From what a person writes ("raid5", 5 disks, 64 KiB) to a layout, refusing what no array can be.

Every refusal names the field, what was found there and what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..core.errors import InputError, ModelError
from ..files.plugins import classes_in
from .byte_striped import ByteStripedLayout
from .layout import Layout
from .linear import LinearLayout
from .mirrored import MirroredLayout
from .nested import mirrored_stripes, striped_mirrors, striped_parity
from .parity import ParityLayout
from .parity_bytes import GROUP_ORDER
from .raid10 import Raid10Layout
from .striped import StripedLayout

_INNER = {"raid50": "raid5", "raid60": "raid6"}
_PACKAGE = __name__.rpartition(".")[0]
_WITHOUT_LAYOUTS = ("bytes_array", "chart", "factory", "parity_bytes")

LEVELS = (
    "linear",
    "raid0",
    "raid1",
    "raid3",
    "raid4",
    "raid5",
    "raid6",
    "raid10",
    "raid01",
    "raid50",
    "raid60",
)
MIN_DISKS = {
    "linear": 1,
    "raid0": 2,
    "raid1": 2,
    "raid3": 3,
    "raid4": 3,
    "raid5": 3,
    "raid6": 4,
    "raid10": 2,
    "raid01": 4,
    "raid50": 6,
    "raid60": 8,
}
DEFAULT_CHUNK = 64 * 1024
CHUNK_UNIT = 4096

_VARIED = ("raid0", "raid4", "raid5", "raid6", "raid10")
_OWN: tuple[type[Layout], ...] = (StripedLayout, ParityLayout, Raid10Layout)
"""The classes whose algorithms come first, the default in front."""


def _builders() -> dict[tuple[str, str], type[Layout]]:
    """The class that builds an algorithm of a level: md's, and those of every further module of this package."""
    found: dict[tuple[str, str], type[Layout]] = {}
    for kind in (*_OWN, *classes_in(_PACKAGE, [str(Path(__file__).parent)], _WITHOUT_LAYOUTS)):
        if not issubclass(kind, Layout) or "algorithms" not in vars(kind):
            continue
        for level, names in kind.algorithms.items():
            if level not in _VARIED:
                raise ModelError(f"{kind.__module__}: an algorithm of {level}; allowed: of {', '.join(_VARIED)}")
            for name in names:
                if found.setdefault((level, name), kind) is not kind:
                    other = found[level, name].__module__
                    raise ModelError(f"{level} {name} is in two files: {other} and {kind.__module__}")
    return found


_BUILDERS = _builders()


def _names(level: str) -> tuple[str, ...]:
    return tuple(name for known, name in _BUILDERS if known == level)


ALGORITHMS: dict[str, tuple[str, ...]] = {
    **{level: _names(level) for level in _VARIED},
    "raid10": (*_names("raid10"), "striped-mirrors"),
    **{level: _names(inner) for level, inner in _INNER.items()},
}
"""The algorithms of each level that has more than one way, the default first."""

_SHORT = {"ls": "left-symmetric", "la": "left-asymmetric", "rs": "right-symmetric", "ra": "right-asymmetric"}
_SHORT_RAID10 = {"n": "near", "f": "far", "o": "offset"}
_UNEQUAL = ("linear", "raid0")
_GROUP_MIN = {"raid50": 3, "raid60": 4, "raid01": 2}


def level_name(level: str | int) -> str:
    """Return the level as raidsim writes it.

    Parameters
    ----------
    level
        "raid5", "RAID-5", "5" or 5; "0+1" and "1+0" are raid01 and raid10.

    Raises
    ------
    InputError
        If there is no such level.
    """
    text = str(level).strip().lower().replace(" ", "").replace("-", "").replace("_", "").replace("+", "")
    name = text if text.startswith(("raid", "linear")) else f"raid{text}"
    if name not in LEVELS:
        raise InputError("level", f"unknown level {str(level)!r}", f"allowed: {', '.join(LEVELS)}")
    return name


def layout_for(
    level: str | int,
    disks: int,
    chunk_bytes: int | None,
    member_bytes: int | Sequence[int],
    algorithm: str | None = None,
    *,
    copies: int | None = None,
    groups: int | None = None,
    outer_chunk_bytes: int | None = None,
    truncate: bool = False,
) -> Layout:
    """Return the layout of an array.

    Parameters
    ----------
    level
        Any spelling that :func:`level_name` takes.
    disks
        Number of members.
    chunk_bytes
        A power of two of at least 4 KiB; None for 64 KiB. Levels without chunks (linear, RAID 1, RAID 3) check
        and then ignore it.
    member_bytes
        Size of each member, or one size for all.
    algorithm
        The variant by md's name, or its short form ("ls", "n2", "f2", "o3"); None for md's default
        (left-symmetric, near, original).
    copies
        RAID 10 only: copies of each chunk, 2 unless given (or part of the algorithm's short form).
    groups
        RAID 50, 60 and 01 only: number of inner arrays; the smallest possible unless given.
    outer_chunk_bytes
        RAID 50 and 60 only: bytes in one group before the next is used; a full stripe of a group unless given.
    truncate
        Use unequal members up to the end of the smallest instead of refusing them.

    Raises
    ------
    InputError
        If no such array can be built; `place` is "level", "disks", "chunk", "members", "algorithm", "copies",
        "groups" or "outer_chunk".

    Examples
    --------
    The first two chunks of a RAID 5 lie at the beginning of its first two members, the fourth one in the second row:

    >>> layout = layout_for("raid5", 4, 64 * 1024, 1024**3)
    >>> layout
    <raid5 left-symmetric, 4 members, 3221225472 bytes>
    >>> layout.extents(0, 128 * 1024)
    [(0, 0, 65536, 0), (1, 0, 65536, 65536)]
    >>> layout.map_chunk(3)
    (3, 1)
    """
    name = level_name(level)
    if disks < MIN_DISKS[name]:
        raise InputError("disks", f"{name} of {_count(disks)}", f"{name} needs at least {MIN_DISKS[name]}")
    chunk = _checked_chunk(chunk_bytes)
    sizes = _checked_members(name, disks, member_bytes, truncate)
    variant, number = _checked_algorithm(name, algorithm)
    per_chunk = _checked_copies(name, disks, copies, number, variant)
    parts = _checked_groups(name, disks, groups)
    outer_chunk = _checked_outer_chunk(name, outer_chunk_bytes, chunk)
    _check_field(name, disks, variant, parts)
    layout = _built(name, sizes, chunk, variant, per_chunk, parts, outer_chunk)
    if layout.capacity <= 0:
        raise InputError(
            "members",
            f"the smallest member has {min(sizes)} bytes",
            f"every member of {name} needs room for whole chunks of {layout.chunk_bytes} bytes",
        )
    return layout


@cache
def has_chunks(level: str) -> bool:
    """Whether the layout of a level depends on the chunk.

    Examples
    --------
    >>> [level for level in MIN_DISKS if not has_chunks(level)]
    ['linear', 'raid1', 'raid3']
    """
    disks = MIN_DISKS[level_name(level)]
    small, large = (layout_for(level, disks, chunk, 1 << 30) for chunk in (DEFAULT_CHUNK, 2 * DEFAULT_CHUNK))
    return small.chunk_bytes != large.chunk_bytes


def _built(
    name: str, sizes: Sequence[int], chunk: int, variant: str, copies: int, groups: int, outer_chunk: int | None
) -> Layout:
    match name:
        case "linear":
            return LinearLayout(sizes)
        case "raid0":
            _check_chunks(sizes, chunk)
        case "raid1":
            return MirroredLayout(sizes)
        case "raid3":
            return ByteStripedLayout(sizes)
        case "raid10" if variant == "striped-mirrors":
            return striped_mirrors(sizes, chunk, copies)
        case "raid01":
            return mirrored_stripes(sizes, chunk, groups)
        case "raid50" | "raid60":
            inner = _BUILDERS[_INNER[name], variant]
            return striped_parity(name, inner, sizes, chunk, variant, groups, outer_chunk)
    return _BUILDERS[name, variant].made(name, sizes, chunk, variant, copies)


def _check_chunks(sizes: Sequence[int], chunk: int) -> None:
    if min(sizes) < chunk:
        raise InputError(
            "members",
            f"the smallest member has {min(sizes)} bytes",
            f"every member needs at least one chunk of {chunk}",
        )


def _checked_chunk(chunk_bytes: int | None) -> int:
    if chunk_bytes is None:
        return DEFAULT_CHUNK
    if chunk_bytes < CHUNK_UNIT or chunk_bytes & (chunk_bytes - 1):
        raise InputError("chunk", _bytes(chunk_bytes), "a chunk is a power of two of at least 4 KiB")
    return chunk_bytes


def _checked_members(name: str, disks: int, member_bytes: int | Sequence[int], truncate: bool) -> tuple[int, ...]:
    sizes = (member_bytes,) * disks if isinstance(member_bytes, int) else tuple(member_bytes)
    if len(sizes) != disks:
        raise InputError("members", f"{len(sizes)} member sizes for {_count(disks)}", "give one size, or one per disk")
    if min(sizes) <= 0:
        raise InputError("members", f"a member of {min(sizes)} bytes", "sizes are positive")
    if name not in _UNEQUAL and not truncate and len(set(sizes)) > 1:
        raise InputError(
            "members",
            f"{name} of members between {_bytes(min(sizes))} and {_bytes(max(sizes))}",
            f"members of {name} have one size; the rest of larger ones would be lost (truncate them to do so)",
        )
    return (min(sizes),) * disks if truncate and name not in _UNEQUAL else sizes


def _checked_algorithm(name: str, algorithm: str | None) -> tuple[str, int | None]:
    """Return the full name of the algorithm ("" if the level has none) and the copies that its short form tells."""
    allowed = ALGORITHMS.get(name, ())
    if algorithm is None:
        return (allowed[0] if allowed else ""), None
    text = algorithm.strip().lower().replace("_", "-")
    number = None
    if name == "raid10" and text[:1] in _SHORT_RAID10 and text[1:].isdecimal():
        number = int(text[1:])
        text = _SHORT_RAID10[text[0]]
    elif name != "raid10":
        text = _SHORT.get(text, text)
    for candidate in allowed:
        if candidate.lower() == text:
            return candidate, number
    hint = f"allowed: {', '.join(allowed)}" if allowed else f"{name} has no algorithms: leave it out"
    if name == "raid10":
        hint += " (or md's short form: n2, f2, o3)"
    raise InputError("algorithm", f"{algorithm!r} is not an algorithm of {name}", hint)


def _checked_copies(name: str, disks: int, copies: int | None, number: int | None, variant: str) -> int:
    if name != "raid10":
        if copies is not None:
            raise InputError("copies", f"{copies} copies of {name}", "only raid10 has a number of copies")
        return 1
    if copies is not None and number is not None and copies != number:
        raise InputError("copies", f"{copies}, but the algorithm says {number}", "give one of the two")
    found = 2 if copies is None and number is None else copies if copies is not None else number or 0
    if not 2 <= found <= disks:
        raise InputError(
            "copies", f"{found} copies on {_count(disks)}", f"2 to {disks} copies, each on a disk of its own"
        )
    if variant == "striped-mirrors" and disks % found:
        raise InputError("disks", f"striped mirrors of {found} on {_count(disks)}", f"a multiple of {found} disks")
    return found


def _checked_groups(name: str, disks: int, groups: int | None) -> int:
    if name not in _GROUP_MIN:
        if groups is not None:
            raise InputError("groups", f"{groups} groups of {name}", f"only {', '.join(_GROUP_MIN)} have groups")
        return 1
    least = _GROUP_MIN[name]
    possible = [count for count in range(2, disks // least + 1) if disks % count == 0]
    if groups is None and not possible:
        raise InputError(
            "disks", f"{name} of {_count(disks)}", f"{name} needs two or more equal groups of at least {least} disks"
        )
    if groups is not None and groups not in possible:
        choice = f"allowed: {', '.join(map(str, possible))}" if possible else "no number of groups fits"
        raise InputError(
            "groups", f"{groups} groups of {_count(disks)}", f"{choice} (equal groups of at least {least} disks)"
        )
    return possible[0] if groups is None else groups


def _checked_outer_chunk(name: str, outer_chunk: int | None, chunk: int) -> int | None:
    if outer_chunk is None:
        return None
    if name not in ("raid50", "raid60"):
        raise InputError("outer_chunk", f"an outer chunk for {name}", "only raid50 and raid60 have one")
    if outer_chunk <= 0 or outer_chunk % chunk:
        raise InputError("outer_chunk", _bytes(outer_chunk), f"a multiple of the chunk of {_bytes(chunk)}")
    return outer_chunk


def _check_field(name: str, disks: int, variant: str, groups: int) -> None:
    """Refuse a RAID 6 whose Q would weigh two blocks of a row alike, so that not every two could be told apart."""
    if name not in ("raid6", "raid60"):
        return
    most = GROUP_ORDER + (0 if variant.startswith("ddf-") else 2)
    if disks // groups > most:
        why = "and the DDF algorithms number P and Q too" if most == GROUP_ORDER else "beside P and Q"
        raise InputError(
            "disks",
            f"{name} {variant} of {_count(disks // groups)}" + (" in each group" if groups > 1 else ""),
            f"at most {most}: Q has {GROUP_ORDER} different factors for data (GF(2^8)), {why}",
        )


def _count(disks: int) -> str:
    return f"{disks} disk" if disks == 1 else f"{disks} disks"


def _bytes(size: int) -> str:
    return f"{size // 1024} KiB" if size and size % 1024 == 0 else f"{size} bytes"
