"""Machines and CPU cores by name, for documents that do not describe their own."""

from __future__ import annotations

import copy
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ...model.files.description_errors import validate
from ...model.files.yaml_files import Positions, read_yaml
from ..description.machine import CpuSpec

MACHINES = Path(__file__).parent / "catalogue" / "machines"
CPUS = Path(__file__).parent / "catalogue" / "cpus.yaml"
DEFAULT_MACHINE = "server"
DEFAULT_CPU = "server-core"


def machine_names() -> tuple[str, ...]:
    """Names of all machines, sorted."""
    return tuple(sorted(path.stem for path in MACHINES.glob("*.yaml")))


def cpu_names() -> tuple[str, ...]:
    """Names of all CPU cores, in the order of their file."""
    return tuple(_cpus())


def machine(name: str, place: str) -> dict[str, Any]:
    """A machine as a document has it, in which `cpu` and `drives` may still be in short; to be changed at will.

    Parameters
    ----------
    name
        In any case of its letters.
    place
        What an error names: the field.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    return copy.deepcopy(_machine(_known(name, machine_names(), "machine", place)))


def cpu(name: str, place: str) -> dict[str, Any]:
    """A CPU core as a scenario has it: name, clock and prices; raises as :func:`machine`."""
    return copy.deepcopy(_cpus()[_known(name, cpu_names(), "CPU", place)])


def _known(name: str, names: tuple[str, ...], kind: str, place: str) -> str:
    by_fold = {known.casefold(): known for known in names}
    known = by_fold.get(name.casefold())
    if known is None:
        close = get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        found = f"found no {kind} {name[:60]!r} in the catalogue"
        raise InputError(place, found, f"{hint}expected: {', '.join(names)}, or one that is described")
    return known


@lru_cache(maxsize=16)
def _machine(name: str) -> dict[str, Any]:
    data, _ = read_yaml(MACHINES / f"{name}.yaml")
    assert isinstance(data, dict)
    return data


@lru_cache(maxsize=1)
def _cpus() -> dict[str, dict[str, Any]]:
    """All cores; `InputError` if a number has no origin, or is none."""
    data, positions = read_yaml(CPUS)
    return {name: _core(name, core, positions) for name, core in data.items()}


def _core(name: str, core: dict[str, Any], positions: Positions) -> dict[str, Any]:
    values: dict[str, Any] = {key: _value(core[key], (name, key), positions) for key in core if key != "prices"}
    prices = {key: _value(price, (name, "prices", key), positions) for key, price in core["prices"].items()}
    values["prices"] = {**prices, "source": f"the core {name} in the catalogue of CPUs"}
    validate(CpuSpec, values)
    return values


def _value(given: Any, path: tuple[str, ...], positions: Positions) -> Any:
    """The value of an entry that says where it comes from."""
    if not isinstance(given, dict) or given.keys() not in ({"value", "source"}, {"value", "assumed"}):
        raise InputError(positions.place(path), "no origin", "expected: value, and either source or assumed")
    return given["value"]
