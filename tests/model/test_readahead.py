"""Read-ahead windows, in pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.readahead import PAGE, READ_AHEAD, ReadAhead, ReadAhead24, ReadAhead26

END = 10_000
LARGEST = {"2.4": 31 * PAGE, "2.6": 32 * PAGE}


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


@given(st.sampled_from(["2.4", "2.6"]), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80)), max_size=8))
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


@given(st.sampled_from(["2.4", "2.6"]), st.integers(0, 300), st.integers(1, 200))
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
