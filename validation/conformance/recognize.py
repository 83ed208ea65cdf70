"""Recognizing recorded truth: the kind of a parsed file, by the fields that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .cache_shapes import CacheTruth
from .pool_shapes import CachingTruth, PoolJobsTruth, PoolQueueTruth, ThrottledPoolTruth
from .shapes import (
    FileSystemTruth,
    IoTruth,
    LayoutTruth,
    PoolTruth,
    ReadAheadTruth,
    ReadBalanceTruth,
    ReadChoiceTruth,
    RebuildTruth,
    ReshapeTruth,
    ResyncTruth,
    Shape,
    StripeCacheTruth,
    ThrottlingTruth,
    TimingTruth,
    WorkloadTruth,
)

_WORKLOAD_FIELDS = (
    {"command_output", "phases"},
    {"record", "phases"},
    {"script", "report", "by_phase"},
    {"what", "rows"},
    {"files", "dirs_incl_root", "total_bytes"},
    {"tree"},
    {"job", "jobfile"},
    {"fio version", "jobs"},
)
"""Fields by which the recordings of bonnie, iozone, PostMark, dd, a tree, tar and fio (two files) are recognised."""


def shape_of(content: Any) -> tuple[str, type[Shape]] | None:
    """The kind of recorded truth that parsed JSON is, and its shape; None if it is none."""
    if not isinstance(content, dict):
        return None
    if any(fields <= content.keys() for fields in _WORKLOAD_FIELDS):
        return "workloads", WorkloadTruth
    if {"results", "file_system", "phases"} <= content.keys():
        return "fs", FileSystemTruth
    if {"create", "phases", "blocks"} <= content.keys():
        return "zfs", PoolTruth
    if {"pool", "create", "phases", "counters"} <= content.keys():
        return "pools", CachingTruth
    if {"pool", "phases", "member", "notation"} <= content.keys():
        return "pools", PoolQueueTruth
    if {"pool", "fill", "parameters", "member"} <= content.keys():
        return "pools", ThrottledPoolTruth
    if {"results", "devices", "tables", "notation"} <= content.keys():
        return "cache", CacheTruth
    if {"results", "member"} <= content.keys() and "completion_us" in content["member"]:
        return "pools", PoolJobsTruth
    if {"rebuilds", "member"} <= content.keys():
        return "rebuild", RebuildTruth
    if {"results", "fio_jobs"} <= content.keys():
        return "timing", TimingTruth
    arrays, runs = _mappings(content.get("arrays")), _mappings(content.get("runs"))
    cases = [case for array in arrays for case in _mappings(array.get("cases"))]
    if _any_has(arrays, "array_kib"):
        return "layout", LayoutTruth
    if _any_has(arrays, "default_read_ahead_kb"):
        return "readahead", ReadAheadTruth
    if _any_has(cases, "served_by"):
        return "readchoice", ReadChoiceTruth
    if _any_has(cases, "ios"):
        return "io", IoTruth
    if _any_has(runs, "share_pct"):
        return "readbalance", ReadBalanceTruth
    if _any_has(runs, "start"):
        return "reshape", ReshapeTruth
    if _any_has(runs, "member_request_sectors", "md_sync_speed_KBs"):
        return "resync", ResyncTruth
    if _any_has(runs, "stripe_cache_size"):
        return "timing", StripeCacheTruth
    if _any_has(runs, "wbt_lat_usec"):
        return "timing", ThrottlingTruth
    return None


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _any_has(mappings: Iterable[dict[str, Any]], *names: str) -> bool:
    return any(name in mapping for mapping in mappings for name in names)
