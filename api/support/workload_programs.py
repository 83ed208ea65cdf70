"""The programs that `raidsim workload` counts the system calls of, and what they are told on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from ...model.core.errors import InputError
from ...model.files.quantities import parse_size
from ...model.programs import bonnie, bonnie_plus_plus, copying, file_io, hdparm
from ...model.programs.iozone import Iozone
from ...model.programs.linux_tree import linux_2_6_13, measured_tree
from ...model.programs.operation import Kind, Operation, system_calls
from ...model.programs.tiobench import Tiobench, TiobenchSettings

Phases = dict[str, dict[str, int]]

KIB = 1024
MIB = 1024 * 1024
BEFORE = "start"
"""The phase before a program's first mark."""

_LARGEST_SIZE = 1 << 40
_MOST_RECORDS = 4_000_000
_BONNIES: dict[str, Callable[[], bonnie.Bonnie]] = {
    "1.2": bonnie.bonnie_1_2,
    "1.4": bonnie.bonnie_1_4,
    "64": bonnie.bonnie_64,
}
_PLUS = {
    "1.03": bonnie_plus_plus.version_1_03,
    "1.9": bonnie_plus_plus.version_1_9,
    "2.00": bonnie_plus_plus.version_2_00,
}


class Asked:
    """What was given on the command line.

    Parameters
    ----------
    given
        Options by name, those that were given only.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def count(self, name: str, default: int, least: int = 1, most: int = 1_000_000) -> int:
        """A whole number."""
        value = self._given.get(name, default)
        if not least <= value <= most:
            raise InputError(f"--{name}", f"found {value}", f"expected: {least} to {most}")
        return int(value)

    def size(self, name: str, default: int, unit: int = 1) -> int:
        """Bytes: at least one `unit`, and a whole number of them."""
        given = self._given.get(name)
        size = default if given is None else parse_size(given, f"--{name}")
        if size < unit or size % unit or size > _LARGEST_SIZE:
            units = "bytes" if unit == 1 else "mebibytes"
            raise InputError(f"--{name}", f"found {given}", f"expected: a whole number of {units} from 1, up to 1TiB")
        return size

    def version(self, allowed: Iterable[str], default: str) -> str:
        """Which version of the program."""
        value = self._given.get("version", default)
        if value not in allowed:
            raise InputError("--version", f"found {value!r}", f"expected: {', '.join(allowed)}")
        return str(value)

    def flag(self, name: str) -> bool:
        """Whether an option without a value was given."""
        return bool(self._given.get(name))

    def given(self, name: str) -> bool:
        """Whether an option was given at all."""
        return name in self._given

    @property
    def scale(self) -> int:
        """The divisor of a scaled run."""
        return self.count("scale", 1)


def phases_of(program: str, asked: Asked) -> Phases:
    """System calls of each phase of a program, of all its processes."""
    return _PROGRAMS[program](asked)


def _bonnie(asked: Asked) -> Phases:
    version = asked.version(_BONNIES, "1.4")
    base = _BONNIES[version]().settings
    synced = base.sync or asked.flag("sync")
    if version == "1.2" and synced:
        raise InputError("--sync", "bonnie 1.2 never syncs", "allowed with: --version 1.4")
    settings = replace(
        base,
        megabytes=asked.size("size", base.megabytes * MIB, MIB) // MIB,
        files=asked.count("volumes", 1, most=1000),
        sync=synced,
        seeks=asked.count("seeks", base.seeks),
        stdio_bytes=asked.size("stdio", base.stdio_bytes),
    ).scaled(asked.scale)
    run = bonnie.Bonnie(settings)
    seekers = (run.seeks(number + 1) for number in range(bonnie.SEEKERS))
    return _with_seeks(run.operations(), seekers, settings.seeks, bonnie.SEEKERS)


def _bonnie_plus_plus(asked: Asked) -> Phases:
    version = asked.version(_PLUS, "1.03")
    base = bonnie_plus_plus.BonniePlusPlusSettings()
    small = base.small_files * base.small_unit
    settings = replace(
        base,
        megabytes=asked.size("size", base.megabytes * MIB, MIB) // MIB,
        sync=asked.flag("sync"),
        seeks=asked.count("seeks", base.seeks),
        stdio_bytes=asked.size("stdio", base.stdio_bytes),
        small_files=asked.count("files", small, least=0),
        small_unit=1,
    )
    settings = _PLUS[version](settings).settings.scaled(asked.scale)
    run, count = bonnie_plus_plus.BonniePlusPlus(settings), settings.seekers
    seekers = (run.seeks(number + 1) for number in range(count))
    return _with_seeks(run.operations(), seekers, settings.seeks, count)


def _with_seeks(
    operations: Iterable[Operation], seekers: Iterable[Iterator[list[Operation]]], seeks: int, count: int
) -> Phases:
    """The phases of the main process; its seekers take their tickets in turn."""
    phases = _by_phase(operations, BEFORE)
    drawn = [
        islice(seeker, seeks // count + (1 if number < seeks % count else 0)) for number, seeker in enumerate(seekers)
    ]
    tickets = {f"{Kind.HEAR}[1]": seeks + count}  # each seeker also draws the one that says there are no more
    return _merged(phases, "seeks", {**tickets, **system_calls(chain.from_iterable(chain.from_iterable(drawn)))})


def _tiobench(asked: Asked) -> Phases:
    base = TiobenchSettings()
    threads = asked.count("threads", base.threads, most=1000)
    settings = TiobenchSettings(
        megabytes=asked.size("size", base.megabytes * MIB, MIB) // MIB,
        threads=threads,
        block=asked.size("block", base.block),
        random_operations=asked.count("random", base.random_operations),
    ).scaled(asked.scale)
    run = Tiobench(settings)
    phases = _by_phase(run.operations(), BEFORE)
    for phase in run.phases:
        calls = system_calls(chain.from_iterable(run.thread(phase, number) for number in range(threads)))
        phases = _merged(phases, phase, calls)
    return phases


def _iozone(asked: Asked) -> Phases:
    size, record = asked.size("size", 512 * KIB) // asked.scale, asked.size("block", 4 * KIB)
    if size < record:
        raise InputError("--block", f"{record} bytes, more than the file's {size}", "expected: no more than the file")
    if size // record > _MOST_RECORDS:
        raise InputError("--block", f"{size // record} records in the file", f"expected: at most {_MOST_RECORDS}")
    return _by_phase(Iozone(size, record).operations(), BEFORE)


def _tree(asked: Asked) -> copying.Tree:
    measured, scale = measured_tree(), asked.scale
    files = max(1, asked.count("files", measured.files) // scale)
    size = max(1, asked.size("size", measured.bytes) // scale) if asked.given("size") else None
    return linux_2_6_13(files, size)


def _tar(asked: Asked) -> Phases:
    tree = _tree(asked)
    return {
        "create": system_calls(copying.tar_create(tree)),
        "extract": system_calls(copying.tar_extract(tree)),
    }


def _cp(asked: Asked) -> Phases:
    return {"copy": system_calls(copying.copy(_tree(asked), asked.size("block", file_io.ST_BLKSIZE)))}


def _dd(asked: Asked) -> Phases:
    size, block = max(1, asked.size("size", 1 << 30) // asked.scale), asked.size("block", 512)
    return {
        "write": system_calls(file_io.dd_write("file", size, block, asked.flag("sync"))),
        "read": system_calls(file_io.dd_read("file", size, block)),
    }


def _hdparm(asked: Asked) -> Phases:
    version = asked.version(("5.3", "5.4"), "5.3")
    size = max(2 * MIB, asked.size("size", 64 * MIB, MIB) // asked.scale)
    operations = hdparm.hdparm_5_3("device", size) if version == "5.3" else hdparm.hdparm_5_4("device", size)
    return _by_phase(operations, BEFORE)


def _by_phase(operations: Iterable[Operation], first: str) -> Phases:
    """System calls between the marks; what comes before the first mark is the phase `first`."""
    parts: dict[str, list[Operation]] = {first: []}
    current = parts[first]
    for operation in operations:
        if operation.kind is Kind.MARK:
            current = parts.setdefault(operation.file, [])
        elif operation.kind is not Kind.SLEEP:
            current.append(operation)
    return {name: system_calls(part) for name, part in parts.items() if part}


def _merged(phases: Phases, name: str, calls: Mapping[str, int]) -> Phases:
    found = phases.get(name, {})
    both = {call: found.get(call, 0) + calls.get(call, 0) for call in (*found, *calls)}
    return {**phases, name: both}


_PROGRAMS: dict[str, Callable[[Asked], Phases]] = {
    "bonnie": _bonnie,
    "bonnie++": _bonnie_plus_plus,
    "tar": _tar,
    "cp": _cp,
    "dd": _dd,
    "tiobench": _tiobench,
    "iozone": _iozone,
    "hdparm": _hdparm,
}

OPTIONS: dict[str, tuple[str, ...]] = {
    "bonnie": ("version", "size", "volumes", "sync", "seeks", "stdio", "scale"),
    "bonnie++": ("version", "size", "sync", "seeks", "files", "stdio", "scale"),
    "tar": ("files", "size", "scale"),
    "cp": ("files", "size", "block", "scale"),
    "dd": ("size", "block", "sync", "scale"),
    "tiobench": ("size", "threads", "block", "random", "scale"),
    "iozone": ("size", "block", "scale"),
    "hdparm": ("version", "size", "scale"),
}
"""What each program takes besides ``--json``."""
