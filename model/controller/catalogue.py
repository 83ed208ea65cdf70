"""The catalogue of hardware RAID controllers: one file a controller, every number with where it comes from.

What no data sheet gives (firmware time of a command, destage policy) is assumed, and says why and how far off it may
be (`spread`). Controllers of one chip generation share such values: their files name a `family`, a file of
``families``. `relatives` lists the numbers of products for which an entry is the nearest. A scenario may replace any
field of an entry.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from ..core.engine import Engine
from ..core.errors import InputError
from ..files.catalogue_file import SourcedValue, catalogue_file, load_sourced
from ..files.description import Duration, Fraction, Frequency, PositiveSize, Rate, Size
from ..files.yaml_files import read_yaml
from ..links.link import Link
from ..raid.read_balance import GmirrorRoundRobin
from ..raid.read_balance.megaraid import MegaRaid
from ..raid.resync.settings import ResyncSettings
from ..raid.stripes.settings import ParitySettings
from ..tasks.prices import FREE, Prices
from .settings import ControllerSettings

if TYPE_CHECKING:
    from .firmware import Firmware

CATALOGUE = Path(__file__).parent / "catalogue"
FAMILIES = CATALOGUE / "families"
RELATIVES = "relatives"
"""Field of a controller's file with numbers of products that it stands in for; it has no source."""
SECTOR = 512


class ControllerSpec(ControllerSettings):
    """What the model needs to know of a controller; SI units."""

    model: str

    host_interface: str
    """In words."""
    host_rate: Rate
    """Bytes/s between the host and its memory."""
    host_transfer: Duration = 0.0
    """Fixed time of one transfer on that link: arbitration, selection, command and status phases."""
    drive_interface: str
    """In words."""
    drive_rate: Rate
    """Bytes/s of one drive port."""
    ports: int = Field(ge=1)
    """Drives it connects."""
    levels: tuple[str, ...]
    """RAID levels its firmware offers."""
    chunk: PositiveSize
    """Chunk size as shipped."""
    processor: str
    """In words."""
    clock: Frequency
    """Of the processor, for the reader."""
    cores: int = Field(default=1, ge=1)
    """Cores that take commands side by side; an XOR engine is booked on them too."""
    drive_command: Duration
    """Firmware time of a command to a drive."""
    stripe: Duration = 0.0
    """Firmware time of a pass over 4 KiB of a stripe's row."""
    xor_rate: Rate
    """Bytes/s of source that parity is computed from."""
    drive_queue_depth: int = Field(default=1, ge=1)
    """Commands it gives a drive at once, if the drive takes as many."""
    drive_request: PositiveSize = 128 * 1024
    """Largest command to a drive."""
    destage_wait: Duration = 0.1
    """Destaging that has waited longer than this takes turns with the host's commands to the same drive."""
    rebuild_rate: Fraction = Field(default=0.3, gt=0)
    """Share of the time in which it rebuilds or checks an array that the host uses; an idle array gets all of it."""
    mirror_reads: Literal["nearest", "in turn"] = "nearest"
    """Which drive of a mirror reads. "nearest": the one whose last command lies nearest, unless more than four commands
    more are under way on it (:class:`~raidsim.model.raid.read_balance.megaraid.MegaRaid`). "in turn": one after the
    other."""
    drive_cache: Literal["as shipped", "off"] = "as shipped"
    """Write caches of its hard disks: as the drive catalogue has them, or switched off. A drive's `overrides:
    {write_cache: ...}` in a scenario take precedence."""

    # What an entry must say.
    command: Duration
    cache: Size
    write_policy: Literal["write-back", "write-through", "off"]
    battery: Literal["good", "failed", "learning", "charging"]
    queue_depth: int = Field(ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> ControllerSpec:
        if self.drive_request % SECTOR:
            raise ValueError(f"drive_request {self.drive_request} bytes; a multiple of {SECTOR}")
        return self

    def with_values(self, **overrides: Any) -> ControllerSpec:
        """A validated copy with some fields replaced (SI numbers or strings with units)."""
        return ControllerSpec.model_validate({**self.model_dump(), **overrides})

    @property
    def read_balance(self) -> str:
        """Name of the policy by which it reads from mirrors."""
        return {"nearest": MegaRaid.name, "in turn": GmirrorRoundRobin.name}[self.mirror_reads]

    def paced(self, resync: ResyncSettings) -> ResyncSettings:
        """How it rebuilds and checks arrays, in the requests of `resync`: by its rebuild rate, without md's limits."""
        share = self.rebuild_rate
        return replace(resync, speed_min=0.0, speed_max=inf, when_busy="share", busy_by="members", share=share)

    def parity_settings(self) -> ParitySettings:
        """How its firmware runs RAID 4, 5 and 6: it gathers in its cache, so an array never holds rows back."""
        return ParitySettings(heads=0, hold=0.0, copies_reads=False, direct_reads=True)

    def firmware(self, engine: Engine, name: str) -> Firmware:
        """Its processor; the arrays and the drives' queues behind the controller take it as their host."""
        from .firmware import Firmware

        prices = Prices(
            **{field.name: getattr(FREE, field.name) for field in fields(FREE)}
            | {"command_s": self.drive_command, "stripe_s": self.stripe, "xor_s_per_byte": 1.0 / self.xor_rate}
        )
        return Firmware(engine, name, prices, self.cores)

    def host_link(self, name: str) -> Link:
        """Its link to the host; a scenario puts the host's own buses behind it."""
        return Link(name, self.host_rate, self.host_transfer)


def controller_names() -> tuple[str, ...]:
    """Names of all controllers in the catalogue, sorted."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.yaml")))


def controller(name: str) -> ControllerSpec:
    """The controller called `name` in the catalogue, in any case of its letters; `InputError` if there is none."""
    return load_controller(catalogue_file(CATALOGUE, "controller", name))[0]


def controller_sources(name: str) -> dict[str, SourcedValue]:
    """Where each number of a controller in the catalogue comes from, by field."""
    return load_controller(catalogue_file(CATALOGUE, "controller", name))[1]


@lru_cache(maxsize=64)
def controller_relatives(name: str) -> tuple[str, ...]:
    """Numbers of products ("H830") of the same chip, for which an entry of the catalogue is the nearest."""
    data, positions = read_yaml(catalogue_file(CATALOGUE, "controller", name))
    given = data.get(RELATIVES, []) if isinstance(data, dict) else []
    if not isinstance(given, list) or not all(isinstance(number, str) and number.isalnum() for number in given):
        place = f"{positions.place((RELATIVES,))}: field {RELATIVES}"
        raise InputError(place, f"found {given!r}", "expected: a list of numbers of products, such as H830")
    return tuple(given)


@lru_cache(maxsize=64)
def load_controller(path: Path) -> tuple[ControllerSpec, dict[str, SourcedValue]]:
    """A controller's description and the sources of its fields; `InputError` as
    :func:`~raidsim.model.files.catalogue_file.load_sourced`.
    """
    return load_sourced(ControllerSpec, path, (RELATIVES,), FAMILIES)
