"""The file system of every design: the required load as jobs of fio on a file, and what the file system keeps.

Each design makes the file system on its own array, so that mkfs takes its stripes (``stripe_aligned``). The I/Os are
direct and reach one file that is there before, as a database or the images of virtual machines are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from ...model.file_system import file_system_names
from ...model.files.description import Spec, refusal
from ..description.file_systems import FileSystemSpec
from .capacity import FileSystemName, file_system_bytes
from .required_load import TARGET, RequiredLoad

MOUNT = "/srv"
FILE = f"{MOUNT}/data"
_FULL = 0.9
"""Share of the file system that the file takes if the load has no span."""
_THREADS = 24
"""Threads of random reads, and of random writes."""
_FAMILIES: dict[str, FileSystemName] = {"ext2": "ext4", "ext3": "ext4", "ext4": "ext4", "xfs": "xfs", "xfs-v5": "xfs"}
"""Whose metadata a kind has, as :mod:`.capacity` counts it."""


class FileSystemChoice(Spec):
    """The file system on every array; fields as in
    :class:`~raidsim.scenarios.description.file_systems.FileSystemSpec`.
    """

    means_as: ClassVar[str] = "raidsim.scenarios.description.file_systems:FileSystemSpec"

    kind: str
    age: float = Field(default=0.0, ge=0.0, le=1.0)
    stripe_aligned: bool = True
    overrides: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.kind not in _FAMILIES:
            known = [name for name in file_system_names() if name in _FAMILIES]
            raise refusal(repr(self.kind), f"expected: {', '.join(known)}", ("kind",))
        FileSystemSpec(on=TARGET, **self.document()).settings(units_required=True)
        return self

    def document(self) -> dict[str, Any]:
        """The same as a scenario has it, without the device."""
        return self.model_dump(exclude_unset=True)

    def kept_bytes(self, size: int) -> int:
        """What the file system keeps of a device of this size for itself."""
        return file_system_bytes(_FAMILIES[self.kind], size)

    def file_bytes(self, load: RequiredLoad, usable: int) -> int:
        """Bytes of the file that the load reaches, of those that files may have."""
        return load.span or int(_FULL * usable) // 4096 * 4096

    def workload(self, load: RequiredLoad, size: int, warm_up: float, duration: float, seed: int) -> dict[str, Any]:
        """The load as jobs of fio on a file of this size.

        Parameters
        ----------
        load
            The I/Os.
        size
            Bytes of the file.
        warm_up, duration
            Simulated time (s).
        seed
            Of the places.
        """
        lines = [
            "[global]",
            f"filename={FILE}",
            f"filesize={size}",
            "ioengine=psync",
            "direct=1",
            "norandommap",
            "time_based",
            f"ramp_time={round(1e6 * warm_up)}us",
            f"runtime={round(1e6 * duration)}us",
            f"randseed={seed + 1}",
            "rate_process=poisson",
            *([] if load.align is None else [f"blockalign={load.align}"]),
        ]
        shares = {"read": load.read_share, "write": 1.0 - load.read_share}
        for op in load.ops:
            rate, threads = _threads(load, shares[op] * load.total_iops, duration)
            own = load.read_size if op == "read" else load.write_size
            lines += [
                f"[{op}s]",
                f"rw={'rand' if load.pattern == 'random' else ''}{op}",
                _sizes(load.block_size if own is None else own),
                f"numjobs={threads}",
                f"rate_iops={rate}",
            ]
        return {"kind": "fio", "job": "\n".join(lines), "files": {FILE: f"{size}B"}}


def refuse_load(load: RequiredLoad) -> None:
    """Refuse a load that fio's jobs do not describe.

    Raises
    ------
    PydanticCustomError
        Naming the field.
    """
    kind = None if load.locality is None else load.locality.kind
    if kind not in (None, "uniform"):
        raise refusal(f"{kind} with a file system", "expected: uniform, or no file_system", ("load", "locality"))
    if load.pattern == "mixed":
        raise refusal("mixed with a file system", "expected: random or sequential", ("load", "pattern"))
    if load.arrivals is not None and load.arrivals.kind != "poisson":
        raise refusal(f"{load.arrivals.kind} with a file system", "expected: poisson", ("load", "arrivals"))


def _threads(load: RequiredLoad, iops: float, duration: float) -> tuple[int, int]:
    """I/Os per second of each thread, and how many threads make `iops` together in some time (s).

    Threads wait for their I/Os one by one: fio sees what it has queued complete only when it submits again. Each sends
    its first I/O when the measurement begins, in addition to its rate. Sequential I/O has as many threads as the load
    has jobs, as each of them is a stream.
    """
    most = load.jobs if load.pattern == "sequential" else max(_THREADS, load.jobs)
    rate = max(1, round(iops / most - 1.0 / duration))
    return rate, load.jobs if load.pattern == "sequential" else max(1, round(iops / (rate + 1.0 / duration)))


def _sizes(size: int | Mapping[int, float]) -> str:
    if isinstance(size, int):
        return f"bs={size}"
    return "bssplit=" + ":".join(f"{each}/{round(100 * share)}" for each, share in size.items())
