"""Programs on file systems on a parity array: that they end, and in which blocks the array works."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.signal import Signal
from raidsim.model.files.description_errors import validate
from raidsim.model.memory.page_cache import PageCache
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running import program_run
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, machine_document

BONNIE = {"program": "bonnie", "version": "1.2", "size": "24MiB"}


def scenario(*steps: dict[str, Any], kernel: str = "linux-2.4.18", on: str = "md0") -> ScenarioSpec:
    """ext2 on a RAID 5 of four drives, or on what is `on` it, in a machine of 32 MiB."""
    prices: dict[str, Any] = {"putc": "20ns", "getc": "20ns", "file_read": "2us", "file_write": "3us"}
    document = {
        "name": "test",
        "machine": machine_document(memory="32MiB", **prices),
        "kernel": kernel,
        "arrays": {"md0": {"level": "raid5", "members": list(DRIVES), "chunk": "32KiB"}},
        "encrypted": {"crypt": {"on": "md0", "kind": "cryptoloop", "rate": "50MB/s", "source": "made up"}},
        "file_systems": {"/data": {"kind": "ext2", "on": on}},
        "workload": {"kind": "programs", "steps": list(steps)},
    }
    if on == "md0":
        del document["encrypted"]
    return validate(ScenarioSpec, document)


def test_bonnie_on_raid_5_of_linux_2_4_ends() -> None:
    """Protects against a lost wake-up: reads that the stripe cache serves at once were waited for for ever."""
    figures = simulate(scenario(BONNIE), Sample(scale=1)).figures
    assert all(figures[f"bonnie.{phase}_rate"] > 1e6 for phase in ("putc", "rewrite", "write", "getc", "read"))


def test_programs_that_wait_for_nothing_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects against runs without end: a page that never comes is an error which says so. A program that sleeps
    while nothing else happens, as bonnie does for 5 s, is none.
    """
    simulate(scenario({**BONNIE, "size": "1MiB"}), Sample(scale=1))
    monkeypatch.setattr(PageCache, "_arrival", lambda *_: Signal())
    with pytest.raises(ModelError, match=f"read: .* {program_run._STUCK_S:g} s"):
        simulate(scenario({"program": "read", "size": "8MiB"}), Sample(scale=1))


@pytest.mark.parametrize("on", ["md0", "crypt"])
@pytest.mark.parametrize(("kernel", "head"), [("linux-2.4.18", 4096), ("linux-2.4.26", 4096), ("linux-2.6.8", 4096)])
def test_stripe_heads_are_as_high_as_the_file_systems_blocks(kernel: str, head: int, on: str) -> None:
    """Protects the stripe cache under a file system: Linux 2.4 has heads of its blocks, also through encryption, and of
    1 KiB for a raw device; 2.6 has pages for both.
    """
    programs = scenario(BONNIE, kernel=kernel, on=on)
    assert BuiltMachine(programs).arrays["md0"].cache.head_bytes == head
    raw = programs.model_dump() | {
        "file_systems": {},
        "encrypted": {},
        "workload": {"kind": "dd", "direction": "read", "targets": ["md0"], "size": 1 << 20},
    }
    built = BuiltMachine(ScenarioSpec.model_validate(raw))
    assert built.arrays["md0"].cache.head_bytes == (1024 if kernel.startswith("linux-2.4") else 4096)


def test_on_linux_2_4_18_a_writer_fills_whole_stripes() -> None:
    """Protects its write path: rows wait for their neighbors until somebody waits, and the writer hands on 32 blocks
    for each that it dirties, so nearly all rows are full. With a timer of 3 ms instead, as on 2.6, more are read up.
    """

    def full_share(hold: str) -> float:
        spec = scenario({"program": "dd", "size": "96MiB"})
        made = program_run.ProgramRun(BuiltMachine(spec), Sample())
        array = made.machine.arrays["md0"]
        if hold == "timer":
            array._writer._shared_plug = False
            array._writer._hold_s = 0.003
        made.run()
        rows = array.row_writes
        return float(rows["full"] / sum(rows.values()))

    assert full_share("unplug") > 0.8
    assert full_share("timer") < full_share("unplug")


def test_a_cryptoloop_keeps_a_copy_in_memory_since_2_6_4() -> None:
    """Protects the kernels' difference: 2.6.7 goes through the page cache below the cipher, 2.4.26 hands I/O down.

    Reading a file again that was just written takes no time; after a remount, which forgets both copies, it does.
    """
    write, read = {"program": "dd", "size": "4MiB"}, {"program": "read", "size": "4MiB"}
    assert list(BuiltMachine(scenario(write, kernel="linux-2.6.7", on="crypt")).loops) == ["crypt"]
    assert not BuiltMachine(scenario(write, kernel="linux-2.4.26", on="crypt")).loops

    def read_s(*steps: dict[str, Any]) -> float:
        return simulate(scenario(*steps, kernel="linux-2.6.7", on="crypt"), Sample(scale=1)).figures["read.seconds"]

    encrypted_s = 4 * 2**20 / 50e6
    assert read_s(write, read) < 0.5 * encrypted_s < encrypted_s < read_s(write, {"program": "remount"}, read)
