"""Read-ahead windows, in pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.readahead import (
    PAGE,
    READ_AHEAD,
    PageMarks,
    ReadAhead,
    ReadAhead24,
    ReadAhead26,
    ReadAhead61,
    ReadAhead2623,
)

END = 10_000
LARGEST = {"2.4": 31 * PAGE, "2.4-calls": 31 * PAGE, "2.6": 32 * PAGE}


def make(generation: str, pages: int = END) -> ReadAhead:
    """A reader's state with the kernel's default of 31 or 32 pages."""
    return READ_AHEAD[generation](LARGEST[generation], pages * PAGE)


def read(state: ReadAhead, first: int, pages: int) -> list[tuple[int, int, int]]:
    """Read page after page: (page being read, first page submitted, pages submitted)."""
    submitted = []
    for page in range(first, first + pages):
        window = state.touch(page * PAGE)
        if window is not None:
            start, end = window
            submitted.append((page, start // PAGE, (end - start) // PAGE))
    return submitted


def test_the_window_of_2_4_doubles() -> None:
    """Protects the ramp of 2.4: 4, 8, 16, 32 pages, the page being read and 3 to 31 ahead of it; each goes out
    when the program touches the first page of the last, so that the window after is on its way.
    """
    assert read(make("2.4"), 0, 100) == [
        (0, 0, 4),
        (1, 4, 8),
        (4, 12, 16),
        (12, 28, 32),
        (28, 60, 32),
        (60, 92, 32),
        (92, 124, 32),
    ]


def test_the_window_of_2_6_begins_at_half() -> None:
    """Protects the ramp of 2.6: 16 pages, then 32; the second and third wait for the end of the one before, all
    later ones go out at the second page.
    """
    assert read(make("2.6"), 0, 150) == [
        (0, 0, 16),
        (16, 16, 32),
        (48, 48, 32),
        (49, 80, 32),
        (81, 112, 32),
        (113, 144, 32),
        (145, 176, 32),
    ]


@pytest.mark.parametrize("generation", ["2.4", "2.6"])
def test_a_seek_begins_again(generation: str) -> None:
    """Protects random readers from full windows: after a seek, forwards or back, the ramp is that of a new reader."""
    ramp = read(make(generation), 0, 60)
    state = make(generation)
    read(state, 0, 150)
    for first in (1000, 500, 2000):
        moved = [(page - first, start - first, size) for page, start, size in read(state, first, 60)]
        assert moved == ramp


@pytest.mark.parametrize("generation", ["2.4", "2.6"])
def test_a_sequential_reader_does_not_begin_again(generation: str) -> None:
    """The counter-test: going on where it was keeps the full window."""
    state = make(generation)
    read(state, 0, 150)
    assert {size for _, _, size in read(state, 150, 200)} == {32}


@pytest.mark.parametrize("generation", ["2.4", "2.6"])
def test_two_passes_over_the_window_before_submit_nothing(generation: str) -> None:
    """Protects from reading twice: the program may still be in the window before the newest."""
    state = make(generation)
    newest = read(state, 0, 150)[-1]
    assert newest[1] > 144, "the newest window is ahead of the program"
    assert read(state, 144, 6) == []


@pytest.mark.parametrize("generation", ["2.4", "2.6"])
def test_nothing_is_read_beyond_the_end(generation: str) -> None:
    """Protects the device: the last window is cut, and at the end there is none."""
    state = make(generation, 50)
    windows = read(state, 0, 50)
    assert max(start + size for _, start, size in windows) == 50
    assert state.touch(50 * PAGE) is None


def test_windows_are_at_least_a_page() -> None:
    """Protects a reader without read-ahead from standing still: with a window of 0 it reads page by page."""
    for policy in (ReadAhead24, ReadAhead26):
        windows = read(policy(0, END * PAGE), 0, 20)
        assert max(start + size for _, start, size in windows) >= 20
        assert max(size for _, _, size in windows) <= 2


@given(
    st.sampled_from(["2.4", "2.4-calls", "2.6"]),
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=8),
)
def test_what_is_read_has_been_submitted(generation: str, passes: list[tuple[int, int]]) -> None:
    """Protects from waiting for ever: wherever the program jumps, the page it reads has gone out before."""
    state = make(generation)
    known: set[int] = set()
    for first, pages in passes:
        for page in range(first, first + pages):
            window = state.touch(page * PAGE)
            if window is not None:
                known |= set(range(window[0] // PAGE, window[1] // PAGE))
            assert page in known


@given(st.sampled_from(["2.4", "2.4-calls", "2.6"]), st.integers(0, 300), st.integers(1, 200))
def test_triggers_leave_nothing_out(generation: str, first: int, pages: int) -> None:
    """Protects the shortcut of asking only at the next trigger: it submits the same windows as asking at every page.

    A program asks again for the page it had to wait for, so every page is asked for until nothing is to be submitted.
    """

    def windows(by_triggers: bool) -> list[tuple[int, int]]:
        state = make(generation)
        position, found = first * PAGE, []
        while position < (first + pages) * PAGE:
            while (window := state.touch(position)) is not None:
                found.append(window)
            position = state.next_trigger(position) if by_triggers else position + PAGE
        return found

    assert windows(by_triggers=True) == windows(by_triggers=False)


class Pages:
    """The page cache of one file, kept page by page."""

    def __init__(self) -> None:
        self.held: set[int] = set()
        self.marks = PageMarks()

    def held_until(self, position: int) -> int:
        page = position // PAGE
        if page not in self.held:
            return position
        while page in self.held:
            page += 1
        return page * PAGE

    def held_since(self, position: int) -> int:
        page = position // PAGE
        while page - 1 in self.held:
            page -= 1
        return page * PAGE


class Reader61:
    """A program that reads a file through 6.1's read-ahead."""

    def __init__(self, window: int, pages: int = END, request: int = 320) -> None:
        self.pages = Pages()
        self.state = ReadAhead61(window * PAGE, pages * PAGE, request * PAGE)
        self.state.attach(self.pages)

    def read(self, first: int, count: int) -> list[tuple[int, int, int]]:
        """One call for `count` pages: (page being read, first page submitted, pages submitted)."""
        submitted = []
        for page in range(first, first + count):
            window = self.state.touch(page * PAGE, (first + count) * PAGE)
            if window is not None:
                start, end = window[0] // PAGE, -(-window[1] // PAGE)
                submitted.append((page, start, end - start))
                self.pages.held |= set(range(start, end))
            if page not in self.pages.held:
                submitted.append((page, page, 1))
                self.pages.held.add(page)
            self.state.read_to = (page + 1) * PAGE
        return submitted

    def sizes(self, first: int, calls: int, count: int) -> list[int]:
        """Pages submitted by `calls` calls in order."""
        return [size for call in range(calls) for _, _, size in self.read(first + call * count, count)]


def test_the_window_of_6_1_doubles_from_four_pages() -> None:
    """Protects the ramp of 6.1 at 128 KiB: 4 pages, then 8, 16, 32; each goes out at the first page that was not asked
    for: page 1 first, and then the first of the newest window.
    """
    reader = Reader61(32)
    assert [window for page in range(100) for window in reader.read(page, 1)] == [
        (0, 0, 4),
        (1, 4, 8),
        (4, 12, 16),
        (12, 28, 32),
        (28, 60, 32),
        (60, 92, 32),
        (92, 124, 32),
    ]


@pytest.mark.parametrize(
    ("window", "call", "sizes"),
    [
        (1024, 1, [4, 16, 64, 128, 256, 512, 1024]),
        (128, 1, [4, 16, 32, 64, 128, 128]),
        (1024, 16, [64, 128, 256, 512, 1024]),
        (32, 16, [32, 32, 32, 32]),
        (1024, 256, [512, 1024, 1024]),
    ],
)
def test_the_ramp_depends_on_the_call_and_on_the_largest_window(window: int, call: int, sizes: list[int]) -> None:
    """Protects both rules of growth: a first window of 2 or 4 times the call, then times 4, times 2, and the most."""
    assert Reader61(window).sizes(0, 800 // call, call)[: len(sizes)] == sizes


@pytest.mark.parametrize("window", [32, 1024])
def test_6_1_reads_no_further_at_random(window: int) -> None:
    """Protects random readers: away from the start of the file a call gets what it asks for and nothing more."""
    reader = Reader61(window)
    assert [reader.read(page, 1) for page in (500, 90, 7000, 3000)] == [
        [(page, page, 1)] for page in (500, 90, 7000, 3000)
    ]
    assert reader.read(5000, 16) == [(5000, 5000, 16)]


def test_6_1_reads_on_after_a_random_read() -> None:
    """The counter-test: the page after the last one read is a sequential miss, and begins a window."""
    reader = Reader61(32)
    reader.read(500, 1)
    assert reader.read(501, 1) == [(501, 501, 4)]


def test_without_read_ahead_6_1_reads_page_by_page() -> None:
    """Protects read_ahead_kb=0: even a call of 64 KiB causes sixteen reads of a page."""
    assert Reader61(0).sizes(0, 2, 16) == [1] * 32


def test_a_call_larger_than_the_window_goes_out_in_one_piece() -> None:
    """Protects calls of 1 MiB at 128 KiB of read-ahead: 256 pages at once where the device takes that, 128 at once
    where it takes no more than 512 KiB, and the window otherwise.
    """
    assert Reader61(32, request=320).sizes(0, 4, 256) == [256] * 5
    assert set(Reader61(32, request=128).sizes(0, 4, 256)) == {128}
    assert set(Reader61(32, request=16).sizes(0, 4, 256)) == {32}


def test_until_4_9_no_window_is_larger_than_the_setting() -> None:
    """Protects 2.6.23 to 4.9: calls of 1 MiB go out in windows of 128 KiB, whatever the device takes. Counter-test:
    since 4.10, in one piece.
    """
    old, new = Reader61(32), Reader61(32)
    old.state = ReadAhead2623(32 * PAGE, END * PAGE)
    old.state.attach(old.pages)
    assert set(old.sizes(0, 4, 256)) == {32}
    assert new.sizes(0, 4, 256) == [256] * 5
    assert old.state.touch(END * PAGE) is None


def test_strides_inside_the_window_pass_for_a_sequential_reader() -> None:
    """Protects what is recorded of reads of 16 in 64 pages: with a window of 1,024 pages each next read steps on the
    mark of the one before, and the windows grow 64, 384, 768, 1024 pages.
    """
    reader = Reader61(1024)
    sizes = [size for i in range(64) for _, _, size in reader.read(i * 64, 16)]
    assert sizes == [64, 384, 768, 1024, 1024, 1024, 1024]


def test_strides_beyond_the_window_are_random_reads() -> None:
    """The counter-test: with a window of 32 pages only the first read of the file is followed by more."""
    reader = Reader61(32)
    sizes = [size for i in range(64) for _, _, size in reader.read(i * 64, 16)]
    assert sizes == [32] + [16] * 63


def test_two_streams_of_one_file_are_told_by_what_they_have_left() -> None:
    """Protects interleaved readers: the second stream's pages 1000 and 1001 lie in the page cache when 1002 is read, so
    that it gets two pages more; the mark on the last of them brings 4, and so on, although the other stream has moved
    the window away each time.
    """
    reader = Reader61(32)
    seen = []
    for page in range(12):
        reader.read(page, 1)
        seen += reader.read(1000 + page, 1)
    assert seen == [
        (1000, 1000, 1),
        (1001, 1001, 1),
        (1002, 1002, 3),
        (1004, 1005, 4),
        (1005, 1009, 8),
        (1009, 1017, 16),
    ]


def test_without_traces_the_second_stream_stays_random() -> None:
    """The counter-test: if the pages read before are gone from memory, nothing is read ahead."""
    reader = Reader61(32)
    for page in range(8):
        reader.read(page, 1)
        assert reader.read(1000 + page, 1) == [(1000 + page, 1000 + page, 1)]
        reader.pages.held.discard(1000 + page)


def test_a_mark_is_met_once_and_goes_with_its_page() -> None:
    """Protects shared files: a second reader of the same pages does not read ahead again, nor does one that comes when
    the marked page has been forgotten.
    """
    reader = Reader61(32)
    reader.read(0, 1)
    assert 1 * PAGE in reader.pages.marks
    reader.read(1, 1)
    assert 1 * PAGE not in reader.pages.marks
    other = Reader61(32)
    other.pages = reader.pages
    other.state.attach(reader.pages)
    assert other.read(1, 2) == []
    reader.pages.marks.forget(0, END * PAGE)
    assert other.read(4, 1) == []


def test_6_1_reads_nothing_beyond_the_end() -> None:
    """Protects the device: of a file of 50 and a half pages the windows end there."""
    state = ReadAhead61(32 * PAGE, 50 * PAGE + PAGE // 2)
    pages = Pages()
    state.attach(pages)
    ends = []
    for page in range(51):
        window = state.touch(page * PAGE, (page + 1) * PAGE)
        if window is not None:
            ends.append(window[1])
            pages.held |= set(range(window[0] // PAGE, -(-window[1] // PAGE)))
        state.read_to = (page + 1) * PAGE
    assert ends[-1] == 50 * PAGE + PAGE // 2
    assert pages.held == set(range(51))
    assert state.touch(51 * PAGE, 52 * PAGE) is None


@given(st.sets(st.integers(0, 30)), st.integers(0, 31), st.integers(0, 31))
def test_marks_are_a_sorted_set(numbers: set[int], low: int, high: int) -> None:
    """Protects the marks of the page cache against a plain set."""
    marks = PageMarks()
    for number in numbers:
        marks.add(number)
        marks.add(number)
    later = [number for number in numbers if number > low]
    assert marks.after(low) == (min(later) if later else None)
    assert marks.take(low) == (low in numbers)
    assert not marks.take(low)
    marks.forget(low, high)
    assert {n for n in range(32) if n in marks} == {n for n in numbers if n != low and not low <= n < high}


@given(st.sampled_from([0, 32, 256]), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=8))
def test_triggers_of_6_1_leave_nothing_out(window: int, passes: list[tuple[int, int]]) -> None:
    """Protects the shortcut of asking only at marks and at missing pages: the same windows as asking at every page."""

    def windows(by_triggers: bool) -> list[tuple[int, int]]:
        reader = Reader61(window)
        found = []
        for first, count in passes:
            end = (first + count) * PAGE
            position = first * PAGE
            while position < end:
                submitted = reader.state.touch(position, end)
                if submitted is not None:
                    found.append(submitted)
                    reader.pages.held |= set(range(submitted[0] // PAGE, submitted[1] // PAGE))
                reader.pages.held.add(position // PAGE)
                further = position + PAGE
                if by_triggers:
                    ready = reader.pages.held_until(position)
                    further = min(end, ready, max(further, reader.state.next_trigger(position)))
                position = reader.state.read_to = further
        return found

    assert windows(by_triggers=True) == windows(by_triggers=False)


def test_a_seek_on_2_4_reads_what_the_call_needs() -> None:
    """Protects random reads of 2.4: a page more than the call has, behind the one at hand, whatever was read before.
    The counter-tests: from the start on, and where calls are not looked at, a reader begins with 4 pages.
    """
    calls, plain = READ_AHEAD["2.4-calls"](31 * PAGE, 1000 * PAGE), make("2.4")
    assert calls.touch(0, PAGE) == (0, 4 * PAGE)
    assert calls.touch(500 * PAGE, 501 * PAGE) == (500 * PAGE, 503 * PAGE)
    assert calls.touch(100 * PAGE, 104 * PAGE) == (100 * PAGE, 106 * PAGE)
    assert plain.touch(500 * PAGE, 501 * PAGE) == (500 * PAGE, 504 * PAGE)


def test_who_reads_on_after_a_seek_has_windows_that_double() -> None:
    """Protects sequential reads that begin in the middle: 3 pages, 6, 12, and so on to the largest window, the second
    with the second page, and each later one with the first page of the one before.
    """
    state = READ_AHEAD["2.4-calls"](31 * PAGE, 1000 * PAGE)
    assert state.touch(500 * PAGE, 501 * PAGE) == (500 * PAGE, 503 * PAGE)
    assert state.next_trigger(500 * PAGE) == 501 * PAGE
    windows, at = [], 501 * PAGE
    for _ in range(4):
        window = state.touch(at, at + PAGE)
        assert window is not None
        windows.append((window[1] - window[0]) // PAGE)
        at = window[0]
    assert windows == [6, 12, 24, 32]


def test_a_random_read_on_2_4_reads_one_window() -> None:
    """Protects random reads from what nobody asked for: the page is looked at again when it has come, and still nothing
    more is read. The counter-test: where calls are not looked at, that sends the next window.
    """
    calls, plain = READ_AHEAD["2.4-calls"](31 * PAGE, 1000 * PAGE), make("2.4")
    for state in (calls, plain):
        state.touch(500 * PAGE, 501 * PAGE)
    assert calls.touch(500 * PAGE, 501 * PAGE) is None
    assert plain.touch(500 * PAGE, 501 * PAGE) == (504 * PAGE, 512 * PAGE)


def test_a_seek_to_a_page_in_memory_reads_nothing() -> None:
    """Protects random reads that hit: no page behind the one in memory is read; one that is missing starts a window.
    The counter-test: where nobody looks, two pages behind it are read.
    """
    file = PagedFile("f", 1000 * PAGE)
    file.cached.add(500 * PAGE, 502 * PAGE)
    looks, blind = (READ_AHEAD["2.4-calls"](31 * PAGE, 1000 * PAGE) for _ in range(2))
    looks.attach(file)
    assert looks.touch(500 * PAGE, 501 * PAGE) is None
    assert looks.next_trigger(500 * PAGE) == 1000 * PAGE, "until a page is missing"
    assert looks.touch(502 * PAGE, 503 * PAGE) == (502 * PAGE, 505 * PAGE)
    assert blind.touch(500 * PAGE, 501 * PAGE) == (500 * PAGE, 503 * PAGE)
