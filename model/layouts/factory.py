"""From what a person writes ("raid5", 5 disks, 64 KiB) to a layout, refusing what no array can be.

Every refusal names the field, what was found there and what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import InputError, ModelError
from ..files.plugins import classes_in
from .layout import Layout
from .levels import LEVELS, levels_where
from .nested import STRIPED_MIRRORS, mirrored_stripes, striped_mirrors, striped_parity
from .parity import ParityLayout
from .parity_bytes import GROUP_ORDER
from .raid10 import Raid10Layout
from .striped import StripedLayout

_PACKAGE = __name__.rpartition(".")[0]
_WITHOUT_LAYOUTS = ("bytes_array", "chart", "factory", "levels", "parity_bytes")

DEFAULT_CHUNK = 64 * 1024
CHUNK_UNIT = 4096
MD_MOST_MEMBERS = 1920
"""Roles that fit into the 4 KiB of a superblock of metadata 1.x: (4096 - 256) / 2 (Linux, drivers/md/md.c)."""

_VARIED = levels_where(lambda level: level.has_algorithms)
_OWN: tuple[type[Layout], ...] = (StripedLayout, ParityLayout, Raid10Layout)
"""The classes whose algorithms come first, the default in front."""


def _builders() -> dict[tuple[str, str], type[Layout]]:
    """The class that builds an algorithm of a level: md's, and those of every further module of this package.

    A level that has only one way to be laid out is built by the class that names "" as its algorithm.
    """
    found: dict[tuple[str, str], type[Layout]] = {}
    for kind in (*_OWN, *classes_in(_PACKAGE, _WITHOUT_LAYOUTS)):
        if not issubclass(kind, Layout) or "algorithms" not in vars(kind):
            continue
        for level, names in kind.algorithms.items():
            for name in names:
                if level not in LEVELS or LEVELS[level].has_algorithms != bool(name):
                    raise ModelError(f"{kind.__module__}: an algorithm of {level}; expected: of {', '.join(_VARIED)}")
                if found.setdefault((level, name), kind) is not kind:
                    other = found[level, name].__module__
                    raise ModelError(f"{level} {name} is in two files: {other} and {kind.__module__}")
    return found


_BUILDERS = _builders()


def _names(level: str) -> tuple[str, ...]:
    return tuple(name for known, name in _BUILDERS if known == level)


ALGORITHMS: dict[str, tuple[str, ...]] = {
    **{level: _names(level) for level in _VARIED},
    "raid10": (*_names("raid10"), STRIPED_MIRRORS),
    **{level.name: _names(level.inner) for level in LEVELS.values() if level.inner},
}
"""The algorithms of each level that has more than one way, the default first."""

_SHORT = {"ls": "left-symmetric", "la": "left-asymmetric", "rs": "right-symmetric", "ra": "right-asymmetric"}
_SHORT_RAID10 = {"n": "near", "f": "far", "o": "offset"}
_GROUPED = levels_where(lambda level: level.has_groups)


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
        raise InputError("level", f"unknown level {str(level)!r}", f"expected: {', '.join(LEVELS)}")
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
    known = LEVELS[name]
    if disks < known.least:
        raise InputError("disks", f"{name} of {_count(disks)}", f"{name} needs at least {known.least}")
    chunk = _checked_chunk(chunk_bytes)
    sizes = _checked_members(name, disks, member_bytes, truncate)
    variant, number = _checked_algorithm(name, algorithm)
    per_chunk = _checked_copies(name, disks, copies, number, variant)
    parts = _checked_groups(name, disks, groups)
    outer_chunk = _checked_outer_chunk(name, outer_chunk_bytes, chunk)
    _check_width(name, disks, variant, parts)
    layout = _built(name, sizes, chunk, variant, per_chunk, parts, outer_chunk)
    if layout.capacity <= 0:
        raise InputError(
            "members",
            f"the smallest member has {min(sizes)} bytes",
            f"every member of {name} needs room for whole chunks of {layout.chunk_bytes} bytes",
        )
    return layout


def _built(
    name: str, sizes: Sequence[int], chunk: int, variant: str, copies: int, groups: int, outer_chunk: int | None
) -> Layout:
    known = LEVELS[name]
    if variant == STRIPED_MIRRORS:
        return striped_mirrors(sizes, chunk, copies)
    if known.inner:
        inner = _BUILDERS[known.inner, variant]
        return striped_parity(known, inner, sizes, chunk, variant, groups, outer_chunk)
    if known.has_groups:
        return mirrored_stripes(known, sizes, chunk, groups)
    if known.has_chunk and known.uses_all:
        _check_chunks(sizes, chunk)
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
    if not LEVELS[name].uses_all and not truncate and len(set(sizes)) > 1:
        raise InputError(
            "members",
            f"{name} of members between {_bytes(min(sizes))} and {_bytes(max(sizes))}",
            f"members of {name} have one size; the rest of larger ones would be lost (truncate them to do so)",
        )
    return (min(sizes),) * disks if truncate and not LEVELS[name].uses_all else sizes


def _checked_algorithm(name: str, algorithm: str | None) -> tuple[str, int | None]:
    """Return the full name of the algorithm ("" if the level has none) and the copies that its short form tells."""
    allowed = ALGORITHMS.get(name, ())
    if algorithm is None:
        return (allowed[0] if allowed else ""), None
    text = algorithm.strip().lower().replace("_", "-")
    number = None
    has_copies = LEVELS[name].has_copies
    if has_copies and text[:1] in _SHORT_RAID10 and text[1:].isdecimal():
        number = int(text[1:])
        text = _SHORT_RAID10[text[0]]
    elif not has_copies:
        text = _SHORT.get(text, text)
    for candidate in allowed:
        if candidate.lower() == text:
            return candidate, number
    hint = f"expected: {', '.join(allowed)}" if allowed else f"{name} has no algorithms: leave it out"
    if has_copies:
        hint += " (or md's short form: n2, f2, o3)"
    raise InputError("algorithm", f"{algorithm!r} is not an algorithm of {name}", hint)


def _checked_copies(name: str, disks: int, copies: int | None, number: int | None, variant: str) -> int:
    if not LEVELS[name].has_copies:
        if copies is not None:
            having = ", ".join(levels_where(lambda level: level.has_copies))
            raise InputError("copies", f"{copies} copies of {name}", f"only {having} has a number of copies")
        return 1
    if copies is not None and number is not None and copies != number:
        raise InputError("copies", f"{copies}, but the algorithm says {number}", "give one of the two")
    found = 2 if copies is None and number is None else copies if copies is not None else number or 0
    if not 2 <= found <= disks:
        raise InputError(
            "copies", f"{found} copies on {_count(disks)}", f"2 to {disks} copies, each on a disk of its own"
        )
    if variant == STRIPED_MIRRORS and disks % found:
        raise InputError("disks", f"striped mirrors of {found} on {_count(disks)}", f"a multiple of {found} disks")
    return found


def _checked_groups(name: str, disks: int, groups: int | None) -> int:
    least = LEVELS[name].group_least
    if not least:
        if groups is not None:
            raise InputError("groups", f"{groups} groups of {name}", f"only {', '.join(_GROUPED)} have groups")
        return 1
    possible = [count for count in range(2, disks // least + 1) if disks % count == 0]
    if groups is None and not possible:
        raise InputError(
            "disks", f"{name} of {_count(disks)}", f"{name} needs two or more equal groups of at least {least} disks"
        )
    if groups is not None and groups not in possible:
        choice = f"expected: {', '.join(map(str, possible))}" if possible else "no number of groups fits"
        raise InputError(
            "groups", f"{groups} groups of {_count(disks)}", f"{choice} (equal groups of at least {least} disks)"
        )
    return possible[0] if groups is None else groups


def _checked_outer_chunk(name: str, outer_chunk: int | None, chunk: int) -> int | None:
    if outer_chunk is None:
        return None
    if not LEVELS[name].has_outer_chunk:
        having = " and ".join(levels_where(lambda level: level.has_outer_chunk))
        raise InputError("outer_chunk", f"an outer chunk for {name}", f"only {having} have one")
    if outer_chunk <= 0 or outer_chunk % chunk:
        raise InputError("outer_chunk", _bytes(outer_chunk), f"a multiple of the chunk of {_bytes(chunk)}")
    return outer_chunk


def _check_width(name: str, disks: int, variant: str, groups: int) -> None:
    """Refuse parity over more members than any array has.

    The Q of a wider RAID 6 would weigh two blocks of a row alike, so that not every two could be told apart.
    """
    parities = LEVELS[name].parities
    if not parities or not variant:  # RAID 3 has no variants, and no table of rows
        return
    most, why = MD_MOST_MEMBERS, "as many as md's superblock has room for (metadata 1.x)"
    if parities > 1:
        ddf = variant.startswith("ddf-")
        most = GROUP_ORDER + (0 if ddf else 2)
        numbers = "and the DDF algorithms number P and Q too" if ddf else "beside P and Q"
        why = f"Q has {GROUP_ORDER} different factors for data (GF(2^8)), {numbers}"
    if disks // groups > most:
        raise InputError(
            "disks",
            f"{name} {variant} of {_count(disks // groups)}" + (" in each group" if groups > 1 else ""),
            f"at most {most}: {why}",
        )


def _count(disks: int) -> str:
    return f"{disks} disk" if disks == 1 else f"{disks} disks"


def _bytes(size: int) -> str:
    return f"{size // 1024} KiB" if size and size % 1024 == 0 else f"{size} bytes"
