"""Classes of cells: what a residual is sorted by comes from the run's scenario."""

from __future__ import annotations

import pytest

from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.files.description_errors import validate
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.cell_classes import CellClass, cell_classes


@pytest.fixture(scope="module")
def gentoo() -> dict[str, CellClass]:
    """Raw devices, arrays in every state, trees on file systems, ciphers."""
    return cell_classes(load_study("gentoo-2004"))


@pytest.mark.parametrize(
    ("name", "level", "processes", "kind"),
    [
        ("2.6.8/hde/read", "single drive", 1, "sequential read"),
        ("2.6.8/hde+hdg/write", "drives side by side", 2, "sequential write"),
        ("2.4.26/raid5/write", "RAID 5", 1, "sequential write"),
        ("2.6.8/raid1-failed/read", "RAID 1, degraded", 1, "sequential read"),
        ("2.4.26/raid5-reconstructing/read", "RAID 5, rebuilding", 1, "sequential read"),
        ("2.6.7/tar/ext2/read", "RAID 1", 1, "files, reading"),
    ],
)
def test_level_load_and_kind(gentoo: dict[str, CellClass], name: str, level: str, processes: int, kind: str) -> None:
    """An array that lost a member is a class of its own, and so are several drives at once."""
    known = gentoo[name]
    assert (known.level, known.processes, known.kind.name) == (level, processes, kind)
    assert known.kernel == f"linux-{name.partition('/')[0]}"


def test_ciphers_are_looked_through(gentoo: dict[str, CellClass]) -> None:
    """An encrypted array is an array, and not the same setting as a plain one."""
    plain, coded = (gentoo[f"2.6.7/chunk-64KiB/{name}/read"] for name in ("plain", "aes-256"))
    assert plain.level == coded.level == "RAID 1"
    assert plain.work == coded.work
    assert plain.setting != coded.setting


def test_figures_of_programs() -> None:
    """A share of the CPU and a loop over characters are not the disks' work; a rewrite reads and writes."""
    classes = cell_classes(load_study("gateway-2005"))
    kinds = {name.removeprefix("raid5/"): known.kind for name, known in classes.items() if name.startswith("raid5/")}
    assert not kinds["bonnie/read-cpu"].mix
    assert not kinds["bonnie/putc"].mix
    assert kinds["bonnie/rewrite"].mix == {"sequential read": 0.5, "sequential write": 0.5}
    assert kinds["bonnie/seeks"].name == "random read"
    assert kinds["postmark/transactions"].name == "files, changing"
    assert classes["raid50/bonnie/read"].stack.groups == 2
    assert len(classes["raid50/bonnie/read"].drives) == 12


def test_threads_are_processes() -> None:
    """tiobench's threads work at the same time but do one program's work."""
    classes = cell_classes(load_study("hedrick-2001"))
    eight = [known for known in classes.values() if known.load == "tiobench" and known.processes == 8]
    assert eight
    assert {known.shares_time for known in eight} == {1}
    assert {known.kind.name for known in eight} >= {"random read", "random write", "sequential read", "CPU share"}


def test_a_load_counts_its_outstanding() -> None:
    """jobs times depth times targets are at work at the same time."""
    document = small.runs_document()
    document["workloads"]["random"] |= {"jobs": 2, "depth": 8, "read_share": 0.5}
    load = cell_classes(validate(StudySpec, document))["load"]
    assert load.processes == 16
    assert load.kind.mix == {"random read": 0.5, "random write": 0.5}
