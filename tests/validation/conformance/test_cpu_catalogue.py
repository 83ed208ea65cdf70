"""The prices of the catalogue's cores that go back to the recording of md are those that conformance works with."""

from __future__ import annotations

import pytest

from raidsim.scenarios.description.machine import PriceList
from raidsim.scenarios.documents.machine_catalogue import cpu
from raidsim.validation.conformance.md import resync, vm_member

MEASURED = {
    "bio_s": resync.PRICES.bio_s,
    "command_s": vm_member.REQUEST_S,
    "switch_s": vm_member.SWITCH_S,
    "clone_s": resync.PRICES.clone_s,
    "stripe_s": resync.PRICES.stripe_s,
    "segment_s": resync.PRICES.segment_s,
    "head_s": resync.PRICES.head_s,
    "buffer_page_s": resync.PRICES.buffer_page_s,
    "compare_s_per_byte": resync.PRICES.compare_s_per_byte,
}
"""Seconds at one instruction a nanosecond. Copying and XOR are bound by memory and vector units, which that machine
has not."""
INSTRUCTIONS_PER_NS = {"server-core": 3.0, "nas-core": 1.5}
ROUNDED = 0.07
"""Prices are written down with two digits."""


@pytest.mark.parametrize("price", MEASURED)
@pytest.mark.parametrize("core", INSTRUCTIONS_PER_NS)
def test_what_was_measured_is_in_the_catalogue(core: str, price: str) -> None:
    """Protects work from costing nothing on a modern core: each measured price is there, at the core's pace."""
    prices = PriceList.model_validate({**cpu(core, "a test")["prices"], "source": "the catalogue"}).prices()
    at_one = getattr(prices, price) * INSTRUCTIONS_PER_NS[core]
    assert at_one == pytest.approx(MEASURED[price], rel=ROUNDED)
