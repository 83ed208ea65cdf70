"""The controller's part in garbage collection: units that are moved take commands/s from the host's."""

from __future__ import annotations

import pytest

from raidsim.model.solid_state.spec import MOVE_SHARE
from raidsim.tests.model.solid_state.drive_bench import Loaded

SLOW = {"command_rate": 100e3, "dies": 64, "channels": 16, "flash": 160 * 200 << 20, "capacity": 128 * 200 << 20}
"""A controller that the flash is no limit for."""


def mixed(read_share: float, **changes: object) -> Loaded:
    """A load that keeps the controller of a worn drive busy."""
    return Loaded(read_share=read_share, depth=64, warm_up=0.1, seconds=0.2, **{**SLOW, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("read_share", [0.0, 0.7])
def test_moved_units_take_commands(read_share: float) -> None:
    """Of each write w - 1 units are moved, with a write amplification of w, and take 0.7 commands each."""
    load = mixed(read_share)
    amplification = load.drive.write_amplification
    assert amplification > 2.0
    commands = 1.0 + (1.0 - read_share) * MOVE_SHARE * (amplification - 1.0)
    assert load.iops == pytest.approx(100e3 / commands, rel=0.08)
    assert load.usage["controller"] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("read_share", "changes"),
    [(1.0, {}), (0.0, {"interface": "SATA 6Gb/s"}), (0.0, {"state": "fresh"}), (0.0, {"state": "sequential"})],
)
def test_nothing_is_taken_where_nothing_is_moved(read_share: float, changes: dict[str, object]) -> None:
    """Reads, drives that collect nothing yet, and SATA, where the cable sets the commands/s, have all of them."""
    assert mixed(read_share, **changes).iops == pytest.approx(100e3, rel=0.03)
