"""The same scenario and seed give the same bits in any process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.phenomena.machine_variants import LINUX_26, MIB, THREE, Case, prediction

SAMPLE = Sample(write_bytes=2 * MIB, cycles=1)
PROGRAM = """
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.phenomena.machine_variants import Case, prediction
print(repr(prediction(Case({kernel!r}, "write", {targets!r}, {array!r}, seed={seed}), {sample!r})))
"""


def in_a_fresh_process(targets: tuple[str, ...], array: str | None, seed: int, hash_seed: str) -> str:
    """The prediction as text, with every digit, from an interpreter that hashes strings differently."""
    program = PROGRAM.format(kernel=LINUX_26, targets=targets, array=array, seed=seed, sample=SAMPLE)
    answer = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, env={"PYTHONHASHSEED": hash_seed}
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.parametrize(
    ("targets", "array"),
    [(THREE, None), (("md0",), "raid5-reconstructing-2.6"), (("md0",), "raid1-reconstructing-min10000")],
)
def test_two_processes_give_the_same_bits(targets: tuple[str, ...], array: str | None) -> None:
    """Protects reproducibility: nothing depends on hashes, addresses, the clock on the wall or what ran before."""
    first = in_a_fresh_process(targets, array, 7, "1")
    assert first == in_a_fresh_process(targets, array, 7, "2")
    assert first == repr(prediction(Case(LINUX_26, "write", targets, array, seed=7), SAMPLE))


def test_another_seed_gives_another_run_of_the_same_thing() -> None:
    """Protects the seed: it decides when the disks' batches of writes begin, and that moves a rate a little."""
    rates = [prediction(Case(LINUX_26, "write", THREE, seed=seed)).rate for seed in (1, 2, 3)]
    assert len(set(rates)) == 3
    assert max(rates) < 1.15 * min(rates)
