"""Jobs of fio as a workload, and a machine without one."""

from __future__ import annotations

import json

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.fio_jobs import FioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.run import FioOptions, run_fio
from raidsim.scenarios.running.simulate import simulate

MACHINE = "machine: {drives: {model: WD5000AAKS, count: 4}}\narrays: {md0: {level: raid5, chunk: 64KiB}}\n"
JOB = """\
[global]
direct=1
ioengine=libaio
filename=/dev/md0
[reader]
rw=randread
bs=4k
iodepth=8
numjobs=2
group_reporting
runtime=1
time_based
[writer]
stonewall
rw=write
bs=1m
size=16m
"""


def described(workload: dict[str, object]) -> str:
    """A scenario with this workload."""
    return f"{MACHINE}workload: {json.dumps(workload)}\n"


def test_a_job_gives_what_raidsim_fio_reports() -> None:
    """Protects against a second fio: the figures of a scenario are those of the command, to the last bit."""
    spec = document_from(described({"job": JOB})).spec()
    assert isinstance(spec.workload, FioSpec)
    found = simulate(spec).figures
    reported = run_fio(spec, spec.workload.sections(), FioOptions())
    reader, writer = reported.jobs
    assert found["reader.read_iops"] == reader.read.ios_per_second
    assert found["reader.read_mean_seconds"] == pytest.approx(reader.read.lat.mean)
    assert found["reader.read_p99_seconds"] == reader.read.clat.percentile_ns(99.0) * 1e-9
    assert found["writer.write_rate"] == writer.write.bytes_per_second
    assert not any(name.startswith("reader.write") for name in found)


def test_clones_of_a_job_count_together() -> None:
    """Protects figures of jobs that are reported one by one: rates add up, and the mean is over all I/Os."""
    alone = JOB.replace("group_reporting\n", "")
    together, apart = (simulate(document_from(described({"job": job})).spec()).figures for job in (JOB, alone))
    assert apart["reader.read_iops"] == pytest.approx(together["reader.read_iops"], rel=0.02)
    assert apart["reader.read_p99_seconds"] == together["reader.read_p99_seconds"]


def test_at_most_ends_a_long_job() -> None:
    """Protects against a minute of simulated time for what half a second shows."""
    job = JOB.replace("runtime=1\n", "runtime=60\n")
    spec = document_from(described({"job": job, "at_most": "500ms"})).spec()
    assert simulate(spec).seconds < 2.0


def test_syncs_are_figures() -> None:
    """Protects the latency of fsync, which is what databases wait for."""
    job = "fio --name=log --filename=/dev/md0 --rw=write --bs=4k --size=64k --fsync=1"
    found = simulate(document_from(described({"job": job})).spec()).figures
    assert found["log.sync_mean_seconds"] > 1e-3
    assert found["log.sync_p50_seconds"] <= found["log.sync_p99_seconds"]


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ("[x]\nrw=sideways\n", "sideways"),
        ("[x]\nrw=read\ninclude missing\n", "missing"),
        ("[x]\nrw=read\nfilename=/dev/md7\nsize=1m\n", "md7"),
        ("no section", "no section"),
    ],
)
def test_jobs_that_cannot_run_are_refused(job: str, told: str) -> None:
    """Protects against a run of something else, or a traceback."""
    with pytest.raises(InputError, match=told):
        simulate(document_from(described({"kind": "fio", "job": job})).spec())


def test_an_idle_machine_rebuilds_faster_than_a_busy_one() -> None:
    """Protects the rate of a rebuild without a load, and that a load slows it down."""
    arrays = "arrays: {md0: {level: raid5, chunk: 64KiB, rebuilding: 1, resync: {stripe_heads: 256}}}\n"
    machine = MACHINE.splitlines()[0] + "\n" + arrays
    idle = simulate(document_from(f"{machine}workload: {{kind: idle, duration: 3s}}\n").spec())
    load = "workload: {depth: 16, warm_up: 1s, duration: 3s}\n"
    busy = simulate(document_from(f"{machine}{load}").spec())
    assert idle.rate == 0.0
    assert not idle.latencies
    assert idle.figures["resync_rate"] > 3 * busy.figures["resync_rate"] > 0


def test_an_idle_machine_has_something_to_do() -> None:
    """Protects against an empty result: without a rebuild or a check there is nothing to measure."""
    with pytest.raises(InputError, match="idle"):
        document_from(f"{MACHINE}workload: {{kind: idle}}\n").spec()
