"""A machine as data: CPU and memory, links, drives and controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from ...model.controller.catalogue import ControllerSpec, controller
from ...model.core.errors import InputError
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive, drive
from ...model.files.description import Duration, Frequency, PositiveSize, Rate, Size, Spec, refusal
from ...model.files.description_errors import changed
from ...model.files.quantities import format_duration, format_size, parse_size
from ...model.files.switches import as_switched
from ...model.kernels import LEAST_REQUESTS, MOST_REQUESTS
from ...model.links.catalogue import LinkModel, link_model
from ...model.schedulers import SchedulerName
from ...model.solid_state.spec import SolidStateSpec
from ...model.tasks.prices import Prices

DriveState = Literal["fresh", "sequential", "steady"]
PAGE = 4096
"""Bytes: no request is smaller."""
RequestSize = Annotated[Size, Field(ge=PAGE)]
"""Bytes, a page or more."""
LEAST_MEMORY = 1 << 20
"""Below that no kernel has anything to cache with."""


class PriceList(Spec):
    """What work costs on this CPU; see :class:`raidsim.model.tasks.host.Prices`."""

    means_as: ClassVar[str] = "raidsim.model.tasks.prices:Prices"

    write_call: Duration
    read_call: Duration
    page: Duration
    bio: Duration
    command: Duration
    switch: Duration
    clone: Duration
    stripe: Duration
    copy_rate: Rate
    """Bytes a second copied in memory."""
    xor_rate: Rate
    """Bytes a second put through parity."""
    compare_rate: Rate | None = None
    """Two copies compared by a check; as fast as the XOR unless given."""
    buffer_page: Duration = 0.0
    segment: Duration = 0.0
    head: Duration = 0.0
    file_write: Duration | None = None
    """write(2) on a file, besides copying and pages; as `write_call` unless given."""
    file_read: Duration | None = None
    """read(2) on a file; as `read_call` unless given."""
    putc: Duration = 0.0
    getc: Duration = 0.0
    uring_call: Duration | None = None
    """An I/O through io_uring; half of `read_call` unless given: assumed, a core does 1.2 million reads/s with it and
    608,000 through io_submit, both of 4 KiB with interrupts (J. Axboe, "Efficient IO with io_uring", 2019)."""
    pin: Duration | None = None
    unpin: Duration | None = None
    """A page of direct I/O, pinned and released. Unless given 1/16 and 1/63 of `bio`, which are 39 and 10 ns on the
    server core of the catalogue: assumed, 49 ns in all, most of them for the walk through the page table, the segment
    and the entry for DMA, as releasing changes one counter. A. Gavriliuk's submissions on Linux 6.14
    (linux-block, 6 May 2025; 15.1 us for 1 MiB and 4.7 us for 256 KiB) are 54 ns a page apart, of which a second piece
    of RAID 0 takes 5; they contain the interrupts for completions."""
    source: str

    def prices(self) -> Prices:
        """Seconds, as the model charges them."""
        return Prices(
            write_call_s=self.write_call,
            read_call_s=self.read_call,
            page_s=self.page,
            bio_s=self.bio,
            command_s=self.command,
            switch_s=self.switch,
            clone_s=self.clone,
            stripe_s=self.stripe,
            copy_s_per_byte=1.0 / self.copy_rate,
            xor_s_per_byte=1.0 / self.xor_rate,
            compare_s_per_byte=1.0 / (self.compare_rate or self.xor_rate),
            buffer_page_s=self.buffer_page,
            segment_s=self.segment,
            head_s=self.head,
            file_write_s=self.write_call if self.file_write is None else self.file_write,
            file_read_s=self.read_call if self.file_read is None else self.file_read,
            putc_s_per_byte=self.putc,
            getc_s_per_byte=self.getc,
            uring_call_s=self.read_call / 2 if self.uring_call is None else self.uring_call,
            pin_s=self.bio / 16 if self.pin is None else self.pin,
            unpin_s=self.bio / 63 if self.unpin is None else self.unpin,
        )


class CpuSpec(Spec):
    """The processor."""

    name: str
    """Shown with the machine."""
    clock: Frequency
    """Of a core; prices are times and do not follow from it."""
    cores: int = Field(default=1, ge=1, le=4096)
    """How many."""
    nodes: int = Field(default=1, ge=1, le=64)
    """Memory nodes that the cores are on, the same number each: sockets, or parts of one."""
    line_transfer: Duration = 80e-9
    """How long a cache line takes from one core to another of the same node, on average."""
    far_line_transfer: Duration = 140e-9
    """The same between cores of two nodes."""
    idle_states: tuple[tuple[Duration, Duration], ...] = ()
    """Of each the time without work from which a core is in it, and the time to wake up; none as with `idle=poll`."""
    memory_rate: Rate | None = None
    """What a node's memory moves, reads and writes together; the copies of block devices in memory share it."""
    cache: Size | None = None
    """The largest cache of one core's own: what a program's buffer may stay in. Without it none does."""
    vectors: Literal["none", "sse2", "ssse3", "avx2", "avx512"] = "avx2"
    """Vector instructions, which decide how fast ZFS computes checksums and parity."""
    prices: PriceList
    """What work costs on one core."""

    @model_validator(mode="after")
    def _nodes_have_cores(self) -> Self:
        afters = [after for after, _ in self.idle_states]
        if afters != sorted(set(afters)):
            found = ", ".join(format_duration(each) for each in afters)
            raise refusal(f"states after {found}", "expected: each after the one before", ("idle_states",))
        if self.nodes > self.cores:
            found = f"{self.nodes} nodes with {self.cores} cores"
            raise refusal(found, "expected: a core or more for each node", ("nodes",))
        return self

    def charged(self) -> Prices:
        """What work costs, with the cache it is done in."""
        return replace(self.prices.prices(), cache_bytes=self.cache or 0)


class LinkSpec(Spec):
    """A bus, port or adapter that others hang on."""

    model: str | None = None
    """Its name in the catalogue of links ("PCIe 3.0 x8", "SAS 12Gb/s x4", "9300-8i"), which gives the rest."""
    rate: Rate
    write_rate: Rate | None = None
    """What it moves; what it moves towards the drives, if that is another rate."""
    per_transfer: Duration = 0.0
    """Fixed price of a transfer."""
    duplex: bool = False
    """Whether it moves data both ways at once, each at its rate."""
    command_rate: float | None = Field(default=None, gt=0)
    """Commands a second that it takes at most."""
    max_payload: PositiveSize | None = None
    mtu: PositiveSize | None = None
    """Of a model: bytes of data in a packet of PCI Express, and bytes of an Ethernet frame after its header."""
    source: str
    """Where the numbers are from."""

    @model_validator(mode="before")
    @classmethod
    def _of_catalogue(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("model"), str):
            return data
        found = _catalogued(data["model"], data.get("max_payload"), data.get("mtu"))
        known: dict[str, Any] = {"duplex": found.duplex, "command_rate": found.command_rate}
        known["source"] = f"{found.name} in the catalogue of links"
        if "rate" not in data:
            known |= {"rate": f"{found.rate!r}B/s", "write_rate": f"{found.write_rate!r}B/s"}
        return {**known, **data, "model": found.name}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.command_rate is not None and not self.duplex:
            raise refusal("command_rate without duplex", "expected: with duplex: true", ("command_rate",))
        for field in ("max_payload", "mtu"):
            if getattr(self, field) is not None and self.model is None:
                raise refusal(f"{field} without a model", "required with it: model", (field,))
        return self


class ChannelSpec(Spec):
    """A cable with its host adapter: what its transfers cross, and whether it serves one command at a time."""

    model: str | None = None
    """Its name in the catalogue of links ("PCIe 4.0 x4", "SATA 6Gb/s"), which gives what is not given here."""
    rate: Rate
    """Bytes per second."""
    kind: Literal["ata", "scsi", "sata", "sas", "pcie"] = "ata"
    """An `ata` cable serves one command at a time; `sas` and `pcie` move data both ways at once."""
    links: tuple[str, ...] = ()
    """Those that its data cross, nearest first."""
    source: str

    @model_validator(mode="before")
    @classmethod
    def _of_catalogue(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("model"), str):
            return data
        found = _catalogued(data["model"], None, None)
        if found.kind not in _CABLES:
            raise refusal(f"{found.name}, which is no cable of a drive", f"expected: {', '.join(_CABLES)}", ("model",))
        known = {
            "rate": f"{found.rate!r}B/s",
            "kind": found.kind,
            "source": f"{found.name} in the catalogue of links",
        }
        return {**known, **data, "model": found.name}

    @property
    def duplex(self) -> bool:
        """Whether data go both ways at once."""
        return self.kind in ("sas", "pcie")


_CABLES = ("sata", "sas", "pcie")
"""Kinds of links in the catalogue that lead to one drive."""


def _catalogued(name: str, max_payload: object, mtu: object) -> LinkModel:
    """The link of the catalogue; sizes that are none are left to the check of their fields."""
    sizes: list[int | None] = []
    for size in (max_payload, mtu):
        try:
            sizes.append(None if size is None else parse_size(size))
        except InputError:
            sizes.append(None)
    try:
        return link_model(name, *sizes)
    except InputError as error:
        raise refusal(error.found.removeprefix("found "), error.expected, (error.place,)) from None


class DriveInstance(Spec):
    """One drive of the machine."""

    model: str
    """Name in the drive catalogue."""
    channel: str
    """Channel it hangs on."""
    major: int = Field(default=8, ge=0)
    """Its Linux block major number."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the catalogue's drive that are different in this one."""
    state: DriveState | None = None
    """What a solid-state drive has behind it: "fresh" (erased), "sequential" (filled once in order) or "steady"
    (overwritten at random until nothing changes any more). Unless given, "sequential" if the run only writes in order,
    otherwise "steady". Hard disks have none."""
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What it costs, in any currency that all prices of the machine are in."""
    scheduler: SchedulerName | None = None
    nr_requests: int | None = Field(default=None, ge=LEAST_REQUESTS, le=MOST_REQUESTS)
    max_request: RequestSize | None = None
    wbt_lat: Duration | None = None
    """Of its request queue, as ``/sys/block/*/queue`` sets them (`max_request` is max_sectors_kb); the kernel's own
    choice unless given. `wbt_lat` is the read latency that write-back throttling keeps (0 turns it off)."""

    def entry(self) -> AnyDrive:
        """The catalogue's drive."""
        return drive(self.model)

    def queues(self) -> int:
        """Hardware queues of the drive."""
        known = self.spec()
        return known.queues if isinstance(known, SolidStateSpec) else 1

    def spec(self) -> AnyDrive:
        """The catalogue's drive with the overrides."""
        entry = self.entry()
        own = entry.with_values(**self.overrides) if self.overrides else entry
        return as_switched("hard_disk" if own.rotational else "solid_state", own)

    def hard_disk(self) -> DriveSpec:
        """The same, of what only hard disks have; `InputError` if it is a solid-state drive."""
        found = self.spec()
        if isinstance(found, DriveSpec):
            return found
        raise InputError(f"drive {self.model!r}", "a solid-state drive", "allowed here: hard disks")


class ControllerInstance(Spec):
    """One hardware RAID controller of the machine."""

    model: str
    """Name in the controller catalogue."""
    links: tuple[str, ...] = ()
    """Links between it and the host's memory, beyond its own host interface."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the catalogue's controller that are different in this one: another cache, a failed battery."""
    max_request: RequestSize | None = None
    """Largest command of the host to its volumes, if the host's adapter takes less than the kernel's queue would send:
    a block for each entry of its scatter-gather list."""
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What it costs."""

    def entry(self) -> ControllerSpec:
        """The catalogue's controller."""
        return controller(self.model)

    def spec(self) -> ControllerSpec:
        """The catalogue's controller with the overrides."""
        entry = self.entry()
        return entry.with_values(**self.overrides) if self.overrides else entry

    def attached(self, drive: AnyDrive) -> AnyDrive:
        """A drive as it is at one of its ports: both agree on the slower rate of the two.

        `drive_rate` is that of a SCSI, ATA or SAS port; a drive on lanes of PCI Express keeps its own.
        """
        most = self.spec().drive_rate
        if drive.interface_rate <= most or drive.interface.startswith(_NO_PORTS):
            return drive
        return drive.with_values(interface_rate=most)


_NO_PORTS = ("PCIe", "memory")
"""Interfaces, by the beginning of their names, that are not those of a controller's drive ports."""


class MachineSpec(Spec):
    """A machine."""

    name: str
    """Shown with the results."""
    cpu: CpuSpec
    """Cores and what work costs on them."""
    memory: PositiveSize
    """All of it."""
    resident: Size = 0
    """What the kernel and the daemons hold of the memory, so that no file can be cached in it."""
    links: dict[str, LinkSpec]
    """Buses, cables and slots that several parts share, by name."""
    channels: dict[str, ChannelSpec]
    """Cables with their host adapter, by name."""
    drives: dict[str, DriveInstance]
    """By name."""
    controllers: dict[str, ControllerInstance] = Field(default_factory=dict)
    """Hardware RAID controllers, by name."""
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What it costs without drives and controllers."""

    @model_validator(mode="after")
    def _connected(self, info: ValidationInfo) -> Self:
        if self.memory < LEAST_MEMORY:
            raise refusal(format_size(self.memory), f"expected: {format_size(LEAST_MEMORY)} or more", ("memory",))
        if self.memory - self.resident < LEAST_MEMORY:
            found = f"{format_size(self.resident)} of {format_size(self.memory)}"
            raise refusal(found, f"expected: {format_size(LEAST_MEMORY)} less than the memory, or lower", ("resident",))
        units = isinstance(info.context, dict) and info.context.get("units") == "required"
        for name, channel in self.channels.items():
            self._check_links(channel.links, ("channels", name, "links"))
        for name, controlling in self.controllers.items():
            self._check_links(controlling.links, ("controllers", name, "links"))
            if name in self.links:
                raise refusal("a link has the same name", "expected: names of their own", ("controllers", name))
            _check_entry(controlling, units, ("controllers", name))
        for name, instance in self.drives.items():
            _check_entry(instance, units, ("drives", name))
            if instance.state is not None and instance.entry().rotational:
                found = f"state {instance.state} of the hard disk {instance.model}"
                raise refusal(found, "expected: with solid-state drives", ("drives", name, "state"))
            if instance.channel not in self.channels:
                allowed = f"expected: {', '.join(self.channels)}"
                raise refusal(f"unknown channel {instance.channel!r}", allowed, ("drives", name, "channel"))
        return self

    def _check_links(self, links: tuple[str, ...], at: tuple[str, ...]) -> None:
        for link in links:
            if link not in self.links:
                raise refusal(f"unknown link {link!r}", f"expected: {', '.join(self.links) or 'none'}", at)


def _check_entry(instance: DriveInstance | ControllerInstance, units_required: bool, at: tuple[str, str]) -> None:
    """Refuse what the catalogue does not have, and overrides that its entries do not take."""
    try:
        entry: AnyDrive | ControllerSpec = instance.entry()
    except InputError as error:
        raise refusal(f"{instance.model!r} is {error.found}", error.expected, (*at, "model")) from None
    try:
        changed(entry, instance.overrides, units_required)
    except InputError as error:
        field = (error.place,) if error.place else ()
        raise refusal(error.found.removeprefix("found "), error.expected, (*at, "overrides", *field)) from None
