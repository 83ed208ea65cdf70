"""What the form offers: for every field the values that go with what has been chosen above it.

Everything here follows from the catalogues and from the layouts themselves, so a new drive, kernel or controller is
offered without a word here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ...model.controller.catalogue import ControllerSpec, controller, controller_names
from ...model.core.errors import InputError, ModelError
from ...model.crypt.ciphers import cipher, cipher_names
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive, drive, drive_names
from ...model.kernels import kernel, kernel_names
from ...model.layouts import ALGORITHMS, LEVELS, STRIPED_MIRRORS, Layout, layout_for
from ...model.links.catalogue import link_model, link_names
from ...model.network.protocols import protocol_names
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.documents.machine_catalogue import machine_names
from .fields import NONE, USUAL, Form

MOST_DISKS = 48
"""A shelf or two: a layout of more is no picture any more."""
MOST_SPARES = 4
MOST_DEPTH = 1024
MOST_JOBS = 64
MOST_PIECES = 4096
"""Chunks that all I/Os outstanding are on: more take longer to begin than a run lasts."""
MOST_IOPS = 2_000_000
MOST_DISK_IOPS = 2_000
"""Random I/Os per second of a hard disk that anyone may ask for: several times what the fastest does."""
MOST_SEED = 9999
MOST_PRICE = 1_000_000
"""In any currency that all prices are in."""
BLOCKS_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
CHUNKS_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
STRIPE_CACHES = (0, 256, 1024, 4096, 8192, 32768)
THREADS = (0, 1, 2, 4, 8)
NFS_THREADS = (0, 4, 8, 16, 32, 64, 128)
MOST_CLIENTS = 8
MOST_USERS = 256
MORE_LOADS = ("b", "c")
"""Loads at the same time as the first: the ends of their fields' names."""
OF_A_LOAD = ("pattern", "block", "read", "how", "amount")
PATTERNS = ("random", "sequential", "mixed")
LENGTHS = ("short", "normal", "long")
_SAMPLE_CHUNKS = 64


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `low` to `high`."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def nearest(self, value: int) -> int:
        """The number of the range that is closest to `value`."""
        return min(self.high, max(self.low, value))

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,}"


Offer = tuple[str, ...] | tuple[int, ...] | tuple[bool, ...] | Range | None
"""The values of a field; None: the field means nothing with what has been chosen."""

_YES_NO = (False, True)
_OF_MORE_LOADS: dict[str, Offer] = {"pattern": PATTERNS, "block": BLOCKS_KIB, "read": Range(0, 100)}
_OF_MORE_LOADS["how"] = ("outstanding", "rate", "users")
_drive_names = lru_cache(drive_names)
_kernel_names = lru_cache(kernel_names)
_controller_names = lru_cache(controller_names)
_machine_names = lru_cache(machine_names)


def offer(field: str, form: Form) -> Offer:
    """What may stand in a field, given what stands in those before it."""
    return _OFFERS[field](form)


@lru_cache(maxsize=256)
def known_drive(name: str) -> AnyDrive:
    """The drive of the catalogue; looked up once."""
    return drive(name)


@lru_cache(maxsize=512)
def sample_layout(level: str, disks: int, groups: int, algorithm: str, copies: int) -> Layout:
    """The layout of an array on small disks, which is as good as any for what it survives."""
    return layout_for(
        level,
        disks,
        4096,
        4096 * _SAMPLE_CHUNKS * max(1, copies),
        None if algorithm == USUAL else algorithm,
        copies=copies if LEVELS[level].has_copies else None,
        groups=groups if LEVELS[level].has_groups else None,
    )


def survives_first(form: Form, lost: int) -> bool:
    """Whether all data are still there without the first `lost` members."""
    algorithm = form.algorithm
    if LEVELS[form.level].has_copies and form.controller != NONE:
        algorithm = STRIPED_MIRRORS
    try:
        layout = sample_layout(form.level, form.disks, form.groups, algorithm, form.copies)
    except (InputError, ModelError):
        return lost == 0
    return lost < form.disks and layout.tolerates(frozenset(range(lost)))


def rotational(form: Form) -> bool:
    """Whether the drives turn."""
    return known_drive(form.drive).rotational


def _levels(form: Form) -> Offer:
    return tuple(LEVELS)


def _disks(form: Form) -> Offer:
    level = LEVELS[form.level]
    if level.has_groups:
        return tuple(
            count
            for count in range(level.least, MOST_DISKS + 1)
            if any(count % groups == 0 for groups in range(2, count // level.group_least + 1))
        )
    return Range(level.least, MOST_DISKS)


def _spares(form: Form) -> Offer:
    return Range(0, MOST_SPARES) if LEVELS[form.level].spares else None


def _groups(form: Form) -> Offer:
    least = LEVELS[form.level].group_least
    if not least:
        return None
    return tuple(count for count in range(2, form.disks // least + 1) if form.disks % count == 0)


def _controllers(form: Form) -> Offer:
    fitting = [name for name in _controller_names() if _fits(controller(name), form)]
    return (NONE, *fitting) if fitting else None


def _fits(spec: ControllerSpec, form: Form) -> bool:
    if form.level not in spec.levels or form.disks + form.spares > spec.ports:
        return False
    if not rotational(form) and known_drive(form.drive).interface.startswith("PCIe"):
        return False  # their lanes lead to the processor, past any controller
    return not LEVELS[form.level].has_copies or form.disks % 2 == 0


def _kernels(form: Form) -> Offer:
    return tuple(name for name in _kernel_names() if _runs(name, form))


def _runs(name: str, form: Form) -> bool:
    known = kernel(name)
    if form.controller != NONE:
        return True
    if LEVELS[form.level].has_parity:
        return known.parity
    return not LEVELS[form.level].has_copies or known.raid10 is not None or form.disks % 2 == 0


def _algorithms(form: Form) -> Offer:
    if len(ALGORITHMS.get(form.level, ())) < 2 or (LEVELS[form.level].has_copies and form.controller != NONE):
        return None
    names = ALGORITHMS[form.level]
    if LEVELS[form.level].has_copies:
        if kernel(form.kernel).raid10 is None:
            return (STRIPED_MIRRORS,)
        if form.disks % 2:
            names = tuple(name for name in names if name != STRIPED_MIRRORS)
    return (USUAL, *names[1:])


def _copies(form: Form) -> Offer:
    if not LEVELS[form.level].has_copies:
        return None
    whole = form.algorithm == STRIPED_MIRRORS or form.controller != NONE
    return tuple(count for count in range(2, min(form.disks, 6) + 1) if not whole or form.disks % count == 0)


def _chunks(form: Form) -> Offer:
    return CHUNKS_KIB if LEVELS[form.level].has_chunk else None


def _drive_cache(form: Form) -> Offer:
    spec = known_drive(form.drive)
    return _YES_NO if isinstance(spec, DriveSpec) and spec.write_cache else None


def _drive_state(form: Form) -> Offer:
    return None if rotational(form) else ("steady", "sequential", "fresh")


def _write_back(form: Form) -> Offer:
    if form.controller == NONE:
        return None
    return _YES_NO if controller(form.controller).write_policy == "write-back" else None


def _bitmap(form: Form) -> Offer:
    if form.controller != NONE or "bitmap" not in LEVELS[form.level].options:
        return None
    return _YES_NO if kernel(form.kernel).write_intent else None


def _stripe_cache(form: Form) -> Offer:
    return STRIPE_CACHES if "stripe_cache" in LEVELS[form.level].options and form.controller == NONE else None


def _threads(form: Form) -> Offer:
    if "group_thread_cnt" not in LEVELS[form.level].options or form.controller != NONE:
        return None
    return THREADS if kernel(form.kernel).raid5.worker_groups else None


def _queues(form: Form) -> int:
    """Hardware queues that the kernel sees of a drive: none behind a controller, or if its driver has no queue."""
    known = known_drive(form.drive)
    queues = 1 if not isinstance(known, SolidStateSpec) else known.queues if known.queued else 0
    return queues if form.controller == NONE else 0


def _schedulers(form: Form) -> Offer:
    queues = _queues(form)
    return (USUAL, *kernel(form.kernel).queue.choices(queues)) if queues else None


def _ciphers(form: Form) -> Offer:
    known = kernel(form.kernel).crypt
    if not known.large_sectors:
        return None
    return (NONE, *(name for name in cipher_names() if known.vector_aes or not cipher(name).vector))


def _failed(form: Form) -> Offer:
    """Members that may be lost before the run begins: the first ones, as long as all data are still there."""
    if not LEVELS[form.level].is_redundant:
        return None
    most = 0
    while most < 3 and survives_first(form, most + 1):
        most += 1
    return Range(0, most) if most else None


def _rebuilding(form: Form) -> Offer:
    return _YES_NO if form.failed else None


def _hot(form: Form) -> Offer:
    return None if form.pattern == "sequential" else ("even", "zipf")


def _depth(form: Form) -> Offer:
    most = max(1, min(MOST_DEPTH, MOST_PIECES // _pieces(form, form.block)))
    return Range(1, most) if form.how == "outstanding" else None


def _jobs(form: Form) -> Offer:
    depth = form.depth if form.how == "outstanding" else 1
    return Range(1, max(1, min(MOST_JOBS, MOST_PIECES // (_pieces(form, form.block) * depth))))


def _iops(form: Form) -> Offer:
    return _rates(form, form.pattern, form.block) if form.how == "rate" else None


def _rates(form: Form, pattern: str, block: int) -> Offer:
    most = MOST_IOPS
    if rotational(form):
        most = form.disks * (MOST_DISK_IOPS if pattern == "random" else 10 * MOST_DISK_IOPS)
    return Range(1, min(MOST_IOPS, max(1, most // _pieces(form, block))))


def _pieces(form: Form, block: int) -> int:
    """Chunks that an I/O of this size (KiB) is on: all of them are under way at once."""
    return max(1, block // form.chunk) if LEVELS[form.level].has_chunk else 1


def _networks(form: Form) -> Offer:
    """None with kernels from before there were these protocols."""
    return (NONE, *protocol_names()) if kernel(form.kernel).crypt.large_sectors else None


def _ports(form: Form) -> Offer:
    return _ethernets() if form.network != NONE else None


@lru_cache
def _ethernets() -> tuple[str, ...]:
    return tuple(name for name in link_names() if link_model(name).kind == "ethernet")


def _clients(form: Form) -> Offer:
    """Each has a job at least."""
    return Range(1, min(MOST_CLIENTS, form.jobs)) if form.network != NONE else None


def _nfsd(form: Form) -> Offer:
    return NFS_THREADS if form.network.startswith("nfs") else None


def _of_part(offered: Callable[[Form], Offer]) -> Callable[[Form], Offer]:
    """What is asked for only where the day has another part."""
    return lambda form: offered(form) if form.parts else None


def _depth_2(form: Form) -> Offer:
    most = MOST_PIECES // (_pieces(form, form.block_2) * form.jobs)
    return Range(1, max(1, min(MOST_DEPTH, most))) if form.how == "outstanding" else None


def _iops_2(form: Form) -> Offer:
    return _rates(form, form.pattern_2, form.block_2) if form.how == "rate" else None


def _of_more_load(name: str, which: str, number: int) -> Callable[[Form], Offer]:
    """What a field of another load at the same time offers, if there is this load."""

    def amount(form: Form) -> Offer:
        how, pattern, block = (getattr(form, f"{each}_{which}") for each in ("how", "pattern", "block"))
        if how == "rate":
            return _rates(form, pattern, block)
        return Range(1, max(1, min(MOST_USERS, MOST_PIECES // _pieces(form, block))))

    return lambda form: None if form.loads < number else amount(form) if name == "amount" else _OF_MORE_LOADS[name]


_OFFERS: dict[str, Callable[[Form], Offer]] = {
    "machine": lambda form: _machine_names(),
    "drive": lambda form: _drive_names(),
    "price": lambda form: Range(0, MOST_PRICE),
    "level": _levels,
    "disks": _disks,
    "spares": _spares,
    "groups": _groups,
    "controller": _controllers,
    "kernel": _kernels,
    "algorithm": _algorithms,
    "copies": _copies,
    "chunk": _chunks,
    "drive_cache": _drive_cache,
    "drive_state": _drive_state,
    "write_back": _write_back,
    "bitmap": _bitmap,
    "stripe_cache": _stripe_cache,
    "threads": _threads,
    "scheduler": _schedulers,
    "throttle": lambda form: _YES_NO if _queues(form) and kernel(form.kernel).queue.throttle_rotational else None,
    "cipher": _ciphers,
    "failed": _failed,
    "rebuilding": _rebuilding,
    "pattern": lambda form: PATTERNS,
    "block": lambda form: BLOCKS_KIB,
    "read": lambda form: Range(0, 100),
    "hot": _hot,
    "how": lambda form: ("outstanding", "rate"),
    "independent": lambda form: _YES_NO if form.how == "outstanding" else None,
    "depth": _depth,
    "jobs": _jobs,
    "iops": _iops,
    "network": _networks,
    "port": _ports,
    "clients": _clients,
    "nfsd": _nfsd,
    "loads": lambda form: Range(1, 1 + len(MORE_LOADS)) if form.network == NONE else None,
    **{f"{name}_{each}": _of_more_load(name, each, 2 + at) for at, each in enumerate(MORE_LOADS) for name in OF_A_LOAD},
    "parts": lambda form: _YES_NO,
    "hours": _of_part(lambda form: Range(1, 23)),
    "read_2": _of_part(lambda form: Range(0, 100)),
    "pattern_2": _of_part(lambda form: PATTERNS),
    "block_2": _of_part(lambda form: BLOCKS_KIB),
    "depth_2": _of_part(_depth_2),
    "iops_2": _of_part(_iops_2),
    "loads_2": _of_part(lambda form: Range(1, form.loads) if form.loads > 1 else None),
    "length": lambda form: LENGTHS,
    "seed": lambda form: Range(0, MOST_SEED),
    "fail_at": lambda form: Range(5, 95),
}
"""In the order in which a form is filled in: what a field offers depends on those before it only."""

FIELDS = tuple(_OFFERS)
