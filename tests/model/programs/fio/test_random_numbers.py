"""The generators of the C library, of iozone and of fio, beside numbers that are known of them."""

from __future__ import annotations

import ctypes
import sys
from collections import Counter

import pytest

from raidsim.model.programs.fio.random import Pareto, Seed, Tausworthe, Tausworthe64, Zipf, file_seed, job_seeds
from raidsim.model.programs.fio.random_map import RandomMap
from raidsim.model.programs.glibc_random import GlibcRandom
from raidsim.model.programs.mersenne_twister_64 import MersenneTwister64


def test_the_c_library_after_srandom_1() -> None:
    """Protects bonnie's seeks: the first numbers of an unseeded program are known to everyone."""
    random = GlibcRandom(1)
    assert [random.draw() for _ in range(3)] == [1804289383, 846930886, 1681692777]
    assert GlibcRandom(0).draw() == 1804289383, "srandom(0) is srandom(1)"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compares with the GNU C library")
def test_the_c_library_itself_agrees() -> None:
    """Protects more than the first lap through the 31 words."""
    library = ctypes.CDLL(None)
    library.random.restype = ctypes.c_long
    for seed in (2, 26936, 2**31 + 5):
        library.srandom(ctypes.c_uint(seed))
        random = GlibcRandom(seed)
        assert [random.draw() for _ in range(200)] == [library.random() for _ in range(200)]


def test_the_64_bit_twister() -> None:
    """Protects iozone's order: the first numbers of the authors' test output."""
    random = MersenneTwister64((0x12345, 0x23456, 0x34567, 0x45678))
    assert [random.draw() for _ in range(3)] == [7266447313870364031, 4946485549665804864, 16945909448695747420]


def test_offsets_repeat_whatever_the_seed_is() -> None:
    """Protects fio's default: ``randseed`` changes no offset, and each job has offsets of its own."""
    one, other, second = job_seeds(1, 1), job_seeds(99, 1), job_seeds(1, 2)
    assert one[Seed.OFFSET] == other[Seed.OFFSET] != second[Seed.OFFSET]
    assert one[Seed.DIRECTION] != other[Seed.DIRECTION]
    assert job_seeds(1, 1, repeat=False)[Seed.OFFSET] != one[Seed.OFFSET], "the counter-test: randrepeat=0"


@pytest.mark.parametrize("generator", [Tausworthe(5), Tausworthe64(5)])
def test_numbers_below_a_limit_cover_it_evenly(generator: Tausworthe | Tausworthe64) -> None:
    """Protects both generators: ten classes get about a tenth each."""
    hits = Counter(generator.below(10) for _ in range(10_000))
    assert sorted(hits) == list(range(10))
    assert max(hits.values()) < 1.15 * min(hits.values())


def test_zipf_favours_some_blocks_and_scatters_them() -> None:
    """Protects the distribution: 14.7 % for the first of 16,384 blocks, less than half of that for the second."""
    zipf = Zipf(16_384, 1.1, 7)
    hits = Counter(zipf.draw() for _ in range(20_000)).most_common(2)
    assert hits[0][1] / 20_000 == pytest.approx(0.147, abs=0.01)
    assert hits[1][1] / hits[0][1] == pytest.approx(2**-1.1, abs=0.05)
    assert abs(hits[0][0] - hits[1][0]) > 1


def test_pareto_gives_most_accesses_to_few_blocks() -> None:
    """Protects the law of 80 and 20: h = 0.2."""
    pareto = Pareto(128, 0.2, 7)
    hits = sorted(Counter(pareto.draw() for _ in range(20_000)).values(), reverse=True)
    assert sum(hits[:25]) / 20_000 == pytest.approx(0.8, abs=0.02)


def test_the_hash_of_a_name_takes_all_its_last_letters() -> None:
    """Protects the seeds of files: names that differ only at the end, and long ones, differ."""
    names = ["f3", "f4", "./f3", "a" * 12, "a" * 13, "a" * 30, "b" + "a" * 29]
    assert len({file_seed(name, 1) for name in names}) == len(names)
    assert file_seed("f3", 2) == 2 * file_seed("f3", 1) % 2**32


def test_the_map_goes_on_at_the_start() -> None:
    """Protects the random map: the next free block, around the end, and none when all were had."""
    blocks = RandomMap(4)
    assert blocks.take(2, 5) == 2, "as far as the file goes"
    assert blocks.free_from(2) == 0
    assert blocks.take(0, 4) == 2, "up to the first that was had"
    assert blocks.free_from(1) is None
    blocks.clear()
    assert blocks.free_from(3) == 3
