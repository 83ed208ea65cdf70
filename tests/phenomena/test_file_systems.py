"""Why file systems differ on many small files, what encryption costs, and what a chunk is to a mirror."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import machine_document

TREE = {"files": 700, "bytes": "8500kB"}
STEPS = ({"program": "tar-x", "tree": TREE}, {"program": "remount"}, {"program": "tar-c", "tree": TREE})


@cache
def prediction(kind: str, on: str = "sda", directories: str = "", chunk: str = "64KiB", rate: str = "") -> Prediction:
    """A tree is unpacked on a file system, and read after a mount.

    Parameters
    ----------
    kind, directories
        The file system, and how it chooses groups for directories if not in its own way.
    on
        "sda", "raid1" or "raid0" of two drives.
    rate
        Of a cipher between the file system and the device.
    """
    # The tree is as if it came from a file system that lists its names in the same order.
    mount: dict[str, Any] = {"kind": kind, "on": "crypt" if rate else on, "size": "16GiB"}
    mount["overrides"] = {"listing": "as made", **({"directories": directories} if directories else {})}
    document: dict[str, Any] = {
        "name": "phenomenon",
        "machine": machine_document(memory="256MiB"),
        "kernel": "linux-2.6.8",
        "file_systems": {"/data": mount},
        "workload": {"kind": "programs", "steps": list(STEPS)},
    }
    if on != "sda":
        document["arrays"] = {on: {"level": on, "members": ["sda", "sdb"], "chunk": chunk}}
    if rate:
        document["encrypted"] = {"crypt": {"on": on, "kind": "cryptoloop", "rate": rate, "source": "made up"}}
    return simulate(validate(ScenarioSpec, document), Sample(scale=1))


def reading(kind: str, directories: str = "") -> float:
    """Seconds to read the tree."""
    return prediction(kind, directories=directories).figures["tar-c.seconds"]


@pytest.mark.parametrize("kind", ["jfs", "xfs"])
def test_directories_spread_over_the_disk_make_reading_many_files_slow(kind: str) -> None:
    """JFS and XFS put every directory into the next allocation group, so reading a tree seeks across the whole disk for
    each; reiserfs keeps them together. The cause: with reiserfs's rule they read much faster, and nearly like it.
    """
    assert reading(kind) > 1.8 * reading("reiserfs")
    assert reading(kind, "inherit") < 0.75 * reading(kind)


def test_reiserfs_is_slow_where_its_directories_are_spread() -> None:
    """The same the other way round: reiserfs with the rule of JFS and XFS loses what it had before them."""
    assert reading("reiserfs", "rotor") > 1.5 * reading("reiserfs")


def test_a_slow_cipher_is_what_limits() -> None:
    """Encryption is CPU time: with a slow cipher half the rate takes twice as long and the CPU is the bottleneck; one
    that is fast against the disk costs next to nothing.
    """
    fastest, fast, slow, slower = (prediction("reiserfs", rate=rate) for rate in ("20GB/s", "2GB/s", "2MB/s", "1MB/s"))
    reading = "tar-c.seconds"
    assert fast.figures[reading] == pytest.approx(fastest.figures[reading], rel=0.01)
    assert slower.figures[reading] == pytest.approx(2 * slow.figures[reading], rel=0.15)
    assert slower.bottleneck.startswith("cpu")
    # What is written twice, by the file system and by the loop device, leaves the drive with more to do at first.
    assert fast.figures[reading] == pytest.approx(prediction("reiserfs").figures[reading], rel=0.25)


def test_a_chunk_is_nothing_to_a_mirror() -> None:
    """RAID 1 has no chunks: whatever their size is said to be, all comes out the same to the bit. RAID 0 has them: its
    reads and writes change.
    """
    assert prediction("reiserfs", "raid1", chunk="4KiB") == prediction("reiserfs", "raid1", chunk="4MiB")
    striped = [prediction("reiserfs", "raid0", chunk=chunk) for chunk in ("4KiB", "4MiB")]
    assert striped[0].figures != striped[1].figures
