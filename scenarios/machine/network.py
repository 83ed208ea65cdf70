"""Builds the network between clients and a machine from its description: ports, sessions, the clients' CPUs."""

from __future__ import annotations

from typing import Any

from ...model.core.engine import Engine
from ...model.core.exact_sums import sum_in_order
from ...model.links.link import Link
from ...model.network.protocols import CORE_HZ, ProtocolSpec
from ...model.network.server import FrontSettings, NetworkFront, Slots
from ...model.statistics.usage import PLACES, Usage
from ...model.tasks.cpu import Cpu
from ...model.tasks.host import Host
from ...model.tasks.prices import Prices
from ..description.machine import MachineSpec
from ..description.network import CLIENTS_CPU, NFS, PORT, REQUESTS, THREADS, NetworkSpec, client_name
from .links import built_link

_ENDS = ("to the clients", "to the server")


class Network:
    """The network of a scenario, and the clients' CPUs.

    Parameters
    ----------
    engine, cpu
        The clock, and the server's CPU.
    spec
        The description.
    machine
        The server.
    path_length
        How much longer than usual everything takes on a CPU.
    """

    def __init__(self, engine: Engine, cpu: Cpu, spec: NetworkSpec, machine: MachineSpec, path_length: float) -> None:
        self._engine = engine
        self._cpu = cpu
        known = spec.spec()
        self._settings = _settings(spec, known, path_length * CORE_HZ / machine.cpu.clock)
        self._port = built_link(PORT, spec.port, _ENDS)
        self._clients: list[Link] = []
        if spec.clients > 1 or spec.client_port is not None:
            one = spec.client_port or spec.port
            self._clients = [built_link(client_name(number), one, _ENDS) for number in range(spec.clients)]
        self._sessions = [Slots(self._settings.depth) for _ in range(spec.clients)]
        self._queues: list[Slots] = []
        self._threads = Slots(self._settings.threads) if self._settings.threads else None
        cores = spec.clients * (spec.client_cores or machine.cpu.cores)
        prices: Prices = machine.cpu.charged().scaled(path_length / spec.client_speed)
        self.host = Host(Cpu(engine, cores, CLIENTS_CPU), prices)
        """What the load's jobs run on."""

    @property
    def links(self) -> list[Link]:
        """The server's port, and those of the clients."""
        return [self._port, *self._clients]

    def before(self, device: Any) -> NetworkFront:
        """A device as the clients see it."""
        places = self._settings.device_depth
        queues = [Slots(places) for _ in self._sessions] if places else []
        self._queues += queues
        return NetworkFront(
            self._engine,
            device,
            self._cpu,
            self._port,
            self._clients,
            self._settings,
            self._sessions,
            self._threads,
            queues,
        )

    def start_statistics(self, now: float) -> None:
        """Forget how long somebody has waited; `now` is the current time (s)."""
        for slots in (*self._sessions, *self._queues, *([] if self._threads is None else [self._threads])):
            slots.start_statistics(now)

    def usages(self, now: float, span: float) -> list[Usage]:
        """How long somebody waited for places that are all taken."""
        settings, found = self._settings, []
        for depth, slots, of in (
            (settings.depth, self._sessions, "of each client"),
            (settings.device_depth, self._queues, "of each client on a device"),
        ):
            if slots:
                waited = sum_in_order(each.waited(now) for each in slots) / len(slots)
                found.append(Usage(f"{depth:,} {REQUESTS} {of}", PLACES, min(1.0, waited / span)))
        if self._threads is not None:
            name = f"{self._threads.places:,} {THREADS}"
            found.append(Usage(name, PLACES, min(1.0, self._threads.waited(now) / span)))
        return [usage for usage in found if usage.utilization]


def _settings(spec: NetworkSpec, known: ProtocolSpec, slower: float) -> FrontSettings:
    """The protocol on a server whose core takes `slower` times as long as that of the catalogue."""
    nfs = spec.protocol in NFS
    return FrontSettings(
        round_trip_s=spec.round_trip + known.client / spec.client_speed,
        request_s=known.request_cpu * slower,
        send_s_per_byte=slower / known.send_rate,
        receive_s_per_byte=slower / known.receive_rate,
        request_bytes=known.request,
        reply_bytes=known.reply,
        inline_bytes=known.inline,
        another_trip_s=spec.round_trip,
        depth=spec.depth or known.depth,
        device_depth=0 if spec.depth else known.device_depth,
        threads=spec.threads or known.threads,
        writes="passed" if not nfs else "memory" if spec.export == "async" else "stable",
        memory_bytes=spec.write_behind,
    )
