"""How much an array holds, what it survives, what it costs, and how long its flash lasts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.core.errors import InputError
from ..model.drives.catalogue import drive as catalogued
from ..model.drives.power import power_class
from ..model.drives.power import watts as drive_watts
from ..model.files.quantities import parse_fraction, parse_size
from ..model.layouts import LEVELS, layout_for
from ..model.layouts.factory import level_name
from ..model.solid_state.spec import SolidStateSpec
from ..model.zfs.map.words import are_alike
from ..scenarios.advice.endurance import Endurance, endurance
from ..scenarios.comparison.rules_of_thumb import RuleOfThumb, rule_of_thumb
from ..scenarios.description.workloads import MOST_OUTSTANDING
from ..scenarios.designs.capacity import (
    CHUNK,
    DATA_OFFSET,
    CapacityPlan,
    FileSystemName,
    PlannedPower,
    capacity_plan,
)
from .answer.tree import Answer, lines
from .base import Value
from .run import run
from .scenario import Scenario
from .tables.capacity import capacity_lines, capacity_table, capacity_title, endurance_line, power_words

_USERS_PER_DRIVE = 128
"""As many as a load curve measures the saturation with."""
_USERS_IN_POOL = 16
"""Of each drive of a pool, whose drives get ten reads at a time."""


class Capacity(Value):
    """What an array holds, survives and costs.

    Attributes
    ----------
    level
        The level as people write it: "RAID 6".
    drive_bytes
        Capacity of each drive.
    plan
        Raw, array, usable and planned bytes, failures survived, and cost.
    power
        Of all drives; None if neither a drive nor its power is given.
    endurance
        How long the flash lasts; None if not asked for, or if the drive's data sheet has no figure.
    random_iops
        I/Os per second of 4 KiB, 70 % reads, with all drives busy; None unless asked for.
    rule
        The same of a pool by the rule of thumb.
    """

    schema = "raidsim.capacity"

    def __init__(
        self,
        level: str,
        drive_bytes: int,
        plan: CapacityPlan,
        power: PlannedPower | None,
        endurance: Endurance | None,
        random_iops: float | None,
        model: str | None = None,
        written: str | int | None = None,
        rule: RuleOfThumb | None = None,
    ) -> None:
        self.rule = rule
        self.level = level
        self.drive_bytes = drive_bytes
        self.plan = plan
        self.power = power
        self.endurance = endurance
        self.random_iops = random_iops
        self._model, self._written = model, written

    @property
    def usable_bytes(self) -> int:
        """Bytes for files, without parity, copies, spares and metadata."""
        return self.plan.usable_bytes

    @property
    def planned_bytes(self) -> int:
        """Bytes that should be stored: the usable ones up to the fill limit."""
        return self.plan.planned_bytes

    @property
    def cost(self) -> float | None:
        """Cost of all drives; None without a price."""
        return self.plan.cost

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        told = list(capacity_lines(self.plan, self.random_iops, self.rule))
        if self.power is not None:
            told.append(power_words(self.power, self._model))
        if self._written is not None:
            told.append(endurance_line(self._written, self.endurance))
        title = capacity_title(self.level, self.drive_bytes, self.plan)
        return Answer(title, [capacity_table(self.plan), *lines(told)])

    def _document(self) -> Mapping[str, Any]:
        plan, iops = self.plan, self.random_iops
        return {
            **dataclasses.asdict(plan),
            "cost_per_tb": plan.cost_per_tb,
            "random_iops": iops,
            "rule_of_thumb_iops": None if self.rule is None else self.rule.iops,
            "cost_per_iops": None if plan.cost is None or iops is None else plan.cost / iops,
            "power": None if self.power is None else self.power.document(),
            "endurance": None if self.endurance is None else dataclasses.asdict(self.endurance),
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        plan = self.plan
        parts = ("raw_bytes", "array_bytes", "file_system_bytes", "usable_bytes", "planned_bytes")
        sizes = {part.removesuffix("_bytes"): getattr(plan, part) for part in parts}
        return [
            {"what": name, "TB": size / 1e12, "TiB": size / 2**40, "of_raw": size / plan.raw_bytes}
            for name, size in sizes.items()
        ]

    def __repr__(self) -> str:
        plan = self.plan
        each, usable, planned = (size / 1e12 for size in (self.drive_bytes, plan.usable_bytes, plan.planned_bytes))
        cost = "" if plan.cost is None else f", cost {plan.cost:,.0f}"
        return (
            f"Capacity({self.level} of {plan.drives} x {each:.4g} TB: {usable:.4g} TB usable, {planned:.4g} TB to plan "
            f"with, survives {plan.survives_any}{cost})"
        )


def capacity(
    level: str,
    drives: int,
    *,
    size: str | int | None = None,
    drive: str | None = None,
    spares: int = 0,
    groups: int | None = None,
    file_system: FileSystemName | None = None,
    fill: str | float = "85%",
    price: float | None = None,
    performance: bool = False,
    written: str | int | None = None,
    watts: float | None = None,
    energy_price: float | None = None,
) -> Capacity:
    """Count what an array holds after parity, spares, md's metadata, the file system and a fill limit.

    Parameters
    ----------
    level
        "raid0", "raid1", "raid5", "raid6", "raid10", "raid50", "raid60" ...; of a pool of ZFS its vdevs: "raidz2",
        "2 x raidz1", "mirrors", "draid2:4d:8c:1s".
    drives
        Number of drives, spares among them.
    size
        Bytes of each drive: "18TB". Either this or `drive`.
    drive
        A drive of the catalogue.
    spares
        Drives that stand by.
    groups
        Inner arrays of RAID 50 and 60.
    file_system
        What is made on the array: "ext4" (unless given), "xfs" or "none". A pool has its own.
    fill
        How full it may get.
    price
        Of one drive, in any currency.
    performance
        If true, simulate random I/Os too: 4 KiB, 70 % reads, all drives busy. Needs `drive`.
    written
        Bytes written a day, for the endurance of flash: "2TB". Needs `drive`.
    watts
        Of one drive, in place of the catalogue's figures.
    energy_price
        Of a kWh, in the currency of the price.

    Raises
    ------
    InputError
        If the level cannot be made of the drives, or an option needs another one.

    Examples
    --------
    >>> import raidsim
    >>> raidsim.capacity("raid60", 24, size="18TB", groups=2, price=330)
    Capacity(RAID 60 of 24 x 18 TB: 340.6 TB usable, 289.5 TB to plan with, survives 2, cost 7,920)
    """
    if (size is None) == (drive is None):
        found = "missing" if size is None else "found both --size and --drive"
        raise InputError("--size", found, "expected --size or --drive")
    for option, asked in (("--performance", performance), ("--written", written is not None)):
        if asked and drive is None:
            raise InputError(option, "found it without --drive", "expected: a drive of the catalogue: --drive MODEL")
    each = catalogued(drive).capacity if drive is not None else parse_size(size, "--size")
    plan = capacity_plan(
        level,
        drives,
        each,
        spares=spares,
        groups=groups,
        file_system=file_system,
        fill=parse_fraction(fill, "--fill"),
        price=price,
    )
    if written is not None and are_alike(level):
        raise InputError("--written", f"found it with {level}, a pool of ZFS", "expected: with levels of md")
    loaded = _loaded(level, drives, str(drive), spares, groups) if performance else None
    return Capacity(
        level if are_alike(level) else LEVELS[level_name(level)].label,
        each,
        plan,
        _power(drives, spares, drive, watts, energy_price),
        None if written is None else _endurance(level, drives - spares, str(drive), groups, written),
        None if loaded is None else run(loaded, progress=False).iops,
        drive,
        written,
        None if loaded is None else rule_of_thumb(loaded.spec),
    )


def _endurance(level: str, members: int, model: str, groups: int | None, written: str | int) -> Endurance | None:
    """How long the drives last; None if their data sheet gives no endurance."""
    spec = catalogued(model)
    if not isinstance(spec, SolidStateSpec):
        raise InputError("--written", f"found it with {model}, a hard disk", "expected: a solid-state drive")
    a_day = parse_size(written, "--written")
    if a_day <= 0:
        raise InputError("--written", f"found {written}", "expected: more than 0 bytes a day")
    layout = layout_for(level, members, CHUNK, spec.capacity - DATA_OFFSET, groups=groups)
    return endurance(layout, spec, a_day)


def _power(
    drives: int, spares: int, model: str | None, watts: float | None, energy_price: float | None
) -> PlannedPower | None:
    """Power of all drives, hot spares idle; None if nobody asks for it: neither a drive nor its power is given."""
    if watts is not None:
        return PlannedPower(drives * watts, drives * watts, energy_price)
    if model is not None:
        spec = catalogued(model)
        idle, active = drive_watts(spec, 0.0), drive_watts(spec, 1.0)
        if idle is None or active is None:
            return PlannedPower()
        busy, alike = (drives - spares) * active + spares * idle, power_class(spec)
        return PlannedPower(drives * idle, busy, energy_price, None if alike is None else alike.spread)
    if energy_price is not None:
        raise InputError("--energy-price", "found it without a drive", "expected: --drive MODEL or --watts of a drive")
    return None


def _loaded(level: str, drives: int, model: str, spares: int, groups: int | None) -> Scenario:
    """Random I/Os of 4 KiB, 70 % of them reads, with all drives busy."""
    described: dict[str, Any] = {
        "machine": {"model": "server", "drives": {"model": model, "count": drives}},
        "workload": {
            "read_share": 0.7,
            "depth": min(_USERS_PER_DRIVE * drives, MOST_OUTSTANDING),
            "independent": True,
            "warm_up": "500ms",
            "duration": "1s",
        },
    }
    if are_alike(level):
        # A block is found by its pointers first, and both wait for all drives, so the first second says nothing. A
        # drive gets ten reads at a time, and what waits above only lengthens the beginning.
        described["workload"] = {"read_share": 0.7, "depth": _USERS_IN_POOL * drives, "independent": True}
        described["machine"]["drives"]["count"] = drives - spares
        described["pools"] = {"tank": {"vdevs": level, "datasets": {"data": {"volume": "all"}}}}
    else:
        array: dict[str, Any] = {"level": level, "members": drives - spares, "spares": spares}
        described["arrays"] = {"md0": array if groups is None else {**array, "groups": groups}}
    return Scenario.from_yaml(json.dumps(described))
