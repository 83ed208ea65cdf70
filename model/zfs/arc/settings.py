"""Module parameters of prefetch (zfetch_*) and of the second level (l2arc_*)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefetchSettings:
    """The module parameters of prefetch; the defaults are those of OpenZFS 2.3."""

    max_streams: int = 8
    """Streams of a file (zfetch_max_streams)."""
    min_distance: int = 4 << 20
    """Bytes up to which the distance doubles (zfetch_min_distance)."""
    max_distance: int = 64 << 20
    """Bytes that a stream reads ahead at most (zfetch_max_distance)."""
    max_reorder: int = 16 << 20
    """Bytes ahead of a stream that still belong to it (zfetch_max_reorder)."""
    hole_shift: int = 2
    """Binary logarithm of the share of holes up to which a stream goes on (zfetch_hole_shift)."""
    min_reap_s: int = 1
    max_reap_s: int = 2
    """Seconds after which an idle stream may be replaced, and is removed (zfetch_min_sec_reap, zfetch_max_sec_reap)."""
    disabled: bool = False
    """If true, nothing is read ahead (zfs_prefetch_disable)."""


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """Module parameters (l2arc_*); the defaults are those of OpenZFS 2.3."""

    write_max: int = 32 << 20
    write_boost: int = 32 << 20
    """Bytes that are fed at once at most, and as many more until the ARC has evicted something."""
    headroom: int = 8
    headroom_boost: int = 200
    """How far from the end of a list blocks are looked for: this number of times the bytes to feed, times percent."""
    feed_s: float = 1.0
    feed_min_s: float = 0.2
    """Seconds between feeds, and the same after one that wrote more than half of what it may."""
