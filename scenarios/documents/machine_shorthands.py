"""The machine of a document: catalogue entries looked up, drives counted out, each with a port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.core.errors import InputError
from ...model.drives.catalogue import AnyDrive, drive
from ...model.files.quantities import format_rate
from ...model.files.yaml_files import KeyPath
from .changes.merge import drives_in_short, merged
from .machine_catalogue import DEFAULT_CPU, DEFAULT_MACHINE, cpu, machine

MOST_DRIVES = 10_000
"""Of one machine: five times as many as Linux keeps in one array (1,920, by the space in md's superblock 1.x)."""
MOST_PARTITIONS = 128
"""Of one device: what a partition table of the usual size (GPT) holds."""
_FILLED = ("name", "memory", "cpu", "links", "channels", "drives")
"""What every machine has."""


def expanded_machine(given: Any, behind: bool, origins: dict[KeyPath, KeyPath]) -> Any:
    """The machine of a scenario; what cannot be understood is left as it is, for the check that follows.

    Parameters
    ----------
    given
        None, a machine of the catalogue, or a description that need not be complete.
    behind
        Whether controllers stand between the drives and the machine, and ports lead to them only.
    origins
        Takes where values that were made stand in the document.
    """
    if isinstance(given, str):
        given = {"model": given}
    if given is not None and not isinstance(given, Mapping):
        return given
    full: dict[str, Any] = dict(given or {})
    named = full.pop("model", None)
    own_port = full.get("port")
    if named is not None:
        if not isinstance(named, str):
            raise InputError("machine.model", f"found {named!r}"[:80], "expected: a machine's name")
        full = merged(machine(named, "machine.model"), full, ("machine",))
        removed = next((key for key in _FILLED if key not in full), None)
        if removed is not None:
            raise InputError(f"machine.{removed}", "found null", "expected: a value, or no such key for the model's")
    else:
        _fill(full)
    full["cpu"] = _cpu(full["cpu"])
    full["links"] = _links(full["links"])
    port = full.pop("port", {})
    if not isinstance(port, Mapping):
        raise InputError(
            "machine.port", f"found {port!r}"[:80], "expected: a mapping with rate, kind, links and source"
        )
    if behind or (own_port is None and not _known_links(port, full)):
        port = {key: value for key, value in port.items() if key != "links"}
    full["drives"] = _drives(full["drives"], origins)
    _ports(full, port, port if own_port is not None else {})
    return full


def expanded_volumes(given: Any, origins: dict[KeyPath, KeyPath]) -> Any:
    """The volumes of a scenario: a device with a number becomes that number of equal partitions.

    They are called as Linux calls partitions: sda1, disk0p1.
    """
    if not isinstance(given, Mapping):
        return given
    full: dict[Any, Any] = {}
    for name, volume in given.items():
        if isinstance(volume, bool) or not isinstance(volume, int):
            full[name] = volume
            continue
        if not 1 <= volume <= MOST_PARTITIONS:
            allowed = f"expected: a volume, or from 1 to {MOST_PARTITIONS} partitions"
            raise InputError(f"volumes.{name}", f"found {volume}", allowed)
        for number in range(1, volume + 1):
            partition = f"{name}{'p' if str(name)[-1:].isdecimal() else ''}{number}"
            full[partition] = {"on": [name], "part": [number, volume]}
            origins["volumes", partition] = ("volumes", name)
    return full


def _fill(full: dict[str, Any]) -> None:
    """Take from the usual machine what is missing."""
    usual = machine(DEFAULT_MACHINE, "machine")
    for key in _FILLED:
        full.setdefault(key, usual[key])
    if "port" in usual:
        full.setdefault("port", usual["port"])
    drives = full["drives"]
    if drives_in_short(drives):
        full["drives"] = {**usual["drives"], **drives}
    processor = full["cpu"]
    if isinstance(processor, Mapping) and not {"model", "prices"} & processor.keys():
        full["cpu"] = {**usual["cpu"], **processor}


def _known_links(port: Mapping[str, Any], full: Mapping[str, Any]) -> bool:
    links = full["links"]
    return isinstance(links, Mapping) and all(link in links for link in port.get("links", ()))


def _links(given: Any) -> Any:
    """Links by name, each of which may be a model of the catalogue and nothing else."""
    if not isinstance(given, Mapping):
        return given
    return {name: {"model": one} if isinstance(one, str) else one for name, one in given.items()}


def _cpu(given: Any) -> Any:
    if isinstance(given, str):
        given = {"model": given}
    if not isinstance(given, Mapping):
        return given
    full = dict(given)
    named = full.pop("model", None)
    if named is None and "prices" in full:
        return full
    if named is not None and not isinstance(named, str):
        raise InputError("machine.cpu.model", f"found {named!r}"[:80], "expected: a CPU's name")
    return merged(cpu(named or DEFAULT_CPU, "machine.cpu.model"), full, ("machine", "cpu"))


def _drives(given: Any, origins: dict[KeyPath, KeyPath]) -> Any:
    """Drives by name."""
    if not isinstance(given, Mapping):
        found = "a list" if isinstance(given, list) else repr(given)
        allowed = "expected: {model: ..., count: ...}, or drives by name"
        raise InputError("machine.drives", f"found {found}"[:80], allowed)
    if len(given) > MOST_DRIVES:
        raise InputError("machine.drives", f"found {len(given)} drives", f"expected: up to {MOST_DRIVES}")
    if not drives_in_short(given):
        return {name: {"model": one} if isinstance(one, str) else _own(one) for name, one in given.items()}
    different = {key: one for key, one in given.items() if isinstance(one, Mapping) and key != "overrides"}
    one = {key: value for key, value in given.items() if key != "count" and key not in different}
    count = given.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_DRIVES:
        allowed = f"expected: a whole number, 1 to {MOST_DRIVES}"
        raise InputError("machine.drives.count", f"found {count!r}"[:80], allowed)
    drives = {f"disk{number}": dict(one) for number in range(count)}
    for name, own in different.items():
        if name not in drives:
            raise InputError(f"machine.drives.{name}", "found the unknown drive", f"expected: disk0 to disk{count - 1}")
        drives[name] = merged(drives[name], own, ("machine", "drives", name))
    for name in drives:
        for key in one:
            if key not in different.get(name, ()):
                origins["machine", "drives", name, key] = ("machine", "drives", key)
        if name not in different:
            origins["machine", "drives", name] = ("machine", "drives")
    return drives


def _own(one: Any) -> Any:
    return dict(one) if isinstance(one, Mapping) else one


def _ports(full: dict[str, Any], port: Mapping[str, Any], of_nvme: Mapping[str, Any]) -> None:
    """A channel of its own for every drive that names none; NVMe drives are on lanes of the processor's own."""
    drives, channels = full["drives"], full["channels"]
    if not isinstance(drives, Mapping) or not isinstance(channels, Mapping):
        return
    full["channels"] = channels = dict(channels)
    links = full["links"] if isinstance(full["links"], Mapping) else {}
    for number, (name, one) in enumerate(drives.items()):
        if not isinstance(one, dict) or "channel" in one or not isinstance(one.get("model"), str):
            continue
        spec = _spec(name, one)
        own = f"port{number}"
        while own in channels or own in links:
            own += "'"
        source = f"the drive's own interface ({spec.interface}), at {format_rate(spec.interface_rate)}"
        usual = {"rate": f"{spec.interface_rate!r}B/s", "kind": _kind(spec), "source": source}
        if spec.interface.startswith("memory"):  # not on a cable that the machine could describe
            its_port: Mapping[str, Any] = {}
        else:
            its_port = of_nvme if usual["kind"] == "pcie" else port
        channels[own] = dict(its_port) if "model" in its_port else {**usual, **its_port}
        one["channel"] = own


def _spec(name: Any, one: Mapping[str, Any]) -> AnyDrive:
    try:
        entry = drive(one["model"])
    except InputError as error:
        raise InputError(
            f"machine.drives.{name}.model", f"{one['model'][:60]!r} is {error.found}", error.expected
        ) from None
    overrides = one.get("overrides")
    changes = (
        {key: value for key, value in overrides.items() if key in ("interface", "interface_rate")}
        if isinstance(overrides, Mapping)
        else {}
    )
    try:
        return entry.with_values(**changes)
    except ValueError:
        return entry


def _kind(spec: AnyDrive) -> str:
    """What kind of cable a drive's interface needs."""
    interface = spec.interface
    if interface.startswith("PATA"):
        return "ata"
    if interface.startswith(("PCIe", "memory")):
        return "pcie"
    if interface.startswith("SAS") and not spec.rotational:
        return "sas"
    return "scsi" if "SCSI" in interface or interface.startswith("FC") else "sata"
