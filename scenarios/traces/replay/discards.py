"""The discards of a recorded trace: replayed where the device takes them, left out and counted where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ....model.core.request import TRIM
from ..formats.record import TraceColumns
from .placement import Survey


class TraceDiscards:
    """The discards of a trace, and what becomes of them on a device.

    Parameters
    ----------
    refusal
        Why the device takes none; empty if it does.
    device
        Only those of this device of the trace.
    """

    def __init__(self, refusal: str, device: str | None) -> None:
        self._refusal = refusal
        self._device = device
        self._left_out: int | None = None

    def taken(self, source: Callable[[], Iterable[TraceColumns]]) -> Iterable[TraceColumns]:
        """The records, without discards if the device takes none."""
        return self._without(source()) if self._refusal else source()

    def _without(self, parts: Iterable[TraceColumns]) -> Iterator[TraceColumns]:
        counts = self._left_out is None  # a second pass sees the same ones
        left_out = 0
        for part in parts:
            discards = part.ops == TRIM
            if discards.any():
                if self._device is None:
                    left_out += int(discards.sum())
                elif self._device in part.names:
                    left_out += int((discards & (part.devices == part.names.index(self._device))).sum())
                part = part[~discards]
            if counts:
                self._left_out = left_out
            if len(part):
                yield part

    def notes(self, survey: Survey) -> list[str]:
        """What became of them."""
        if self._left_out:
            return [f"discards left out: {self._left_out:,}; {self._refusal}"]
        return [f"discards: {survey.discards:,} of the I/Os"] if survey.discards else []
