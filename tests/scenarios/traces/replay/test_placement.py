"""What is known of a trace before it is replayed, and where its I/Os go."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import FLUSH, READ, TRIM, WRITE
from raidsim.model.loads.trace_ios import TraceIos
from raidsim.scenarios.traces.formats.record import TraceColumns, TraceRecord, columns_of
from raidsim.scenarios.traces.replay.placement import PIECE, Fit, Placement, Selection, Survey, TraceMemory, placed

KIB, MIB = 1 << 10, 1 << 20


def record(time_s: float = 0.0, offset: int = 0, size: int = 4 * KIB, device: str = "a", op: int = READ) -> TraceRecord:
    """One I/O."""
    return TraceRecord(time_s, op, offset, size, device)


def survey(*records: TraceRecord) -> Survey:
    """Of all of them."""
    return Survey.of(Selection().of(columns_of(records)))


def sent(parts: Iterable[TraceIos]) -> list[tuple[float, int, int, int]]:
    """The I/Os one by one."""
    return [io for part in parts for io in zip(part.times_s, part.ops, part.offsets, part.sizes, strict=True)]


def places(*records: TraceRecord, capacity: int, fit: Fit = "refuse") -> list[tuple[int, int]]:
    """Where they go on a device of so many bytes."""
    found = survey(*records)
    place = Placement(found, "md0", capacity, fit)
    ios = sent(placed(lambda: columns_of(records), Selection(), found, place))
    return [(offset, size) for _, _, offset, size in ios]


def test_a_survey_counts() -> None:
    """I/Os, bytes and devices; parts of sectors, records of nothing and steps back in time are counted."""
    found = survey(
        record(0.0, 0),
        record(2.0, 100, 600, "b", WRITE),
        record(1.0, 8 * KIB, 512, "a"),
        record(3.0, 0, 0, "c"),
    )
    assert (found.records, found.reads, found.bytes, found.length_s) == (3, 2, 4096 + 1024 + 512, 2.0)
    assert (found.unaligned, found.empty, found.earlier) == (1, 1, 1)
    assert {name: extent.end for name, extent in found.devices.items()} == {"a": 8 * KIB + 512, "b": 1024}


@pytest.mark.parametrize("special", ["none", "device", "discard", "flush", "earlier", "unaligned", "empty"])
def test_a_survey_of_a_batch_is_that_of_its_records(special: str) -> None:
    """Protects a survey in batches from counting anything differently than one record after the other."""
    draws = random.Random(special)
    records = [record(0.1 * number, draws.randrange(100) * KIB, op=draws.choice([READ, WRITE])) for number in range(9)]
    changes: dict[str, dict[str, Any]] = {
        "device": {"device": "b"},
        "discard": {"op": TRIM},
        "flush": {"op": FLUSH},
        "earlier": {"time_s": 0.05},
        "unaligned": {"offset": 511},
        "empty": {"size": 0},
    }
    records[5] = records[5]._replace(**changes.get(special, {}))
    found = []
    for most in (1, 4, 9):
        memory = TraceMemory()
        surveyed = Survey.of(Selection().of(columns_of(records, most)), memory)
        found.append((surveyed, [each for part in memory.columns() for each in part.records()]))
    assert found[0] == found[1] == found[2]
    assert [each.size > 0 for each in found[0][1]].count(True) == found[0][0].records


def test_what_is_chosen() -> None:
    """One device, its first records, the first seconds; time begins with the first that is chosen."""
    records = [record(0.0, device="b"), *(record(10.0 + number) for number in range(5))]
    for most in (1, 4, 100):
        parts = list(Selection("a", limit=3).of(columns_of(records, most)))
        assert [number for part in parts for number in part.numbers.tolist()] == [2, 3, 4]
        assert [time for part in parts for time in part.ios.times_s.tolist()] == [0.0, 1.0, 2.0]
        parts = list(Selection("a", last_s=1.5).of(columns_of(records, most)))
        assert [time for part in parts for time in part.ios.times_s.tolist()] == [0.0, 1.0]


def test_parts_of_sectors_are_rounded_outwards() -> None:
    """Every sector that an I/O touches is moved whole."""
    assert places(record(0.0, 511, 2), record(0.0, 1024, 512), capacity=MIB) == [(0, 1024), (1024, 512)]


def test_beyond_the_end_is_refused() -> None:
    """The I/O that reaches furthest and the capacity are named; a trace that just fits is taken."""
    assert places(record(0.0, 60 * KIB), capacity=64 * KIB) == [(60 * KIB, 4 * KIB)]
    with pytest.raises(InputError, match=r"I/O 2 \(device a\) ends at byte 69632; .*md0, which has 65536 bytes"):
        places(record(), record(0.0, 64 * KIB), record(), capacity=64 * KIB)


def test_wrapping_begins_anew_at_the_start() -> None:
    """An I/O that would straddle the end is the last one before it."""
    offsets = (0, 60 * KIB, 64 * KIB, 130 * KIB, 62 * KIB)
    found = places(*(record(0.0, offset) for offset in offsets), capacity=64 * KIB, fit="wrap")
    assert [offset // KIB for offset, _ in found] == [0, 60, 0, 2, 60]


def test_scaling_keeps_what_follows_each_other() -> None:
    """Within a MiB I/Os stay in order; the whole is drawn together, and what fits already stays as it is."""
    records = [record(0.0, offset, 64 * KIB) for offset in range(8 * PIECE, 9 * PIECE, 64 * KIB)]
    last = record(0.0, 16 * PIECE - 64 * KIB, 64 * KIB)
    found = places(*records, last, capacity=4 * PIECE, fit="scale")
    assert [offset for offset, _ in found] == [*range(2 * PIECE, 3 * PIECE, 64 * KIB), 4 * PIECE - 64 * KIB]
    assert places(*records, last, capacity=16 * PIECE, fit="scale")[0][0] == 8 * PIECE


def test_several_devices_lie_side_by_side() -> None:
    """Each has an equal part, in the order of their first I/Os; what fits the whole but no part is refused."""
    records = (record(device="b"), record(offset=PIECE, device="a"), record(device="c"))
    assert places(*records, capacity=10 * PIECE) == [(0, 4096), (4 * PIECE, 4096), (6 * PIECE, 4096)]
    with pytest.raises(InputError, match=r"each of 3 equal parts of md0 \(1048576 bytes\).*one --device"):
        places(*records, capacity=5 * PIECE)


@pytest.mark.parametrize("fit", ["refuse", "wrap", "scale"])
def test_an_io_larger_than_the_target_is_refused(fit: Fit) -> None:
    """No way of fitting makes room for it."""
    with pytest.raises(InputError, match="an I/O of 131072 bytes of device a"):
        places(record(0.0, 0, 128 * KIB), capacity=64 * KIB, fit=fit)


@pytest.mark.parametrize(("most", "read"), [(3, 1), (2, 2)])
def test_a_short_trace_is_read_once(most: int, read: int) -> None:
    """What is remembered is what would be read; a trace that is too long for that is read again."""
    records = [record(0.0, MIB, device="b"), record(1.0, 0, 0), record(1.0, 0, 512, op=WRITE), record(2.0, 8 * KIB)]
    passes = 0

    def source() -> Iterator[TraceColumns]:
        nonlocal passes
        passes += 1
        return columns_of(records)

    memory, selection = TraceMemory(most), Selection()
    found = Survey.of(selection.of(source()), memory)
    place = Placement(found, "md0", 4 * MIB)
    assert sent(placed(source, selection, found, place, memory)) == [
        (0.0, READ, MIB, 4 * KIB),
        (1.0, WRITE, 2 * MIB, 512),
        (2.0, READ, 2 * MIB + 8 * KIB, 4 * KIB),
    ]
    assert passes == read


def test_ios_that_stay_are_taken_as_they_are() -> None:
    """Protects the fast way of a trace of one device that fits: every I/O goes to where it went."""
    records = [record(0.5 * number, number * MIB, op=WRITE) for number in range(4)]
    memory = TraceMemory()
    place = Placement(Survey.of(Selection().of(columns_of(records)), memory), "md0", 4 * MIB)
    assert place.stays
    taken = sent(placed(lambda: columns_of(records), Selection(), Survey(), place, memory))
    assert taken == [(each.time_s, each.op, each.offset, each.size) for each in records]
    assert not Placement(survey(record(offset=511)), "md0", 4 * MIB).stays
    assert not Placement(survey(record(offset=8 * MIB)), "md0", 4 * MIB, "wrap").stays
    assert not Placement(survey(*records, record(5.0, device="b")), "md0", 8 * MIB).stays
