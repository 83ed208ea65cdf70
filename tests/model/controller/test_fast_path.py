"""Commands that go past the firmware of a controller."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.controller.drive_queue import FAST_PATH, DriveOrder, DriveQueue
from raidsim.model.controller.firmware import Firmware
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.controller.controller_bench import CHUNK, COMMAND_S, ControllerBench
from raidsim.tests.model.recording import KIB, Recorder

FAST_S = 2e-6
THROUGH: dict[str, Any] = {"write_policy": "write-through", "keeps_reads": False, "fast_path": FAST_S}


def firmware_s(op: int, offset: int, size: int, level: str = "raid5", failed: bool = False, **settings: Any) -> float:
    """Time (s) of the firmware for one command, whose member commands cost nothing here."""
    bench = ControllerBench(level, **{**THROUGH, **settings})
    if failed:
        bench.array.fail(1)
    bench.issuer.send(op, offset, size)
    bench.run(1.0)
    return bench.firmware.cpu.busy_s


@pytest.mark.parametrize(("level", "op"), [("raid5", READ), ("raid0", READ), ("raid0", WRITE)])
def test_what_one_drive_serves_takes_the_fast_path(level: str, op: int) -> None:
    """Protects the path: a read within a chunk, and a write to a stripe without parity, cost its time."""
    assert firmware_s(op, CHUNK, 4 * KIB, level) == pytest.approx(FAST_S)
    assert firmware_s(op, CHUNK, CHUNK, level) == pytest.approx(FAST_S)


@pytest.mark.parametrize(
    ("op", "offset", "changes"),
    [
        (WRITE, 0, {}),
        (READ, CHUNK - 2 * KIB, {}),
        (WRITE, CHUNK - 2 * KIB, {"level": "raid0"}),
        (READ, 0, {"failed": True}),
        (READ, 0, {"fast_path": 0.0}),
        (READ, 0, {"keeps_reads": True}),
        (READ, 0, {"read_ahead_rows": 2}),
        (READ, 0, {"write_policy": "write-back"}),
        (WRITE, 0, {"level": "raid0", "write_policy": "write-back"}),
    ],
)
def test_all_else_asks_the_firmware(op: int, offset: int, changes: dict[str, Any]) -> None:
    """Counter-tests: parity, two chunks, a lost member, and whatever may have data in memory."""
    assert firmware_s(op, offset, 4 * KIB, **changes) >= COMMAND_S


def test_a_failed_battery_opens_the_path() -> None:
    """Protects write-back without a battery: it is write-through, so nothing is in memory."""
    assert firmware_s(READ, 0, 4 * KIB, write_policy="write-back", battery="failed") == pytest.approx(FAST_S)


def test_without_any_memory_the_path_is_open() -> None:
    """Protects the policy "off": nothing is kept, whatever the other settings are."""
    changes: dict[str, Any] = {"write_policy": "off", "keeps_reads": True, "read_ahead_rows": 2}
    assert firmware_s(READ, 0, 4 * KIB, **changes) == pytest.approx(FAST_S)


@pytest.mark.parametrize(("issuer", "commands"), [(1, 1), (1 + FAST_PATH, 0)])
def test_a_drives_command_costs_nothing_on_it(issuer: int, commands: int) -> None:
    """Protects the firmware from commands that it does not send. Counter-test: those of anybody else."""
    engine = Engine()
    firmware = Firmware(engine, "cpu", replace(FREE, command_s=COMMAND_S))
    disk = Recorder(engine)
    queue = DriveQueue(engine, firmware, disk, DriveOrder(512 * KIB, 0.1), 8, 1 << 60, 1 << 60, None)
    done: list[Request] = []
    queue.submit(Request(READ, 0, 4 * KIB, done.append, issuer))
    engine.run()
    assert len(done) == len(disk.sent(READ)) == 1
    assert firmware.cpu.busy_s == pytest.approx(commands * COMMAND_S)


def test_the_fast_path_has_no_latency_of_the_firmware() -> None:
    """Protects what the path is for; counter-test: a write to parity, which the firmware serves, has it."""
    for op, added in ((READ, 0.0), (WRITE, 25e-6)):
        ends = []
        for latency in (0.0, 25e-6):
            bench = ControllerBench(**THROUGH, latency=latency)
            bench.issuer.send(op, 0, 4 * KIB)
            bench.run()
            ends.append(bench.issuer.done[0][0])
        assert ends[1] - ends[0] == pytest.approx(added)
