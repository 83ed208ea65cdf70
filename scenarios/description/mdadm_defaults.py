"""What mdadm gives an array that does not say otherwise: chunk and write-intent bitmap.

Sources: mdadm 4.2, Create.c (an internal bitmap where the level has redundancy, nothing else keeps it consistent, and
more than 100 GiB of each member are used; since 3.1 a chunk of 512 KiB) and super1.c (choose_bm_space: how many sectors
there are for it; add_internal_bitmap1: the smallest power of two from 64 MiB on of which the bits fit).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ...model.core.errors import InputError
from ...model.drives.catalogue import drive
from ...model.kernels import kernel
from ...model.layouts import LEVELS
from .arrays import VolumeSpec

CHUNK = "512KiB"
BITMAP_FROM = 100 << 30
"""More of each member than this, and the array gets a bitmap (bytes)."""
_LEAST_CHUNK = 64 << 20
_SECTOR = 512
_HEADER = 256
_OLD = "linux-2."
"""Kernels that were run with mdadm 2, which made no bitmap unless told to, and chunks of 64 KiB."""


def with_mdadm_defaults(array: dict[str, Any], devices: Mapping[str, Any], name_of_kernel: Any) -> None:
    """Give an array what it does not say, as far as its description makes sense.

    Parameters
    ----------
    array
        The array, with its level and members.
    devices
        Drives and arrays by name, as a document has them.
    name_of_kernel
        The scenario's.
    """
    level = LEVELS.get(str(array.get("level")))
    if level is None or array.get("controller") is not None or not _is_of_mdadms_time(name_of_kernel):
        return
    if level.has_chunk and "chunk" not in array and array.get("level") != "linear":
        array["chunk"] = CHUNK
    if "bitmap" in level.options and "bitmap" not in array and array.get("journal") is None:
        used = _member_bytes(array, devices)
        if used > BITMAP_FROM:
            array["bitmap"] = f"{bitmap_chunk(used)}B"


def bitmap_chunk(member_bytes: int) -> int:
    """Bytes of a member per bit of mdadm's bitmap."""
    sectors = member_bytes // _SECTOR
    if sectors - 128 >= 200 << 21:
        room = 256
    elif sectors - 128 > 8 << 21:
        room = 128
    else:
        room = 8
    bits = (room * _SECTOR - _HEADER) * 8
    chunk = _LEAST_CHUNK
    while -(-member_bytes // chunk) > bits:
        chunk *= 2
    return chunk


def _is_of_mdadms_time(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    try:
        known = kernel(name)
    except InputError:
        return False  # refused where kernels are checked
    return known.write_intent and not name.startswith(_OLD)


def _member_bytes(array: Mapping[str, Any], devices: Mapping[str, Any], depth: int = 8) -> int:
    """What every member has at least; 0 if a member is none that can be known here."""
    members = array.get("members")
    if not isinstance(members, list) or not members or not depth:
        return 0
    sizes = []
    for member in members:
        found = devices.get(member) if isinstance(member, str) else None
        if not isinstance(found, Mapping):
            return 0
        if "members" in found:
            sizes.append(_member_bytes(found, devices, depth - 1))
        else:
            sizes.append(_volume_bytes(found, devices, depth - 1) if "on" in found else _drive_bytes(found))
    return min(sizes)


def _volume_bytes(given: Mapping[str, Any], devices: Mapping[str, Any], depth: int) -> int:
    """What a partition or a logical volume has; 0 if it is not known here."""
    try:
        volume = VolumeSpec.model_validate(given)
    except ValidationError:
        return 0  # refused where volumes are checked
    sizes = [_member_bytes({"members": [device]}, devices, depth) for device in volume.on]
    ranges = [volume.range(size)[1] for size in sizes]
    return volume.layout(ranges).capacity if min(ranges) > volume.stripe else 0


def _drive_bytes(instance: Mapping[str, Any]) -> int:
    model = instance.get("model")
    if not isinstance(model, str):
        return 0
    try:
        spec = drive(model)
        overrides = instance.get("overrides")
        own = overrides.get("capacity") if isinstance(overrides, Mapping) else None
        return spec.capacity if own is None else spec.with_values(capacity=own).capacity
    except (InputError, ValueError):
        return 0  # refused where drives are checked
