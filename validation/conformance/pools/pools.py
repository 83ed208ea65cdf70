"""Recorded pools at work: hits of the ARC within three points, rates within 20 %, and requests outstanding."""

from __future__ import annotations

from collections.abc import Sequence

from ..base import KindResult, Progress, TruthFile
from .caching import check_caching
from .queues import check_queues
from .rates import check_jobs, check_throttling


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded phase and job on the model."""
    result = KindResult("pools")
    for file in files:
        content, name = file.content, file.path.name
        if "fill" in content:
            check_throttling(name, content, result, progress)
        elif "counters" not in content and "phases" in content:
            check_queues(name, content, result, progress)
        elif "phases" in content:
            check_caching(name, content, result, progress)
        else:
            check_jobs(name, content, result, progress)
    return result
