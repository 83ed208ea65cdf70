"""A machine as data: CPU and memory, links, drives and controllers."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from ..model.controllers import ControllerSpec, controller
from ..model.drives import DriveSpec, drive
from ..model.errors import InputError
from ..model.host import Prices
from ..model.quantities import format_size
from ..model.spec import Duration, Frequency, PositiveSize, Rate, Size, Spec, refusal
from ..model.spec_errors import changed

LEAST_MEMORY = 1 << 20
"""Below that no kernel has anything to cache with."""


class PriceList(Spec):
    """What work costs on this CPU; see :class:`raidsim.model.host.Prices`."""

    write_call: Duration
    read_call: Duration
    page: Duration
    bio: Duration
    command: Duration
    switch: Duration
    clone: Duration
    stripe: Duration
    copy_rate: Rate
    xor_rate: Rate
    compare_rate: Rate | None = None
    """Two copies compared by a check; as fast as the XOR unless given."""
    buffer_page: Duration = 0.0
    """A page of memory that a resync allocates and clears."""
    segment: Duration = 0.0
    """A segment of a large I/O that the driver walks past."""
    file_write: Duration | None = None
    """write(2) on a file, besides copying and pages; as `write_call` unless given."""
    file_read: Duration | None = None
    """read(2) on a file; as `read_call` unless given."""
    putc: Duration = 0.0
    """A byte through putc() of the C library."""
    getc: Duration = 0.0
    """A byte through getc()."""
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
            file_write_s=self.write_call if self.file_write is None else self.file_write,
            file_read_s=self.read_call if self.file_read is None else self.file_read,
            putc_s_per_byte=self.putc,
            getc_s_per_byte=self.getc,
        )


class CpuSpec(Spec):
    """The processor."""

    name: str
    clock: Frequency
    cores: int = Field(default=1, ge=1, le=4096)
    prices: PriceList


class LinkSpec(Spec):
    """A bus or port that others hang on.

    Attributes
    ----------
    rate, write_rate
        What it moves; what it moves towards the drives, if that is another rate.
    per_transfer
        Fixed price of a transfer.
    """

    rate: Rate
    write_rate: Rate | None = None
    per_transfer: Duration = 0.0
    source: str


class ChannelSpec(Spec):
    """A cable with its host adapter: what its transfers cross, and whether it serves one command at a time."""

    rate: Rate
    kind: Literal["ata", "scsi", "sata"] = "ata"
    links: tuple[str, ...] = ()
    source: str


class DriveInstance(Spec):
    """One drive of the machine.

    Attributes
    ----------
    model
        Name in the drive catalogue.
    channel
        Channel it hangs on.
    major
        Its Linux block major number.
    overrides
        Fields of the catalogue's drive that are different in this one.
    price
        What it costs, in any currency that all prices of the machine are in.
    """

    model: str
    channel: str
    major: int = Field(default=8, ge=0)
    overrides: dict[str, Any] = Field(default_factory=dict)
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def entry(self) -> DriveSpec:
        """The catalogue's drive."""
        return drive(self.model)

    def spec(self) -> DriveSpec:
        """The catalogue's drive with the overrides."""
        entry = self.entry()
        return entry.with_values(**self.overrides) if self.overrides else entry


class ControllerInstance(Spec):
    """One hardware RAID controller of the machine.

    Attributes
    ----------
    model
        Name in the controller catalogue.
    links
        Links between it and the host's memory, beyond its own host interface.
    overrides
        Fields of the catalogue's controller that are different in this one: another cache, a failed battery.
    price
        What it costs.
    """

    model: str
    links: tuple[str, ...] = ()
    overrides: dict[str, Any] = Field(default_factory=dict)
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def entry(self) -> ControllerSpec:
        """The catalogue's controller."""
        return controller(self.model)

    def spec(self) -> ControllerSpec:
        """The catalogue's controller with the overrides."""
        entry = self.entry()
        return entry.with_values(**self.overrides) if self.overrides else entry


class MachineSpec(Spec):
    """A machine."""

    name: str
    cpu: CpuSpec
    memory: PositiveSize
    resident: Size = 0
    """What the kernel and the daemons hold of the memory, so that no file can be cached in it."""
    links: dict[str, LinkSpec]
    channels: dict[str, ChannelSpec]
    drives: dict[str, DriveInstance]
    controllers: dict[str, ControllerInstance] = Field(default_factory=dict)
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What it costs without drives and controllers."""

    @model_validator(mode="after")
    def _connected(self, info: ValidationInfo) -> Self:
        if self.memory < LEAST_MEMORY:
            raise refusal(format_size(self.memory), f"allowed: {format_size(LEAST_MEMORY)} or more", ("memory",))
        if self.memory - self.resident < LEAST_MEMORY:
            found = f"{format_size(self.resident)} of {format_size(self.memory)}"
            raise refusal(found, f"allowed: {format_size(LEAST_MEMORY)} less than the memory, or lower", ("resident",))
        units = isinstance(info.context, dict) and info.context.get("units") == "required"
        for name, channel in self.channels.items():
            self._check_links(channel.links, ("channels", name, "links"))
        for name, controlling in self.controllers.items():
            self._check_links(controlling.links, ("controllers", name, "links"))
            if name in self.links:
                raise refusal("a link has the same name", "allowed: names of their own", ("controllers", name))
            _check_entry(controlling, units, ("controllers", name))
        for name, instance in self.drives.items():
            _check_entry(instance, units, ("drives", name))
            if instance.channel not in self.channels:
                allowed = f"allowed: {', '.join(self.channels)}"
                raise refusal(f"unknown channel {instance.channel!r}", allowed, ("drives", name, "channel"))
        return self

    def _check_links(self, links: tuple[str, ...], at: tuple[str, ...]) -> None:
        for link in links:
            if link not in self.links:
                raise refusal(f"unknown link {link!r}", f"allowed: {', '.join(self.links) or 'none'}", at)


def _check_entry(instance: DriveInstance | ControllerInstance, units_required: bool, at: tuple[str, str]) -> None:
    """Refuse what the catalogue does not have, and overrides that its entries do not take."""
    try:
        entry: DriveSpec | ControllerSpec = instance.entry()
    except InputError as error:
        raise refusal(f"{instance.model!r} is {error.found}", error.allowed, (*at, "model")) from None
    try:
        changed(entry, instance.overrides, units_required)
    except InputError as error:
        field = (error.place,) if error.place else ()
        found = error.found.removeprefix("found ")
        raise refusal(found, error.allowed, (*at, "overrides", *field)) from None
