"""What of a scenario is uncertain, by how much, and the scenario with factors applied to it.

Without better knowledge every parameter is a factor whose logarithm is normal, as wide as the catalogue says of a
controller's number (``spread``), else as ``priors.yaml`` assumes for its kind. Paths are those of a study's parameters;
NAME may also be a shell pattern, and of drives and controllers their model, which moves all of that model together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...model.controller.catalogue import controller_sources
from ...model.core.errors import InputError
from ...model.files.description import Fraction, Spec
from ...model.files.description_errors import changed, load_spec
from ...model.files.quantities import parse_fraction
from ...scenarios.description.devices import Devices
from ...scenarios.description.machine import PriceList
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ..study.possible_values import possible_value

PATHS = (
    "machine.links.NAME.FIELD, machine.channels.NAME.FIELD, machine.cpu.prices.FIELD, machine.drives.NAME.FIELD, "
    "machine.controllers.NAME.FIELD, machine.memory, machine.resident, encrypted.NAME.rate, file_systems.KIND.FIELD, "
    "kernels.NAME.path_length"
)
"""What a parameter may stand for, in words."""

Address = tuple[str, ...]
"""One number of a scenario: a part's keys, the name of what has it (if there are several), and the field."""

_LINKS = ("machine", "links")
_CHANNELS = ("machine", "channels")
_NAMED: tuple[Address, ...] = (
    _LINKS,
    _CHANNELS,
    ("machine", "drives"),
    ("machine", "controllers"),
    ("encrypted",),
    ("file_systems",),
    ("kernels",),
)
_UNNAMED: tuple[Address, ...] = (("machine", "cpu", "prices"), ("machine",))
_HARDWARE: tuple[Address, ...] = (_LINKS, _CHANNELS, ("machine", "drives"), ("machine",))
"""What a field belongs to that the priors do not list; it is software elsewhere."""


class _KindSpec(Spec):
    """How far parameters of a kind may be off, and why it is taken to be so."""

    sd: Fraction
    """Standard deviation of ln of the parameter."""
    assumed: str
    """Why it is taken to be so."""


class _MovedSpec(Spec):
    """Fields that move together."""

    kind: str
    """How far they may be off: one of the kinds."""
    words: str
    """What they are called in tables."""
    fields: tuple[str, ...]
    """Fields of the description."""


class _PriorsSpec(Spec):
    """``sensitivity_priors.yaml``."""

    kinds: dict[str, _KindSpec]
    """Kinds of parameters, by name."""
    parts: dict[str, dict[str, _MovedSpec]]
    """Parameters of each part of a machine, by name."""


@lru_cache(maxsize=1)
def _priors() -> _PriorsSpec:
    return load_spec(_PriorsSpec, Path(__file__).with_name("priors.yaml"))


def assumed_sds() -> dict[str, float]:
    """Standard deviation of ln(factor) by kind of parameter, where none is given."""
    return {name: kind.sd for name, kind in _priors().kinds.items()}


@dataclass(frozen=True, slots=True)
class UncertainParameter:
    """A factor of unknown size on one or several numbers of a scenario.

    Attributes
    ----------
    path
        What it is called.
    words
        The same for a sentence.
    kind
        "hardware", "software", "release" or "unpublished".
    sd
        Standard deviation of ln(factor).
    moves
        The numbers that it multiplies.
    """

    path: str
    words: str
    kind: str
    sd: float
    moves: tuple[Address, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those that have the numbers: drives, channels, mount points."""
        part = next((part for part in _NAMED if self.moves[0][: len(part)] == part), None)
        return () if part is None else tuple(dict.fromkeys(address[len(part)] for address in self.moves))


def default_parameters(
    scenario: ScenarioSpec, prices_read: Collection[str] | None = None
) -> tuple[UncertainParameter, ...]:
    """All that is uncertain in what a scenario uses; drives of one model, and equal channels, move together.

    Parameters
    ----------
    scenario
        The scenario.
    prices_read
        :attr:`.prediction.Prediction.prices_read` of it: other prices of work do not count. None: all do.
    """
    found: list[UncertainParameter] = []
    for part in (*_NAMED, *_UNNAMED):
        for name, members in _groups(scenario, part).items():
            for field in _priors().parts[".".join(part)]:
                parameter = _parameter(scenario, part, name, members, field)
                if parameter.moves and not _idle(scenario, parameter.moves[0], prices_read):
                    found.append(parameter)
    return tuple(found)


def given_parameters(scenario: ScenarioSpec, texts: Iterable[str]) -> tuple[UncertainParameter, ...]:
    """Parameters as a person names them: PATH or PATH=SD.

    Raises
    ------
    InputError
        If a path names nothing, or what no factor moves, or the same as another; if an SD is none.
    """
    found: dict[str, UncertainParameter] = {}
    for text in texts:
        path, given, sd = text.partition("=")
        parameter = _given(scenario, path.strip())
        if given:
            share = parse_fraction(sd.strip(), f"--parameter {path}")
            if not share:
                raise InputError(f"--parameter {path}", "an SD of 0", "expected: above 0, up to 100%")
            parameter = replace(parameter, sd=share)
        if parameter.path in found:
            raise InputError("--parameter", f"{parameter.path} twice", "expected: each once")
        found[parameter.path] = parameter
    return tuple(found.values())


def _given(scenario: ScenarioSpec, path: str) -> UncertainParameter:
    keys = tuple(path.split("."))
    part = next((part for part in _NAMED if keys[: len(part)] == part and len(keys) > len(part) + 1), keys[:-1])
    name, field = ".".join(keys[len(part) : -1]), keys[-1]
    if part not in (*_NAMED, *_UNNAMED):
        raise _nothing(scenario, path)
    members = _members(scenario, part, name) if part in _NAMED else ("",)
    if not members or not _known_fields(scenario, part, members, field):
        raise _nothing(scenario, path)
    parameter = _parameter(scenario, part, name, members, field)
    if not parameter.moves:
        raise InputError("--parameter", f"{path} is 0 or not given", "expected: numbers above 0, which a factor moves")
    return parameter


def _nothing(scenario: ScenarioSpec, path: str) -> InputError:
    close = get_close_matches(path, [parameter.path for parameter in default_parameters(scenario)], n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return InputError("--parameter", f"{path!r} names no number of this scenario{hint}", f"expected: {PATHS}")


def _holders(scenario: ScenarioSpec, part: Address) -> Mapping[str, Any]:
    """What has the numbers of a part, by name."""
    if part == ("kernels",):
        return {scenario.kernel: scenario}
    if part[0] == "machine" and len(part) > 1:
        return dict(getattr(scenario.machine, part[1]))
    return dict(getattr(scenario, part[0]))


def _members(scenario: ScenarioSpec, part: Address, name: str) -> tuple[str, ...]:
    """Those that a name, a model, a kind or a pattern means; several may be given with commas."""
    holders = _holders(scenario, part)
    if name in holders:
        return (name,)
    return tuple(
        key
        for key, holder in holders.items()
        if any(each == _kind(part, holder) or fnmatchcase(key, each) for each in name.split(","))
    )


def _kind(part: Address, holder: Any) -> str | None:
    """By which those that are alike are called together."""
    if part == ("file_systems",):
        return str(holder.kind)
    return getattr(holder, "model", None)


def _known_fields(scenario: ScenarioSpec, part: Address, members: Sequence[str], field: str) -> bool:
    """Whether a field is one of the priors, or a number that the part has."""
    if field in _priors().parts[".".join(part)]:
        return True
    value = _value(scenario, _address(part, members[0], field))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _address(part: Address, name: str, field: str) -> Address:
    return (*part, name, field) if part in _NAMED else (*part, field)


def _parameter(
    scenario: ScenarioSpec, part: Address, name: str, members: Sequence[str], field: str
) -> UncertainParameter:
    """A field, or fields that move together, of some members of a part; nothing moves that is 0 or not given."""
    listed = _priors().parts[".".join(part)].get(field)
    kind = ("hardware" if part in _HARDWARE else "software") if listed is None else listed.kind
    addresses = [_address(part, member, each) for member in members for each in (listed.fields if listed else (field,))]
    words = field.replace("_", " ") if listed is None else listed.words
    moves = tuple(address for address in addresses if _value(scenario, address))
    return UncertainParameter(
        path=".".join(_address(part, name, field)),
        words=f"{words} of {_all_of(part, name)}" if name else words,
        kind=kind,
        sd=max((spread for each in moves if (spread := _spread(scenario, each))), default=_priors().kinds[kind].sd),
        moves=moves,
    )


def _spread(scenario: ScenarioSpec, address: Address) -> float | None:
    """How far off the catalogue says that a controller's number may be; None if it does not say."""
    if address[:2] != ("machine", "controllers"):
        return None
    used = scenario.machine.controllers[address[2]]
    source = controller_sources(used.model).get(address[3])
    return None if source is None or address[3] in used.overrides else source.spread


def _all_of(part: Address, name: str) -> str:
    """Whose number it is, for a sentence; links and channels have names that say nothing."""
    if name == "*":
        return f"all {part[-1]}"
    if part not in (_LINKS, _CHANNELS):
        return name
    return f"{part[-1] if set(name) & set(',*?[') else part[-1].removesuffix('s')} {name}"


def _groups(scenario: ScenarioSpec, part: Address) -> dict[str, tuple[str, ...]]:
    """Those of a part that the scenario uses, in groups that are alike, by what each group is called."""
    if part in _UNNAMED:
        return {"": ("",)}
    everyone = _holders(scenario, part)
    used = _used(scenario).get(part, set(everyone))
    alike: dict[str, list[str]] = {}
    for name, holder in everyone.items():
        if name in used:
            likeness = holder.model_dump_json() if part == _CHANNELS else _kind(part, holder) or name
            alike.setdefault(likeness, []).append(name)
    if part == _CHANNELS:
        return {_pattern(tuple(everyone), names): tuple(names) for names in alike.values()}
    return {kind: tuple(names) for kind, names in alike.items()}


def _pattern(everyone: Sequence[str], names: Sequence[str]) -> str:
    """A short name for some of them."""
    if len(names) == 1:
        return names[0]
    first, last = min(names), max(names)
    common = next((i for i, letter in enumerate(first) if not last.startswith(first[: i + 1])), len(first))
    for pattern in ("*", f"{first[:common]}*"):
        if [name for name in everyone if fnmatchcase(name, pattern)] == list(names):
            return pattern
    return ",".join(names)


def _used(scenario: ScenarioSpec) -> dict[Address, set[str]]:
    """Names of the links, channels, drives, controllers and encrypted devices that take part."""
    machine, workload = scenario.machine, scenario.workload
    devices = Devices.of(scenario)
    first = [] if isinstance(workload, ProgramsSpec) else list(workload.targets)
    first += [mounted.on for mounted in scenario.file_systems.values()]
    working = set().union(*(devices.below(each) for each in [*first, *scenario.busy_arrays]))
    arrays = [array for name, array in scenario.arrays.items() if name in working]
    for array in arrays:
        working |= {*array.spares, *((array.journal,) if array.journal else ())}
    channels = {machine.drives[each].channel for each in working if each in machine.drives}
    controllers = {array.controller for array in arrays if array.controller is not None}
    links = {link for channel in channels for link in machine.channels[channel].links}
    links |= {link for each in controllers for link in machine.controllers[each].links}
    return {
        _LINKS: links,
        _CHANNELS: channels,
        ("machine", "drives"): working,
        ("machine", "controllers"): controllers,
        ("encrypted",): working,
    }


def _idle(scenario: ScenarioSpec, address: Address, prices_read: Collection[str] | None) -> bool:
    """Whether a number has no say in a run of this kind, whatever it is."""
    workload = scenario.workload
    if address[:-1] == ("machine", "cpu", "prices"):
        return prices_read is not None and not _follows(scenario.machine.cpu.prices, address[-1]) & set(prices_read)
    if address[:-1] == ("machine",):
        return isinstance(workload, LoadSpec)
    if address[:1] == ("file_systems",) and address[-1] == "aged_run":
        return not any(mounted.age for mounted in scenario.file_systems.values())
    if address[:2] == ("machine", "drives") and address[-1].startswith("media_cache"):
        return not scenario.machine.drives[address[2]].hard_disk().media_cache
    if address[:2] == ("machine", "drives") and address[-1] in ("band_size", "open_bands"):
        return not scenario.machine.drives[address[2]].hard_disk().band_size
    if address[:2] == ("machine", "drives") and address[-1] == "destage_batch":
        return not scenario.machine.drives[address[2]].hard_disk().write_cache
    return False


def _follows(prices: PriceList, field: str) -> set[str]:
    """The prices of the model that follow from a field of the description."""
    before = prices.prices()
    after = prices.model_copy(update={field: 2 * getattr(prices, field)}).prices()
    return {each.name for each in fields(before) if getattr(before, each.name) != getattr(after, each.name)}


def _owner(scenario: ScenarioSpec, address: Address) -> Any:
    """The description that has the field at the end of an address."""
    part, name = address[:-2], address[-2]
    if part == ("machine", "cpu"):
        return scenario.machine.cpu.prices
    if part == ():
        return scenario.machine
    holder = _holders(scenario, part)[name]
    if part in (("machine", "drives"), ("machine", "controllers")):
        return holder.spec()
    return holder.settings() if part == ("file_systems",) else holder


def _value(scenario: ScenarioSpec, address: Address) -> Any:
    """A number of a scenario in SI units; None where there is none."""
    if address[0] == "kernels" and address[-1] != "path_length":
        return None
    return getattr(_owner(scenario, address), address[-1], None)


def with_factors(
    scenario: ScenarioSpec, parameters: Sequence[UncertainParameter], factors: Sequence[float]
) -> ScenarioSpec:
    """A scenario with each parameter's numbers multiplied by its factor; sizes and counts stay whole.

    Raises
    ------
    InputError
        If there can be no such machine.
    """
    together: dict[Address, float] = {}
    for parameter, factor in zip(parameters, factors, strict=True):
        for address in parameter.moves:
            together[address] = together.get(address, 1.0) * factor
    data: dict[str, Any] = {"machine": scenario.machine.model_dump()}
    for part in ("encrypted", "file_systems"):
        data[part] = {name: spec.model_dump() for name, spec in getattr(scenario, part).items()}
    for address, factor in together.items():
        value = possible_value(_owner(scenario, address), address[-1], factor)
        if address[0] == "kernels":
            data["path_length"] = value
            continue
        here: Any = data
        for key in address[:-1]:
            here = here[key]
        if "overrides" in here:
            here = here["overrides"]
        here[address[-1]] = value
    return changed(scenario, data)
