"""A served device behind an SSD cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.serve import protocol as nbd
from raidsim.tests.serve.client import Client, served

CACHED = """
machine: {{drives: {{disk0: {{model: Generic-20GB-ATA}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
caches: {{c0: {{on: disk0, cache: flash, size: 300MiB, kind: {kind}, mode: writeback, state: {state}}}}}
workload: {{kind: load, span: 64MiB}}
"""
KINDS = [("dm-cache", "warm"), ("bcache", "warm"), ("dm-writecache", "cold")]


@pytest.mark.parametrize(("kind", "state"), KINDS)
def test_clients_read_what_they_wrote_through_a_cache(kind: str, state: str, tmp_path: Path) -> None:
    """Protects data and answers: writes, flushes, trims and reads of a cached device are all answered."""
    with served(tmp_path, CACHED.format(kind=kind, state=state)) as server, Client(tmp_path / "nbd.sock") as client:
        for number in range(8):
            client.write(number << 20, bytes([number]) * 4096)
        assert client.ask(nbd.CMD_FLUSH) == 0
        assert [client.read(number << 20, 4096) for number in range(8)] == [bytes([each]) * 4096 for each in range(8)]
        cache = server.array.machine.ssd_caches["c0"]
        assert cache.read_hits >= 8
        assert server.array.machine.disks["disk0"].reads == 0


def test_a_cold_cache_reads_the_disk(tmp_path: Path) -> None:
    """The counter-test: what nobody has read before comes from the slow drive."""
    with served(tmp_path, CACHED.format(kind="dm-cache", state="cold")) as server, Client(tmp_path / "nbd.sock") as to:
        to.read(0, 4096)
        assert server.array.machine.ssd_caches["c0"].read_misses == 1
        assert server.array.machine.disks["disk0"].reads == 1
