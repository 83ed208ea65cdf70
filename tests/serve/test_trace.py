"""The trace of what clients asked for, which other arrays replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, TRIM, WRITE
from raidsim.scenarios.traces.reading import open_trace
from raidsim.serve import protocol as nbd
from raidsim.serve.array import Io
from raidsim.serve.trace import TraceFile
from raidsim.tests.serve.client import FLASH, Client, served


def test_a_trace_has_every_request(tmp_path: Path) -> None:
    """Protects "run once, compare ten arrays": raidsim reads back each request, in order, with its time."""
    path = tmp_path / "clients.log"
    with served(tmp_path, FLASH, trace=path) as server, Client(tmp_path / "nbd.sock") as client:
        client.write(8192, b"x" * 4096, nbd.FLAG_FUA)
        client.read(0, 16384)
        client.ask(nbd.CMD_FLUSH)
        client.ask(nbd.CMD_TRIM, 65536, 65536)
    trace = open_trace(path, None, False, discards=True)
    records = list(trace.records())
    assert [(each.op, each.offset, each.size) for each in records] == [
        (WRITE, 8192, 4096),
        (READ, 0, 16384),
        (TRIM, 65536, 65536),
    ]
    assert trace.skipped["sync"] == 2  # of FUA, and the flush
    assert records[0].time_s == 0.0
    # Microseconds of the simulated clock: requests came one after the other.
    assert records[1].time_s == pytest.approx(server.counts.latencies[WRITE].total_ns * 1e-9, abs=2e-6)


def test_a_full_disk_is_said_when_the_server_ends(tmp_path: Path) -> None:
    """Protects clients and the trace's reader: serving goes on, and the end says that the trace is not whole."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    trace = TraceFile(full, "md0")
    for _ in range(10_000):
        trace.add(Io(READ, 0, 4096, False, lambda _: None))
    with pytest.raises(InputError, match="--trace"):
        trace.close()
    with pytest.raises(InputError, match="--trace"):
        TraceFile(tmp_path / "no" / "folder", "md0")
