"""From what a person writes to a whole scenario: names of catalogues looked up, counts turned into names, defaults.

What is written out already means what it says; only what is missing, or stands there in short, is filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from ...model.controller.catalogue import controller_names
from ...model.core.errors import InputError
from ...model.files.yaml_files import KeyPath
from ...model.kernels import canonical
from ...model.zfs.map.words import shared_out
from ..description.mdadm_defaults import with_mdadm_defaults
from .changes.aliases import state_fields
from .changes.merge import as_mapping
from .changes.pool_aliases import members_of
from .machine_shorthands import expanded_machine, expanded_volumes

DEFAULT_KERNEL = "linux-6.1"
_FILE_SYSTEMS = (("freebsd", "ufs2"), ("linux-2", "ext3"))
"""File systems of programs that name none, by the beginning of the kernel's name; otherwise ext4."""
DEFAULT_MOUNT = "/data"
_OF_SEVERAL = ("warm_up", "duration", "precision", "phases")
"""What stands in `workload` next to a list `workloads`."""
_NAMED_MEMBERS = ("failed", "rebuilding", "write_mostly")
_DD_BYTES = 1 << 30
"""What a dd moves whose size is not given."""


class Expansion:
    """One document being expanded.

    Parameters
    ----------
    data
        The document: merged, without keys that are null. It is not changed.
    name
        What the scenario is called unless it says so itself.
    origins
        Takes where values that were made stand in the document.

    Attributes
    ----------
    result
        A scenario, as far as the document makes sense.
    """

    def __init__(self, data: Mapping[Any, Any], name: str, origins: dict[KeyPath, KeyPath]) -> None:
        self.origins = origins
        self.result: dict[Any, Any] = {"name": name, "kernel": DEFAULT_KERNEL, **data}
        self._several_loads()
        kernel = self.result["kernel"]
        if isinstance(kernel, str):
            self.result["kernel"] = canonical(kernel) or kernel
        self.result["machine"] = expanded_machine(data.get("machine"), self._behind(data), self.origins)
        self._network()
        if "volumes" in self.result:
            self.result["volumes"] = expanded_volumes(self.result["volumes"], self.origins)
        self._pools()
        self._arrays()
        self._file_systems_given()
        self._workload()

    @staticmethod
    def _behind(data: Mapping[Any, Any]) -> bool:
        """Whether all arrays are run by controllers, so that the drives hang on those."""
        arrays = _mapping(data.get("arrays"))
        return bool(arrays) and all(_mapping(array).get("controller") is not None for array in arrays.values())

    @property
    def _drives(self) -> list[str]:
        return list(_mapping(_mapping(self.result["machine"]).get("drives")))

    def _several_loads(self) -> None:
        """The list `workloads` becomes the loads of the workload, which says for how long they run."""
        given, shared = self.result.get("workloads"), self.result.get("workload", {})
        if given is None or not isinstance(shared, Mapping):
            return
        alone = [field for field in shared if field not in ("kind", *_OF_SEVERAL)]
        if alone or shared.get("kind", "several") != "several":
            found = f"{alone[0] if alone else 'kind'} of a workload next to workloads"
            raise InputError("workload", f"found {found}", f"expected: {', '.join(_OF_SEVERAL)}, for all loads")
        del self.result["workloads"]
        loads = given
        if isinstance(given, list):
            loads = [dict(load) if isinstance(load, Mapping) else load for load in given]
        self.result["workload"] = {**shared, "kind": "several", "loads": loads}
        self.origins["workload", "loads"] = ("workloads",)

    def _network(self) -> None:
        """Ports that are a model of the catalogue and nothing else."""
        network = self.result.get("network")
        if isinstance(network, Mapping):
            ports = {name: as_mapping(("network", name), network.get(name)) for name in ("port", "client_port")}
            self.result["network"] = {**network, **{name: port for name, port in ports.items() if port is not None}}

    def _arrays(self) -> None:
        arrays = self.result.get("arrays")
        if not isinstance(arrays, Mapping):
            return
        full: dict[Any, Any] = {}
        for name, given in arrays.items():
            as_given = as_mapping(("arrays", name), given)
            if as_given is not None:
                self.origins["arrays", name, "level"] = ("arrays", name)
            full[name] = dict(given) if isinstance(given, Mapping) else {} if given is None else as_given or given
        self.result["arrays"] = full
        described = {name: array for name, array in full.items() if isinstance(array, dict)}
        for name, array in described.items():
            if "state" in array:
                fields = state_fields(array.pop("state"), f"arrays.{name}.state")
                if isinstance(fields.get("resync"), Mapping) and isinstance(array.get("resync"), Mapping):
                    fields["resync"] = {**fields["resync"], **array["resync"]}
                array |= {field: value for field, value in fields.items() if value is not None}
            for field in ("members", "spares", *_NAMED_MEMBERS):
                if isinstance(array.get(field), str):
                    array[field] = [array[field]]
        self._members(described)
        for name, array in described.items():
            if "level" not in array and isinstance(array.get("members"), list):
                array["level"] = _usual_level(len(array["members"]))
            self._states(("arrays", name), array, array.get("members"))
            self._controller(name, array)
        volumes = _mapping(self.result.get("volumes"))
        devices = {**_mapping(_mapping(self.result["machine"]).get("drives")), **described, **volumes}
        for array in described.values():
            with_mdadm_defaults(array, devices, self.result["kernel"])

    def _pools(self) -> None:
        """Kinds of vdevs alone share out all drives; a number of failed members becomes the first of them."""
        pools = self.result.get("pools")
        if not isinstance(pools, Mapping):
            return
        full: dict[Any, Any] = {}
        for name, given in pools.items():
            full[name] = {"vdevs": given} if isinstance(given, str) else given
            if isinstance(given, (str, Mapping)):
                full[name] = self._pool(("pools", name), dict(full[name]))
        self.result["pools"] = full

    def _pool(self, place: KeyPath, pool: dict[Any, Any]) -> dict[Any, Any]:
        if isinstance(pool.get("vdevs"), str):
            try:
                shared = shared_out(pool["vdevs"], list(map(str, self._drives)))
            except InputError as error:
                raise InputError(".".join(map(str, (*place, "vdevs"))), error.found, error.expected) from None
            pool["vdevs"] = shared or pool["vdevs"]
        self._states(place, pool, self._in_pool(pool))
        return pool

    @staticmethod
    def _in_pool(pool: Any) -> list[Any]:
        try:
            return [member for _, members in members_of(_mapping(pool).get("vdevs")) for member in members]
        except InputError:
            return []  # words without a meaning, which the description refuses

    def _in_pools(self) -> list[Any]:
        """Devices that pools are made of."""
        return [member for pool in _mapping(self.result.get("pools")).values() for member in self._in_pool(pool)]

    def _in_caches(self) -> list[Any]:
        """Devices that caches are made of."""
        caches = _mapping(self.result.get("caches")).values()
        return [_mapping(cached).get(field) for cached in caches for field in ("on", "cache", "metadata")]

    def _members(self, arrays: dict[Any, dict[str, Any]]) -> None:
        """Numbers of members and spares become drives that nothing else uses; members not given are all of those."""
        taken = self._taken(arrays)
        free = [drive for drive in self._drives if drive not in taken]
        for name, array in arrays.items():
            spares = _count(array.get("spares"), ("arrays", name, "spares"), len(free))
            if spares is not None:
                array["spares"] = free[len(free) - spares :]
                free = free[: len(free) - spares]
        for name, array in arrays.items():
            members = _count(array.get("members"), ("arrays", name, "members"), len(free))
            if members is not None:
                array["members"], free = free[:members], free[members:]
        open_ones = [name for name, array in arrays.items() if "members" not in array]
        if len(open_ones) > 1:
            place = f"arrays.{open_ones[1]}.members"
            raise InputError(place, "it is missing", f"expected: left out in one array only, here in {open_ones[0]}")
        for name in open_ones:
            if not free:
                found = "it is missing, and no drive is free"
                raise InputError(f"arrays.{name}.members", found, f"expected: {', '.join(self._drives) or 'none'}")
            arrays[name]["members"] = free

    def _taken(self, arrays: Mapping[Any, Mapping[str, Any]]) -> set[Any]:
        """Devices that the document names as part of something."""
        named: list[Any] = []
        for array in arrays.values():
            for field in ("members", "spares"):
                named += array[field] if isinstance(array.get(field), list) else []
            named.append(array.get("journal"))
        named += self._in_caches()
        for group in ("encrypted", "file_systems"):
            named += [_mapping(layer).get("on") for layer in _mapping(self.result.get(group)).values()]
        named += [*self._under_volumes(), *self._in_pools()]
        workload = _mapping(self.result.get("workload"))
        for load in (workload, *_loads(workload)):
            targets = load.get("targets")
            named += targets if isinstance(targets, list) else [targets]
        return {name for name in named if isinstance(name, str)}

    @staticmethod
    def _states(place: tuple[Any, ...], array: dict[Any, Any], members: Any) -> None:
        """Numbers of lost and of replaced members of an array or a pool become the first of them."""
        if not isinstance(members, list):
            return
        for field in ("failed", "rebuilding"):
            among = array["failed"] if field == "rebuilding" and isinstance(array.get("failed"), list) else members
            number = _count(array.get(field), (*place, field), len(among))
            if number is not None:
                array[field] = among[:number]
        if "rebuilding" in array and "failed" not in array:
            array["failed"] = array["rebuilding"]

    def _controller(self, name: Any, array: dict[str, Any]) -> None:
        """A controller's model that the machine has no instance of becomes one."""
        wanted, machine = array.get("controller"), self.result["machine"]
        if not isinstance(wanted, str) or not isinstance(machine, Mapping):
            return
        known = machine.get("controllers", {})
        if not isinstance(known, Mapping) or wanted in known:
            return
        models = {model.casefold(): model for model in controller_names()}
        model = models.get(wanted.casefold())
        if model is None:
            near = [models[fold] for fold in get_close_matches(wanted.casefold(), models, n=1)]
            hint = f"did you mean {near[0]}? " if near else ""
            found = f"found the unknown controller {wanted!r}"[:80]
            allowed = f"{hint}expected: {', '.join((*map(str, known), *models.values()))}"
            raise InputError(f"arrays.{name}.controller", found, allowed)
        number = 0
        while f"raid{number or ''}" in known:
            number += 1
        instance = f"raid{number or ''}"
        machine["controllers"] = {**known, instance: {"model": model}}  # type: ignore[index]
        self.origins["machine", "controllers", instance] = ("arrays", name, "controller")
        array["controller"] = instance

    def _top_devices(self) -> list[Any]:
        """What nothing else is built of: arrays, encrypted devices and volumes, or the drives if there are none."""
        arrays, encrypted = _mapping(self.result.get("arrays")), _mapping(self.result.get("encrypted"))
        volumes = _mapping(self.result.get("volumes"))
        used: list[Any] = []
        for array in arrays.values():
            members = _mapping(array).get("members")
            used += members if isinstance(members, list) else []
        used += [*(_mapping(layer).get("on") for layer in encrypted.values()), *self._under_volumes()]
        used += [*self._in_pools(), *self._in_caches()]
        pools = _mapping(self.result.get("pools"))
        datasets = [
            f"{name}/{dataset}" for name in pools for dataset in _mapping(_mapping(pools[name]).get("datasets"))
        ]
        built = (*arrays, *encrypted, *volumes, *datasets, *_mapping(self.result.get("caches")))
        return [name for name in built or self._drives if name not in used]

    def _loaded(self) -> list[Any]:
        """What a load goes to that names no target."""
        tops = self._top_devices()
        if not tops and self.result.get("pools"):
            found = "the pools have no volume and no file for the load"
            raise InputError("pools", found, "expected: datasets, such as {vm: {volume: 100GiB}}")
        return tops

    def _under_volumes(self) -> list[Any]:
        """What volumes are on."""
        given = [_mapping(volume).get("on") for volume in _mapping(self.result.get("volumes")).values()]
        return [name for on in given for name in (on if isinstance(on, list) else [on])]

    def _file_systems_given(self) -> None:
        mounted = self.result.get("file_systems")
        if not isinstance(mounted, Mapping):
            return
        full: dict[Any, Any] = {}
        for point, given in mounted.items():
            as_given = as_mapping(("file_systems", point), given)
            if as_given is not None:
                self.origins["file_systems", point, "kind"] = ("file_systems", point)
            spec = dict(given) if isinstance(given, Mapping) else as_given or given
            tops = self._top_devices()
            if isinstance(spec, dict) and "on" not in spec and len(tops) == 1:
                spec["on"] = tops[0]
            full[point] = spec
        self.result["file_systems"] = full

    def _file_system(self) -> str:
        """The kind that most users of the kernel have."""
        name = str(self.result["kernel"])
        return next((kind for series, kind in _FILE_SYSTEMS if name.startswith(series)), "ext4")

    def _workload(self) -> None:
        given = self.result.get("workload", {})
        if not isinstance(given, Mapping):
            return
        workload = {"kind": _kind(given), **given}
        self.result["workload"] = workload
        if workload["kind"] == "programs":
            tops = self._top_devices()
            if "file_systems" not in self.result and len(tops) == 1:
                self.result["file_systems"] = {DEFAULT_MOUNT: {"kind": self._file_system(), "on": tops[0]}}
            return
        if workload["kind"] == "idle":
            return
        if workload["kind"] == "fio":
            tops = self._top_devices()
            if len(tops) == 1 and not self.result.get("file_systems") and "/dev/" not in str(workload.get("job")):
                workload.setdefault("target", tops[0])
            return
        if workload["kind"] == "several":
            for load in _loads(workload):
                if isinstance(load.get("targets"), str):
                    load["targets"] = [load["targets"]]
                if "targets" not in load:
                    load["targets"] = self._loaded()
            return
        if isinstance(workload.get("targets"), str):
            workload["targets"] = [workload["targets"]]
        if "targets" not in workload:
            workload["targets"] = self._loaded()
        if workload["kind"] == "dd":
            workload.setdefault("direction", "read")
            workload.setdefault("size", _DD_BYTES)


def _mapping(value: Any) -> Mapping[Any, Any]:
    """`value` if it is a mapping; an empty one if it is anything else, which the check that follows refuses."""
    return value if isinstance(value, Mapping) else {}


def _loads(workload: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """The loads of a workload that has several."""
    loads = workload.get("loads")
    return [load for load in loads if isinstance(load, dict)] if isinstance(loads, list) else []


def _kind(workload: Mapping[Any, Any]) -> str:
    """Which workload is meant by one that does not say so: a load, unless it has what only others have."""
    if "direction" in workload:
        return "dd"
    if "job" in workload:
        return "fio"
    return "programs" if "steps" in workload else "load"


def _usual_level(members: int) -> str:
    """The level of an array that does not say so: what survives two losses, as far as the members go."""
    return {1: "linear", 2: "raid1", 3: "raid5"}.get(members, "raid6")


def _count(value: Any, path: KeyPath, most: int) -> int | None:
    """`value` if it is a number of devices; None if it is something else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not isinstance(value, int) or not 0 <= value <= most:
        place = ".".join(map(str, path))
        raise InputError(place, f"found {value!r}"[:80], f"expected: names, or a whole number from 0 to {most}")
    return value
