"""Read-ahead windows of Linux 2.6.11 to 2.6.22, in pages."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.readahead import PAGE, READ_AHEAD, ReadAhead

END = 10_000


class Reader:
    """A process with a file of its own read-ahead state; what is submitted is in memory at once."""

    def __init__(self, file: PagedFile | None = None, window: int = 32) -> None:
        self.file = PagedFile("file", END * PAGE) if file is None else file
        self.state: ReadAhead = READ_AHEAD["2.6.11"](window * PAGE, self.file.size)
        self.state.attach(self.file)

    def read(self, first: int, pages: int, call: int = 1) -> list[tuple[int, int, int]]:
        """Read page after page in calls of `call`: (page being read, first page submitted, pages submitted)."""
        submitted = []
        for page in range(first, first + pages):
            call_end = page - (page - first) % call + call
            window = self.state.touch(page * PAGE, call_end * PAGE)
            if window is not None:
                start, end = window
                submitted.append((page, start // PAGE, (end - start) // PAGE))
                self.file.cached.add(start, end)
            if self.file.held_until(page * PAGE) == page * PAGE:
                submitted.append((page, page, 1))  # it is read alone
                self.file.cached.add(page * PAGE, page * PAGE + PAGE)
            self.state.read_to = (page + 1) * PAGE
        return submitted


def test_the_window_doubles_and_the_next_goes_out_with_its_first_page() -> None:
    """Protects the ramp of calls of a page: 8, 16, 32 pages, the window ahead submitted on stepping into this one."""
    assert Reader().read(0, 120) == [
        (0, 0, 8),
        (1, 8, 16),
        (8, 24, 32),
        (24, 56, 32),
        (56, 88, 32),
        (88, 120, 32),
    ]


def test_a_large_call_gets_two_windows_at_once() -> None:
    """Protects large calls: the first is read with the window after it, and so are none of the later ones."""
    assert Reader().read(0, 128, call=128) == [(0, 0, 64), (32, 64, 32), (64, 96, 32), (96, 128, 32)]


def test_a_seek_reads_what_it_asks_for() -> None:
    """Protects random reads: a call of 4 pages somewhere else reads 4, and going on from there starts a window."""
    reader = Reader()
    reader.read(0, 60)
    assert reader.read(5000, 4, call=4) == [(5000, 5000, 4)]
    assert reader.read(5004, 4, call=4) == [(5004, 5004, 8)]


def test_of_two_readers_side_by_side_one_reads_for_both() -> None:
    """Protects readers of one file: who finds 256 pages of windows in memory reads ahead no more."""
    first = Reader()
    second = Reader(first.file)
    by_first, by_second = [], []
    for page in range(600):
        by_first += first.read(page, 1)
        by_second += second.read(page, 1)
    assert by_second == []
    assert len(by_first) == 21
    # The first goes away; the second misses a page, reads it alone, and begins again.
    assert second.read(664, 10)[:3] == [(664, 664, 1), (665, 665, 8), (666, 673, 6)]


def test_a_reader_of_its_own_file_reads_on() -> None:
    """The counter-test: with nothing in memory before it, the full windows go on."""
    assert {size for _, _, size in Reader().read(0, 2000)[3:]} == {32}


def test_a_page_that_was_lost_makes_the_window_smaller() -> None:
    """Protects from thrashing: after a missing page that had been read ahead, the window shrinks by two pages."""
    reader = Reader()
    reader.read(0, 130)
    reader.file.cached.remove(135 * PAGE, 136 * PAGE)
    windows = reader.read(130, 120)
    assert (135, 135, 1) in windows
    assert [size for _, _, size in windows if size > 1] == [30, 32, 32, 32]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80), st.sampled_from([1, 64])), max_size=8))
@example([(136, 19, 64), (146, 65, 64)])  # a long call that begins in front of the window ahead and ends in it
@example([(0, 2, 1), (1, 2, 64)])  # calls that get longer
@example([(120, 27, 1), (145, 2, 64)])  # who goes back by a page
@example([(176, 11, 1), (185, 2, 64)])  # to where he was when the last window went out
def test_triggers_leave_nothing_out(passes: list[tuple[int, int, int]]) -> None:
    """Protects the shortcut of asking only at the next trigger or a missing page: the same pages are submitted."""

    def windows(by_triggers: bool) -> list[tuple[int, int]]:
        reader, found = Reader(PagedFile("file", 400 * PAGE)), []
        for first, pages, call in passes:
            page, trigger = first, 0
            while page < first + pages:
                at = page * PAGE
                held = reader.file.held_until(at) > at
                if not by_triggers or page == first or at >= trigger or not held:
                    call_end = page - (page - first) % call + call
                    window = reader.state.touch(at, call_end * PAGE)
                    if window is not None:
                        found.append(window)
                        reader.file.cached.add(*window)
                if reader.file.held_until(at) == at:
                    found.append((at, at + PAGE))
                    reader.file.cached.add(at, at + PAGE)
                trigger = reader.state.next_trigger(at)
                page += 1
                reader.state.read_to = page * PAGE
        return found

    assert windows(by_triggers=True) == windows(by_triggers=False)
