"""The parts of a machine as frozen data: what each is made from, and which part it stands upon.

A plan names itself and what is below it; nothing in it is simulated. :mod:`.plan` makes a list of them from a scenario,
every part after those below it, and :mod:`.assemble` makes the objects, in that order. A part that stands upon another
one and has its name takes its place for whatever comes later: a drive's queue that of the drive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .lock_plan import LocksPlan
from .mapper_plan import SlicesPlan, SsdCachePlan
from .pool_plan import DatasetPlan, PoolPlan

# A plan only holds what others make.
if TYPE_CHECKING:
    from ...model.controller.catalogue import ControllerSpec
    from ...model.crypt.dm_crypt import CryptSettings
    from ...model.drives.catalogue import AnyDrive
    from ...model.file_system import FileSystemSettings
    from ...model.kernels.queue_section import QueueSection
    from ...model.kernels.spec import Raid1Section, Raid10Section, SuperblockSection
    from ...model.layouts import Layout
    from ...model.memory.raw_cache import RawCacheSettings
    from ...model.memory.settings import PageCacheSettings
    from ...model.raid.metadata.bitmap_waits import MirrorWaits
    from ...model.raid.read_balance import BalanceOptions, Mirrors
    from ...model.raid.resync.settings import Action, ResyncSettings
    from ...model.raid.stripes.settings import ParitySettings


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """A drive on its cable.

    Attributes
    ----------
    name, spec
        The drive.
    channel, links
        Its cable, and the links behind that.
    own_cable
        Whether it is alone on its cable.
    state
        Of a solid-state drive: how it was used before.
    """

    name: str
    spec: AnyDrive
    channel: str
    links: tuple[str, ...]
    own_cable: bool
    state: str


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """The host's request queue in front of a drive, or of an array of a controller.

    Attributes
    ----------
    name
        The device, which the queue takes the place of.
    kind
        "single": a queue with a scheduler. "tags": blk-mq with a scheduler, or with one queue. "hardware": blk-mq
        without a scheduler, over the drive's own queues. "bio": none, as the driver takes block I/Os.
    section
        The kernel's settings of queues.
    depth, requests, write_requests
        Commands under way at most; requests queued at most, and of these writes (blk-mq).
    hardware_queues
        How many the drive and the cores have.
    max_request
        Bytes of the largest request.
    scheduler
        What orders requests.
    usual
        Whether that is the kernel's own choice, so that the section has its tunables.
    rotational
        Whether the device turns.
    throttle_s
        Write-back throttling's target for the latency of reads (s); 0: there is none.
    throttle_requests
        Requests that throttling begins with.
    max_segments
        Pieces of memory that a request may consist of.
    """

    name: str
    kind: Literal["single", "tags", "hardware", "bio"]
    section: QueueSection
    depth: int
    requests: int
    write_requests: int
    hardware_queues: int
    max_request: int
    scheduler: str
    usual: bool
    rotational: bool
    throttle_s: float
    throttle_requests: int
    max_segments: int


@dataclass(frozen=True, slots=True)
class FirmwarePlan:
    """A hardware controller's processor and its link to the host."""

    controller: str
    spec: ControllerSpec

    @property
    def name(self) -> str:
        """What no device is called."""
        return f"{self.controller}/"


@dataclass(frozen=True, slots=True)
class FaultsPlan:
    """What a drive's faults are switched on and off at, between the drive and its queue; it takes the drive's place."""

    name: str


@dataclass(frozen=True, slots=True)
class DriveQueuePlan:
    """A controller's queue in front of a drive: sorted and merged, and never plugged.

    Attributes
    ----------
    name, drive, controller
        The queue; what it is in front of; whose it is.
    depth, max_request
        Commands under way at most, and bytes of the largest one.
    background_wait_s
        After so long background work takes turns with other I/O.
    """

    name: str
    drive: str
    controller: str
    depth: int
    max_request: int
    background_wait_s: float


@dataclass(frozen=True, slots=True)
class MirrorDriver:
    """RAID 1: how the kernel runs it, and which mirror serves a read."""

    section: Raid1Section
    balance: BalanceOptions
    mirrors: Mirrors


@dataclass(frozen=True, slots=True)
class Raid10Driver:
    """md's RAID 10: how the kernel runs it, and which copy serves a read."""

    section: Raid10Section
    balance: BalanceOptions
    mirrors: Mirrors


@dataclass(frozen=True, slots=True)
class ByteStripeDriver:
    """RAID 3; `round_robin`: the parity component is read in turn (graid3 -r)."""

    round_robin: bool


@dataclass(frozen=True, slots=True)
class ParityDriver:
    """RAID 4, 5 and 6: the settings of the stripe cache, and the device that journals writes."""

    settings: ParitySettings
    journal: str | None = None


@dataclass(frozen=True, slots=True)
class PlainDriver:
    """An array that needs only its layout: a class that is made from that and its members."""

    kind: type[Any]


Driver = MirrorDriver | Raid10Driver | ByteStripeDriver | ParityDriver | PlainDriver
"""What is special about an array of one kind."""


@dataclass(frozen=True, slots=True)
class ResyncPlan:
    """A resync thread that is at work from the start.

    Attributes
    ----------
    action, position
        What it does, and bytes per member that are done already.
    warm, after
        Whether it is looked at in the middle of its work, and the arrays whose resync has to be over before.
    at
        Share that is done already, instead of `position`; None: `position` tells.
    layouts
        The old layout and the new one of a reshape; () for all others.
    backup
        The device of its backup file; None: the data offset moves.
    frozen
        Whether it is interrupted.
    """

    action: Action
    position: int
    warm: bool
    after: tuple[str, ...] = ()
    stripe_heads: int | None = None  # of the stripe cache; None: its size
    mismatched: float = 0.0  # share of what a repair compares that it writes
    at: float | None = None
    layouts: tuple[Layout, ...] = ()
    backup: str | None = None
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """One array: a whole one, or a group or the outer array of a layout of layouts.

    Attributes
    ----------
    name, root
        Its own name, and that of the array of the scenario ("md0.1" of "md0").
    layout, driver
        Its map, and what is special about its kind.
    members, slots
        The devices below, and what the scenario calls them.
    controller
        The controller that runs it; None: the host does.
    failed, rebuilding
        Slots that are lost, and those of them that are being rebuilt.
    bitmap
        Bytes of a member per bit of the write-intent bitmap; None: there is no bitmap.
    bitmap_waits
        The process or thread that waits for a new bit of a mirror's bitmap.
    marks
        How it is marked clean and dirty in superblocks; None: it is not.
    pace
        How its resync thread works; None: nothing can be resynced.
    resync
        The thread that is at work from the start; None: there is none.
    resync_sleeps
        Whether that thread sleeps where a member has no tag for it (blk-mq).
    fails
        Whether a member may fail during the run.
    """

    name: str
    root: str
    layout: Layout
    driver: Driver
    members: tuple[str, ...]
    slots: tuple[str, ...]
    controller: str | None = None
    failed: tuple[int, ...] = ()
    rebuilding: tuple[int, ...] = ()
    bitmap: int | None = None
    bitmap_waits: MirrorWaits = "thread"
    marks: SuperblockSection | None = None
    pace: ResyncSettings | None = None
    resync: ResyncPlan | None = None
    resync_sleeps: bool = False
    fails: bool = False


@dataclass(frozen=True, slots=True)
class SparesPlan:
    """Members of an array that fail during the run, and what takes their place.

    Attributes
    ----------
    array
        The array.
    spares
        Devices that stand by for all arrays under the root.
    failures
        When (s) which slot fails.
    """

    array: ArrayPlan
    spares: tuple[str, ...]
    failures: tuple[tuple[float, int], ...]

    @property
    def name(self) -> str:
        """The array's."""
        return self.array.name


@dataclass(frozen=True, slots=True)
class LimitPlan:
    """The limit of an array's queue, at which larger requests are split.

    Attributes
    ----------
    name
        The array, which this takes the place of.
    max_request
        Bytes of the largest request of its members.
    layout
        Where the pieces go; None: the array is a disk to those above, and cut at `max_request` (ataraid).
    raid10_chunks
        Whether the queue of a RAID 10 has its chunk as a limit, too.
    """

    name: str
    max_request: int
    layout: Layout | None
    raid10_chunks: bool = False


@dataclass(frozen=True, slots=True)
class VolumePlan:
    """An array that a controller runs, as its host sees it, behind the links to the host."""

    name: str
    controller: str
    spec: ControllerSpec
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CryptPlan:
    """An encrypted device.

    Attributes
    ----------
    name, on
        The device, and what it encrypts.
    settings
        Of dm-crypt with a cipher; None: with a rate.
    s_per_byte, threads, allow_discards
        With a rate.
    pools
        The kernel whose pools of workers have locks that cores share; "": there are none.
    """

    name: str
    on: str
    settings: CryptSettings | None
    s_per_byte: float = 0.0
    threads: int = 1
    allow_discards: bool = False
    pools: str = ""


@dataclass(frozen=True, slots=True)
class ReadAheadPlan:
    """Read-ahead: a policy of :data:`~raidsim.model.readahead.READ_AHEAD`, its window and largest request (bytes)."""

    policy: str
    window: int
    max_request: int


@dataclass(frozen=True, slots=True)
class CachePlan:
    """The page cache of a device, or of the file system on it."""

    settings: PageCacheSettings
    read_ahead: ReadAheadPlan


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """A loop device that goes through the page cache of what it is on."""

    name: str
    on: str
    cache: CachePlan
    s_per_byte: float


Part = (
    DiskPlan
    | FaultsPlan
    | QueuePlan
    | FirmwarePlan
    | DriveQueuePlan
    | ArrayPlan
    | LocksPlan
    | SparesPlan
    | LimitPlan
    | VolumePlan
    | CryptPlan
    | SlicesPlan
    | LoopPlan
    | PoolPlan
    | SsdCachePlan
    | DatasetPlan
)
"""What devices are made of."""


@dataclass(frozen=True, slots=True)
class MountPlan:
    """A mounted file system.

    Attributes
    ----------
    point, on
        Where it is mounted, and the device below.
    parts
        What is below and is not made before.
    start, size
        Which part of that (bytes); a size of 0: all that is left.
    settings, age
        Its kind, and its age.
    cache
        Its page cache.
    journal_on
        The device of its journal; None: the journal is inside.
    """

    point: str
    on: str
    parts: tuple[Part, ...]
    start: int
    size: int
    settings: FileSystemSettings
    age: float
    cache: CachePlan
    journal_on: str | None = None


@dataclass(frozen=True, slots=True)
class RawCachePlan:
    """The cache of a raw device that dd works on."""

    settings: RawCacheSettings
    read_ahead: ReadAheadPlan
