"""What md computes to check a row, and to repair one."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench


def busy_s(price: str, differs: bool, level: str, **settings: Any) -> float:
    """CPU time of the check of a chunk of every member, if one thing has a price: 1 us, or 1 ns a byte."""
    bench = Bench(5, level, prices={price: 1e-9 if price.endswith("_byte") else 1e-6}, **settings)
    bench.array.mismatches.share = float(differs)
    bench.array.check(0, CHUNK, lambda: None)
    bench.engine.run()
    return bench.cpu.busy_s


@pytest.mark.parametrize("settings", [{"hold": None, "direct_reads": True}, {}])
@pytest.mark.parametrize(("level", "parities"), [("raid5", 1), ("raid6", 2)])
def test_a_repair_costs_one_more_pass_and_a_parity(level: str, parities: int, settings: dict[str, Any]) -> None:
    """Protects the CPU time of a repair over that of a check that finds nothing: one more pass over each head, a block
    I/O for each parity that is written, and the XOR of all members once more.
    """
    heads = CHUNK // PAGE
    more = {"stripe_s": heads * 1e-6, "bio_s": heads * parities * 1e-6, "xor_s_per_byte": 5 * CHUNK * 1e-9}
    for price, more_s in more.items():
        clean, wrong = (busy_s(price, differs, level, **settings) for differs in (False, True))
        assert clean > 0
        assert wrong - clean == pytest.approx(more_s), price
