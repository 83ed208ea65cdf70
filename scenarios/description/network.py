"""The network between clients and a machine, as data: protocol, ports, clients."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from ...model.core.errors import InputError
from ...model.files.description import Duration, PositiveSize, Spec, refusal
from ...model.files.description_errors import changed
from ...model.links.catalogue import link_model
from ...model.network.protocols import ProtocolName, ProtocolSpec, protocol
from .machine import LinkSpec, MachineSpec

PORT = "network"
"""The server's port in results."""
CLIENTS_CPU = "clients cpu"
THREADS = "threads of the NFS server"
REQUESTS = "requests outstanding"
"""What else of a network results name."""


MOST_CLIENTS = 1024


NFS = ("nfs3", "nfs4")


class NetworkSpec(Spec):
    """Clients that reach the machine's devices across a network; the load then runs on them."""

    protocol: ProtocolName
    """How they ask for data."""
    port: LinkSpec
    """The server's port: an Ethernet of the catalogue of links, or a rate."""
    clients: int = Field(default=1, ge=1, le=MOST_CLIENTS)
    """How many; the load's jobs are dealt out to them in turn."""
    client_port: LinkSpec | None = None
    """The port of each client, if it is another than the server's."""
    round_trip: Duration = 25e-6
    """Latency of the network for a request and its reply: wires, switches, interrupts that are held back."""
    depth: int | None = Field(default=None, ge=1, le=65536)
    """Requests that each client keeps outstanding at most; as usual with the protocol unless given, which for iSCSI is
    another number on each device."""
    threads: int | None = Field(default=None, ge=1, le=65536)
    """Threads of an NFS server (nfsd), each of which works on one request; the usual number unless given."""
    export: Literal["sync", "async"] | None = None
    """Whether an NFS server answers a write when it is on the medium (`sync`) or when it is in memory (`async`)."""
    write_behind: PositiveSize = 64 << 20
    """What the memory of an `async` server takes before writers wait."""
    client_cores: int | None = Field(default=None, ge=1, le=4096)
    client_speed: float = Field(default=1.0, gt=0)
    """Cores of each client (as many as the server has unless given), and how much faster they are than the server's."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the protocol in the catalogue that are different here."""

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Self:
        for name in ("port", "client_port"):
            link: LinkSpec | None = getattr(self, name)
            if link is None:
                continue
            if link.model is not None and link_model(link.model).kind != "ethernet":
                raise refusal(f"{link.model}, which is no network", "expected: 1GbE to 100GbE", (name, "model"))
            if not link.duplex:
                raise refusal("a port that does not move data both ways at once", "expected: duplex: true", (name,))
        if self.protocol not in NFS:
            for name in ("threads", "export"):
                if getattr(self, name) is not None:
                    raise refusal(f"{name} with {self.protocol}", f"expected: with {' and '.join(NFS)}", (name,))
        units = isinstance(info.context, dict) and info.context.get("units") == "required"
        try:
            changed(protocol(self.protocol), self.overrides, units)
        except InputError as error:
            place = (error.place,) if error.place else ()
            found = error.found.removeprefix("found ")
            raise refusal(found, error.expected, ("overrides", *place)) from None
        return self

    def check(self, machine: MachineSpec) -> None:
        """Refuse names of links that the network needs itself."""
        mine = (PORT, *(client_name(number) for number in range(self.clients)))
        for name in (*machine.links, *machine.channels):
            if name in mine:
                raise refusal(
                    f"the link {name}, as a part of the network is called", "expected: another name", ("network",)
                )

    def spec(self) -> ProtocolSpec:
        """The protocol with the overrides."""
        return changed(protocol(self.protocol), self.overrides)


def client_name(number: int) -> str:
    """Name of a client in results."""
    return f"client{number}"
