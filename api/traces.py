"""Recorded traces: read, summed up, and a load that is like one."""

from __future__ import annotations

from ..scenarios.traces.fitted import fitted_load
from ..scenarios.traces.formats.table import FORMATS
from ..scenarios.traces.reading import open_trace
from ..scenarios.traces.summary import summarised

__all__ = [
    "FORMATS",
    "fitted_load",
    "open_trace",
    "summarised",
]
