"""The I/Os of fio jobs. Recorded jobs are compared I/O by I/O in tests/validation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import pytest

from raidsim.model.programs.fio.job import FioJob, JobFile, Part, Sizes
from raidsim.model.programs.fio.offsets import FioOffsets, iolog
from raidsim.model.programs.operation import Kind, Operation

KIB = 1024
MIB = 1024 * 1024
BLOCK = Sizes(4 * KIB, 4 * KIB)


def job(**changes: Any) -> FioJob:
    """A job that reads 1 MiB in random order, with changes."""
    files = (JobFile("f", changes.get("size", MIB)),)
    base = FioJob(files, reads=True, writes=False, random=True, sizes=(BLOCK, BLOCK, BLOCK), size=MIB)
    return replace(base, **changes)


def moves(made: FioJob, limit: int | None = None) -> list[Operation]:
    """Its reads and writes."""
    found = (each for each in FioOffsets(made).operations() if each.kind in (Kind.READ, Kind.WRITE))
    return list(islice(found, limit))


def test_a_random_job_has_every_block_once() -> None:
    """Protects the random map."""
    offsets = [each.offset for each in moves(job())]
    assert sorted(offsets) == list(range(0, MIB, 4 * KIB))
    assert offsets != sorted(offsets)


def test_without_the_map_blocks_come_again() -> None:
    """The counter-test: norandommap."""
    offsets = [each.offset for each in moves(job(norandommap=True))]
    assert len(offsets) == 256
    assert 130 < len(set(offsets)) < 190, "1 - 1/e of 256"


def test_a_sequential_job_with_a_skip_leaves_gaps() -> None:
    """Protects "read:12k"."""
    offsets = [each.offset for each in moves(job(random=False, skip=12 * KIB, io_size=64 * KIB))]
    assert offsets == list(range(0, 256 * KIB, 16 * KIB))


def test_offsets_are_counted_from_the_start_of_the_job() -> None:
    """Protects ``offset``: the second half of the file."""
    made = job(files=(JobFile("f", 2 * MIB),), offset=MIB)
    assert sorted(each.offset for each in moves(made)) == list(range(MIB, 2 * MIB, 4 * KIB))


def test_sequential_ones_between_random_ones() -> None:
    """Protects "randread:8": seven of eight I/Os continue the one before."""
    offsets = [each.offset for each in moves(job(every=8), 80)]
    continued = [later == before + 4 * KIB for before, later in pairwise(offsets)]
    assert [all(continued[start : start + 7]) for start in range(0, 80, 8)] == [True] * 10
    same = [each.offset for each in moves(job(every=4, identical=True), 8)]
    assert same[0] == same[1] == same[2] == same[3] != same[4], "the counter-test: rw_sequencer=identical"


def test_a_mix_has_its_share_of_reads() -> None:
    """Protects ``rwmixread``; the directions share the random map."""
    found = moves(job(writes=True, rwmixread=70, size=4 * MIB))
    reads = sum(each.kind is Kind.READ for each in found)
    assert reads / len(found) == pytest.approx(0.7, abs=0.04)
    assert len({each.offset for each in found}) == len(found) == 1024


def test_sequential_reads_and_writes_have_places_of_their_own() -> None:
    """Protects rw=rw: each direction begins at 0, and both together are the size."""
    found = moves(job(random=False, writes=True))
    for kind in (Kind.READ, Kind.WRITE):
        offsets = [each.offset for each in found if each.kind is kind]
        assert offsets == list(range(0, len(offsets) * 4 * KIB, 4 * KIB))
    assert sum(each.size for each in found) == MIB


def test_some_of_a_random_job_may_be_sequential() -> None:
    """Protects ``percentage_random=30``: seven of ten continue."""
    made = job(norandommap=True, percentage_random=(30, 30, 30), size=4 * MIB, io_size=4 * MIB)
    offsets = [each.offset for each in moves(made)]
    continued = sum(later == before + 4 * KIB for before, later in pairwise(offsets))
    assert continued / len(offsets) == pytest.approx(0.7, abs=0.06)


def test_sizes_come_in_their_shares_and_fit_the_map() -> None:
    """Protects ``bssplit``: every byte once, the small size most often."""
    sizes = Sizes(4 * KIB, 16 * KIB, (Part(16 * KIB, 20), Part(4 * KIB, 80)))
    found = moves(job(sizes=(sizes, sizes, sizes), size=4 * MIB))
    assert sum(each.size for each in found) == 4 * MIB
    assert len({each.offset for each in found}) == len(found)
    hits = Counter(each.size for each in found)
    assert hits[4 * KIB] > 2 * hits[16 * KIB] > 0
    free = moves(job(sizes=(sizes, sizes, sizes), size=4 * MIB, norandommap=True, io_size=4 * MIB))
    share = sum(each.size == 4 * KIB for each in free) / len(free)
    assert share == pytest.approx(0.8, abs=0.04), "the counter-test: without the map nothing is cut"


def test_a_range_of_sizes_stays_within_it() -> None:
    """Protects ``bsrange``: multiples of the smallest, none beyond the largest."""
    sizes = Sizes(4 * KIB, 16 * KIB)
    found = {each.size for each in moves(job(sizes=(sizes, sizes, sizes), norandommap=True, io_size=MIB))}
    assert found == {4 * KIB, 8 * KIB, 12 * KIB, 16 * KIB}


def test_zones_get_their_accesses() -> None:
    """Protects ``zoned``: half of the I/Os in a tenth of the file."""
    made = job(norandommap=True, zones=(Part(10, 50), Part(90, 50)), size=4 * MIB)
    found = moves(made)
    inside = sum(each.offset < 0.1 * 4 * MIB for each in found) / len(found)
    assert inside == pytest.approx(0.5, abs=0.05)


def test_a_skewed_job_has_a_favourite() -> None:
    """Protects ``zipf`` and ``pareto``."""
    for made in (job(norandommap=True, theta=1.2), job(norandommap=True, h=0.1)):
        hits = Counter(each.offset for each in moves(made))
        assert hits.most_common(1)[0][1] > 15


def test_a_seed_moves_the_favourite_no_more_than_it_should() -> None:
    """Protects the seed of skewed jobs: from the name of the file, or from ``randseed``'s job number."""
    favourite = [
        Counter(each.offset for each in moves(made)).most_common(1)[0][0]
        for made in (
            job(norandommap=True, theta=1.5),
            job(norandommap=True, theta=1.5, files=(JobFile("g", MIB),)),
            job(norandommap=True, theta=1.5, randseed=1),
            job(norandommap=True, theta=1.5, randseed=2, files=(JobFile("g", MIB),)),
        )
    ]
    assert favourite[0] != favourite[1]
    assert favourite[2] == favourite[3]


def test_a_job_by_the_clock_goes_on() -> None:
    """Protects ``time_based``: each pass has every block once."""
    found = [each.offset for each in moves(job(time_based=True), 512)]
    assert sorted(found[:256]) == sorted(found[256:]) == list(range(0, MIB, 4 * KIB))
    assert found[:256] != found[256:]
    in_order = [each.offset for each in moves(job(time_based=True, random=False), 300)]
    assert in_order[255:258] == [MIB - 4 * KIB, 0, 4 * KIB]


def test_more_to_do_than_there_is_takes_another_pass() -> None:
    """Protects ``io_size``: a second pass repeats the first, unless a seed was given."""
    first, again = (moves(job(io_size=2 * MIB, randseed=seed)) for seed in (None, 3))
    assert [each.offset for each in first[:256]] == [each.offset for each in first[256:]]
    assert [each.offset for each in again[:256]] != [each.offset for each in again[256:]]
    assert len(first) == len(again) == 512


def test_files_take_turns_and_are_closed_when_done() -> None:
    """Protects several files: two open at a time, eight I/Os on each, syncs counted among them."""
    files = tuple(JobFile(f"f{number}", 256 * KIB) for number in range(4))
    made = job(files=files, reads=False, writes=True, openfiles=2, service=8, fdatasync=4)
    log = list(iolog(FioOffsets(made).operations()))
    assert [line for line in log if line.endswith(("open", "close"))] == [
        *("f0 open", "f1 open", "f0 close", "f1 close", "f2 open", "f3 open", "f2 close", "f3 close"),
    ]
    turns = [line.split()[0] for line in log if not line.endswith(("open", "close"))][:32]
    assert turns == ["f0"] * 8 + ["f1"] * 8 + ["f0"] * 8 + ["f1"] * 8
    assert sum("datasync" in line for line in log) == 63, "none after the last four"


def test_a_job_may_sync_fully() -> None:
    """Protects ``fsync``."""
    log = list(iolog(FioOffsets(job(reads=False, writes=True, fsync=100)).operations()))
    assert sum(" sync " in line for line in log) == 2
