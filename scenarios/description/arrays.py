"""Arrays as data: which devices, in which layout, in which state, and with which of the driver's options.

A member is a drive, another array or an encrypted device, so anything can be built of anything; the levels raid50,
raid60, raid01 and raid10 with striped mirrors are arrays of arrays under one name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ...model.core.errors import InputError
from ...model.crypt.ciphers import cipher
from ...model.files.description import Duration, PositiveSize, Rate, Size, Spec, refusal
from ...model.files.quantities import format_size
from ...model.layouts import (
    LEVELS,
    STRIPED_MIRRORS,
    Layout,
    LevelName,
    LinearLayout,
    MirroredLayout,
    NestedLayout,
    StripedLayout,
    layout_for,
    level_options,
    levels_where,
    levels_with,
)
from ...model.raid.read_balance import READ_BALANCE, Balance, ReadBalance, options_by_policy
from ...model.raid.stripes.write_plan import RmwLevel
from .tuning import ResyncSpec

_BITMAP_LEAST = _LEAST_STRIPE = 4096
STRIPE = 64 << 10
"""Stripe of a striped logical volume unless lvcreate is told another (``--stripesize``)."""
_MOST_PARTS = 1024
_ALIGNED = 1 << 20
"""Partitions begin and end at multiples of this, as partitioning tools make them."""
_SECTORS = (512, 1024, 2048, 4096)
"""What dm-crypt's sector_size may be."""
NONE = "none"
"""A bitmap that an array does not have."""
KERNEL_OPTIONS = (
    "write_mostly",
    "bitmap",
    "rmw_level",
    "stripe_cache",
    "group_thread_cnt",
    "devices_handle_discard_safely",
)
"""Options that no controller has."""


class ArraySpec(Spec):
    """An array of drives or of other arrays."""

    level: LevelName
    members: tuple[str, ...]
    chunk: PositiveSize = 65536
    algorithm: str | None = None
    copies: int | None = None
    groups: int | None = None
    outer_chunk: PositiveSize | None = None
    """The layout; see :func:`raidsim.model.layouts.layout_for`. Members of unequal size are used up to the end of the
    smallest, but for linear and raid0, which use all of each."""
    failed: tuple[str, ...] = ()
    rebuilding: tuple[str, ...] = ()
    """Members that are lost, and those of them on whose place a fresh device is being rebuilt."""
    spares: tuple[str, ...] = ()
    """Drives, for md also volumes, that take the place of a member that fails during the run."""
    resync: ResyncSpec | None = None
    """The rebuild's or check's settings."""
    balance: Balance | None = None
    """Read-balance policy of a mirror, by its name or with its options ({name: gmirror-split, slice: 128KiB}); the
    kernel's own unless given."""
    write_mostly: tuple[str, ...] = ()
    """Mirrors that are read only if no other can be."""
    bitmap: PositiveSize | None = None
    """Bytes of a member per bit of the write-intent bitmap; "none", as without this field, for no bitmap. (A scenario's
    file that leaves it out gets what mdadm makes.)"""
    journal: str | None = None
    """Drive that journals the writes of a parity array."""
    rmw_level: int | None = Field(default=None, ge=min(RmwLevel), le=max(RmwLevel))
    stripe_cache: int | None = Field(default=None, ge=17, le=32768)
    """md's settings ``rmw_level`` and ``stripe_cache_size`` of a parity array."""
    group_thread_cnt: int | None = Field(default=None, ge=0, le=8192)
    """md's setting of that name: threads that handle the stripes of a parity array; 0: md's own does."""
    devices_handle_discard_safely: bool = False
    """The parameter of md's module raid456 of that name: a parity array passes discards on."""
    round_robin: bool = False
    """graid3's ``-r``: the parity component of raid3 is read in turn."""
    controller: str | None = None
    """The hardware controller that runs the array; the host's kernel unless given."""

    @model_validator(mode="before")
    @classmethod
    def _options_of_balance(cls, data: Any) -> Any:
        """Refuse a policy's option that is next to the policy; a bitmap that there is none of is none."""
        if isinstance(data, Mapping) and data.get("bitmap") == NONE:
            data = {key: value for key, value in data.items() if key != "bitmap"}
        for field, policy in options_by_policy().items() if isinstance(data, Mapping) else ():
            if field in data and field not in cls.model_fields:
                raise refusal(
                    f"{field} of an array", f"write it as balance: {{name: {policy}, {field}: ...}}", (field,)
                )
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.members)) != len(self.members):
            raise refusal(f"members {', '.join(self.members)}", "expected: each device once")
        for field in ("failed", "rebuilding", "write_mostly"):
            self._check_members(field, getattr(self, field))
        healthy = [name for name in self.rebuilding if name not in self.failed]
        if healthy:
            raise refusal(f"rebuilding: {healthy[0]} has not failed", f"expected: {', '.join(self.failed) or 'none'}")
        if self.resync is not None and (self.resync.action == "recover") != bool(self.rebuilding):
            found = "resync without a member being rebuilt" if not self.rebuilding else f"a {self.resync.action}"
            raise refusal(found, "expected: `recover` with `rebuilding`, a check or repair without")
        self._check_options()
        try:
            sizes = [16 * self.chunk * (self.outer_chunk or 1)] * len(self.members)
            layout = self.layout(sizes)
            if self.resync is not None and self.resync.old is not None:
                self.layouts([1 << 40] * len(self.members))
        except InputError as error:
            raise refusal(f"{error.place}: {error.found}", error.expected) from None
        if self.balance is not None:
            self._check_balance(layout, READ_BALANCE[self.balance.name])
        if self.controller is not None:
            self._check_controlled()
        if self.bitmap is not None and (self.bitmap < _BITMAP_LEAST or self.bitmap & (self.bitmap - 1)):
            allowed = f"expected: a power of two of at least {format_size(_BITMAP_LEAST)}"
            raise refusal(format_size(self.bitmap), allowed, ("bitmap",))
        return self

    def _check_members(self, field: str, names: Sequence[str]) -> None:
        members = frozenset(self.members)
        strangers = [name for name in names if name not in members]
        if strangers:
            raise refusal(f"{field}: {strangers[0]} is not a member", f"expected: {', '.join(self.members)}")

    def _check_options(self) -> None:
        """Refuse options of other levels."""
        known = LEVELS[self.level]
        for field in level_options():
            value = getattr(self, field)
            if value is not None and value is not False and value != () and field not in known.options:
                raise refusal(f"{field} of {self.level}", f"expected: with {', '.join(levels_with(field))}", (field,))
        if self.resync is not None:
            self.resync.check(self.level)
        for field in ("controller", "failed", "bitmap", "journal", "spares"):
            if self.resync is not None and self.resync.old is not None and getattr(self, field) not in (None, ()):
                raise refusal(f"{field} of an array that is being reshaped", "expected: an array without", (field,))
        if self.spares and not known.spares:
            allowed = f"expected: with {', '.join(levels_where(lambda level: level.spares))}"
            raise refusal(f"spares of {self.level}", allowed, ("spares",))

    def _check_balance(self, layout: Layout, policy: type[ReadBalance]) -> None:
        """Refuse policies and options that do not fit these mirrors."""
        assert self.balance is not None
        if self.needs_raid10_driver and policy.only_raid1:
            allowed = ", ".join(name for name, policy in READ_BALANCE.items() if not policy.only_raid1)
            raise refusal(f"{policy.name} on md's RAID 10", f"expected: {allowed}, or striped-mirrors", ("balance",))
        parts = (layout.outer, *layout.groups) if isinstance(layout, NestedLayout) else (layout,)
        for part in parts:
            if policy.only_mirrors and isinstance(part, MirroredLayout) and part.members != policy.only_mirrors:
                found = f"{policy.name} on a mirror of {part.members}"
                raise refusal(found, f"expected: on mirrors of {policy.only_mirrors}", ("balance",))
        self.balance.check(self._mirrors(layout))

    def _mirrors(self, layout: Layout) -> list[tuple[str, ...]]:
        """The members of each mirror whose members are devices, and not stripes."""
        if isinstance(layout, NestedLayout):
            sizes = [group.members if isinstance(group, MirroredLayout) else 0 for group in layout.groups]
            starts = [sum(sizes[:number]) for number in range(len(sizes))]
            return [self.members[start : start + size] for start, size in zip(starts, sizes, strict=True) if size]
        return [self.members]

    def _check_controlled(self) -> None:
        """Refuse what is md's and not a controller's."""
        if self.needs_raid10_driver:
            raise refusal(f"{self.algorithm} on a controller", "expected: striped-mirrors", ("algorithm",))
        for field in KERNEL_OPTIONS:
            if getattr(self, field) not in (None, (), False):
                raise refusal(f"{field} on a controller", "expected: with arrays that the kernel runs", (field,))

    def check_failed(self, name: str, size_of: Callable[[str], int]) -> None:
        """Refuse the array `name` if it has lost too many members, and spares that are too small."""
        sizes = [size_of(member) for member in self.members]
        layout = self.layout(sizes)
        if not layout.tolerates(frozenset(self.members.index(member) for member in self.failed)):
            lost = f"{len(self.failed)} of {len(self.members)} members"
            at = ("arrays", name, "failed")
            raise refusal(f"{self.level} with {lost} failed", "expected: what the level survives", at)
        needed = max(min(sizes[slots]) for slots in _groups(layout))
        for spare in self.spares:
            if size_of(spare) < needed:
                found = f"{spare} of {size_of(spare)} bytes"
                raise refusal(found, f"expected: at least {needed}", ("arrays", name, "spares"))

    @property
    def unset(self) -> dict[str, str]:
        """What a file has to say of fields without a value, because leaving them out means something else there."""
        may_have_one = "bitmap" in LEVELS[self.level].options and self.controller is None
        return {"bitmap": NONE} if self.bitmap is None and may_have_one else {}

    @property
    def needs_raid10_driver(self) -> bool:
        """Whether it takes md's own RAID 10, and not a stripe over mirrors."""
        return LEVELS[self.level].has_copies and self._algorithm != STRIPED_MIRRORS

    @property
    def _algorithm(self) -> str | None:
        """The layout's algorithm; a controller's RAID 10 is a stripe over mirrors."""
        if LEVELS[self.level].has_copies and self.controller is not None and self.algorithm is None:
            return STRIPED_MIRRORS
        return self.algorithm

    @property
    def other_drives(self) -> dict[str, tuple[str, ...]]:
        """The drives that are no members, by their fields."""
        named = {"journal": self.journal, "backup": None if self.resync is None else self.resync.backup}
        return {"spares": self.spares} | {field: (name,) for field, name in named.items() if name is not None}

    @property
    def moves_data(self) -> bool:
        """Whether a member is being rebuilt, or the array reshaped."""
        return bool(self.rebuilding) or (self.resync is not None and self.resync.reshapes)

    def at_rest(self) -> Self:
        """The same without a rebuild or a check; members that are lost stay lost."""
        return self.model_copy(update={"rebuilding": (), "resync": None})

    def whole(self) -> Self:
        """The same with all members."""
        return self.at_rest().model_copy(update={"failed": ()})

    def with_last_rebuilding(self, position: int) -> Self:
        """The same with only its last member being rebuilt, `position` bytes from its beginning, at the same limits."""
        resync = (self.resync or ResyncSpec()).recovering(position)
        lost = self.members[-1:]
        return self.model_copy(update={"failed": lost, "rebuilding": lost, "resync": resync})

    def layouts(self, member_bytes: Sequence[int]) -> tuple[Layout, ...]:
        """The layout on members of these sizes, and before it the old one of an array that is being reshaped."""
        layout = self.layout(member_bytes)
        if self.resync is None or self.resync.old is None:
            return (layout,)
        return self.resync.old.layouts(layout, member_bytes)

    def layout(self, member_bytes: Sequence[int]) -> Layout:
        """The address arithmetic on members of these sizes."""
        return layout_for(
            self.level,
            len(self.members),
            self.chunk,
            member_bytes,
            self._algorithm,
            copies=self.copies,
            groups=self.groups,
            outer_chunk_bytes=self.outer_chunk,
            truncate=True,
        )


def _groups(layout: Layout) -> list[slice]:
    """The slots of each array that a spare may have to stand in for."""
    if not isinstance(layout, NestedLayout):
        return [slice(None)]
    ends = list(accumulate(group.members for group in layout.groups))
    return [slice(end - group.members, end) for end, group in zip(ends, layout.groups, strict=True)]


CRYPT_FLAGS = ("no_read_workqueue", "no_write_workqueue", "same_cpu_crypt", "submit_from_crypt_cpus")
"""dm-crypt's flags for who encrypts and submits."""


class EncryptedSpec(Spec):
    """A device behind a cipher."""

    on: str
    """What is encrypted: a drive or an array."""
    kind: Literal["cryptoloop", "dm-crypt"] = "dm-crypt"
    """"cryptoloop" (one kernel thread) or "dm-crypt" (all cores)."""
    rate: Rate | None = None
    """Bytes per second that one core encrypts or decrypts, with all that is done for it."""
    cipher: str | None = None
    """Instead of that, a cipher of the catalogue (:mod:`raidsim.model.crypt.ciphers`): what the core's clock makes of
    it."""
    sector: PositiveSize = 512
    """Bytes that are encrypted with one initialization vector (``cryptsetup --sector-size``)."""
    no_read_workqueue: bool = False
    no_write_workqueue: bool = False
    """If true, the core that a read interrupts decrypts it, and the submitter of a write encrypts it; otherwise workers
    do (dm-crypt's flags of these names)."""
    same_cpu_crypt: bool = False
    """If true, a worker stays on the core that submitted the I/O (dm-crypt's flag); otherwise any core takes it."""
    submit_from_crypt_cpus: bool = False
    """If true, workers submit the writes that they have encrypted; otherwise one thread does, sorted by address
    (dm-crypt's flag)."""
    allow_discards: bool = False
    """dm-crypt passes discards on (``cryptsetup --allow-discards``)."""
    source: str = ""
    """Of the rate."""

    @model_validator(mode="after")
    def _priced(self) -> Self:
        if (self.rate is None) == (self.cipher is None):
            both = "neither rate nor cipher" if self.rate is None else "both rate and cipher"
            raise refusal(both, "expected: one of them", ("cipher",))
        if self.rate is not None and not self.source:
            raise refusal("a rate without a source", "expected: source says where the rate is from", ("source",))
        if self.sector not in _SECTORS:
            allowed = f"expected: {', '.join(format_size(each) for each in _SECTORS)}"
            raise refusal(format_size(self.sector), allowed, ("sector",))
        for field in ("sector", *CRYPT_FLAGS):
            if self.cipher is None and getattr(self, field) != type(self).model_fields[field].default:
                raise refusal(f"{field} with a rate, which has it all", "expected: with cipher", (field,))
        if self.allow_discards and self.kind != "dm-crypt":
            raise refusal(f"allow_discards of {self.kind}", "expected: with kind dm-crypt", ("allow_discards",))
        if self.cipher is not None:
            self._check_cipher(self.cipher)
        return self

    def _check_cipher(self, name: str) -> None:
        if self.kind != "dm-crypt":
            raise refusal(f"cipher of {self.kind}", "expected: with kind dm-crypt, or rate", ("cipher",))
        try:
            cipher(name)
        except InputError as error:
            raise refusal(f"unknown cipher {name!r}", error.expected, ("cipher",)) from None


def _as_names(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class VolumeSpec(Spec):
    """A partition or a logical volume of LVM: a range of one device or of several."""

    kind: Literal["partition", "linear", "striped"] = "partition"
    """"partition" (one device), "linear" (the ranges of its devices one after the other) or "striped" (in turn)."""
    on: Annotated[tuple[str, ...], BeforeValidator(_as_names), Field(min_length=1)]
    """The device, or the devices in their order. Several volumes may be on one device."""
    start: Size = 0
    size: PositiveSize | None = None
    """The range of each of these devices: its first byte, and its size; up to the end of the device unless given."""
    part: tuple[int, int] | None = None
    """Instead of that, which of how many equal parts: [2, 6] is the second of six."""
    stripe: PositiveSize = STRIPE
    """Bytes of a stripe on one device, of a striped volume (``lvcreate --stripesize``, whose default it is)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.on)) != len(self.on):
            raise refusal(f"on {', '.join(self.on)}", "expected: each device once", ("on",))
        if self.kind == "partition" and len(self.on) > 1:
            raise refusal(f"a partition of {len(self.on)} devices", "expected: one, or kind linear or striped", ("on",))
        if self.kind == "striped" and len(self.on) == 1:
            raise refusal("a striped volume on one device", "expected: several devices, or kind linear", ("on",))
        if self.kind != "striped" and self.stripe != STRIPE:
            raise refusal(f"stripe of a {self.kind} volume", "expected: with kind striped", ("stripe",))
        if self.stripe < _LEAST_STRIPE or self.stripe & (self.stripe - 1):
            allowed = f"expected: a power of two of at least {format_size(_LEAST_STRIPE)}"
            raise refusal(format_size(self.stripe), allowed, ("stripe",))
        if self.part is not None and (self.start or self.size is not None):
            raise refusal("part beside start or size", "expected: one of them", ("part",))
        if self.part is not None and not 1 <= self.part[0] <= self.part[1] <= _MOST_PARTS:
            found = f"part {self.part[0]} of {self.part[1]}"
            raise refusal(found, f"expected: [number, parts] from 1, with up to {_MOST_PARTS} parts", ("part",))
        return self

    def range(self, capacity: int) -> tuple[int, int]:
        """First byte and size of the range on a device of `capacity` bytes."""
        if self.part is None:
            return self.start, capacity - self.start if self.size is None else self.size
        number, parts = self.part
        size = capacity // parts // _ALIGNED * _ALIGNED
        return (number - 1) * size, size

    def layout(self, sizes: Sequence[int]) -> Layout:
        """The map of a logical volume, from the sizes of its ranges."""
        if self.kind == "striped":
            least = min(sizes) // self.stripe * self.stripe
            return StripedLayout([least] * len(sizes), self.stripe)
        return LinearLayout(list(sizes))


class FailureSpec(Spec):
    """A member that is lost during the run, at this time."""

    member: str
    """A drive that is a member."""
    at: Duration
    """Counted from the start of the warm-up."""
