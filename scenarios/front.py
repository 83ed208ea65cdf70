"""The network in front of a machine, as data: protocol, ports, clients; and from that to the simulated one."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from ..model.core.engine import Engine
from ..model.core.errors import InputError
from ..model.core.exact_sums import sum_in_order
from ..model.files.description import Duration, PositiveSize, Spec, refusal
from ..model.files.description_errors import changed
from ..model.links.catalogue import link_model
from ..model.links.link import Link
from ..model.network.protocols import CORE_HZ, ProtocolName, ProtocolSpec, protocol
from ..model.network.server import FrontSettings, NetworkFront, Slots
from ..model.statistics.usage import PLACES, Usage
from ..model.tasks.cpu import Cpu
from ..model.tasks.host import Host, Prices
from .description.machine import LinkSpec, MachineSpec
from .machine.links import built_link

PORT = "network"
"""The server's port in results."""
CLIENTS_CPU = "clients cpu"
THREADS = "threads of the NFS server"
REQUESTS = "requests outstanding"
MOST_CLIENTS = 1024
_ENDS = ("to the clients", "to the server")
_NFS = ("nfs3", "nfs4")


class FrontSpec(Spec):
    """Clients that reach the machine's devices across a network; the load then runs on them.

    Attributes
    ----------
    protocol
        How they ask for data.
    port
        The server's port: an Ethernet of the catalogue of links, or a rate.
    clients
        How many; the load's jobs are dealt out to them in turn.
    client_port
        The port of each client, if it is another than the server's.
    round_trip
        Latency of the network for a request and its reply: wires, switches, interrupts that are held back.
    depth
        Requests that each client keeps outstanding at most; as usual with the protocol unless given, which for iSCSI
        is another number on each device.
    threads
        Threads of an NFS server (nfsd), each of which works on one request; the usual number unless given.
    export
        Whether an NFS server answers a write when it is on the medium (`sync`) or when it is in memory (`async`).
    write_behind
        What the memory of an `async` server takes before writers wait.
    client_cores, client_speed
        Cores of each client (as many as the server has unless given), and how much faster they are than the server's.
    overrides
        Fields of the protocol in the catalogue that are different here.
    """

    protocol: ProtocolName
    port: LinkSpec
    clients: int = Field(default=1, ge=1, le=MOST_CLIENTS)
    client_port: LinkSpec | None = None
    round_trip: Duration = 25e-6
    depth: int | None = Field(default=None, ge=1, le=65536)
    threads: int | None = Field(default=None, ge=1, le=65536)
    export: Literal["sync", "async"] | None = None
    write_behind: PositiveSize = 64 << 20
    client_cores: int | None = Field(default=None, ge=1, le=4096)
    client_speed: float = Field(default=1.0, gt=0)
    overrides: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Self:
        for name in ("port", "client_port"):
            link: LinkSpec | None = getattr(self, name)
            if link is None:
                continue
            if link.model is not None and link_model(link.model).kind != "ethernet":
                raise refusal(f"{link.model}, which is no network", "allowed: 1GbE to 100GbE", (name, "model"))
            if not link.duplex:
                raise refusal("a port that does not move data both ways at once", "allowed: duplex: true", (name,))
        if self.protocol not in _NFS:
            for name in ("threads", "export"):
                if getattr(self, name) is not None:
                    raise refusal(f"{name} with {self.protocol}", f"allowed: with {' and '.join(_NFS)}", (name,))
        units = isinstance(info.context, dict) and info.context.get("units") == "required"
        try:
            changed(protocol(self.protocol), self.overrides, units)
        except InputError as error:
            place = (error.place,) if error.place else ()
            found = error.found.removeprefix("found ")
            raise refusal(found, error.allowed, ("overrides", *place)) from None
        return self

    def check(self, machine: MachineSpec) -> None:
        """Refuse names of links that the network needs itself."""
        mine = (PORT, *(_client(number) for number in range(self.clients)))
        for name in (*machine.links, *machine.channels):
            if name in mine:
                raise refusal(
                    f"the link {name}, as a part of the network is called", "allowed: another name", ("front",)
                )

    def spec(self) -> ProtocolSpec:
        """The protocol with the overrides."""
        return changed(protocol(self.protocol), self.overrides)


class Front:
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

    def __init__(self, engine: Engine, cpu: Cpu, spec: FrontSpec, machine: MachineSpec, path_length: float) -> None:
        self._engine = engine
        self._cpu = cpu
        known = spec.spec()
        self._settings = _settings(spec, known, path_length * CORE_HZ / machine.cpu.clock)
        self._port = built_link(PORT, spec.port, _ENDS)
        self._clients: list[Link] = []
        if spec.clients > 1 or spec.client_port is not None:
            one = spec.client_port or spec.port
            self._clients = [built_link(_client(number), one, _ENDS) for number in range(spec.clients)]
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
        return [usage for usage in found if usage.utilisation]


def _client(number: int) -> str:
    return f"client{number}"


def _settings(spec: FrontSpec, known: ProtocolSpec, slower: float) -> FrontSettings:
    """The protocol on a server whose core takes `slower` times as long as that of the catalogue."""
    nfs = spec.protocol in _NFS
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
