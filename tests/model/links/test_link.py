"""Links: no byte is lost, no moment is sold twice, gaps are used, and an ATA channel serves one at a time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.links.link import AtaChannel, Bus, DuplexLink, Link, Path

PCI = 133.3e6


@given(st.lists(st.tuples(st.floats(0, 0.01), st.floats(0, 0.05), st.integers(512, 2**17)), min_size=1, max_size=60))
def test_reservations_do_not_overlap_and_conserve_bytes(asked: list[tuple[float, float, int]]) -> None:
    """Protects the link's one promise: at any moment it moves for one user, as fast as its rate and no faster."""
    link, now, given_out = Link("pci", PCI, per_transfer_s=1e-6), 0.0, []
    for step, ahead, size in asked:
        now += step
        begin, end = link.reserve(now, now + ahead, size)
        assert begin >= now + ahead
        assert end - begin == pytest.approx(size / PCI + 1e-6)
        given_out.append((begin, end))
    given_out.sort()
    assert all(end <= begin + 1e-12 for (_, end), (begin, _) in pairwise(given_out))
    assert link.bytes_moved == sum(size for _, _, size in asked)
    assert link.transfers == len(asked)
    assert link.busy_s == pytest.approx(sum(end - begin for begin, end in given_out))


def test_a_gap_before_a_reservation_is_used() -> None:
    """Protects disks that reserve ahead of time from blocking the bus for those who need it earlier."""
    link = Link("pci", 100.0)
    assert link.reserve(0.0, 5.0, 100) == (5.0, 6.0)
    assert link.reserve(0.0, 2.0, 100) == (2.0, 3.0)
    assert link.reserve(0.0, 0.0, 250) == (6.0, 8.5), "2.5 s do not fit before 2.0 nor between 3.0 and 5.0"
    assert link.reserve(0.0, 0.0, 200) == (0.0, 2.0)
    assert link.reserve(0.0, 0.0, 200) == (3.0, 5.0)


def test_two_streams_share_the_bus_at_its_rate() -> None:
    """Protects the PCI ceiling: two disks that could do 100 MB/s each get the bus's rate together, half each."""
    bus, size = Link("pci", PCI), 65536
    paths = [Path((Link(name, 100e6), bus)) for name in ("ide0", "ide1")]
    over = [0.0, 0.0]
    for _ in range(2_000):
        turn = 0 if over[0] <= over[1] else 1
        over[turn] = paths[turn].reserve(min(over), over[turn], size)
    assert bus.bytes_moved / max(over) == pytest.approx(PCI, rel=0.01)
    moved = [path.links[0].bytes_moved for path in paths]
    assert moved[0] == pytest.approx(moved[1], rel=0.01)


def test_one_stream_goes_at_the_pace_of_its_slowest_link() -> None:
    """Protects cut-through: links work at the same time, so their times are not added."""
    path = Path((Link("cable", 50e6), Link("channel", 100e6), Link("pci", PCI)))
    assert path.slowest_rate == 50e6
    assert path.reserve(0.0, 1.0, 50_000_000) == pytest.approx(2.0)
    assert Path().reserve(0.0, 3.0, 4096) == 3.0
    assert Path((Link("cable", 1e6),)).reserve(0.0, 0.0, 1_000_000) == pytest.approx(1.0)


def test_a_link_without_a_rate_is_refused() -> None:
    """Protects divisions: 0, a negative rate and NaN never become a time."""
    for rate in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="not positive"):
            Link("pci", rate)


def test_an_ata_channel_serves_one_at_a_time_in_turn() -> None:
    """Protects master and slave: the second command starts when the first is over, in order of asking."""
    channel, started = AtaChannel("ide0"), []
    assert channel.acquire(lambda: started.append("never called"))
    assert not channel.acquire(lambda: started.append("slave"))
    assert not channel.acquire(lambda: started.append("master again"))
    assert started == []
    channel.release()
    assert started == ["slave"]
    assert not channel.acquire(lambda: started.append("last"))
    channel.release()
    channel.release()
    assert started == ["slave", "master again", "last"]
    channel.release()
    assert channel.acquire(lambda: None)


def test_a_short_transfer_alternates_with_a_long_one_on_a_bus() -> None:
    """A 1 s transfer that comes 2 s into a 10 s one takes 2 s; on a plain link it waits for the 8 s that are left."""
    bus, link = Bus("pci", 100.0), Link("cable", 100.0)
    for each in (bus, link):
        assert each.reserve(0.0, 0.0, 1000) == (0.0, 10.0)
    assert bus.reserve(2.0, 2.0, 100) == (2.0, 4.0)
    assert link.reserve(2.0, 2.0, 100) == (10.0, 11.0)


def test_a_bus_books_all_its_work() -> None:
    """Taking turns makes no bandwidth: the third of three long transfers ends when all three are paid for."""
    bus = Bus("pci", 100.0)
    assert bus.reserve(0.0, 1.0, 300) == (1.0, 4.0)
    assert bus.reserve(0.0, 1.0, 300) == (1.0, 7.0)
    assert bus.reserve(0.0, 1.0, 300) == (1.0, 10.0)
    assert bus.busy_s == pytest.approx(9.0)


@given(st.lists(st.tuples(st.floats(0, 0.01), st.integers(1, 1 << 20)), min_size=1, max_size=40))
def test_a_bus_is_never_later_than_a_link(asked: list[tuple[float, int]]) -> None:
    """Sharing bursts never makes a transfer end after its place in the queue, nor before its own duration."""
    bus, link, now = Bus("pci", 1e8), Link("pci", 1e8), 0.0
    for step, size in asked:
        now += step
        begin, end = bus.reserve(now, now, size)
        assert begin == now
        assert now + size / 1e8 <= end + 1e-12
        assert end <= link.reserve(now, now, size)[1] + 1e-12


def test_a_link_may_send_slower_than_it_receives() -> None:
    """Protects the direction: writes take the rate for writes, which is the other one unless it is given."""
    link = Link("pci", 100.0, write_rate=50.0)
    assert link.reserve(0.0, 0.0, 100) == (0.0, 1.0)
    assert link.reserve(0.0, 0.0, 100, write=True) == (1.0, 3.0)
    assert Link("pci", 100.0).reserve(0.0, 0.0, 100, write=True) == (0.0, 1.0)
    path = Path((Link("cable", 400.0), link))
    assert (path.slowest_rate, path.slowest_write_rate) == (100.0, 50.0)


asked_of_a_link = st.lists(
    st.tuples(st.floats(0, 0.01), st.floats(0, 0.05), st.sampled_from([512, 4096, 4096, 65536, 1 << 20])), max_size=60
)


@given(asked_of_a_link)
def test_what_a_link_keeps_is_as_good_as_every_reservation(asked: list[tuple[float, float, int]]) -> None:
    """Protects the short list of busy times: a transfer gets the place that a search through all of them gives."""
    link, now = Link("pci", 1e8), 0.0
    booked: list[tuple[float, float]] = []
    for step, ahead, size in asked:
        now += step
        booked = sorted(span for span in booked if span[1] > now)
        begin = now + ahead
        for start, end in booked:
            if begin + size / 1e8 <= start:
                break
            begin = max(begin, end)
        booked.append((begin, begin + size / 1e8))
        assert link.reserve(now, now + ahead, size) == booked[-1]


@pytest.mark.parametrize(
    "link", [Link("pci", 1e9), Bus("pci", 1e9), DuplexLink("pcie", 1e9)], ids=lambda link: link.name
)
def test_a_full_link_keeps_no_list_of_its_queue(link: Link) -> None:
    """Protects the price of an I/O behind deep queues: 1,000 transfers back to back are one busy time."""
    for _ in range(1_000):
        link.reserve(0.0, 0.0, 4096)
    one_way = link.ways[0] if isinstance(link, DuplexLink) else link
    assert len(one_way._ends) == 1
    assert one_way._ends[0] == pytest.approx(1_000 * 4.096e-6)


def test_both_directions_of_a_duplex_link_have_its_rate() -> None:
    """PCIe moves reads and writes at once; a bus of the same rate (the counter-test) takes one after the other."""
    duplex, bus = DuplexLink("pcie", 100.0, write_rate=50.0), Bus("pci", 100.0, write_rate=50.0)
    for link, over in ((duplex, (1.0, 2.0)), (bus, (1.0, 3.0))):
        assert link.reserve(0.0, 0.0, 100)[1] == over[0]
        assert link.reserve(0.0, 0.0, 100, True)[1] == over[1]
        assert link.bytes_moved == 200
    assert [way.bytes_moved for way in duplex.ways] == [100, 100]
    assert [way.busy_s for way in duplex.ways] == [1.0, 2.0]
    duplex.start_statistics(3.0)
    assert duplex.bytes_moved == sum(way.bytes_moved for way in duplex.ways) == 0


def test_an_adapter_takes_only_so_many_commands() -> None:
    """Small transfers wait for the adapter's processor, whichever way their data go; large ones for the link."""
    adapter = DuplexLink("hba", 1e9, command_rate=1e5)
    ends = [adapter.reserve(0.0, 0.0, 512, bool(turn % 2))[1] for turn in range(100)]
    assert ends[-1] == pytest.approx(100 / 1e5)
    without = DuplexLink("hba", 1e9)
    ends = [without.reserve(0.0, 0.0, 512, bool(turn % 2))[1] for turn in range(100)]
    assert ends[-1] == pytest.approx(50 * 512 / 1e9)
    large = DuplexLink("hba", 1e9, command_rate=1e5)
    assert [large.reserve(0.0, 0.0, 1 << 20)[1] for _ in range(10)][-1] == pytest.approx(10 * (1 << 20) / 1e9, rel=0.01)


def test_a_short_transfer_takes_turns_with_long_ones_on_a_duplex_link() -> None:
    """4 KiB do not wait for the megabytes before them, and equal ones come one after the other."""
    link = DuplexLink("pcie", 100.0)
    assert [link.reserve(0.0, 0.0, 1000)[1] for _ in range(2)] == [10.0, 20.0]
    assert link.reserve(0.0, 0.0, 100)[1] == pytest.approx(3.0)
    assert link.reserve(0.0, 0.0, 1000)[1] == pytest.approx(31.0)


@given(asked_of_a_link)
def test_a_direction_is_busy_for_what_it_moves_and_never_idle_meanwhile(asked: list[tuple[float, float, int]]) -> None:
    """Protects the sum: what is booked is as long as all transfers together, and the last ends when that is over."""
    link, ends = DuplexLink("pcie", 1e8), []
    for _, ahead, size in asked:
        begin, end = link.reserve(0.0, ahead, size)
        assert begin == ahead
        assert end >= ahead + size / 1e8 - 1e-12
        ends.append(end)
    way = link.ways[0]
    spans = list(zip(way._starts, way._ends, strict=True))
    assert all(start < end for start, end in spans)
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
    assert sum(end - start for start, end in spans) == pytest.approx(way.busy_s)
    assert way.busy_s == pytest.approx(sum(size for _, _, size in asked) / 1e8)
    assert all(end <= spans[-1][1] + 1e-12 for end in ends)


def test_duplex_links_without_rates_are_refused() -> None:
    """Protects divisions, as with other links."""
    with pytest.raises(ValueError, match="not positive"):
        DuplexLink("hba", 0.0)
    with pytest.raises(ValueError, match="not positive"):
        DuplexLink("hba", 1e9, command_rate=0.0)
