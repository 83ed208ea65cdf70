"""What becomes of every option of fio: simulated, accepted because it changes no time, or refused."""

from __future__ import annotations

import difflib
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from ...core.errors import InputError
from ...files.description import Spec
from ...files.description_errors import load_spec

_FILE = Path(__file__).parent / "catalogue" / "options.yaml"


class OptionEntry(Spec):
    """One option of the table."""

    aliases: tuple[str, ...] = ()
    """Other names."""
    flag: bool = False
    """Whether it may stand without a value."""
    first: bool = False
    last: bool = False
    """Whether it is read before or after the others."""
    why: str = ""
    """Why it changes nothing, or is refused."""
    off: tuple[str, ...] = ()
    """Values of a refused option that ask for nothing."""


class OptionTable(Spec):
    """All options and engines; see the file."""

    source: str
    simulated: dict[str, OptionEntry] = Field(min_length=1)
    accepted: dict[str, OptionEntry] = Field(min_length=1)
    verifying: dict[str, OptionEntry] = Field(min_length=1)
    refused: dict[str, OptionEntry] = Field(min_length=1)
    """Options by what becomes of them, by name."""
    engines: dict[str, str] = Field(min_length=1)
    """What becomes of each engine, by name."""
    engine_options: dict[str, tuple[str, ...]]
    """Options of an engine, by its name."""

    @cached_property
    def entries(self) -> dict[str, OptionEntry]:
        """All options by name."""
        others = {name: OptionEntry(flag=True) for name in self.owners}
        return {**self.simulated, **self.accepted, **self.verifying, **self.refused, **others}

    @property
    def owners(self) -> dict[str, list[str]]:
        """The engines that are not modeled, by the options that only they have."""
        found: dict[str, list[str]] = {}
        for engine, names in self.engine_options.items():
            for name in names:
                found.setdefault(name, []).append(engine)
        return found


class Option(NamedTuple):
    """An option as it stands in a job file; `place` names file, line and option.

    Attributes
    ----------
    value
        What stands behind the "="; empty without one.
    place
        For errors.
    bare
        Whether it stands without a "=".
    """

    value: str
    place: str
    bare: bool = False


@cache
def option_table() -> OptionTable:
    """The table."""
    return load_spec(OptionTable, _FILE)


@cache
def _names() -> dict[str, str]:
    """Full names by all names."""
    table = option_table().entries
    return {alias: name for name, entry in table.items() for alias in (name, *entry.aliases)}


def is_option(name: str) -> bool:
    """Whether fio has an option of that name."""
    return name.lower() in _names()


def full_name(name: str, place: str) -> str:
    """An option's name, whichever of its names was used.

    Raises
    ------
    InputError
        If fio has no such option.
    """
    known = _names().get(name.lower())
    if known is None:
        close = difflib.get_close_matches(name.lower(), _names(), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(place, f"unknown option {name!r}", f"{hint}expected: options of fio 3.33")
    return known


def check_value(name: str, option: Option) -> None:
    """Refuse an option without the value that it needs.

    Raises
    ------
    InputError
        Naming it.
    """
    if not option.value and not option_table().entries[name].flag:
        raise InputError(option.place, "found no value", "expected: option=value")


def in_order(options: dict[str, Option]) -> dict[str, Option]:
    """Options in the order in which fio reads them."""
    entries = option_table().entries
    rank = {name: entries[name].last - entries[name].first for name in options}
    return dict(sorted(options.items(), key=lambda item: rank[item[0]]))


def check_simulated(options: dict[str, Option]) -> dict[str, str]:
    """Why options that change nothing may stand there, by name.

    Raises
    ------
    InputError
        For what is not modeled.
    """
    table = option_table()
    engine, _ = engine_kind(options.get("ioengine"))
    notes = {}
    verifies = _verifies(options)
    for name, option in options.items():
        owners = _owners().get(name)
        if owners is not None:
            found = f"an option of the engine {' or '.join(owners)}, and the job's engine is {engine}"
            raise InputError(option.place, found, "expected: a job without it")
        refused = table.refused.get(name)
        if refused is not None and option.value not in refused.off:
            allowed = f"expected: {' or '.join(refused.off)}" if refused.off else "expected: a job without it"
            raise InputError(option.place, f"it cannot be simulated: {refused.why}", allowed)
        verifying = table.verifying.get(name)
        if verifying is not None and verifies and name != "do_verify":
            notes[name] = verifying.why
        accepted = table.accepted.get(name)
        if accepted is not None and option.value not in accepted.off:
            notes[name] = accepted.why
    return notes


@cache
def _owners() -> dict[str, list[str]]:
    """See :attr:`OptionTable.owners`."""
    return option_table().owners


def _verifies(options: dict[str, Option]) -> bool:
    """Whether a job verifies, without reading anything for it.

    After its writes a job with ``verify`` reads back and compares, unless ``do_verify=0`` leaves that to another job;
    with ``verify_backlog`` it does so between its writes. A job that only reads compares what it reads anyway.

    Raises
    ------
    InputError
        If the job reads for it.
    """
    verify = options.get("verify")
    if verify is None or verify.value in option_table().verifying["verify"].off:
        return False
    kind = options["rw"].value.partition(":")[0] if "rw" in options else "read"
    if kind in ("read", "randread"):
        return True
    later, between = options.get("do_verify"), options.get("verify_backlog")
    if between is not None and between.value != "0":
        why = "fio reads back between the writes what it wrote, and this is not modeled"
        raise InputError(between.place, f"it cannot be simulated: {why}", "expected: a job without it")
    if later is None or later.value != "0":
        why = "after its writes fio reads back what it wrote, and this is not modeled"
        allowed = "expected: do_verify=0, verify in a job that only reads, or a job without it"
        raise InputError(verify.place, f"it cannot be simulated: {why}", allowed)
    return True


def engine_kind(option: Option | None) -> tuple[str, str]:
    """Name of an engine, and how it works: "sync", "async" or "null".

    Raises
    ------
    InputError
        For engines that are not modeled, and for those that fio does not have.
    """
    if option is None:
        return "psync", "sync"
    engines = option_table().engines
    name = option.value.partition(":")[0]
    kind = engines.get(name)
    modeled = ", ".join(each for each, how in engines.items() if how in ("sync", "async", "null"))
    if kind is None:
        close = difflib.get_close_matches(name, engines, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(option.place, f"found {option.value!r}", f"{hint}expected: {modeled}")
    if kind not in ("sync", "async", "null"):
        raise InputError(option.place, f"{name} cannot be simulated: {kind}", f"expected: {modeled}")
    return name, kind
