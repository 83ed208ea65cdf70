"""Directions, sizes, places and runs of a load; every seed is fixed."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from scipy import stats

from raidsim.model.core.random_streams import RandomStreams
from raidsim.model.core.request import READ, WRITE
from raidsim.model.loads.locality import Hot, Uniform
from raidsim.model.loads.pattern import Io, LoadPattern

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
SPAN = 3 * GIB + 5 * KIB
SIZES = ({4 * KIB: 0.6, 64 * KIB: 0.4}, {16 * KIB: 1.0})


def ios(pattern: LoadPattern, count: int = 40_000, span: int = SPAN, start: int = MIB, seed: int = 1) -> list[Io]:
    """The first I/Os of a job."""
    return list(islice(pattern.ios(RandomStreams(seed), "md0/load 0", start, span), count))


def test_reads_and_writes_have_their_shares_and_their_own_sizes() -> None:
    """70 % reads, of which 60 % of 4 KiB and 40 % of 64 KiB; all writes of 16 KiB."""
    seen = ios(LoadPattern(0.7, SIZES, Uniform()))
    reads = [size for op, _, size in seen if op == READ]
    assert len(reads) / len(seen) == pytest.approx(0.7, abs=0.01)
    assert {size for op, _, size in seen if op == WRITE} == {16 * KIB}
    assert reads.count(4 * KIB) / len(reads) == pytest.approx(0.6, abs=0.01)
    assert set(reads) == {4 * KIB, 64 * KIB}


def test_places_are_even_within_the_span_and_multiples_of_the_size() -> None:
    """Offsets count from the start of the span; the last I/O of every size still fits."""
    seen = ios(LoadPattern(0.7, SIZES, Uniform()))
    assert all((offset - MIB) % size == 0 and MIB <= offset <= MIB + SPAN - size for _, offset, size in seen)
    assert stats.kstest([(offset - MIB) / SPAN for _, offset, _ in seen], "uniform").pvalue > 0.01
    tight = ios(LoadPattern(1.0, ({64 * KIB: 1.0},) * 2, Uniform()), 1000, span=130 * KIB)
    assert {offset for _, offset, _ in tight} == {MIB, MIB + 64 * KIB}


def test_an_alignment_of_its_own() -> None:
    """64 KiB at multiples of 1 KiB, up to the last place where it fits."""
    seen = ios(LoadPattern(1.0, ({64 * KIB: 1.0},) * 2, Uniform(), align=KIB), span=68 * KIB)
    assert sorted({offset - MIB for _, offset, _ in seen}) == [0, KIB, 2 * KIB, 3 * KIB, 4 * KIB]


def test_sequential_io_follow_each_other_and_go_around() -> None:
    """Each begins where the one before has ended; what does not fit begins again at the start."""
    seen = ios(LoadPattern(0.5, SIZES, Uniform(), "sequential"), 1000, span=MIB + 512)
    offset = MIB
    for _, found, size in seen:
        if offset + size > 2 * MIB + 512:
            offset = MIB
        assert found == offset
        offset += size
    drawn = ios(LoadPattern(0.5, SIZES, Uniform()), 1000)
    assert [(op, size) for op, _, size in seen] == [(op, size) for op, _, size in drawn]


@pytest.mark.parametrize(("share", "length"), [(0.5, 8.0), (0.9, 2.0), (0.2, 50.0)])
def test_mixed_io_have_as_many_in_runs_as_told(share: float, length: float) -> None:
    """Share of the I/Os in runs and their mean length; runs have one direction and one size."""
    seen = ios(LoadPattern(0.7, SIZES, Uniform(), "mixed", sequential_share=share, run_length=length), 200_000)
    runs = [1]
    for before, after in pairwise(seen):
        if after[1] == before[1] + before[2]:
            assert (after[0], after[2]) == (before[0], before[2])
            runs[-1] += 1
        else:
            runs.append(1)
    long = [run for run in runs if run > 1]
    assert np.mean(long) == pytest.approx(length, rel=0.1)
    assert sum(long) / len(seen) == pytest.approx(share, rel=0.1)


def test_without_a_share_of_runs_mixed_is_random() -> None:
    """Counter-test: no I/O follows another."""
    mixed = ios(LoadPattern(0.7, SIZES, Uniform(), "mixed", sequential_share=0.0))
    assert mixed == ios(LoadPattern(0.7, SIZES, Uniform()))
    everything = ios(LoadPattern(1.0, SIZES, Uniform(), "mixed", sequential_share=1.0, run_length=2.0), 1000)
    assert all(
        second[1] in (first[1] + first[2], MIB) for first, second in zip(everything[::2], everything[1::2], strict=True)
    )


def test_the_nth_io_is_the_same_on_any_array() -> None:
    """Common random numbers: an array of another size stretches the places, and changes nothing else."""
    for order in ("random", "mixed"):
        pattern = LoadPattern(0.7, SIZES, Hot(0.8, 0.2, 10**6), order)
        small, large = ios(pattern, span=GIB), ios(pattern, span=3 * GIB)
        assert [(op, size) for op, _, size in small] == [(op, size) for op, _, size in large]
        if order == "random":
            shares = [
                [(offset - MIB) / span for _, offset, _ in found] for span, found in ((GIB, small), (3 * GIB, large))
            ]
            assert shares[0] == pytest.approx(shares[1], abs=64 * KIB / GIB)


def test_another_seed_or_job_has_other_ios() -> None:
    """Counter-test: nothing is the same by accident."""
    pattern = LoadPattern(0.7, SIZES, Uniform())
    assert ios(pattern, 100) == ios(pattern, 100)
    assert ios(pattern, 100) != ios(pattern, 100, seed=2)
    other = list(islice(pattern.ios(RandomStreams(1), "md0/load 1", MIB, SPAN), 100))
    assert other != ios(pattern, 100)
