"""What fio says before it runs: a line for every job, its version, and how many it starts (init.c, backend.c)."""

from __future__ import annotations

from collections.abc import Iterator

from ....model.programs.fio import values as fio_values
from ..result import FioRun, ThreadRecord
from .numbers import short

_DEFAULT_BLOCK = "4k"


def job_header(run: FioRun) -> list[str]:
    """The lines."""
    return [*_jobs(run), run.version, _starting(run)]


def _jobs(run: FioRun) -> Iterator[str]:
    for thread in run.threads:
        if thread.clone == 0:
            yield _job(thread)
        elif thread.clone == 1:
            yield "..."


def _job(thread: ThreadRecord) -> str:
    options = thread.options
    kind = options.get("rw", "read").partition(":")[0]
    return (
        f"{thread.jobname}: (g={thread.groupid}): rw={'rw' if kind == 'readwrite' else kind}, "
        f"bs={_block_sizes(options)}, "
        f"ioengine={options.get('ioengine', 'psync')}, iodepth={options.get('iodepth', '1')}"
    )


def _block_sizes(options: dict[str, str]) -> str:
    """The smallest and largest I/O in each direction."""
    kb_base = int(options.get("kb_base", "1024"))
    if "bssplit" in options:
        ranges = fio_values.split_sizes(options["bssplit"], "bssplit", kb_base)
    else:
        key = "bsrange" if "bsrange" in options else "bs"
        ranges = fio_values.block_sizes(options.get(key, _DEFAULT_BLOCK), key, kb_base)
    return ", ".join(
        f"({letter}) " + "-".join(short(size, binary=kb_base == 1024, unit="B") for size in (each.least, each.most))
        for letter, each in zip("RWT", ranges, strict=True)
    )


def _starting(run: FioRun) -> str:
    threads = sum(thread.options.get("thread", "0") != "0" for thread in run.threads)
    counts = ((threads, "thread", "threads"), (len(run.threads) - threads, "process", "processes"))
    return "Starting " + " and ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n)
