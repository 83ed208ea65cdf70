"""What a fuzzer found once stays found: every reader over its corpus, and over damage that is done to it."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.tests.fuzz.check import LONGEST, trial
from raidsim.tests.fuzz.mutations import grown, mutated
from raidsim.tests.fuzz.replay import inputs
from raidsim.tests.fuzz.seeds import CORPUS, seeds
from raidsim.tests.fuzz.targets import TARGETS, Target

MOST_BYTES = 300_000
BUSY_S = 3.0
"""What a second of CPU time may come to on a busy machine, whose cores share their caches."""
KNOWN = seeds()


def test_the_corpus_is_small_and_of_known_readers() -> None:
    """Protects the size of a checkout, and the corpus of a reader whose name was changed."""
    assert {path.name for path in CORPUS.iterdir()} == TARGETS.keys()
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    assert len(files) > len(TARGETS)


def test_every_input_of_the_corpus_is_read_or_refused() -> None:
    """Protects from former crashes: one clear message or none, in a second, and all in 600 MB of memory."""
    command = [sys.executable, "-m", "raidsim.tests.fuzz.replay"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs_are_read_or_refused(name: str) -> None:
    """Protects from the next crash: whatever is cut, doubled or put in, the same holds."""
    target = TARGETS[name]
    known = [*KNOWN[name], *inputs(name)]
    trial(target, known[0], 10.0)  # loads what it needs

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(known) - 1), st.integers(0, 2**32))
    def read(number: int, seed: int) -> None:
        data = mutated(known[number], random.Random(seed), known, target.packed)
        finding = trial(target, data, BUSY_S)
        assert finding is None, f"{finding.kind}: {finding.words}\n{data!r}"

    read()


def refuses(error: Exception) -> Target:
    """A reader that always fails in one way."""

    def read(data: bytes) -> object:
        raise error

    return Target(read)


def never_ends(data: bytes) -> object:
    """A reader that hangs."""
    while True:
        data = data[:1]


def test_what_a_reader_must_not_do_is_noticed() -> None:
    """The counter-test: a traceback, a hang, too much memory, and messages that say nothing, too much or escapes."""
    assert trial(refuses(InputError("x:1", "found y", "expected: z")), b"") is None
    kinds = {
        "exception": refuses(ValueError("x")),
        "message": refuses(InputError("x:1", "", "expected: z")),
        "slow": Target(never_ends),
    }
    for kind, target in kinds.items():
        finding = trial(target, b"", 0.05)
        assert finding is not None
        assert finding.kind == kind
    kept: list[bytearray] = []
    much = trial(Target(lambda data: kept.append(bytearray(b"x") * (64 << 20))), b"", most_bytes=32 << 20)
    assert much is not None
    assert much.kind == "memory"
    assert trial(Target(bytearray), b"", most_bytes=32 << 20) is None, "what another input took before does not count"


def test_messages_end_no_line_and_do_nothing_to_a_terminal() -> None:
    """Protects who reads a message about a hostile file: what is not printable is shown as an escape or a blank."""
    error = InputError("a\x1b[2Jb:1", "found 'x\ny'", "expected: \u2028")
    assert str(error) == "a\\x1b[2Jb:1: found 'x y'; expected:  "
    assert error.place == "a\x1b[2Jb:1"
    assert str(InputError("ä:1", "found 'ü ö'", "expected: z")) == "ä:1: found 'ü ö'; expected: z"


def test_messages_about_long_things_are_short() -> None:
    """Protects whoever reads a message about a line of a megabyte: both ends of it say which one it is."""
    text = str(InputError(f"{'p' * 5000}.yaml:7", f"found '{'x' * 1_000_000}y'", "expected: z"))
    assert len(text) < 1200
    assert "p.yaml:7: found 'xxx" in text
    assert text.endswith("xy'; expected: z")


@pytest.mark.parametrize("name", TARGETS)
def test_long_inputs_are_read_in_time(name: str) -> None:
    """Protects from quadratic time: a piece of an input repeated until it is 64 KiB long takes no second."""
    rng = random.Random(7)
    target = TARGETS[name]
    for _ in range(3):
        data = grown(rng.choice(KNOWN[name]), rng, LONGEST)
        finding = trial(target, data, BUSY_S)
        assert finding is None, f"{finding.kind}: {finding.words}\n{data[:200]!r}"
