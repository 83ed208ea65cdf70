"""Fitted values as a file has them: with their unit, and as many digits as mean anything."""

from __future__ import annotations


def rate_text(rate: float) -> str:
    """Bytes a second."""
    return f"{rate / 1e6:.6g}MB/s"


def time_text(seconds: float) -> str:
    """A duration."""
    return f"{seconds * 1e6:.6g}us"
