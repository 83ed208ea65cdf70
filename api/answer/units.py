"""Sizes, times, rates and shares as people write them: "64 KiB", "5min", "266 MB/s", "2%"."""

from __future__ import annotations

from ...model.files.quantities import (
    format_duration,
    format_rate,
    format_size,
    parse_fraction,
    parse_size,
    parse_time,
)

__all__ = ["format_duration", "format_rate", "format_size", "parse_fraction", "parse_size", "parse_time"]
