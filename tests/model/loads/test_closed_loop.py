"""The barest load."""

from __future__ import annotations

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE
from raidsim.model.loads.closed_loop import ClosedLoop, Drawn

SERVICE_S = 0.001


def test_each_io_that_completes_is_replaced() -> None:
    """Protects the benchmarks' loads: the outstanding I/Os stay as many, in the order drawn, until the count is met."""
    engine = Engine()
    device = FixedServiceDevice(engine, "disk", 1 << 30, linear_service(SERVICE_S))
    blocks = iter([([READ], [0]), ([WRITE, READ], [4096, 8192]), ([READ, WRITE] * 50, [0] * 100)])

    def draw() -> Drawn:
        return next(blocks)

    loop = ClosedLoop(device, draw, 4096)
    loop.start(3)
    assert (device.outstanding, loop.completed) == (3, 0)
    stop = engine.event()
    loop.when_completed(10, stop.succeed)
    engine.run(until=stop)
    assert (device.outstanding, loop.completed) == (3, 10)
    assert (device.reads, device.writes) == (6, 4)
    assert abs(engine.now - 10 * SERVICE_S) < 1e-9
