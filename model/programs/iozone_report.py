"""What iozone 3.4xx prints: a line for a size of file and record, rates in Kbytes of 2^10 bytes a second, cut."""

from __future__ import annotations

from collections.abc import Sequence

from .iozone import Iozone, timed
from .phase_result import PhaseResult

KIB = 1024
_WIDE = ("record rewrite", "stride read")
_HEADING = (
    f"{'':62}random    random     bkwd    record    stride{'':36}\n"
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   "
    "fwrite frewrite    fread  freread\n"
)


def report(run: Iozone, results: Sequence[PhaseResult]) -> str:
    """The heading and the line of a run; `results` are those of all its marks, of which one in three is timed."""
    found = timed(results)
    rates = "".join(f"{int(found[name].rate) // KIB:{10 if name in _WIDE else 9}}" for name in run.reported)
    return (
        f"\tFile size set to {run.size // KIB} kB\n"
        f"\tRecord Size {run.record // KIB} kB\n"
        "\tOutput is in kBytes/sec\n"
        f"\tFile stride size set to {run.stride} * record size.\n"
        f"{_HEADING}{run.size // KIB:16}{run.record // KIB:8}{rates}\n\niozone test complete.\n"
    )
