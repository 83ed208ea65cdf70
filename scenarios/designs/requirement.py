"""A requirement: what a storage array must do, and what it may be built of; what `raidsim advise` takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ...model.controller.catalogue import ControllerSpec, controller
from ...model.core.errors import InputError
from ...model.files.description import Fraction, PositiveDuration, PositiveSize, Spec, refusal
from ...model.files.description_errors import validate
from ...model.files.yaml_files import KeyPath
from ...model.kernels import KernelName, kernel
from ...model.layouts import LEVELS, levels_where
from ...model.layouts.factory import CHUNK_UNIT
from ...model.zfs.map.kinds import vdevs_for
from ...model.zfs.map.words import alike, are_alike
from ..description.pools import DatasetSpec
from ..description.tuning import ServiceSpec
from ..documents.changes.assignment import parse_assignment, parse_path
from ..documents.changes.merge import assigned, copied
from ..documents.changes.pool_aliases import POOL_LAYOUTS
from ..documents.extends import read_layers
from .chassis import ChassisSpec
from .drive_choice import DriveChoice, DriveKind, check_entry
from .growth import Growth
from .required_files import FileSystemChoice, refuse_load
from .required_load import BesideLoad, RequiredLoad

_MANY = 32
"""Members with which any kind of vdev is possible."""


class Limits(Spec):
    """Limits of the latency of I/Os."""

    p99: PositiveDuration | None = None
    mean: PositiveDuration | None = None
    """99 % of the reads and 99 % of the writes must be faster than the first, and both kinds on average than the
    second."""
    read_p99: PositiveDuration | None = None
    write_p99: PositiveDuration | None = None
    read_mean: PositiveDuration | None = None
    write_mean: PositiveDuration | None = None
    """The same for one kind, instead."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        for kind in ("p99", "mean"):
            both = [op for op in ("read", "write") if getattr(self, f"{op}_{kind}") is not None]
            if getattr(self, kind) is not None and len(both) == 2:
                raise refusal(f"{kind} beside read_{kind} and write_{kind}", "expected: two of the three", (kind,))
        return self

    def of(self, op: str, kind: str) -> float | None:
        """The limit (s) for "read" or "write", of "p99" or "mean"."""
        own: float | None = getattr(self, f"{op}_{kind}")
        general: float | None = getattr(self, kind)
        return general if own is None else own


def _bare_word(key: str) -> BeforeValidator:
    """A name alone means a description with nothing else in it."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class ControllerChoice(Spec):
    """A hardware controller that may run the array ("none": the kernel does), and what it costs."""

    model: str
    """Name in the catalogue of controllers, or none."""
    price: float | None = Field(default=None, ge=0)
    """What it costs."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the catalogue's entry that are different."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.is_none and (self.price is not None or self.overrides):
            raise refusal("a price or overrides of none", "expected: none alone", ("model",))
        if not self.is_none:
            check_entry(controller, self.model, self.overrides)
        return self

    @property
    def is_none(self) -> bool:
        """Whether the kernel runs the array."""
        return self.model.casefold() == "none"

    def spec(self) -> ControllerSpec | None:
        """The catalogue's controller with the overrides."""
        if self.is_none:
            return None
        entry = controller(self.model)
        return entry.with_values(**self.overrides) if self.overrides else entry


def _level(word: str) -> str:
    """The name of a level, or the words of vdevs."""
    if word not in LEVELS:
        if not are_alike(word):
            expected = f"expected: {', '.join(LEVELS)}; of ZFS {', '.join(POOL_LAYOUTS)}, 2 x raidz2, draid2:4d:8c:1s"
            raise refusal(repr(word)[:60], expected)
        kind, members = alike(word).kind, alike(word).members
        try:
            vdevs_for(kind, members or _MANY, 12)
        except InputError as error:
            raise refusal(error.found.removeprefix("found "), error.expected) from None
    return word


class LevelChoice(Spec):
    """A level that may be used, with its variant; or the vdevs of a pool of ZFS."""

    level: Annotated[str, AfterValidator(_level)]
    """A level, or as `layout` of a pool: raidz2 (in vdevs of every width), 2 x raidz2, mirrors, draid2:4d:8c:1s."""
    algorithm: str | None = None
    copies: int | None = Field(default=None, ge=2)
    """As in :class:`~raidsim.scenarios.description.arrays.ArraySpec`."""
    group_drives: int | None = Field(default=None, ge=2)
    """Of raid50, raid60, raid01 and pools: drives of each inner array or vdev; all sizes that divide the drives unless
    given."""

    @property
    def is_pool(self) -> bool:
        """Whether it is of ZFS."""
        return self.level not in LEVELS

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.is_pool:
            for field in ("algorithm", "copies"):
                if getattr(self, field) is not None:
                    raise refusal(f"{field} of {self.level}", "expected: with levels of md", (field,))
            if self.group_drives is not None and alike(self.level).members not in (None, self.group_drives):
                raise refusal(f"{self.group_drives} of {self.level}", "expected: one of the two", ("group_drives",))
            return self
        known = LEVELS[self.level]
        if self.group_drives is not None and not known.has_groups:
            allowed = f"expected: with {', '.join(levels_where(lambda level: level.has_groups))}"
            raise refusal(f"group_drives of {self.level}", allowed, ("group_drives",))
        if self.copies is not None and not known.has_copies:
            allowed = f"expected: with {', '.join(levels_where(lambda level: level.has_copies))}"
            raise refusal(f"copies of {self.level}", allowed, ("copies",))
        return self


def _of_all(value: Any) -> Any:
    """A dataset without a size has all of the pool."""
    return {"volume": "all", **value} if isinstance(value, Mapping) and not {"volume", "file"} & {*value} else value


Levels = tuple[Annotated[LevelChoice, _bare_word("level")], ...]
DEFAULT_LEVELS = tuple(
    LevelChoice(level=level) for level in ("raid0", "raid1", "raid10", "raid5", "raid6", "raid50", "raid60")
)


class RequirementSpec(Spec):
    """What an array must do."""

    name: str = "requirement"
    """Shown with the results."""
    load: RequiredLoad
    """The I/Os it must serve."""
    beside: tuple[BesideLoad, ...] = ()
    """Loads that run at the same time, each with a name, as in a scenario's `workloads`; the limits do not hold for
    them."""
    limits: Limits = Limits()
    """Limits of their latency."""
    capacity: PositiveSize | None = None
    """Least usable bytes."""
    survives: int = Field(default=0, ge=0, le=16)
    """Drives that may fail, whichever they are, without losing data."""
    data_loss: Fraction | None = None
    """Largest probability of losing data within a year, in the long run."""
    budget: float | None = Field(default=None, ge=0)
    """Most that drives, controllers, machine and chassis may cost together."""
    chassis: ChassisSpec | None = None
    """What the drives are put into."""
    rack_units: float | None = Field(default=None, gt=0)
    power: float | None = Field(default=None, gt=0)
    """Most height in the rack, and most power (W) of chassis and drives, busy but for hot spares."""
    energy_price: float | None = Field(default=None, ge=0)
    """Price of a kWh."""
    headroom: Fraction | None = None
    """Largest share of the load at which the array saturates."""
    drives: tuple[Annotated[DriveChoice, _bare_word("model")], ...]
    """What it may be built of."""
    levels: Levels = DEFAULT_LEVELS
    chunks: tuple[PositiveSize, ...] = (65536, 524288)
    """Levels, or vdevs of ZFS, and chunk sizes that it may have."""
    all_chunks: bool = False
    """If true, a design is run to the end even if its brief run is clearly slower than that of another chunk."""
    controllers: tuple[Annotated[ControllerChoice, _bare_word("model")], ...] = (ControllerChoice(model="none"),)
    """RAID controllers that it may have; "none" is md."""
    bitmap: PositiveSize | Literal["none"] | None = None
    """Bytes of a member per bit of the write-intent bitmap, of arrays that the kernel runs; "none" for no bitmap, and
    without this field what mdadm makes."""
    hot_spares: int = Field(default=0, ge=0, le=16)
    """Drives that stand by, of those counted."""
    service: ServiceSpec = ServiceSpec()
    """How the drives are looked after and how often they fail, as in a scenario."""
    growth: Growth = 0.0
    years: float = Field(default=0.0, ge=0, le=50)
    """Growth of load and capacity in a year, and the years until when the array must do."""
    while_rebuilding: bool = False
    """If true, the limits hold also while a member is being rebuilt."""
    machine: str | dict[str, Any] | None = None
    network: dict[str, Any] | None = None
    vm: dict[str, Any] | None = None
    path_length: float | None = Field(default=None, gt=0)
    """What it hangs on, as in a scenario, without drives."""
    array: dict[str, Any] = Field(default_factory=dict)
    """Options of the array as in a scenario (`stripe_cache`, `group_thread_cnt`, ...), for the levels that have
    them."""
    dataset: Annotated[DatasetSpec, BeforeValidator(_of_all)] = DatasetSpec(volume="all")
    """The volume or file of every pool, as in a scenario; it has all of the pool."""
    file_system: Annotated[FileSystemChoice, _bare_word("kind")] | None = None
    """Made on the array of every design, with the load on a file in it."""
    kernel: KernelName = "linux-6.1"
    """What the machine runs, as in a scenario."""
    precision: Fraction = Field(default=0.05)
    """Half the width of the 90 % intervals that decide, as a share."""
    seed: int = Field(default=0, ge=0)
    """Of all random numbers."""

    def grown(self) -> RequirementSpec:
        """The requirement at the end of its years: more I/Os, and more bytes."""
        factor = (1.0 + self.growth) ** self.years
        if factor == 1.0:
            return self
        load = self.load.model_copy(update={"total_iops": self.load.total_iops * factor})
        capacity = None if self.capacity is None else round(self.capacity * factor)
        return self.model_copy(update={"load": load, "capacity": capacity})

    def _kinds(self) -> Iterator[tuple[tuple[str | int, ...], DriveKind]]:
        """Every kind of drive, and where it is."""
        for number, choice in enumerate(self.drives):
            yield ("drives", number), choice
            if choice.mirror is not None:
                yield ("drives", number, "mirror"), choice.mirror

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.file_system is not None:
            refuse_load(self.load)
            if self.beside:
                raise refusal("other loads with a file system", "expected: one of the two", ("beside",))
        for choices in ("drives", "levels", "chunks", "controllers"):
            if not getattr(self, choices):
                raise refusal("nothing to choose from", "expected: one or more", (choices,))
        if not kernel(self.kernel).zfs and any(level.is_pool for level in self.levels):
            found = f"{self.kernel} with pools: OpenZFS 2.3 does not run on it"
            raise refusal(found, "expected: Linux 4.18 or later", ("kernel",))
        for i, chunk in enumerate(self.chunks):
            if chunk < CHUNK_UNIT or chunk & (chunk - 1):
                raise refusal(f"{chunk} bytes", "expected: powers of two from 4KiB on", ("chunks", i))
        if isinstance(self.machine, dict):
            for key in ("drives", "controllers"):
                if key in self.machine:
                    raise refusal(f"{key} of the machine", f"expected: in {key} of the requirement", ("machine", key))
        known = sorted({option for level in LEVELS.values() for option in level.options} - {"bitmap"})
        for option in self.array:
            if option not in known:
                raise refusal(f"unknown option {option!r}", f"expected: {', '.join(known)}", ("array", option))
        if not 0.001 <= self.precision <= 0.5:
            raise refusal(f"{100 * self.precision:g} %", "expected: 0.1% to 50%", ("precision",))
        if self.headroom is not None and not 0 < self.headroom <= 1:
            raise refusal(f"{self.headroom:g}", "expected: above 0, up to 100%", ("headroom",))
        if self.rack_units is not None and self.chassis is None:
            raise refusal("no chassis", "expected: chassis with rack_units above 0", ("rack_units",))
        if self.power is not None:
            for at, kind in self._kinds():
                if kind.power(1.0) is None:
                    raise refusal(
                        f"no watts, and the catalogue has no figure for {kind.model}",
                        "expected: watts of one drive, as power is limited",
                        (*at, "watts"),
                    )
        if self.budget is not None:
            for at, kind in self._kinds():
                if kind.price is None:
                    raise refusal("no price", "required with a budget", (*at, "price"))
            for i, controlling in enumerate(self.controllers):
                if controlling.price is None and not controlling.is_none:
                    raise refusal("no price", "required with a budget", ("controllers", i, "price"))
        return self


def read_requirement(path: Path, sets: Sequence[str] = ()) -> RequirementSpec:
    """The requirement in a file, which may extend another one.

    Parameters
    ----------
    path
        The file.
    sets
        Changes, "path=value" each: ``load.total_iops=3000``.

    Raises
    ------
    InputError
        Naming file and line (or option), field, what was found and what is allowed.
    """
    layer = read_layers(path, str(path))
    data: dict[str, Any] = copied(layer.data)
    positions = layer.positions
    data.setdefault("name", path.stem)
    for text in sets:
        typed, value = parse_assignment(text)
        place = f"--set {typed}"
        at = parse_path(typed, place)
        _put(data, at, value, place)
        positions = assigned(positions, data, at, value, place)
    return validate(RequirementSpec, data, positions)


def _put(data: dict[str, Any], path: KeyPath, value: Any, place: str) -> None:
    """Put `value` at `path`, making the mappings on the way; None removes."""
    inside: Any = data
    for depth, part in enumerate(path):
        key: Any = part
        if isinstance(inside, list):
            if not str(part).isdecimal() or int(str(part)) >= len(inside):
                raise InputError(place, f"no item {part!r}", f"expected: 0 to {len(inside) - 1}")
            key = int(str(part))
        elif not isinstance(inside, dict):
            raise InputError(
                place, f"{path[depth - 1]} is a value with nothing inside", "expected: a mapping or a list"
            )
        if depth < len(path) - 1:
            if isinstance(inside, dict):
                inside = inside.setdefault(key, {})
            else:
                inside = inside[key]
        elif value is None:
            if isinstance(inside, list) or key in inside:
                del inside[key]
        else:
            inside[key] = value
