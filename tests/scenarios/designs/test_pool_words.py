"""A pool in a line, and its warnings."""

from __future__ import annotations

import pytest

from raidsim.scenarios.designs.pool_words import pool_words
from raidsim.scenarios.documents.document import document_from

EIGHT = "machine: {drives: {model: WD5000AAKS, count: 8}}\n"


def words(pool: str) -> list[str]:
    """What is said of a pool of eight drives."""
    return pool_words(document_from(f"{EIGHT}pools: {{tank: {pool}}}").spec())


def test_a_pool_in_a_line() -> None:
    """Equal vdevs are counted; uses other than data are named; what is lost is told."""
    mirrors = words("{vdevs: mirror disk0 disk1 mirror disk2 disk3 log disk4, failed: [disk0]}")
    assert mirrors == ["tank: 2 x mirror of 2, log of 1, ashift 12, 899 GiB usable, 1 lost"]
    (raidz,) = words(
        "{vdevs: raidz2 disk0 disk1 disk2 disk3 disk4 disk5 log mirror disk6 disk7, datasets: {a: {file: 1GB}}}"
    )
    assert raidz.startswith("tank: raidz2 of 6, log mirror of 2, ashift 12, ")
    assert words("{vdevs: disk0 disk1}")[0].startswith("tank: stripe of 2, ")


def test_warnings_follow() -> None:
    """A warning names its pool."""
    _, warning = words("{vdevs: mirror disk0 disk1 special disk2}")
    assert warning == "warning: tank: a special vdev without redundancy: the whole pool is lost with it"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("failed: 1", "1 lost"),
        ("rebuilding: 1, scan: {done: 30%}", "1 being resilvered, 30% done"),
        ("failed: 2, rebuilding: 1", "1 lost, 1 being resilvered, 0% done"),
        ("scan: {action: scrub, done: 0.5}", "scrub, 50% done"),
    ],
)
def test_the_state_of_a_pool(state: str, told: str) -> None:
    """Lost members, and how far a scan is."""
    (line,) = words(f"{{vdevs: raidz2 disk0 disk1 disk2 disk3, {state}, datasets: {{a: {{file: 1GB}}}}}}")
    assert line.endswith(f"usable, {told}")
