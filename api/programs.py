"""Benchmark programs: what they ask of the kernel, and PostMark's scripts."""

from __future__ import annotations

from ..model.programs.operation import Kind, Operation
from ..model.programs.postmark import PostMark, log_lines
from ..model.programs.postmark_report import Clock, report
from ..model.programs.postmark_script import transcript

__all__ = [
    "Clock",
    "Kind",
    "Operation",
    "PostMark",
    "log_lines",
    "report",
    "transcript",
]
