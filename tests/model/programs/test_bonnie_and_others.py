"""bonnie, bonnie++, iozone, tar and cp as sequences of operations. Recorded counts are compared in tests/validation."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import pytest

from raidsim.model.programs import bonnie, bonnie_plus_plus, copying
from raidsim.model.programs.bonnie_plus_plus import BonniePlusPlus, BonniePlusPlusSettings
from raidsim.model.programs.copying import SizeClass, Tree, TreeFile
from raidsim.model.programs.iozone import Iozone
from raidsim.model.programs.operation import Kind, Operation, system_calls, transfer

KIB = 1024
MIB = 1024 * 1024


def phase(program: bonnie.Bonnie | BonniePlusPlus | Iozone, name: str) -> list[Operation]:
    """The operations of a phase."""
    found: dict[str, list[Operation]] = {"": []}
    current = found[""]
    for operation in program.operations():
        if operation.kind is Kind.MARK:
            current = found.setdefault(operation.file, [])
        current.append(operation)
    return found[name]


def moved(operations: list[Operation], kind: Kind) -> int:
    """Bytes that operations of a kind move."""
    return sum(operation.size for operation in operations if operation.kind is kind)


def test_runs_of_calls_are_counted_one_by_one() -> None:
    """Protects the counts: whole calls, a shorter last one, and one that moves nothing."""
    operations = [
        transfer(Kind.WRITE, "f", 0, 10_000, 4096),
        Operation(Kind.READ, "f", 0, 8192, 4096, 3),
        Operation(Kind.REWRITE, "f", 0, 8192, 4096, 2),
    ]
    assert system_calls(operations) == {
        "write[4096]": 4,
        "write[1808]": 1,
        "read[4096]": 4,
        "read[0]": 1,
        "lseek": 2,
    }


def test_bonnie_by_version() -> None:
    """Protects the blocks of 1.2 and 1.4, and that only -y syncs."""
    for program, block, syncs in (
        (bonnie.bonnie_1_2(8), 16 * KIB, 0),
        (bonnie.bonnie_1_4(8), MIB, 0),
        (bonnie.bonnie_1_4(8, files=2, sync=True), MIB, 6),
        (bonnie.bonnie_64(8), 16 * KIB, 3),
    ):
        calls = system_calls(phase(program, "write"))
        files = program.settings.files
        assert calls[f"write[{block}]"] == 8 * files * MIB // block
        assert system_calls(program.operations()).get("fsync", 0) == syncs
        assert phase(program, "putc")[-1].kind is Kind.SEEK


def test_bonnie_seeks_write_every_tenth_block_back() -> None:
    """Protects the seeks: the first of a process included, at the same place; other processes seek elsewhere."""
    program = bonnie.bonnie_1_4(8)
    seeks = list(islice(program.seeks(100), 21))
    assert [len(each) for each in seeks] == [4] + [2] * 9 + [4] + [2] * 9 + [4]
    for each in seeks:
        assert len({operation.offset for operation in each}) == 1
        assert each[1].size == 16 * KIB
        assert 0 <= each[0].offset < 8 * MIB
    others = list(islice(program.seeks(101), 21))
    assert [each[0].offset for each in seeks] != [each[0].offset for each in others]


def test_bonnie_plus_plus_splits_large_files() -> None:
    """Protects the sizes of a study of 2005: 1,512 MB are files of 1,024 and 488; each phase moves them all."""
    assert bonnie_plus_plus.default_megabytes(756) == 1512
    assert bonnie_plus_plus.default_megabytes(100) == 300
    program = bonnie_plus_plus.version_1_03(BonniePlusPlusSettings(1512))
    assert [size // MIB for _, size in program.files] == [1024, 488]
    operations = list(program.operations())
    rewritten = moved(operations, Kind.REWRITE)
    assert (moved(operations, Kind.WRITE) + rewritten) // MIB == 4536
    assert (moved(operations, Kind.READ) + rewritten) // MIB == 4536
    assert sum(each.size for each in operations if each.kind is Kind.SLEEP) == 5


def test_bonnie_plus_plus_of_today() -> None:
    """The counter-test: one file, five threads, always synced, single bytes, sync() after small files change."""
    newer, newest = (
        make(BonniePlusPlusSettings(64, small_files=1))
        for make in (bonnie_plus_plus.version_1_9, bonnie_plus_plus.version_2_00)
    )
    calls = system_calls(newer.operations())
    assert len(newer.files) == 1
    assert calls["fsync"] == 6
    assert calls["fork"] == 5
    assert calls["sync"] == 4
    assert calls["open(O_WRONLY|O_CREAT|O_EXCL)"] == 2 * 1024
    assert system_calls(phase(newer, "putc"))["write[1]"] == 64 * MIB
    assert system_calls(phase(newest, "putc"))["write[1]"] == 3 * MIB


def test_a_seeker_updates_at_every_tenth_seek_or_at_random() -> None:
    """Protects both rules: every tenth of a seeker from its first on, or each with a probability of a tenth."""
    old = bonnie_plus_plus.version_1_03(BonniePlusPlusSettings(64))
    new = bonnie_plus_plus.version_1_9(BonniePlusPlusSettings(64))
    assert [len(each) for each in islice(old.seeks(1), 11)] == [4, *[2] * 9, 4]
    updates = [number for number, each in enumerate(islice(new.seeks(1), 8192)) if len(each) == 4]
    assert 819 - 4 * 27 < len(updates) < 819 + 4 * 27
    assert len({number % 10 for number in updates}) == 10
    names = {each.file for each in chain.from_iterable(islice(old.seeks(1), 50))}
    assert names == {"./Bonnie.000"}


def test_iozone_has_every_record_once_at_random() -> None:
    """Protects the shuffle: the same records for reading and writing, none twice."""
    program = Iozone(MIB, 64 * KIB)
    read, written = (
        [each.offset for each in phase(program, f"random {word}") if each.kind is kind]
        for word, kind in (("read", Kind.READ), ("write", Kind.WRITE))
    )
    assert read == written
    assert sorted(read) == list(range(0, MIB, 64 * KIB))


def test_iozone_backward_and_stride() -> None:
    """Protects the other orders: from the end, and every 17th record, shifted by one after each pass."""
    program = Iozone(8 * MIB, 64 * KIB)
    backward = [each.offset // (64 * KIB) for each in phase(program, "backward read") if each.kind is Kind.READ]
    assert backward == list(reversed(range(128)))
    stride = [each.offset // (64 * KIB) for each in phase(program, "stride read") if each.kind is Kind.READ]
    assert stride[:10] == [0, 17, 34, 51, 68, 85, 102, 119, 1, 18]
    small = [each.offset for each in phase(Iozone(MIB, 64 * KIB), "stride read") if each.kind is Kind.READ]
    assert set(small) == {0}, "a file of no more than 17 records is read at its start only"


def test_iozone_times_the_records_and_nothing_else() -> None:
    """Protects the marks: opening, syncing and closing lie outside the part of each phase that is timed."""
    parts: list[tuple[str, list[Operation]]] = []
    for operation in Iozone(MIB, 64 * KIB).operations():
        if operation.kind is Kind.MARK:
            parts.append((operation.file, []))
        elif parts:
            parts[-1][1].append(operation)
    assert [name for name, _ in parts[::3]] == list(Iozone.phases)
    for _, operations in parts[1::3]:
        assert {operation.kind for operation in operations} <= {Kind.READ, Kind.WRITE, Kind.SEEK}
        assert sum(operation.size for operation in operations) == MIB
    before = [operation.kind for operation in parts[6][1]]
    assert before == [Kind.OPEN, Kind.FSYNC, Kind.READ, Kind.SEEK], "a record is read to warm up"
    assert {operations[-1].kind for _, operations in parts[2:-1:3]} == {Kind.CLOSE}
    assert parts[-1][1][-1].kind is Kind.UNLINK


def test_tar_writes_as_far_as_its_record_goes() -> None:
    """Protects the boundaries: 10,240 bytes less the headers before, whole records, and the rest."""
    tree = Tree((("d", (TreeFile("d/a", 25_000), TreeFile("d/b", 100))),))
    operations = list(copying.tar_extract(tree))
    sizes = [each.size for each in operations if each.kind is Kind.WRITE]
    assert sizes == [10_240 - 2 * 512, 10_240, 25_000 - 10_240 - 9216, 100]
    reads = [each.offset for each in operations if each.kind is Kind.READ]
    assert reads == [0, 10_240, 20_480]
    assert copying.archive_bytes(3, 25_088 + 512) == 30_720


def test_cp_ends_each_file_with_an_empty_read() -> None:
    """Protects the calls of 2005, an empty file included; and today's two calls a file."""
    tree = Tree((("d", (TreeFile("d/a", 8193), TreeFile("d/b", 0))),))
    calls = system_calls(copying.copy(tree))
    assert calls["read[4096]"] == calls["write[4096]"] == 2
    assert calls["read[1]"] == calls["write[1]"] == 1
    assert calls["read[0]"] == 2
    assert copying.copy_calls(2, 3) == (5, 3)
    assert system_calls(copying.copy_in_kernel(tree))["copy_file_range"] == 3


def test_a_tree_has_the_given_totals() -> None:
    """Protects the synthetic tree: files, bytes, depths and the largest directory, exactly."""
    classes = [SizeClass(1, 128, 100, 7003), SizeClass(4096, 8192, 50, 300_001), SizeClass(8192, 1 << 62, 0, 0)]
    tree = Tree.from_histogram(classes, {0: 1, 1: 3, 2: 6}, 60)
    sizes = [each.size for each in tree.files()]
    assert (len(sizes), sum(sizes)) == (150, 307_004)
    assert sum(1 <= size < 128 for size in sizes) == 100
    assert sum(size for size in sizes if size >= 4096) == 300_001
    assert tree.most_entries() == 60
    assert [path.count("/") for path, _ in tree.entries].count(2) == 6


def test_expected_writes_agree_with_a_tree() -> None:
    """Protects the formula that stands for trees whose order is unknown."""
    classes = [SizeClass(1, 4096, 3000, 6_000_000), SizeClass(4096, 65_536, 1000, 20_000_000)]
    tree = Tree.from_histogram(classes, {0: 1, 1: 20}, 500)
    padded = sum(-(-each.size // 512) * 512 for each in tree.files())
    mean, deviation = copying.expected_writes(4000, 4021, padded)
    writes = sum(each.kind is Kind.WRITE for each in copying.tar_extract(tree))
    assert writes == pytest.approx(mean, abs=3 * deviation)
    assert deviation < 0.02 * mean


@pytest.mark.parametrize("make", [bonnie_plus_plus.version_1_03, bonnie_plus_plus.version_1_9])
@pytest.mark.parametrize("sync", [False, True])
def test_b_syncs_each_small_file_and_each_update(make: Any, sync: bool) -> None:
    """Protects -b: two fsyncs for a file created, one for a file deleted and for an update; without it none."""
    run = make(BonniePlusPlusSettings(64, small_files=1, sync=sync))
    for order in ("in order", "at random"):
        assert system_calls(phase(run, f"create {order}")).get("fsync", 0) == (2048 if sync else 0)
        assert system_calls(phase(run, f"stat {order}")).get("fsync", 0) == 0
        assert system_calls(phase(run, f"delete {order}")).get("fsync", 0) == (1024 if sync else 0)
    kinds = [[each.kind for each in seek] for seek in islice(run.seeks(1), 100)]
    updates = [each for each in kinds if Kind.WRITE in each]
    assert updates
    assert all((each[-1] is Kind.FSYNC) is sync for each in updates)
    assert not any(Kind.FSYNC in each for each in kinds if Kind.WRITE not in each)


def test_fast_leaves_the_single_characters_out() -> None:
    """Protects -f: neither phase is there, and everything else is."""
    whole, fast = (
        bonnie_plus_plus.version_2_00(BonniePlusPlusSettings(64, small_files=1, fast=fast)) for fast in (False, True)
    )
    assert [title for title in whole.titles if title not in fast.titles] == ["putc", "getc"]
    assert whole.titles["putc"] == "Writing a byte at a time..."
    marks = [each.file for each in fast.operations() if each.kind is Kind.MARK]
    assert marks == list(fast.titles)
