"""What a command costs besides the mechanics: overheads by the command before, completion, watermark, data of writes.

The drive turns in 10 ms, has tracks of 1,000 sectors and an interface of 10 sectors a millisecond: data passes the head
ten times as fast as the interface.
"""

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.mechanics.geometry import SECTOR
from raidsim.model.disk.spec import DriveSpec

MS = 0.001
BUS_SECTOR = 0.1 * MS
SPEC = DriveSpec.model_validate(
    {
        "model": "of the test",
        "interface": "of the test",
        "interface_rate": SECTOR / BUS_SECTOR,
        "capacity": 1000 * 2 * 1000 * SECTOR,
        "rotation": 6000.0,
        "heads": 2,
        "outer_media_rate": 1.0,
        "inner_media_rate": 1.0,
        "zones": [{"cylinders": 1000, "sectors_per_track": 1000}],
        "seek_track_to_track": 5 * MS,
        "seek_average": 5 * MS,
        "seek_full_stroke": 5 * MS,
        "cylinder_skew": 0.0,
        "cache": 1 << 20,
        "segments": 2,
        "segment_size": 400 * SECTOR,
        "look_ahead": 300 * SECTOR,
        "look_ahead_first": 300 * SECTOR,
    }
)
FAR = 600 * 2000 * SECTOR
HIT = (READ, 10 * SECTOR, 10 * SECTOR)
MISS = (READ, FAR, 10 * SECTOR)
OUT = (WRITE, FAR, 10 * SECTOR)


def _responses(spec: DriveSpec, *commands: tuple[int, int, int]) -> list[float]:
    """Response times (s) of commands, each sent a tenth of a second after the one before is complete."""
    engine = Engine(1)
    disk = HardDisk(engine, spec, "disk")
    disk.media._phase = 0.0
    times: list[float] = []
    left = list(commands)

    def send(_: object) -> None:
        if left:
            disk.submit(Request(*left.pop(0), done))

    def done(request: Request) -> None:
        times.append(engine.now - request.submitted)
        # The platters stand where they stood at 0.
        engine.call_at(round(engine.now * 10 + 1) / 10, send)

    engine.call_at(0.0, send)
    engine.run()
    return times


FIRST = (READ, 0, 10 * SECTOR)


@pytest.mark.parametrize(
    ("command", "field"),
    [(MISS, "read_overhead"), (OUT, "write_overhead")],
)
def test_overheads_depend_on_the_command_before(command: tuple[int, int, int], field: str) -> None:
    """After a write a command takes the overhead measured there; without that figure, the same as after a read."""
    cached = {"write_cache": True, "write_buffer": 100 * SECTOR, field: 0.2 * MS}
    same = SPEC.with_values(**cached)
    differs = SPEC.with_values(**cached, **{f"{field}_after_write": 0.7 * MS})
    write = (WRITE, 500_000 * SECTOR, SECTOR)
    for before, extra in (((READ, 0, 20 * SECTOR), 0.0), (write, 0.5 * MS)):
        commands = (FIRST, before, command)
        base, changed = _responses(same, *commands)[-1], _responses(differs, *commands)[-1]
        if command is MISS:  # the platter absorbs what is short of a turn
            assert (changed - base) % 0.010 == pytest.approx(0.0, abs=1e-6)
            assert changed >= base
        else:
            assert changed - base == pytest.approx(extra, abs=1e-9)


def test_completion_follows_the_data() -> None:
    """A read and a write, cached or not, end so much later; the drive's next command too."""
    for fields in ({}, {"write_cache": True, "write_buffer": 100 * SECTOR}):
        spec = SPEC.with_values(**fields)
        slower = spec.with_values(read_completion=0.3 * MS, write_completion=0.4 * MS)
        commands = (FIRST, HIT, OUT)
        base, late = _responses(spec, *commands), _responses(slower, *commands)
        assert [after - before for before, after in zip(base, late, strict=True)] == pytest.approx(
            [0.3 * MS, 0.3 * MS, 0.4 * MS], abs=1e-9
        )


def test_watermark_holds_the_data_back() -> None:
    """Data of a miss goes out when one sector, or the share of the read, has passed the head; a hit's at once."""
    without = _responses(SPEC, FIRST, HIT)
    assert without == pytest.approx([10 * BUS_SECTOR, 10 * BUS_SECTOR], abs=1e-6)
    for share, sectors in ((0.0, 1), (0.5, 5), (1.0, 10)):
        found = _responses(SPEC.with_values(read_watermark=share), FIRST, HIT)
        assert found == pytest.approx([sectors * 0.01 * MS + 10 * BUS_SECTOR, 10 * BUS_SECTOR], abs=1e-6)


def test_the_last_sector_crosses_the_interface_after_it_was_read() -> None:
    """On an interface faster than the media a read ends a sector's transfer after its last sector has passed."""
    fast = SPEC.with_values(interface_rate=SECTOR / (0.001 * MS), read_watermark=0.0)
    assert _responses(fast, FIRST)[0] == pytest.approx(0.1 * MS + 0.001 * MS, abs=1e-6)


def test_data_of_a_write_may_come_after_the_arm_has_started() -> None:
    """To the sector under the head nothing is written before its data is there: the write loses a turn."""
    write = (WRITE, 0, SECTOR)
    # The head is on the track; its sector 0 passes at 0 and after a turn.
    assert _responses(SPEC, write)[0] == pytest.approx(0.010 + 0.01 * MS, abs=1e-5)
    near = (WRITE, 20 * SECTOR, SECTOR)  # passes after 0.2 ms; its data has come after 0.1 ms
    assert _responses(SPEC, near)[0] == pytest.approx(0.21 * MS, abs=1e-6)
    late = SPEC.with_values(write_data_overhead=0.3 * MS)
    assert _responses(late, near)[0] == pytest.approx(0.010 + 0.21 * MS, abs=1e-6)


def test_so_much_of_a_write_must_be_there_before_it_begins() -> None:
    """Five sectors that pass from 0.45 ms: four have come by then, at 0.1 ms each, and all five have not."""
    write = (WRITE, 45 * SECTOR, 5 * SECTOR)
    for sectors, waits in ((0, False), (4, False), (5, True), (100, True)):
        spec = SPEC.with_values(write_ahead=sectors * SECTOR)
        assert (_responses(spec, write)[0] > 0.009) is waits
