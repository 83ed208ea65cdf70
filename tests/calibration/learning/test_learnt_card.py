"""A user's own controller, learnt from a few measurements of it, as a file that scenarios extend."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim import InputError, Scenario, learn
from raidsim.calibration.learning.loads import BoxLoad
from raidsim.scenarios.running.simulate import simulate

KIB = 1024
CARD = """\
name: two SATA drives on a card
kernel: linux-6.12
machine:
  model: server
  drives: {model: Intel-S4510-960GB, count: 2}
  controllers: {card: {model: LSI-9361-8i, overrides: {latency: 25us, command: 12us}}}
arrays: {volume: {level: raid1, controller: card}}
workload: {kind: load, targets: [volume], span: 64MiB, warm_up: 2ms, duration: 10ms}
"""
LOADS = [
    *(BoxLoad(4 * KIB, 1, depth, share) for depth, share in ((1, 0.0), (4, 0.0), (64, 0.0), (1, 1.0), (32, 1.0))),
    BoxLoad(64 * KIB, 1, 1, 0.0),
]


def table(path: Path, scenario: Scenario) -> Path:
    """What the machine of a scenario does with some loads, as a table of measurements."""
    lines = ["block_kib,jobs,depth,read_percent,iops"]
    for load in LOADS:
        size = f"{int(load.block_size)}B"
        done = scenario.with_(block_size=size, depth=load.depth, read_share=f"{100 * load.read_share:g}%")
        iops = sum(simulate(done.spec).iops.values())
        lines.append(f"{int(load.block_size) // KIB},{load.jobs},{load.depth},{100 * load.read_share:g},{iops:.6g}")
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.mark.slow
def test_a_slow_card_is_found_and_becomes_a_file(tmp_path: Path) -> None:
    """Protects the way from measurements to a file: a card that is twice as slow is learnt, and its file says so."""
    true = Scenario.from_yaml(CARD.replace("latency: 25us, command: 12us", "latency: 50us, command: 20us"))
    box = learn(table(tmp_path / "box.csv", true), machine=Scenario.from_yaml(CARD), workers=0, progress=False)
    (tmp_path / "card.yaml").write_text(box.cards(), "utf-8")
    mine = tmp_path / "mine.yaml"
    own = "\n".join(line for line in CARD.splitlines() if "controllers" not in line)
    mine.write_text(f"extends: card.yaml\n{own}\n", "utf-8")
    found = Scenario.load(mine).with_(read_share="0%")
    wrong = Scenario.from_yaml(CARD).with_(read_share="0%")
    right = sum(simulate(true.with_(read_share="0%").spec).iops.values())
    assert sum(simulate(found.spec).iops.values()) == pytest.approx(right, rel=0.1)
    assert sum(simulate(wrong.spec).iops.values()) > 1.3 * right


def test_a_card_needs_a_described_machine(tmp_path: Path) -> None:
    """Counter-test: of a box of which nothing is known there is no card to write."""
    path = tmp_path / "box.csv"
    path.write_text("block_kib,jobs,depth,read_percent,iops\n4,1,1,100,9000\n4,1,16,100,90000\n", "utf-8")
    with pytest.raises(InputError, match="--card: no --machine"):
        learn(path, progress=False).cards()
