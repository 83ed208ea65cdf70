"""What fio does with the data of its writes, as user time."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.fio.buffers import FILL_S, SECTOR, WriteBuffers
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.scenarios.fio.fio_runs import only

MIB = 1024 * 1024
MACHINE = """
name: RAID 5 of three drives
machine: {model: nvme-server, cpu: {model: server-core, cores: 8}, drives: {model: Intel-Optane-P4800X-375GB, count: 3}}
arrays:
  md0: {level: raid5}
workload: {kind: load}
"""


@pytest.mark.parametrize(
    ("options", "sector_ns"),
    [
        ("", 1.4),
        ("scramble_buffers=0", 0),
        ("zero_buffers", 0),
        ("buffer_pattern=0xdeadbeef", 0),
        ("zero_buffers refill_buffers", 3.9),
        ("refill_buffers", 66),
        ("buffer_compress_percentage=50", 42),
        ("dedupe_percentage=50", 73),
        ("dedupe_percentage=0", 1.4),
    ],
)
def test_options_of_buffers_are_user_time(options: str, sector_ns: float) -> None:
    """Protects user time by size: each sector of a write costs what fio does with it. Counter-test: a read has none."""

    def user_s(rw: str) -> float:
        job = "[a] filename=/dev/disk0 bs=1m direct=1 ioengine=psync number_ios=50 size=1g"
        return only(f"{job} rw={rw} {options}", MACHINE).user_cpu_s / 50

    assert user_s("write") - user_s("read") == pytest.approx(MIB // SECTOR * sector_ns * 1e-9, rel=0.01, abs=1e-9)


def test_lines_that_another_core_has_copied_are_taken_back() -> None:
    """Protects the price of a copy for the writer: two lines of each sector come back, twelve at the same time, once.
    Counter-tests: a read writes to no buffer, and what nobody has copied is here.
    """
    host = Host(Cpu(Engine()), line_s=120e-9)
    buffers = WriteBuffers(host, "scramble", 1)
    here_s = buffers.fill_s(WRITE, SECTOR)
    assert here_s == FILL_S["scramble"]
    host.has_copied(SECTOR, 1)
    host.has_copied(SECTOR, 2)
    assert buffers.fill_s(READ, SECTOR) == 0
    assert buffers.fill_s(WRITE, SECTOR) - here_s == pytest.approx(20e-9)
    assert buffers.fill_s(WRITE, SECTOR) == here_s


def test_md_copies_what_is_written_to_raid5() -> None:
    """Protects the link from md's thread to the job: writes to RAID 5 take more user time than writes to a drive."""
    job = "[a] filename=/dev/{on} rw=write bs=1m direct=1 ioengine=psync number_ios=50 size=1g"
    array, drive = (only(job.format(on=on), MACHINE).user_cpu_s / 50 for on in ("md0", "disk0"))
    assert array - drive == pytest.approx(MIB // SECTOR * 2 * 80e-9 / 12, rel=0.05)
