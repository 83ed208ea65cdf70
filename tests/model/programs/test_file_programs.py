"""dd, cat, cp, tar to pipes, tiobench, hdparm and the tree of Linux 2.6.13; runs of one n-th of each program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs import copying, file_io, hdparm
from raidsim.model.programs.bonnie import BonnieSettings, bonnie_1_4
from raidsim.model.programs.bonnie_plus_plus import BonniePlusPlus, BonniePlusPlusSettings, version_1_9
from raidsim.model.programs.copying import SizeClass, Tree, TreeFile, size_classes
from raidsim.model.programs.glibc_random import GlibcRandR
from raidsim.model.programs.linux_tree import apportioned, linux_2_6_13, measured_tree
from raidsim.model.programs.operation import Kind, Operation, system_calls
from raidsim.model.programs.postmark import PostMarkSettings
from raidsim.model.programs.tiobench import Tiobench, TiobenchSettings, default_megabytes
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH

KIB = 1024
MIB = 1024 * 1024
SMALL = Tree((("d", (TreeFile("d/a", 25_000), TreeFile("d/b", 100))), ("d/e", (TreeFile("d/e/c", 9_000),))))


def moved(operations: Iterable[Operation], kind: Kind, file: str) -> int:
    """Bytes that operations of a kind move in a file, which they do without gaps."""
    end = 0
    for operation in operations:
        if operation.kind is kind and operation.file == file:
            assert operation.offset == end
            end += operation.size
    return end


def test_dd_moves_blocks_and_the_rest() -> None:
    """Protects the calls of both directions: whole blocks, the last one shorter, the end found by a read of nothing."""
    written = list(file_io.dd_write("f", 1_000_000, 4096))
    assert moved(written, Kind.WRITE, "f") == moved(written, Kind.READ, "/dev/zero") == 1_000_000
    assert system_calls(written)["write[4096]"] == 244
    assert system_calls(written)["write[576]"] == 1
    assert "fsync" not in system_calls(written)
    assert system_calls(file_io.dd_write("f", 4096, 512, fsync=True))["fsync"] == 1
    assert system_calls(file_io.dd_write("f", 4096, 512, conv="fdatasync"))["fdatasync"] == 1
    assert system_calls(file_io.dd_write("f", 4096, 512, oflag="sync"))["fsync"] == 8
    assert system_calls(file_io.dd_write("f", 4096, 512, conv="fsync", oflag="dsync")) == {
        **system_calls(file_io.dd_write("f", 4096, 512, fsync=True)),
        "fdatasync": 8,
    }
    read = system_calls(file_io.dd_read("f", 8192, 4096))
    assert read["read[4096]"] == read["write[4096]"] == 2
    assert read["read[0]"] == 1


def test_reads_and_writes_take_turns() -> None:
    """Protects large files from being read whole before anything is written, and tiny calls from being single ones."""
    operations = [each for each in file_io.cp_file("a", "b", MIB, 512) if each.call_bytes and each.size]
    assert [each.kind for each in operations[:4]] == [Kind.READ, Kind.WRITE, Kind.READ, Kind.WRITE]
    assert {each.size for each in operations} == {file_io.RUN_BYTES}
    huge = [each for each in file_io.cp_file("a", "b", 32 * MIB, 16 * MIB) if each.size]
    assert [each.calls for each in huge] == [1, 1, 1, 1]


def test_cat_and_cp_differ_in_what_they_open() -> None:
    """Protects the blocks of 2005 and of FreeBSD; the shell opens cat's output."""
    assert system_calls(file_io.cat("f", 8192))["read[4096]"] == 2
    assert not any("WRONLY" in call for call in system_calls(file_io.cat("f", 8192)))
    freebsd = system_calls(file_io.cp_file("f", "/dev/null", MIB, file_io.FREEBSD_MAXBSIZE))
    assert freebsd["read[65536]"] == 16
    assert freebsd["open(O_WRONLY|O_TRUNC)"] == 1
    assert system_calls(file_io.cp_file("f", "g", 0))["read[0]"] == 1


def test_tar_creates_what_tar_extracts() -> None:
    """Protects the two directions from each other: the same parts of files, the same records."""
    created, extracted = list(copying.tar_create(SMALL, "t")), list(copying.tar_extract(SMALL, "t"))
    parts = [
        [(each.file, each.offset, each.size) for each in operations if each.kind is kind and each.file != "t"]
        for operations, kind in ((created, Kind.READ), (extracted, Kind.WRITE))
    ]
    assert parts[0] == parts[1]
    assert moved(created, Kind.WRITE, "t") == moved(extracted, Kind.READ, "t") == 40_960


def test_tar_to_dev_null_opens_no_file() -> None:
    """Protects a known trap: GNU tar only looks at the files if the archive is /dev/null; through a pipe it reads."""
    calls = system_calls(copying.tar_create(SMALL, copying.NOWHERE))
    assert calls["stat"] == 5
    assert calls["write[10240]"] == 4
    assert "open(O_RDONLY)" not in calls
    piped = system_calls(copying.tar_create(SMALL, "p", pipe=True))
    assert piped["open(O_RDONLY)"] == 3
    assert piped["write-pipe[10240]"] == 4


def test_both_ends_of_a_pipe_move_the_same() -> None:
    """Protects tar c | tar x: what one side tells the other hears, and it creates the tree elsewhere."""
    creates = list(copying.tar_create(SMALL, "p", pipe=True))
    extracts = list(copying.tar_extract(SMALL.moved("to"), "p", pipe=True))
    assert moved(creates, Kind.TELL, "p") == moved(extracts, Kind.HEAR, "p") == 40_960
    assert [each.file for each in extracts if each.kind is Kind.MKDIR] == ["to/d", "to/d/e"]
    assert all(each.kind is not Kind.HEAR or each.call_bytes == copying.TAR_RECORD for each in extracts)


def test_the_tree_is_the_recorded_one() -> None:
    """Protects the package's data: they are the recorded statistics, and give the same tree."""
    truth = json.loads((DEFAULT_TRUTH / "workloads" / "linux_2.6.13_tree.json").read_text())
    shape = measured_tree()
    recorded = [each for each in size_classes(truth["hist"]) if each.files]
    assert [SizeClass(each.low, each.high, each.files, each.bytes) for each in shape.sizes] == recorded
    assert list(shape.directories) == [truth["dir_depth_hist"][str(depth)] for depth in range(len(shape.directories))]
    assert (shape.files, shape.bytes) == (truth["files"], truth["total_bytes"])
    assert shape.largest_directory == truth["max_entries_in_dir"]
    depths = {int(depth): number for depth, number in truth["dir_depth_hist"].items()}
    made = Tree.from_histogram(recorded, depths, truth["max_entries_in_dir"], "linux-2.6.13")
    assert linux_2_6_13() == made


@pytest.mark.parametrize(
    ("files", "size"), [(18_090, 260_000_000), (1_130, 12_804_157), (180, None), (17, 5_000), (1, 1)]
)
def test_the_tree_of_any_size(files: int, size: int | None) -> None:
    """Protects scaled trees: exact totals, directories in proportion, and the shape of the sizes."""
    tree = linux_2_6_13(files, size)
    sizes = sorted(each.size for each in tree.files())
    assert len(sizes) == files
    assert sum(sizes) == (round(204_866_517 * files / 18_090) if size is None else size)
    assert tree.directories == max(1, round(1_117 * files / 18_090))
    parents = {path for path, _ in tree.entries}
    assert all(path.rpartition("/")[0] in parents | {""} for path in parents)
    if files > 1000:
        median, mean = sizes[len(sizes) // 2], sum(sizes) / len(sizes)
        assert median / mean == pytest.approx(4025 / 11_325, rel=0.1)


def test_no_tree_of_nothing() -> None:
    """Protects from empty trees; and shares add up to what is shared out."""
    with pytest.raises(InputError, match="at least 1"):
        linux_2_6_13(0)
    with pytest.raises(InputError, match="at least 1"):
        linux_2_6_13(5, 0)
    assert apportioned([1, 1, 1], 7) == [3, 2, 2]
    assert apportioned([5, 0, 1], 2) == [2, 0, 0]


def test_rand_r_of_the_c_library() -> None:
    """Protects the places of tiobench: numbers of glibc for the seed 12345."""
    random = GlibcRandR(12345)
    assert [random.draw() for _ in range(4)] == [1036784229, 1520991917, 1373464794, 2119610907]


def test_tiobench_divides_its_work_among_the_threads() -> None:
    """Protects the sizes of tiobench.pl: the total over all threads, in whole megabytes and operations."""
    bench = Tiobench(TiobenchSettings(4000, threads=8))
    assert bench.size == 500 * MIB
    assert bench.operations_each == 500
    assert len(bench.names) == len(set(bench.names)) == 8
    assert Tiobench(TiobenchSettings(3, threads=8)).size == MIB
    assert (default_megabytes(64), default_megabytes(512), default_megabytes(4096)) == (200, 1024, 2000)


def test_tiobench_phases_and_their_syncs() -> None:
    """Protects the order, and that threads that write, and only those, sync before they end."""
    bench = Tiobench(TiobenchSettings(8, threads=2, random_operations=10))
    marks = [each.file for each in bench.operations() if each.kind is Kind.MARK]
    assert marks == ["write", "random write", "read", "random read", "end"]
    kinds = Counter(each.kind for each in bench.operations())
    assert kinds[Kind.FORK] == kinds[Kind.WAIT] == 4
    for phase in bench.phases:
        calls = system_calls(bench.thread(phase, 1))
        assert calls.get("fsync", 0) == ("write" in phase)
        assert calls[f"{'write' if 'write' in phase else 'read'}[4096]"] == (5 if "random" in phase else 1024)
    assert moved(bench.thread("write", 0), Kind.WRITE, bench.names[0]) == 4 * MIB


def test_tiobench_places_differ_between_threads_and_never_are_the_last_block() -> None:
    """Protects the random phases: aligned places inside the file, repeated for the same seed only."""
    bench = Tiobench(TiobenchSettings(2, threads=2, random_operations=2000))
    first, second, again = (
        [each.offset for each in bench.thread("random read", *chosen) if each.kind is Kind.READ]
        for chosen in ((0,), (1,), (1, 3))
    )
    assert first != second
    assert first == again
    assert all(offset % 4096 == 0 and offset <= bench.size - 2 * 4096 for offset in first)


def test_tiobench_reads_other_places_than_it_wrote() -> None:
    """Protects random reads from finding in memory what was written at random just before: of 2,000 places in 8 MiB
    about two thirds were written (1 - exp(-2000 / 2048)), not all. The counter-test: with the same seed all were.
    """
    bench = Tiobench(TiobenchSettings(8, threads=1, random_operations=2000))
    written = {each.offset for each in bench.thread("random write", 0) if each.kind is Kind.WRITE}
    for seed, share in ((None, 0.62), (1, 1.0)):
        read = [each.offset for each in bench.thread("random read", 0, seed) if each.kind is Kind.READ]
        assert sum(1 for offset in read if offset in written) / 2000 == pytest.approx(share, abs=0.06)


def test_hdparm_of_both_generations() -> None:
    """Protects the older 64 MiB, and the newer calls that whoever runs them may stop after any one."""
    older = list(hdparm.hdparm_5_3("/dev/md0"))
    assert system_calls(older)["read[1048576]"] == 64
    newer = [each for each in hdparm.hdparm_5_4("/dev/md0", 7 * MIB, 2 * MIB) if each.kind is Kind.READ]
    assert [(each.offset, each.calls) for each in newer] == [(0, 1), (2 * MIB, 1), (4 * MIB, 1)]


def test_runs_of_one_nth() -> None:
    """Protects scaled runs: sizes, counts and seeks are divided, blocks and the number of files are not."""
    bonnie = BonnieSettings(2030, sync=True, chunk=MIB).scaled(8)
    assert (bonnie.megabytes, bonnie.seeks, bonnie.chunk, bonnie.sync) == (253, 500, MIB, True)
    plus = BonniePlusPlusSettings(1512).scaled(8)
    assert (plus.megabytes, plus.seeks, plus.small_files * plus.small_unit) == (189, 1024, 2048)
    assert [size // MIB for _, size in BonniePlusPlus(plus).files] == [128, 61]
    newer = version_1_9(BonniePlusPlusSettings(64)).settings.scaled(8)
    assert newer.per_character_bytes == 8 * MIB
    nothing = BonniePlusPlusSettings(0, small_files=0).scaled(8)
    assert (nothing.megabytes, nothing.small_files) == (0, 0)
    mark = PostMarkSettings(number=5000, transactions=5000, low=500, high=10_000_000).scaled(50)
    assert (mark.number, mark.transactions, mark.high) == (100, 100, 10_000_000)
    assert PostMarkSettings().scaled(1000).transactions == 10
    bench = TiobenchSettings(4000, threads=8).scaled(1000)
    assert (bench.megabytes, bench.random_operations) == (4, 8)


def test_seeks_and_pauses_are_settings() -> None:
    """Protects the tickets: one for each seek and one more for each seeker."""
    run = bonnie_1_4(8)
    told = next(each for each in run.operations() if each.kind is Kind.TELL)
    assert told.size == 4003
    plus = BonniePlusPlus(BonniePlusPlusSettings(8, seeks=100, small_files=20, small_unit=1, sleep_s=0))
    operations = list(plus.operations())
    assert next(each for each in operations if each.kind is Kind.TELL).size == 103
    assert sum(each.kind is Kind.STAT for each in operations) == 40


def test_small_files_of_bonnie_plus_plus_have_names() -> None:
    """Protects the directory phases: the same files are created, looked up and deleted; at random in another order."""
    run = BonniePlusPlus(BonniePlusPlusSettings(0, small_files=1))
    phases: dict[str, list[str]] = {}
    phase = ""
    for each in run.operations():
        if each.kind is Kind.MARK:
            phase = each.file
        elif each.kind in (Kind.OPEN, Kind.STAT, Kind.UNLINK) and each.file != "./Bonnie":
            phases.setdefault(phase, []).append(each.file)
    assert phases["create in order"] == phases["stat in order"] == phases["delete in order"]
    assert phases["create in order"] == sorted(phases["create in order"])
    created = phases["create at random"]
    assert created != phases["stat at random"] != phases["delete at random"]
    assert set(created) == set(phases["stat at random"]) == set(phases["delete at random"])
    assert len(set(created)) == 1024


def test_a_listing_by_hash_has_the_same_files_in_no_order() -> None:
    """Protects what a walk over a tree finds: every file and directory once, subdirectories among the files."""
    tree = linux_2_6_13(600)
    listed = tree.hashed()
    assert sorted(listed.files()) == sorted(tree.files())
    assert list(listed.files()) != list(tree.files())
    assert (listed.directories, listed.most_entries()) == (tree.directories, tree.most_entries())
    assert len(listed.entries) > listed.directories, "files after a subdirectory"
    assert listed.hashed() == listed == tree.hashed(), "the order follows from the names alone"
    for calls in (copying.copy, copying.tar_extract):
        made = [operation.file for operation in calls(listed) if operation.kind is Kind.MKDIR]
        assert len(made) == len(set(made)) == listed.directories
