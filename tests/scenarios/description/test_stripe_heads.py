"""How far a stripe cache has grown: what a scenario may say, and what it gives."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.raid.parity.array import ParityArray
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: {kernel}
machine: {{model: server, drives: {{model: Exos-X18-16TB, count: 4}}}}
arrays: {{md0: {{level: {level}, {options} resync: {{action: check{heads}}}}}}}
workload: {{kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1s}}
"""


def built(heads: int | None, kernel: str = "linux-6.1", level: str = "raid5", options: str = "") -> BuiltMachine:
    """The machine of a scenario with a check."""
    said = "" if heads is None else f", stripe_heads: {heads}"
    return BuiltMachine(document_from(TEXT.format(heads=said, kernel=kernel, level=level, options=options)).spec())


@pytest.mark.parametrize(
    ("heads", "kernel", "level", "options", "words"),
    [
        (4096, "linux-6.1", "raid10", "", ["raid10", "raid4, raid5 or raid6"]),
        (4096, "linux-3.10", "raid5", "", ["4096 on linux-3.10", "expected: 256 to 256"]),
        (128, "linux-6.1", "raid5", "", ["128 on linux-6.1", "expected: 256 to 32768"]),
        (300, "linux-6.1", "raid6", "stripe_cache: 512,", ["300 on linux-6.1", "expected: 512 to 32768"]),
        (40000, "linux-6.1", "raid5", "", ["40000", "32768"]),
    ],
)
def test_what_no_stripe_cache_can_be(heads: int, kernel: str, level: str, options: str, words: list[str]) -> None:
    """Protects the message: the field, what was found, and from how many to how many heads there may be."""
    with pytest.raises(InputError) as caught:
        built(heads, kernel, level, options)
    assert "stripe_heads" in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_resync_begins_with_the_heads_that_it_says() -> None:
    """Protects the field: the array's cache has this number of heads, and it may grow further."""
    (array,) = built(4096).arrays.values()
    assert isinstance(array, ParityArray)
    assert (array.cache.heads, array.cache.most_heads) == (4096, 32768)


@pytest.mark.parametrize(
    ("kernel", "options", "heads"),
    [("linux-6.1", "", 8192), ("linux-6.1", "stripe_cache: 16384,", 16384), ("linux-3.10", "", 256)],
)
def test_a_resync_is_looked_at_when_its_cache_has_grown(kernel: str, options: str, heads: int) -> None:
    """Protects what a rebuild of hours is predicted from: its cache has grown, if the kernel has one that does."""
    (array,) = built(None, kernel, "raid5", options).arrays.values()
    assert isinstance(array, ParityArray)
    assert array.cache.heads == heads
