"""What a storage protocol asks of the network and of the server: iSCSI, NFS and NVMe/TCP, each a file with sources.

CPU times are those of a core of `CORE_HZ`; another core takes them in proportion to its clock.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from ..files.catalogue_file import SourcedValue, catalogue_file, load_sourced
from ..files.description import Duration, PositiveSize, Rate, Size, Spec

CATALOGUE = Path(__file__).parent / "catalogue"
CORE_HZ = 3e9
ProtocolName = Literal["iscsi", "nfs3", "nfs4", "nvme-tcp"]


class ProtocolSpec(Spec):
    """A protocol; SI units."""

    title: str
    """Its name in words."""
    request_cpu: Duration
    """Time of the server's core for a request, but for its data."""
    send_rate: Rate
    receive_rate: Rate
    """Bytes of data that one core of the server sends, and receives, in a second."""
    request: Size
    reply: Size
    """Bytes of a request and of a reply on the wire, but for the data."""
    client: Duration
    """What the client adds to the latency of a request."""
    inline: PositiveSize
    """Most data that a write sends along with its request; with more, the server asks for them first, which takes
    another round trip."""
    depth: int = Field(ge=1, le=65536)
    device_depth: int = Field(default=0, ge=0, le=65536)
    """Requests that a client keeps outstanding at most, in all and on one device; 0 on a device for no other limit."""
    threads: int = Field(ge=0, le=65536)
    """Requests that the server works on at once; 0 for as many as come."""


def protocol_names() -> tuple[str, ...]:
    """Names of all protocols in the catalogue, sorted."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.yaml")))


def protocol(name: str) -> ProtocolSpec:
    """The protocol called `name`; `InputError` if there is none."""
    return _load(catalogue_file(CATALOGUE, "protocol", name))[0]


def protocol_sources(name: str) -> dict[str, SourcedValue]:
    """Where each number of a protocol comes from, by field."""
    return _load(catalogue_file(CATALOGUE, "protocol", name))[1]


@lru_cache(maxsize=8)
def _load(path: Path) -> tuple[ProtocolSpec, dict[str, SourcedValue]]:
    return load_sourced(ProtocolSpec, path)
