"""What the programs of a step do, at full size and scaled down."""

from __future__ import annotations

from raidsim.model.programs.iozone import STRIDE
from raidsim.model.programs.operation import Kind
from raidsim.scenarios.programs.iozone import IozoneStep
from raidsim.scenarios.programs.step import Setting

KIB = 1024


def test_a_scaled_iozone_still_reads_by_strides() -> None:
    """Protects scaled runs: in the smallest file every second read of the phase is a stride after the one before."""
    step = IozoneStep(program="iozone", size=1 << 30, record=64 * KIB)
    run = step.run(Setting("/", 10**9, 4096, 1 << 30, lambda tree, _: tree))
    assert run.records == 2 * STRIDE
    read, phase = [], ""
    for operation in run.operations():
        if operation.kind is Kind.MARK:
            phase = operation.file
        elif phase == "stride read" and operation.kind is Kind.READ:
            read.append(operation.offset // (64 * KIB))
    assert read[:30] == [place for start in range(15) for place in (start, start + STRIDE)]
