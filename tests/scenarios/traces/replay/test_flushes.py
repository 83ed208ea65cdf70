"""Flushes of a trace: a database waits for them, so its rate on another array depends on what they cost there."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import FLUSH, WRITE
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.traces.formats.record import TraceRecord, columns_of
from raidsim.scenarios.traces.replay.replay import Replay, ReplayOptions, replay

DRIVE = """
machine: {{drives: {{model: WD5000AAKS, count: 2{more}}}}}
arrays: {{md0: {{level: raid1, bitmap: none}}}}
workload: {{kind: load}}
"""


def replayed(flushes: bool, more: str = "") -> Replay:
    """64 writes in order, each followed by a flush, or by none."""
    records = []
    for number in range(64):
        records.append(TraceRecord(0.0, WRITE, number * 4096, 4096, "md0"))
        if flushes:
            records.append(TraceRecord(0.0, FLUSH, 0, 512, "md0"))
    spec = document_from(DRIVE.format(more=more)).spec()
    return replay(spec, lambda: columns_of(records), ReplayOptions(depth=1))


def test_a_flush_waits_for_the_medium() -> None:
    """Protects databases: with flushes each write costs a revolution; without, or without a write cache, flushes are
    free, and what is measured are the writes alone.
    """
    with_flushes, without = replayed(True), replayed(False)
    assert with_flushes.prediction.seconds > 64 * 0.004
    assert without.prediction.seconds < 0.2 * with_flushes.prediction.seconds
    bare, alone = (replayed(flushes, ", overrides: {write_cache: false}") for flushes in (True, False))
    assert bare.prediction.seconds == pytest.approx(alone.prediction.seconds, rel=0.1)
    assert (with_flushes.survey.flushes, with_flushes.survey.records, with_flushes.completed) == (64, 128, 128)
    assert with_flushes.survey.bytes == without.survey.bytes
    assert with_flushes.prediction.latencies["write"]["n"] == 64
    assert "flushes: 64 of the I/Os" in with_flushes.notes


def test_flushes_and_nothing_else_are_refused() -> None:
    """Protects from a rate of nothing."""
    spec = document_from(DRIVE.format(more="")).spec()
    with pytest.raises(InputError, match="flushes and nothing else"):
        replay(spec, lambda: columns_of([TraceRecord(0.0, FLUSH, 0, 512, "md0")]), ReplayOptions())
