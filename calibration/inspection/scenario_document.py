"""The scenario: a document in which every value says where it was found, or why it is assumed."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from ...model.drives.catalogue import drive
from ...model.kernels import kernel
from ...model.layouts import LEVELS, levels_where
from ...model.raid.read_balance import READ_BALANCE
from ...scenarios.description.arrays import NONE, ArraySpec
from .cache_document import put_caches, put_joined
from .chosen import Chosen, Selection
from .commented_yaml import Mapping, scalar, size_text
from .matching.computer import NEWEST, is_of_today, nearest_controller, nearest_cpu, nearest_kernel
from .pool_document import put_pools
from .refusal import listed
from .tools.facts import Fact
from .tools.findings import Findings, FoundArray

_OLD_CHUNK, _NEW_CHUNK = 64 << 10, 512 << 10
_BITMAP = 64 << 20
_MEMORY = {"linux-2.4": 512 << 20, "linux-2.6": 1 << 30, "freebsd": 1 << 30}
_MEMORY_NOW = 16 << 30
_CORES = 4
_TELLS = 3
"""The rank from which on an output names a bitmap if there is one; below it mdadm's own is assumed."""
_IDE = re.compile(r"hd([a-t])")
_IDE_MAJORS = (3, 22, 33, 34, 56, 57, 88, 89, 90, 91)
"""Of the channels ide0 to ide9 (Linux, Documentation/admin-guide/devices.txt)."""
_SCSI_MAJOR = 8


def scenario(found: Findings, selection: Selection, name: str) -> tuple[Mapping, list[str]]:
    """The document, and further notes.

    Parameters
    ----------
    found, selection
        What was found, and what of it is simulated.
    name
        What the scenario is called.
    """
    return _Scenario(found, selection, name).document()


class _Scenario:
    def __init__(self, found: Findings, selection: Selection, name: str) -> None:
        self.found = found
        self.selection = selection
        self.name = name
        self.notes: list[str] = []
        self.kernel, self.kernel_found, self.kernel_assumed = self._kernel()

    def document(self) -> tuple[Mapping, list[str]]:
        """The whole of it."""
        top = Mapping()
        top.put("name", self.name)
        top.put("kernel", self.kernel, self.kernel_found, self.kernel_assumed)
        self._machine(top.inner("machine"))
        if self.selection.volumes or self.selection.joined:
            why = "in the order of their numbers or places, each as large as what is on it needs"
            volumes = top.inner("volumes", assumed=why)
            for name, part in sorted(self.selection.volumes.items(), key=lambda each: _natural(each[0])):
                value = {"on": part.drive, "start": size_text(part.start), "size": size_text(part.size)}
                volumes.put(name, value, part.where)
            put_joined(volumes, self.selection)
        if self.selection.arrays:
            arrays = top.inner("arrays")
            for chosen in self.selection.arrays.values():
                self._array(arrays, chosen)
        put_pools(top, self.selection, self.found)
        put_caches(top, self.selection)
        self._workload(top)
        return top, self.notes

    def _kernel(self) -> tuple[str, str, str]:
        """The modeled kernel, where the real one is named, and why it is another."""
        fact = self.found.computer.kernel
        name = nearest_kernel(fact.value) if fact is not None else NEWEST
        where = fact.where if fact is not None else ""
        why = "" if fact is not None else "nothing tells the kernel"
        if fact is not None and name != f"linux-{fact.value}":
            why = f"the modeled kernel nearest to {fact.value}"
        known = kernel(name)
        for chosen in self.selection.arrays.values():
            array = chosen.found
            if array.controller is not None or array.level is None:
                continue
            level = array.level.value
            if LEVELS[level].has_copies and known.raid10 is None:
                return NEWEST, where, f"the only modeled kernel with md's RAID 10, which {array.name} is"
            if LEVELS[level].has_parity and not known.parity:
                return NEWEST, where, f"md's {level}, which {array.name} is, runs on Linux"
        return name, where, why

    def _machine(self, machine: Mapping) -> None:
        computer = self.found.computer
        machine.put("name", self.name)
        if computer.memory is not None:
            machine.put("memory", size_text(computer.memory.value), computer.memory.where)
        else:
            usual = next((size for start, size in _MEMORY.items() if self.kernel.startswith(start)), _MEMORY_NOW)
            machine.put("memory", size_text(usual), assumed="nothing tells the memory")
        name = computer.cpu.value if computer.cpu is not None else None
        core = nearest_cpu(name, self.kernel)
        cpu = machine.inner("cpu")
        cpu.put("model", core, assumed="the prices of work are those of this core of the catalogue")
        if computer.cpu is not None:
            cpu.put("name", computer.cpu.value, computer.cpu.where)
        if computer.clock is not None:
            cpu.put("clock", f"{computer.clock.value / 1e6:g}MHz", computer.clock.where)
        if computer.cores is not None:
            cpu.put("cores", computer.cores.value, computer.cores.where)
        else:
            cpu.put("cores", _CORES if is_of_today(self.kernel) else 1, assumed="nothing tells how many")
        self._drives(machine)
        self._controllers(machine)

    def _drives(self, machine: Mapping) -> None:
        cables: dict[str, dict[str, Any]] = {}
        drives = Mapping()
        anchors: dict[str, str] = {}
        before = ""
        for name, matched in sorted(self.selection.drives.items(), key=lambda each: _natural(each[0])):
            known = self.found.drives.get(name)
            like = self.selection.copies.get(name)
            value: dict[str, Any] = {"model": matched.model}
            cable = _IDE.fullmatch(name)
            major = known.major.value if known is not None and known.major is not None else None
            if cable is not None:
                number = (ord(cable[1]) - ord("a")) // 2
                value["channel"] = f"ide{number}"
                major = major or _IDE_MAJORS[number]
                entry = drive(matched.model).with_values(**matched.overrides)
                cables.setdefault(
                    f"ide{number}",
                    {
                        "kind": "ata",
                        "rate": f"{entry.interface_rate / 1e6:g}MB/s",
                        "source": f"as fast as the drives: {entry.interface}",
                    },
                )
            if major is not None and major != _SCSI_MAJOR and known is not None and known.seat is None:
                value["major"] = major
            if matched.overrides:
                value["overrides"] = matched.overrides
            model = known.model.value if known is not None and known.model is not None else None
            where = known.where if known is not None and like is None else ""
            if like is not None:
                why = f"no output names it; as {like}"
            elif model is not None:
                why = f"{model}: {matched.why}" if matched.why else ""
            else:
                why = f"no model was found; {matched.why or 'the nearest of the catalogue'}"
            drives.put(name, value, where, why, above=True)
            drives.entries[name].quiet = why == before
            before = why
            if matched.overrides:
                drives.entries[name].shown = _anchored(value, anchors)
        if cables:
            channels = machine.inner("channels", assumed="by the drives' names, two on each cable")
            for name, cable_data in sorted(cables.items()):
                channels.put(name, cable_data)
        inside = machine.inner("drives")
        inside.entries = drives.entries

    def _controllers(self, machine: Mapping) -> None:
        used = {each.found.controller for each in self.selection.arrays.values() if each.found.controller is not None}
        if not used:
            return
        controllers = machine.inner("controllers")
        for name in sorted(used):
            arrays = [each for each in self.selection.arrays.values() if each.found.controller == name]
            found = self.found.controllers[name]
            drives = sum(len(each.members) + len(each.spares) for each in arrays)
            levels = {each.found.level.value for each in arrays if each.found.level is not None}
            model, overrides, why = nearest_controller(found, drives, levels)
            inside = controllers.inner(name, found.where)
            product = found.product.value if found.product is not None else "nothing tells the product"
            where = found.product.where if found.product is not None else ""
            inside.put("model", model, where, f"{product}: {why}" if why else "")
            if not overrides:
                continue
            changed = inside.inner("overrides")
            facts: dict[str, Fact[Any] | None] = {
                "model": found.product,
                "cache": found.cache or found.memory,
                "write_policy": found.policy.write_policy,
                "battery": found.battery,
                "forced_write_back": found.policy.forced,
                "keeps_reads": found.policy.keeps_reads,
                "read_ahead_rows": found.policy.reads_ahead,
                "drive_interface": found.interface,
                "drive_rate": found.interface,
            }
            for key, value in overrides.items():
                fact = facts.get(key)
                assumed = "by the arrays and drives it has" if fact is None else ""
                if key == "cache" and found.cache is None:
                    assumed = "of the memory on the board, the share that firmware leaves as cache"
                changed.put(key, value, fact.where if fact is not None else "", assumed)

    def _array(self, arrays: Mapping, chosen: Chosen) -> None:
        found = chosen.found
        inside = arrays.inner(found.name, found.where)
        level = found.level.value if found.level is not None else ""
        _put(inside, "level", found.level)
        inside.put("members", [name for name, _ in chosen.members], chosen.members[0][1].where)
        self._chunk(inside, found, level)
        _put(inside, "algorithm", found.algorithm)
        _put(inside, "copies", found.copies)
        _put(inside, "groups", found.groups)
        self._loss(inside, chosen)
        if chosen.spares:
            inside.put("spares", chosen.spares, found.where)
        if found.controller is not None:
            inside.put("controller", found.controller)
        else:
            self._md_options(inside, chosen, level)

    def _chunk(self, inside: Mapping, found: FoundArray, level: str) -> None:
        if not LEVELS[level].has_chunk:
            return
        if found.chunk is not None:
            inside.put("chunk", size_text(found.chunk.value), found.chunk.where)
        elif found.controller is not None:
            usual = self.found.controllers[found.controller].chunk
            if usual is not None:
                why = "the controller's strip size for new arrays"
                inside.put("chunk", size_text(usual.value), usual.where, why)
            else:
                inside.put("chunk", size_text(_OLD_CHUNK), assumed="a usual strip size; nothing tells it")
        elif is_of_today(self.kernel):
            inside.put("chunk", size_text(_NEW_CHUNK), assumed="what mdadm takes; nothing tells it")
        else:
            inside.put("chunk", size_text(_OLD_CHUNK), assumed="what mdadm took before 2010; nothing tells it")

    def _loss(self, inside: Mapping, chosen: Chosen) -> None:
        """Failed members, and what the resync thread does."""
        found = chosen.found
        where = {name: member.where for name, member in chosen.members}
        if chosen.failed:
            inside.put("failed", chosen.failed, where[chosen.failed[0]])
        if chosen.rebuilding:
            inside.put("rebuilding", chosen.rebuilding, where[chosen.rebuilding[0]])
        action = found.action.value if found.action is not None else None
        if action is None or found.action is None:
            return
        if (action == "recover") != bool(chosen.rebuilding):
            self.notes.append(
                f"{found.name}: {found.action.value} ({found.action.where}) goes with no member; left out"
            )
            return
        if action != "recover" and (found.controller is not None or not kernel(self.kernel).checks):
            self.notes.append(f"{found.name}: a {action} ({found.action.where}) is not simulated here; left out")
            return
        share = found.progress.value if found.progress is not None else 0.0
        if found.frozen is not None and action != "reshape":
            self.notes.append(f"{found.name}: its {action} is frozen ({found.frozen.where}); left out")
            return
        if action == "reshape":
            self._reshape(inside, chosen, found.action, share)
            return
        size = min((self._capacity(name) for name, _ in chosen.members), default=0)
        done = int(share * size) >> 20 << 20
        resync: dict[str, Any] = {} if action == "recover" else {"action": action}
        if done:
            resync["position"] = size_text(done)
        if resync:
            share_where = found.progress.where if found.progress is not None else found.action.where
            inside.put("resync", resync, f"{100 * share:.3g} % done, {share_where}")

    def _reshape(self, inside: Mapping, chosen: Chosen, action: Fact[str], share: float) -> None:
        """The layout that an array comes from; a RAID 6 that has kept its data members was a RAID 5."""
        found, members = chosen.found, len(chosen.members)
        old = found.old_members.value if found.old_members is not None else members
        level = found.level.value if found.level is not None else ""
        came: dict[str, Any] = {}
        if found.old_level is not None and found.old_level.value != level:
            came["level"] = found.old_level.value
        elif old == members and level == "raid6" and found.old_chunk is None and found.old_algorithm is None:
            came, old = {"level": "raid5"}, members - 1
        if old != members:
            came["members"] = old
        if found.old_chunk is not None:
            came["chunk"] = size_text(found.old_chunk.value)
        if found.old_algorithm is not None and LEVELS[level].has_parity:
            came["algorithm"] = found.old_algorithm.value
        grown = levels_where(lambda each: each.md and each.is_redundant and each.has_chunk)
        if not came or level not in grown:
            tells = "mdadm --detail tells it, or /proc/mdstat and the arguments of mdadm --grow"
            self.notes.append(f"{found.name}: nothing tells its old layout ({action.where}); left out; {tells}")
            return
        reason = self._not_reshaped(chosen, came)
        if reason is not None:
            self.notes.append(f"{found.name}: its reshape ({action.where}) is not simulated: {reason}; left out")
            return
        said = {"from": came, "at": f"{100 * share:.3g}%"} | ({} if found.frozen is None else {"frozen": True})
        inside.put("state", {"reshaping": said}, action.where)
        if found.bitmap is not None:
            self.notes.append(f"{found.name}: its bitmap ({found.bitmap.where}) does not go with a reshape; left out")
        if chosen.spares:
            self.notes.append(f"{found.name}: {listed(chosen.spares)} cannot wait as a spare of a reshape; left out")
            chosen.spares = []

    def _not_reshaped(self, chosen: Chosen, came: dict[str, Any]) -> str | None:
        """Why the model cannot reshape an array that comes from this layout, if so."""
        resync = {"action": "reshape", "old": came}
        try:
            ArraySpec.model_validate({**chosen.fields, "spares": (), "resync": resync})
        except ValidationError as error:
            return "; ".join(str(each["msg"]) for each in error.errors()[:2])
        return None

    def _capacity(self, name: str) -> int:
        """Bytes of a member; of an array none that matter here."""
        matched = self.selection.drives.get(name)
        if name in self.selection.volumes:
            return self.selection.volumes[name].size
        if matched is None:
            return 0
        return drive(matched.model).with_values(**matched.overrides).capacity

    def _md_options(self, inside: Mapping, chosen: Chosen, level: str) -> None:
        """What only Linux's md has, where the modeled kernel has it too."""
        found, known = chosen.found, kernel(self.kernel)
        mostly = [name for name, member in chosen.members if member.write_mostly]
        if mostly and level == "raid1" and READ_BALANCE[known.raid1.balance].knows_write_mostly:
            inside.put("write_mostly", mostly, found.where)
        elif mostly:
            self.notes.append(f"{found.name}: write-mostly is not known to {self.kernel} on {level}; left out")
        bitmap = None if "state" in inside.entries else found.bitmap
        if bitmap is not None and known.write_intent:
            if bitmap.value >= 4096 and not bitmap.value & (bitmap.value - 1):
                inside.put("bitmap", size_text(bitmap.value), bitmap.where)
            else:
                why = "mdadm's usual chunk of a bitmap; nothing tells it"
                inside.put("bitmap", size_text(_BITMAP), bitmap.where, why)
        elif bitmap is None and known.write_intent and "bitmap" in LEVELS[level].options and found.rank >= _TELLS:
            inside.put("bitmap", NONE, found.where)
        elif bitmap is not None:
            self.notes.append(f"{found.name}: {self.kernel} has no write-intent bitmap; left out")
        if found.stripe_cache is not None and LEVELS[level].has_parity and known.parity:
            _put(inside, "stripe_cache", found.stripe_cache)
        if chosen.journal is None:
            return
        if LEVELS[level].has_parity and known.raid5.journals:
            inside.put("journal", chosen.journal, found.journal.where if found.journal is not None else "")
        else:
            self.notes.append(f"{found.name}: {self.kernel} has no journal for {level}; left out")

    def _workload(self, top: Mapping) -> None:
        targets = self.selection.top
        largest = max(targets, key=self._size, default="")
        load = {"kind": "load", "targets": [largest], "block_size": "4KiB", "read_share": "70%", "depth": 8}
        several = "; the largest of them is loaded" if len(targets) > 1 else ""
        top.put("workload", load, assumed=f"nothing tells what the machine is used for{several}", above=True)

    def _size(self, name: str) -> tuple[int, int]:
        pool = self.selection.pools.get(name.partition("/")[0])
        if pool is not None:
            fields, _ = pool.datasets[name.partition("/")[2]]
            return int(fields.get("volume", fields.get("file", 0))), len(pool.members)
        cache = self.selection.caches.get(name)
        if cache is not None:
            return max((self._size(on)[0] for on in cache.drives), default=0), len(cache.drives)
        array = self.selection.arrays.get(name)
        if array is None:
            return 0, self._capacity(name)
        return array.found.bytes, len(array.members)


def _put(inside: Mapping, key: str, fact: Fact[Any] | None) -> None:
    if fact is not None:
        inside.put(key, fact.value, fact.where)


def _anchored(value: dict[str, Any], anchors: dict[str, str]) -> str:
    """A drive whose overrides are written out once and then named."""
    overrides = scalar(value["overrides"])
    known = anchors.get(overrides)
    if known is None:
        anchors[overrides] = f"drive{len(anchors)}"
    said = f"*{known}" if known is not None else f"&{anchors[overrides]} {overrides}"
    rest = {key: each for key, each in value.items() if key != "overrides"}
    return f"{scalar(rest)[:-1]}, overrides: {said}}}"


def _natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Sorts disk2 before disk10 and sdz before sdaa."""
    keys = []
    for part in re.findall(r"[A-Za-z_-]+|[0-9]+|.", name):
        is_word = not part.isdecimal()
        significant = part if is_word else part.lstrip("0")
        keys.append((is_word, len(significant), significant))
    return tuple(keys)
