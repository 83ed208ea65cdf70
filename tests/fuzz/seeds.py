"""What a fuzzer begins with that has no corpus yet: samples of every format, from the tests and the manual."""

from __future__ import annotations

import gzip
import lzma
import struct
from pathlib import Path

import zstandard

import raidsim
from raidsim.model.programs.fio.options import option_table
from raidsim.tests.calibration.fio_study import fio_reports
from raidsim.tests.calibration.formats import samples
from raidsim.tests.calibration.inspection import mdstat_texts
from raidsim.tests.fuzz.targets import INSPECTED, OTHER_CPU, REPORTS, TARGETS
from raidsim.tests.scenarios.traces.test_libcachesim import lcs, vscsi_2

_ROOT = Path(raidsim.__file__).parent
_TRACES = _ROOT / "tests/scenarios/traces/samples"
_INSPECTED = _ROOT / "tests/calibration/inspection/samples"
_EXAMPLES = _ROOT / "docs/examples"
CORPUS = _ROOT / "tests/fuzz/corpus"
"""What was worth keeping, a folder a target."""
_LONGEST = 16_000
"""Bytes: a longer one slows the fuzzer and tells it nothing more."""
_TRACE_FILES = {
    "blkparse": ("synthetic.blkparse.txt", "btrace_gregg.txt"),
    "msr": ("msr_mds_0.csv",),
    "spc": ("spc_spec_example.spc",),
    "disksim": ("disksim_ascii.txt", "disksim_ascii_postmark.txt"),
    "disksim-validation": ("disksim_validation.txt",),
    "mqsim": ("mqsim_tpcc.txt", "mqsim_wsrch.txt"),
    "alibaba": ("alibaba_io_traces.csv",),
    "tencent": ("tencent_one_line.csv",),
    "systor": ("systor17_one_line.csv",),
    "cloudphysics-csv": ("cloudphysics_libcachesim.csv",),
    "cloudphysics": ("cloudphysics_vscsi_first320.bin", "synthetic.bin"),
}
_REQUESTS = ((5, 1000, 8, 12), (6, 5008, 16, 13), (6, 90, 1, 12))
"""Times, sectors, sectors of size, and libCacheSim's read or write."""
_IOLOGS = (
    b"fio version 2 iolog\nf add\nf open\nf write 4096 8192\nf wait 1500\nf read 0 512\nf close\n",
    b"fio version 3 iolog\n0 f add\n0 f open\n1 f write 4096 8192\n9 f read 0 512\n12 f trim 0 512\n20 f close\n",
)
_LINK = b"level=raid6&disks=8&model=WD2500JB&chunk=64&failed=1&view=compare&keep=level%3Draid10&keep=disks%3D4"
_COMMAND_LINES = (
    b"--name=a --rw=randread --bs=4k --iodepth=4 --size=1m --direct=1",
    b"--name global --bs 8k --name=a --rw=randrw:4 --rwmixread=70 --bssplit=4k/50:8k/30:16k/20 --zonerange=1m",
)
_POSTMARK = (
    b"set size 500 10000\nset number 100\nset bias read 5\nset location /a 1 /b 2\nset report terse\nrun out\nquit\n"
)
_ASSIGNMENTS = (
    b"arrays.md0={level: raid1, members: [disk0, disk1]}\nmachine.drives.count=3\nworkload.depth=1,2,4\nkernel=x",
    b"arrays.md0.balance=a,b\nlayout=raid0,raid1\ndisks=4\n" + b"workload.targets[0]=disk1\n'a b'.\"c\"=[1, {x: y}]",
)


def _matching(folder: Path, *patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(folder.glob(pattern))]


def _traces() -> dict[str, list[bytes]]:
    found = {f"trace-{name}": [(_TRACES / file).read_bytes() for file in files] for name, files in _TRACE_FILES.items()}
    found["trace-iolog"] = list(_IOLOGS)
    found["trace-oracle-general"] = [
        b"".join(struct.pack("<IQIq", time, sector, size * 512, -1) for time, sector, size, _ in _REQUESTS)
    ]
    found["trace-lcs"] = [lcs(list(_REQUESTS))]
    found["trace-cloudphysics-2"] = [vscsi_2(list(_REQUESTS))]
    cpus = [(_TRACES / f"synthetic.blktrace.{number}").read_bytes() for number in (0, 1)]
    found["trace-blktrace"] = [cpus[0], OTHER_CPU.join(cpus)]
    found["trace"] = [each[0] for each in list(found.values())]
    found["trace"] += [gzip.compress(found["trace-msr"][0], mtime=0), lzma.compress(found["trace-spc"][0])]
    found["trace"].append(zstandard.compress(found["trace-disksim"][0]))
    return found


def _reports() -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {f"report-{name}": [] for name in REPORTS}
    for name, text in samples.ALL.items():
        kind = next((each for each in sorted(REPORTS, key=len, reverse=True) if name.startswith(each)), "dd-and-time")
        found[f"report-{kind}"].append(text.encode())
    return found


def _inspections() -> dict[str, list[bytes]]:
    found = {f"inspect-{name}": _matching(_INSPECTED, f"{name}*") for name in INSPECTED}
    found["inspect-zfs"] = _matching(_INSPECTED.with_name("pasted"), "made-zfs-*")
    found["inspect-mdstat"] += [mdstat_texts.text(array).encode() for array in mdstat_texts.LEVELS.values()]
    found["inspect-session"] += _matching(_EXAMPLES / "inspect", "*")
    return found


def _fio() -> dict[str, list[bytes]]:
    jobs = _matching(_ROOT, "docs/examples/fio/*.fio", "tests/scenarios/fio/**/*.fio", "validation/truth/**/*.fio")
    names = list(option_table().entries)
    every = "[a]\n" + "".join(f"{name}=1\n" for name in names)
    words = "".join(f"[{name}]\n{name}=4k:8k,1/2\n" for name in names)
    report = fio_reports.report(
        fio_reports.randread(filesize="1g", numjobs=2, offset="1g"), fio_reports.randread("j"), shared={"bs": "4k"}
    ).encode()
    alone = fio_reports.report(fio_reports.randread()).encode()
    return {
        "fio-job": [*jobs, every.encode(), words[:_LONGEST].encode(), b"[a]\ninclude x\nbs=(2*4k)\nsize=${A}\n"],
        "fio-command-line": list(_COMMAND_LINES),
        "fio-study": [alone, report, *_reports()["report-fio"]],
        "fio-compare": [report, *_reports()["report-fio"]],
    }


def _documents() -> dict[str, list[bytes]]:
    scenarios = _matching(_ROOT, "docs/examples/*.yaml", "scenarios/documents/library/*.yaml")
    small = [each for each in _matching(_ROOT, "calibration/studies/*.yaml") if len(each) < 2 * _LONGEST]
    return {
        "scenario": scenarios,
        "upload": scenarios,
        "requirement": _matching(_EXAMPLES, "requirements/*.yaml"),
        "sweep": _matching(_EXAMPLES, "sweeps/*.yaml"),
        "study": small,
        "profile": _matching(_ROOT, "calibration/profiles/*.yaml"),
        "machine": [fio_reports.MACHINE.encode()],
        "assignments": list(_ASSIGNMENTS),
        "link": [_LINK],
        "postmark-script": [_POSTMARK, *_matching(_EXAMPLES, "*.postmark")],
    }


def seeds() -> dict[str, list[bytes]]:
    """Some inputs of every target, by its name."""
    every = {**_traces(), **_reports(), **_inspections(), **_fio(), **_documents()}
    assert every.keys() == TARGETS.keys(), every.keys() ^ TARGETS.keys()
    found = {
        name: [each for each in those if len(each) <= _LONGEST] or [min(those, key=len)]
        for name, those in every.items()
    }
    assert all(found.values()), [name for name, those in found.items() if not those]
    return found
