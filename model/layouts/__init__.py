"""Layouts: the arithmetic from logical address to member, member address and parity, for every level."""

from __future__ import annotations

from .byte_striped import ByteStripedLayout
from .bytes_array import ByteArray, ByteMember, ByteStore, byte_array
from .factory import ALGORITHMS, DEFAULT_CHUNK, layout_for, level_name
from .layout import Copies, CopyPlace, Extent, Layout
from .levels import LEVELS, Level, LevelName, level_options, levels_where, levels_with
from .linear import LinearLayout
from .mirrored import MirroredLayout
from .nested import STRIPED_MIRRORS, NestedLayout, mirrored_stripes, striped_mirrors, striped_parity
from .parity import ParityLayout, Row
from .raid10 import Raid10Layout
from .striped import StripedLayout, Zone

__all__ = [
    "ALGORITHMS",
    "DEFAULT_CHUNK",
    "LEVELS",
    "STRIPED_MIRRORS",
    "ByteArray",
    "ByteMember",
    "ByteStore",
    "ByteStripedLayout",
    "Copies",
    "CopyPlace",
    "Extent",
    "Layout",
    "Level",
    "LevelName",
    "LinearLayout",
    "MirroredLayout",
    "NestedLayout",
    "ParityLayout",
    "Raid10Layout",
    "Row",
    "StripedLayout",
    "Zone",
    "byte_array",
    "layout_for",
    "level_name",
    "level_options",
    "levels_where",
    "levels_with",
    "mirrored_stripes",
    "striped_mirrors",
    "striped_parity",
]
