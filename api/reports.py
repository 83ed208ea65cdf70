"""What benchmark programs have printed, in one kind of units."""

from __future__ import annotations

from ..calibration.formats.detect import read_report
from ..calibration.text.report import Figure, Report

__all__ = [
    "Figure",
    "Report",
    "read_report",
]
