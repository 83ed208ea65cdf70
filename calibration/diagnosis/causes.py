"""Causes of a speed that is not the expected one, each as changes of the model of the machine.

Every cause is applied to the machine as it is described, in one form or several of different strength. A cause that
the machine cannot have, or that its outputs rule out, has no forms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import drive, drive_names
from ...model.files.description import Spec
from ...model.files.description_errors import validate
from ...model.files.quantities import format_rate
from ...model.files.yaml_files import read_yaml
from ...model.layouts import LEVELS
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.description.arrays import NONE
from .cache_causes import CACHE_FORMS
from .case import Case, Change, Form, drives_of
from .job_causes import JOB_FORMS
from .measured import Measurements
from .pool_causes import POOL_FORMS

_PCIE = re.compile(r"PCIe (\d)\.0 x(\d+)")
_SATA_RATES = (300e6, 150e6)
_LANE_SHARES = (0.5, 0.25)
_SLOWER_S = (10e-3, 50e-3)
"""What a disk that reads its sectors again adds to a command, mildly and badly (assumed)."""
_SLOWER_FLASH = (3.0, 10.0)
_CLOCKS = (0.5, 0.3)
_THROTTLED = (0.5, 0.25)
_REMOTE_SHARE = 0.6
"""Rate of the memory of another node over that of the node's own (assumed)."""
_CACHES = (64, 256)


class CauseEntry(Spec):
    """What the catalogue says of a cause: see its file."""

    words: str
    """What is wrong."""
    prior: float = Field(gt=0)
    """How often one meets it, relative to other causes."""
    check: str
    """The command that shows it."""
    mend: str
    """What to do then."""


@dataclass(frozen=True)
class Cause:
    """A cause that the machine may have.

    Attributes
    ----------
    name
        In the catalogue.
    entry
        What that says.
    forms
        Of different strength.
    seen
        Where the outputs say so; "" if nothing does.
    """

    name: str
    entry: CauseEntry
    forms: tuple[Form, ...]
    seen: str = field(default="")


@lru_cache(maxsize=1)
def catalogue() -> dict[str, CauseEntry]:
    """Every cause by name."""
    data, _ = read_yaml(Path(__file__).parent / "catalogue" / "causes.yaml")
    return {name: validate(CauseEntry, entry) for name, entry in data.items()}


def candidates(case: Case, measured: Measurements, excluded: frozenset[str] = frozenset()) -> list[Cause]:
    """Every cause that the machine may have, in the catalogue's order.

    Parameters
    ----------
    case
        The machine as it is described.
    measured
        The jobs, and the member whose requests take longest.
    excluded
        Causes that the outputs rule out.
    """
    found = []
    for name, entry in catalogue().items():
        forms = () if name in excluded else tuple(_FORMS[name](case, measured))
        if forms:
            found.append(Cause(name, entry, forms))
    return found


def _member(case: Case, measured: Measurements) -> str:
    """The member that a cause about one of them is tried on: the slowest, or the first, as all are alike."""
    slowest = measured.slowest
    return slowest if slowest in case.drives else case.drives[0]


def _own(name: str, **values: Any) -> dict[str, Any]:
    return {f"machine.drives.{name}.overrides.{field}": value for field, value in values.items()}


def _all(names: Iterator[str] | list[str], **values: Any) -> dict[str, Any]:
    return {path: value for name in names for path, value in _own(name, **values).items()}


def _spec(case: Case, name: str) -> Any:
    return case.spec.machine.drives[name].spec()


def _is_redundant(case: Case) -> bool:
    array = case.array
    return array is not None and LEVELS[array.level].is_redundant and not array.failed and not array.rebuilding


def _degraded(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.array is not None and _is_redundant(case):
        member = case.array.members[-1]
        yield Form(Change({f"arrays.{case.array_name}.failed": member}, {}), member)


def _rebuilding(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.array is not None and _is_redundant(case):
        member = case.array.members[-1]
        yield Form(Change({f"arrays.{case.array_name}.rebuilding": member}, {}), member)


def _checking(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.array is not None and _is_redundant(case) and case.array.resync is None:
        yield Form(Change({f"arrays.{case.array_name}.resync": {"action": "check"}}, {}))


def _reshaping(case: Case, measured: Measurements) -> Iterator[Form]:
    array = case.array
    if array is None or not _is_redundant(case) or array.resync is not None or array.controller is not None:
        return
    if len(array.members) > LEVELS[array.level].least:
        before = {"action": "reshape", "old": {"members": len(array.members) - 1}}
        here = f"arrays.{case.array_name}"
        yield Form(Change({f"{here}.resync": before, f"{here}.bitmap": NONE}, {}))


def _write_cache_off(case: Case, measured: Measurements) -> Iterator[Form]:
    cached = [name for name in drives_of(case, True) if _spec(case, name).write_cache]
    if cached:
        yield Form(Change(_all(cached, write_cache=False), {}), cached[0])


def _slow_link(case: Case, measured: Measurements) -> Iterator[Form]:
    member = _member(case, measured)
    spec = _spec(case, member)
    if spec.interface.startswith("PCIe"):
        return
    for rate in _SATA_RATES:
        if rate < spec.interface_rate:
            yield Form(Change(_own(member, interface_rate=f"{rate:.0f}B/s"), {}), member, f"{rate / 1e8:g} Gb/s")


def _slow_lanes(case: Case, measured: Measurements) -> Iterator[Form]:
    member = _member(case, measured)
    spec = _spec(case, member)
    if not spec.interface.startswith("PCIe"):
        return
    for share in _LANE_SHARES:
        rate = share * spec.interface_rate
        yield Form(
            Change(_own(member, interface_rate=f"{rate:.0f}B/s"), {}),
            member,
            f"{format_rate(rate)}{_lanes(spec.interface, share)}",
        )


def _lanes(interface: str, share: float) -> str:
    """What a share of the rate of PCI Express is, in generations and lanes."""
    given = _PCIE.search(interface)
    if given is None:
        return ""
    generation, lanes = int(given[1]), int(given[2])
    older, fewer = generation + round(math.log2(share)), lanes * share
    ways = [f"PCIe {older}.0 x{lanes}"] if older >= 1 else []
    ways += [f"{generation}.0 x{fewer:.0f}"] if fewer >= 1 else []
    return f", as {' or '.join(ways)} does" if ways else ""


def _slow_adapter(case: Case, measured: Measurements) -> Iterator[Form]:
    links = {name: link for name, link in case.spec.machine.links.items() if link.model is not None}
    for share in _LANE_SHARES if links else ():
        values = {
            f"machine.links.{name}": {"model": link.model, "rate": f"{share * link.rate:.0f}B/s"}
            for name, link in links.items()
        }
        yield Form(Change(values, {}), value=format_rate(share * max(link.rate for link in links.values())))


def _shingled(spec: Any) -> bool:
    return isinstance(spec, DriveSpec) and spec.media_cache > 0


def _shingled_member(case: Case, measured: Measurements) -> Iterator[Form]:
    disks = [name for name in drives_of(case, True) if not _shingled(_spec(case, name))]
    if not disks:
        return
    member = _member(case, measured) if _member(case, measured) in disks else disks[0]
    capacity = _spec(case, member).capacity
    shingled = [name for name in drive_names() if _shingled(drive(name))]
    nearest = min(shingled, key=lambda name: abs(drive(name).capacity - capacity))
    values = {f"machine.drives.{member}.model": nearest, **_own(member, capacity=f"{capacity}B")}
    yield Form(Change(values, {}), member)


def _slow_member(case: Case, measured: Measurements) -> Iterator[Form]:
    member = _member(case, measured)
    spec = _spec(case, member)
    if isinstance(spec, DriveSpec):
        for more in _SLOWER_S:
            slower = {
                "read_overhead": f"{spec.read_overhead + more!r}s",
                "write_overhead": f"{spec.write_overhead + more!r}s",
            }
            yield Form(Change(_own(member, **slower), {}), member, f"{1e3 * more:.0f} ms")
        return
    for times in _SLOWER_FLASH:
        yield Form(Change(_own(member, **_slowed(spec, times)), {}), member, f"{times:g} times")


def _slowed(spec: SolidStateSpec, times: float) -> dict[str, Any]:
    return {
        "read_time": f"{times * spec.read_time!r}s",
        "program_time": f"{times * spec.program_time!r}s",
        "command_rate": spec.command_rate / times,
        "read_overhead": f"{times * spec.read_overhead!r}s",
        "write_overhead": f"{times * spec.write_overhead!r}s",
        "channel_rate": f"{spec.channel_rate / times:.0f}B/s",
    }


def _no_queuing(case: Case, measured: Measurements) -> Iterator[Form]:
    queued = [name for name in drives_of(case, True) if _spec(case, name).queue_depth > 1]
    if queued:
        yield Form(Change(_all(queued, queue_depth=1), {}), queued[0])


def _bitmap(case: Case, measured: Measurements) -> Iterator[Form]:
    array = case.array
    if array is not None and array.bitmap is None and array.controller is None and _is_redundant(case):
        yield Form(Change({f"arrays.{case.array_name}.bitmap": "64MiB"}, {}))


def _small_stripe_cache(case: Case, measured: Measurements) -> Iterator[Form]:
    array = case.array
    if array is None or not LEVELS[array.level].has_parity or array.controller is not None:
        return
    now = array.stripe_cache or _CACHES[-1]
    for stripes in _CACHES:
        if stripes < now:
            yield Form(Change({f"arrays.{case.array_name}.stripe_cache": stripes}, {}), value=f"{stripes}")


def _scheduler(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.array is not None and case.array.controller is not None:
        return
    for name in ("bfq", "none"):
        if not any(case.spec.machine.drives[each].scheduler == name for each in case.drives):
            values = {f"machine.drives.{each}.scheduler": name for each in case.drives}
            yield Form(Change(values, {}), case.drives[0], name)


def _slow_processor(case: Case, measured: Measurements) -> Iterator[Form]:
    for share in _CLOCKS:
        clock = share * case.spec.machine.cpu.clock
        yield Form(Change({"machine.cpu.clock": f"{clock / 1e6:.0f}MHz"}, {}), value=f"{100 * share:.0f} %")


def _remote_node(case: Case, measured: Measurements) -> Iterator[Form]:
    cpu = case.spec.machine.cpu
    if cpu.cores > 1 and cpu.far_line_transfer > cpu.line_transfer:
        values: dict[str, Any] = {"machine.cpu.line_transfer": f"{cpu.far_line_transfer!r}s"}
        if cpu.memory_rate is not None:
            values["machine.cpu.memory_rate"] = f"{_REMOTE_SHARE * cpu.memory_rate:.0f}B/s"
        yield Form(Change(values, {}))


def _state(case: Case, state: str) -> Iterator[Form]:
    flash = drives_of(case, False)
    if flash and not any(case.spec.machine.drives[name].state for name in flash):
        yield Form(Change({f"machine.drives.{name}.state": state for name in flash}, {}), flash[0])


def _used_flash(case: Case, measured: Measurements) -> Iterator[Form]:
    yield from _state(case, "steady")


def _empty_flash(case: Case, measured: Measurements) -> Iterator[Form]:
    yield from _state(case, "fresh")


def _hot_flash(case: Case, measured: Measurements) -> Iterator[Form]:
    flash = drives_of(case, False)
    for share in _THROTTLED if flash else ():
        values = {
            path: value for name in flash for path, value in _own(name, **_slowed(_spec(case, name), 1 / share)).items()
        }
        yield Form(Change(values, {}), flash[0], f"{100 * share:.0f} %")


def _no_write_cache(case: Case, measured: Measurements) -> Iterator[Form]:
    array = case.array
    name = None if array is None else array.controller
    if name is None:
        return
    spec = case.spec.machine.controllers[name].spec()
    if spec.cache and spec.write_policy == "write-back":
        yield Form(Change({f"machine.controllers.{name}.overrides.write_policy": "write-through"}, {}))


_FORMS: dict[str, Callable[[Case, Measurements], Iterator[Form]]] = {
    **JOB_FORMS,
    "degraded": _degraded,
    "rebuilding": _rebuilding,
    "checking": _checking,
    "reshaping": _reshaping,
    **POOL_FORMS,
    **CACHE_FORMS,
    "write cache off": _write_cache_off,
    "slow link": _slow_link,
    "slow lanes": _slow_lanes,
    "slow adapter": _slow_adapter,
    "shingled member": _shingled_member,
    "slow member": _slow_member,
    "no command queuing": _no_queuing,
    "bitmap": _bitmap,
    "small stripe cache": _small_stripe_cache,
    "scheduler": _scheduler,
    "slow processor": _slow_processor,
    "remote node": _remote_node,
    "used flash": _used_flash,
    "empty flash": _empty_flash,
    "hot flash": _hot_flash,
    "no write cache": _no_write_cache,
}
