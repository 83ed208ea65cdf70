"""The live view as text."""

from __future__ import annotations

import io

from rich.console import Console

from raidsim.cli.serving.live import dashboard, line
from raidsim.scenarios.running.base.prediction import RebuildProgress
from raidsim.serve.recent import Look, Requests

LOOK = Look(
    at_s=12.5,
    span_s=1.0,
    requests=(Requests("read", 1234.0, 0.004, 0.003, 0.012),),
    bytes_per_second=5e6,
    outstanding=7,
    dirty_bytes=1 << 20,
    parts=(("disk1", "disk", 0.75), ("cpu", "cpu", 0.01)),
    bottleneck="disk disk1 (75 % busy)",
    rebuilds=(RebuildProgress("md0", "recover", 20e6, 1000, 250),),
    late_p50_s=0.0001,
    late_p99_s=0.002,
    late_share=0.01,
)


def test_a_look_as_a_screen_and_as_a_line() -> None:
    """Protects the dashboard: rates, latencies, utilization, queue, rebuild, bottleneck and lateness are all there."""
    console = Console(file=io.StringIO(), width=100)
    console.print(dashboard("md0", LOOK))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for words in ("1,234.0", "12.000", "75 %", "7 requests in the array", "md0 recover 25.0 %", "1 MiB in"):
        assert words in shown
    for words in ("bottleneck: disk disk1", "late by: p50 100 us, p99 2 ms; 1.0 %"):
        assert words in shown
    assert line(LOOK).startswith(
        "12.5 s, read 1,234/s p50 3 ms p99 12 ms, 7 in the array, disk1 75 %, md0 recover 25.0 %"
    )
