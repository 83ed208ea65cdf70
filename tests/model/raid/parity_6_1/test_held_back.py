"""Heads that nobody waits for are held back behind full stripes."""

from __future__ import annotations

from functools import partial

from raidsim.tests.model.raid.parity_bench import CHUNK, Bench


def write_back(bench: Bench, at: float, chunk: int, chunks: int) -> None:
    """Write chunks at a time (s); nobody waits."""
    send = partial(bench.issuer.write, chunk * CHUNK, chunks * CHUNK)
    bench.engine.call_at(at, lambda _: send())


def test_an_incomplete_row_waits_for_full_stripes() -> None:
    """Protects __get_priority_stripe: while a full stripe is being written, a row whose rest comes is never read up."""
    bench = Bench(4, hold=None, direct_reads=True)
    write_back(bench, 0.0, 0, 4)
    write_back(bench, 0.0005, 4, 2)
    bench.engine.run()
    assert bench.array.row_writes == {"full": 2, "rmw": 0, "rcw": 0}
    assert bench.array.parity_reads == 0


def test_it_is_read_up_when_they_are_written() -> None:
    """The counter-test: what comes after the full stripe is on the members is too late."""
    bench = Bench(4, hold=None, direct_reads=True)
    write_back(bench, 0.0, 0, 4)
    write_back(bench, 0.0015, 4, 2)
    bench.engine.run()
    assert bench.array.parity_reads == 2


def test_other_heads_may_pass_by_only_so_often() -> None:
    """Protects preread_bypass_threshold: where other heads keep coming, the row is read up after a few of them."""
    bench = Bench(4, hold=None, direct_reads=True)
    write_back(bench, 0.0, 0, 4)
    write_back(bench, 0.0002, 9, 3)
    write_back(bench, 0.0004, 12, 3)
    write_back(bench, 0.0006, 15, 3)
    bench.engine.run(until=0.0007)
    assert bench.array.parity_reads == 2
