"""Which pages stay: what was used twice outlives what was used once, and a scan longer than memory finds nothing."""

from __future__ import annotations

import pytest

from raidsim.model.memory.page_memory import RUN_BYTES, PageMemory
from raidsim.model.memory.paged_file import PagedFile

MIB = 1 << 20
PAGE = 4096


def use(memory: PageMemory, file: PagedFile, start: int = 0, end: int | None = None) -> int:
    """Read [start, end) through the memory, a page at a time; returns how many bytes were there."""
    hits = 0
    for page in range(start, file.size if end is None else end, PAGE):
        if file.cached.run_from(page) > page:
            hits += PAGE
        else:
            memory.add(file, page, page + PAGE)
        memory.used(file, page, page + PAGE)
    return hits


def test_memory_holds_what_fits() -> None:
    """Protects the size of the cache: nothing is reclaimed up to the last page, and one run too many after it."""
    memory = PageMemory(8 * MIB)
    use(memory, PagedFile("f", 8 * MIB))
    assert memory.held == 8 * MIB
    use(memory, PagedFile("g", PAGE))
    assert memory.held == 8 * MIB + PAGE - RUN_BYTES


def test_adding_twice_counts_once() -> None:
    """Protects the count of held bytes."""
    memory, file = PageMemory(8 * MIB), PagedFile("f", MIB)
    assert memory.add(file, 0, MIB) == MIB
    assert memory.add(file, PAGE, MIB + PAGE) == PAGE
    assert memory.held == MIB + PAGE


@pytest.mark.parametrize(("size", "hits"), [(8 * MIB, 1.0), (10 * MIB, 0.0)])
def test_a_cyclic_scan_hits_all_or_nothing(size: int, hits: float) -> None:
    """Protects bonnie's sizes: a file that fits is read from memory the second time, one that is a little larger from
    the disk to its last byte, because each page goes just before its turn comes.
    """
    memory, file = PageMemory(9 * MIB), PagedFile("f", size)
    use(memory, file)
    assert use(memory, file) == hits * size


@pytest.mark.parametrize("times", [1, 2])
def test_pages_that_are_written_after_they_were_read_outlive_a_scan(times: int) -> None:
    """Protects bonnie's reads after its rewrite: pages used twice at once are active at once, and of a file a little
    larger than memory a part is still there for the next pass; used once, nothing is (the counter-test).
    """
    memory, file = PageMemory(9 * MIB), PagedFile("f", 10 * MIB)
    for page in range(0, file.size, PAGE):
        for _ in range(times):
            use(memory, file, page, page + PAGE)
    assert (use(memory, file) > 2 * MIB) == (times == 2)


def scanned(uses: int, scan: int, again_every: int = 0) -> int:
    """How much of 2 MiB, used so many times before, is in a memory of 9 MiB after `scan` bytes were read once.

    They are used again after every `again_every` bytes of the scan.
    """
    memory, hot, large = PageMemory(9 * MIB), PagedFile("hot", 2 * MIB), PagedFile("large", scan)
    for _ in range(uses):
        use(memory, hot)
    for start in range(0, scan, again_every or scan):
        use(memory, large, start, start + (again_every or scan))
        if again_every:
            use(memory, hot)
    return use(memory, hot)


def test_a_file_read_once_does_not_evict_what_was_used_twice() -> None:
    """Protects metadata and small hot files from a file as large as memory; what was used once is gone after it."""
    assert scanned(uses=2, scan=9 * MIB) == 2 * MIB
    assert scanned(uses=1, scan=9 * MIB) == 0


def test_what_goes_on_being_used_stays_for_ever() -> None:
    """Protects inodes of busy files from a scan ten times as large as memory; what is not used any more fades."""
    assert scanned(uses=2, scan=90 * MIB, again_every=3 * MIB) == 2 * MIB
    assert scanned(uses=2, scan=90 * MIB) == 0


def test_dirty_pages_stay_until_they_are_clean() -> None:
    """Protects data: dirty pages are passed over, the clean ones behind them go."""
    memory, dirty, clean = PageMemory(4 * MIB), PagedFile("dirty", 2 * MIB), PagedFile("clean", 2 * MIB)
    use(memory, dirty)
    dirty.dirty.add(0, 2 * MIB)
    use(memory, clean)
    new = PagedFile("new", 2 * MIB)
    use(memory, new)
    assert dirty.cached.total == 2 * MIB
    assert clean.cached.total == 0
    dirty.dirty.remove(0, 2 * MIB)
    use(memory, PagedFile("newer", 4 * MIB))
    assert dirty.cached.total == 0


def test_dirty_pages_that_are_passed_over_wear_the_active_list_out() -> None:
    """Protects how fast 2.6.12 forgets what is used often while much is dirty: what is looked at counts, reclaimed
    or not. With nothing dirty both ways of counting are one. At half the pace, more is left.
    """

    def active(counts_activations: bool, is_dirty: bool, half_pace: bool = False) -> int:
        memory = PageMemory(16 * MIB, counts_activations, half_pace=half_pace)
        hot, written, new = PagedFile("hot", 4 * MIB), PagedFile("written", 8 * MIB), PagedFile("new", 8 * MIB)
        for _ in range(2):
            use(memory, hot)
        use(memory, written)
        if is_dirty:
            written.dirty.add(0, written.size)
        use(memory, new)
        return hot.active.total

    assert active(counts_activations=True, is_dirty=True) < active(counts_activations=False, is_dirty=True)
    assert active(counts_activations=True, is_dirty=False) == active(counts_activations=False, is_dirty=False)
    assert active(True, True, half_pace=True) > active(True, True)
    assert active(False, False, half_pace=True) > active(False, False)


def test_when_all_is_dirty_memory_grows() -> None:
    """Protects from an endless search: what cannot be reclaimed is held beyond the capacity."""
    memory, dirty = PageMemory(2 * MIB), PagedFile("dirty", 5 * MIB)
    dirty.dirty.add(0, 5 * MIB)
    use(memory, dirty)
    assert memory.held == dirty.cached.total == 5 * MIB


def test_a_forgotten_file_leaves_its_room() -> None:
    """Protects deleted files: their bytes are free at once, others stay."""
    memory, gone, kept = PageMemory(4 * MIB), PagedFile("gone", 3 * MIB), PagedFile("kept", MIB)
    use(memory, gone)
    use(memory, kept)
    memory.forget(gone, 2 * MIB)
    assert (gone.cached.total, memory.held) == (2 * MIB, 3 * MIB)
    memory.forget(gone)
    assert (gone.cached.total, memory.held) == (0, MIB)
    use(memory, PagedFile("new", 3 * MIB))
    assert use(memory, kept) == MIB


def test_thousands_of_deleted_files_leave_no_list() -> None:
    """Protects PostMark's speed: entries of forgotten files do not pile up, and the count stays right."""
    memory = PageMemory(64 * MIB)
    for number in range(20_000):
        file = PagedFile(str(number), PAGE)
        use(memory, file)
        memory.forget(file)
    assert memory.held == 0
    assert len(memory._inactive) < 10_000


def test_an_unmounted_device_leaves_nothing_but_dirty_files() -> None:
    """Protects reads after a mount: every clean file is gone, used once or twice."""
    memory, once, twice, dirty = PageMemory(9 * MIB), *(PagedFile(name, MIB) for name in ("once", "twice", "dirty"))
    for file in (once, twice, twice, dirty):
        use(memory, file)
    dirty.dirty.add(0, PAGE)
    memory.drop_clean()
    assert (once.cached.total, twice.cached.total, dirty.cached.total) == (0, 0, MIB)
    assert memory.held == MIB


@pytest.mark.parametrize(("second_chance", "passes"), [(True, 5), (False, 2)])
def test_2_4_keeps_what_was_used_often_while_files_stream_past(second_chance: bool, passes: int) -> None:
    """Protects the map blocks of a file that is written and then read: under 2.4 a page used many times survives five
    memories of other data that pass, since its list turns at half the pace and used pages go round again; under 2.6
    two.
    """
    memory = PageMemory(64 * MIB, second_chance=second_chance)
    often = PagedFile("maps", MIB)
    for _ in range(10):
        use(memory, often)
    issuer = PagedFile("data", 512 * MIB)
    survived = 0
    for turn in range(8):
        use(memory, issuer, turn * 64 * MIB, (turn + 1) * 64 * MIB)
        survived += often.cached.run_from(0) > 0
    assert survived == passes
    assert memory.held <= memory.capacity + PAGE


def test_an_active_page_that_goes_back_is_one_use_from_its_return() -> None:
    """Protects the lists of 2.4 while everything is active: nothing is lost or counted twice when pages go round."""
    memory = PageMemory(8 * MIB, second_chance=True)
    files = [PagedFile(f"f{i}", 2 * MIB) for i in range(8)]
    for _ in range(3):
        for file in files:
            use(memory, file)
            use(memory, file)
    assert memory.held == sum(file.cached.total for file in files) <= memory.capacity
    for file in files:
        assert file.active.total <= file.cached.total
        memory.forget(file)
    assert memory.held == 0


def read_ahead_of(memory: PageMemory, file: PagedFile, passing: bool) -> int:
    """Read a file in order, 64 KiB ahead of what is used; returns how many bytes were in memory before."""
    hits, ahead = 0, 16 * PAGE
    for page in range(0, file.size + ahead, PAGE):
        if page < file.size:
            if file.cached.run_from(page) > page:
                hits += PAGE
            else:
                memory.add(file, page, page + PAGE, passing)
        if page >= ahead:
            memory.used(file, page - ahead, page - ahead + PAGE)
    return hits


@pytest.mark.parametrize("passes", [1, 2])
def test_what_a_reader_has_passed_is_reclaimed_first(passes: int) -> None:
    """Protects drop-behind of rmap: of a file of twice the memory that was written, and is read again and again, all
    that memory holds is found there each time; the counter-test: without it nothing is.
    """
    for passing, found in ((True, 7 * MIB), (False, 0)):
        memory, file = PageMemory(8 * MIB), PagedFile("f", 16 * MIB)
        use(memory, file)
        hits = [read_ahead_of(memory, file, passing) for _ in range(passes)]
        assert all(found <= each <= (8 * MIB if found else 0) for each in hits)
        assert memory.held == file.cached.total <= memory.capacity + PAGE


def test_pages_read_ahead_wait_to_be_used() -> None:
    """Protects read-ahead: what was read ahead and not yet used stays while there is anything else to reclaim."""
    memory, old, new = PageMemory(4 * MIB), PagedFile("old", 4 * MIB), PagedFile("new", 4 * MIB)
    use(memory, old)
    memory.add(new, 0, 2 * MIB, True)
    assert new.cached.total == 2 * MIB
    memory.used(new, 0, MIB)
    memory.add(new, 2 * MIB, 3 * MIB, True)
    assert new.cached.run_from(0) == 0
    assert new.cached.run_from(MIB) == 3 * MIB


def test_a_passed_page_that_is_used_again_stays() -> None:
    """Protects what is used often from drop-behind: a second use takes a page to the active list; dirty ones stay."""
    memory, file, other = PageMemory(4 * MIB), PagedFile("f", 2 * MIB), PagedFile("other", 8 * MIB)
    memory.add(file, 0, 2 * MIB, True)
    for end in (2 * MIB, MIB):
        memory.used(file, 0, end)
    file.dirty.add(MIB, MIB + PAGE)
    read_ahead_of(memory, other, True)
    assert file.active.total == MIB
    assert file.cached.run_from(0) == MIB + PAGE
