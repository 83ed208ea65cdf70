"""A machine as data: CPU and memory, links, drives, arrays; and its assembly into simulated parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from ..model.drives import DriveSpec, drive
from ..model.errors import InputError
from ..model.host import Prices
from ..model.layouts import Layout, layout_for
from ..model.spec import Duration, Frequency, PositiveSize, Rate, Size, Spec, refusal


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
        )


class CpuSpec(Spec):
    """The processor."""

    name: str
    clock: Frequency
    cores: int = Field(default=1, ge=1, le=4096)
    prices: PriceList


class LinkSpec(Spec):
    """A bus or port that others hang on."""

    rate: Rate
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
    """

    model: str
    channel: str
    major: int = Field(default=8, ge=0)
    overrides: dict[str, Any] = Field(default_factory=dict)

    def spec(self) -> DriveSpec:
        """The catalogue's drive with the overrides."""
        spec = drive(self.model)
        return spec.with_values(**self.overrides) if self.overrides else spec


class ResyncSpec(Spec):
    """A rebuild under way: the limits set by hand, and where it stands."""

    speed_min: Rate | None = None
    speed_max: Rate | None = None
    position: Size = 0


class ArraySpec(Spec):
    """An array of drives."""

    level: Literal["linear", "raid0", "raid1", "raid4", "raid5", "raid6"]
    members: tuple[str, ...]
    chunk: PositiveSize = 65536
    algorithm: str | None = None
    failed: tuple[str, ...] = ()
    rebuilding: tuple[str, ...] = ()
    resync: ResyncSpec | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.members)) != len(self.members):
            raise refusal(f"members {', '.join(self.members)}", "allowed: each drive once")
        for field in ("failed", "rebuilding"):
            strangers = [name for name in getattr(self, field) if name not in self.members]
            if strangers:
                raise refusal(f"{field}: {strangers[0]} is not a member", f"allowed: {', '.join(self.members)}")
        healthy = [name for name in self.rebuilding if name not in self.failed]
        if healthy:
            raise refusal(f"rebuilding: {healthy[0]} has not failed", f"allowed: {', '.join(self.failed) or 'none'}")
        if self.resync is not None and not self.rebuilding:
            raise refusal("resync without a member being rebuilt", "allowed: with `rebuilding`")
        try:
            self.layout([16 * self.chunk] * len(self.members))
        except InputError as error:
            raise refusal(f"{error.place}: {error.found}", error.allowed) from None
        return self

    def layout(self, member_bytes: Sequence[int]) -> Layout:
        """The address arithmetic on members of these sizes."""
        return layout_for(self.level, len(self.members), self.chunk, member_bytes, self.algorithm)


class MachineSpec(Spec):
    """A machine."""

    name: str
    cpu: CpuSpec
    memory: PositiveSize
    links: dict[str, LinkSpec]
    channels: dict[str, ChannelSpec]
    drives: dict[str, DriveInstance]

    @model_validator(mode="after")
    def _connected(self) -> Self:
        for name, channel in self.channels.items():
            for link in channel.links:
                if link not in self.links:
                    raise refusal(
                        f"unknown link {link!r}", f"allowed: {', '.join(self.links)}", ("channels", name, "links")
                    )
        for name, instance in self.drives.items():
            try:
                instance.spec()
            except InputError as error:
                raise refusal(
                    f"{instance.model!r} is {error.found}", error.allowed, ("drives", name, "model")
                ) from None
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                found = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
                raise refusal(found, "allowed: fields of a drive", ("drives", name, "overrides")) from None
            if instance.channel not in self.channels:
                allowed = f"allowed: {', '.join(self.channels)}"
                raise refusal(f"unknown channel {instance.channel!r}", allowed, ("drives", name, "channel"))
        return self
