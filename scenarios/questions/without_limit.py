"""A machine whose links, processors or ports do not limit."""

from __future__ import annotations

from typing import Any

from ...model.statistics.usage import HOST_MEMORY, Limit
from ..description.machine import ControllerInstance, LinkSpec, MachineSpec
from ..description.network import CLIENTS_CPU, PORT, NetworkSpec
from ..description.scenario import ScenarioSpec

WITHOUT_LIMIT = 1000.0
"""How much faster links and processors get."""
_FIRMWARE_S = ("command", "write_page", "drive_command", "stripe")


def without_limit(scenario: ScenarioSpec, found: Limit) -> ScenarioSpec:
    """The scenario without the limit of these parts."""
    names = {part.name for part in found.parts}
    changes: dict[str, Any] = {}
    if found.parts[0].kind in ("link", HOST_MEMORY):
        changes["machine"] = _fast_links(scenario.machine, names)
        if scenario.network is not None:
            changes["network"] = _fast_ports(scenario.network, names)
    else:
        if scenario.network is not None and CLIENTS_CPU in names:
            faster = {"client_speed": scenario.network.client_speed * WITHOUT_LIMIT}
            changes["network"] = scenario.network.model_copy(update=faster)
            names = names - {CLIENTS_CPU}
        if "cpu" in names:
            changes["path_length"] = scenario.path_length / WITHOUT_LIMIT
            changes["encrypted"] = {
                name: layer.model_copy(update={"rate": layer.rate and layer.rate * WITHOUT_LIMIT})
                for name, layer in scenario.encrypted.items()
            }
        changes["machine"] = _fast_processors(scenario.machine, {owner(name) for name in names - {"cpu"}})
    return scenario.model_copy(update=changes)


def _fast_links(machine: MachineSpec, names: set[str]) -> MachineSpec:
    """Links, cables, what connects controllers to the host, and memory."""
    links = {name: _fast_link(link) if name in names else link for name, link in machine.links.items()}
    channels = {
        name: channel.model_copy(update={"rate": channel.rate * WITHOUT_LIMIT}) if name in names else channel
        for name, channel in machine.channels.items()
    }
    controllers = {
        name: _overridden(each, host_rate=each.spec().host_rate * WITHOUT_LIMIT, host_transfer=0.0)
        if name in names
        else each
        for name, each in machine.controllers.items()
    }
    cpu = machine.cpu
    if HOST_MEMORY in names and cpu.memory_rate is not None:
        cpu = cpu.model_copy(update={"memory_rate": cpu.memory_rate * WITHOUT_LIMIT})
    return machine.model_copy(update={"links": links, "channels": channels, "controllers": controllers, "cpu": cpu})


def _fast_link(link: LinkSpec) -> LinkSpec:
    rates = {
        "rate": link.rate * WITHOUT_LIMIT,
        "write_rate": None if link.write_rate is None else link.write_rate * WITHOUT_LIMIT,
    }
    return link.model_copy(update={**rates, "per_transfer": 0.0, "command_rate": None})


def _fast_ports(network: NetworkSpec, names: set[str]) -> NetworkSpec:
    """The server's port of a network, and those of its clients."""
    ports: dict[str, Any] = {}
    if names - {PORT}:
        ports["client_port"] = _fast_link(network.client_port or network.port)
    elif network.clients > 1 and network.client_port is None:
        ports["client_port"] = network.port
    if PORT in names:
        ports["port"] = _fast_link(network.port)
    return network.model_copy(update=ports)


def _fast_processors(machine: MachineSpec, controllers: set[str]) -> MachineSpec:
    changed = dict(machine.controllers)
    for name in controllers:
        spec = changed[name].spec()
        times = {field: getattr(spec, field) / WITHOUT_LIMIT for field in _FIRMWARE_S}
        changed[name] = _overridden(changed[name], xor_rate=spec.xor_rate * WITHOUT_LIMIT, **times)
    return machine.model_copy(update={"controllers": changed})


def _overridden(instance: ControllerInstance, **values: float) -> ControllerInstance:
    return instance.model_copy(update={"overrides": {**instance.overrides, **values}})


def owner(processor: str) -> str:
    """The controller whose processor is called so."""
    return processor.removesuffix(" cpu")
