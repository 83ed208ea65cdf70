"""From the description of links and cables to simulated ones."""

from __future__ import annotations

from ...model.links.link import Bus, DuplexLink, Link
from ..description.machine import ChannelSpec, LinkSpec


def built_link(name: str, spec: LinkSpec, ends: tuple[str, str] = ("to the host", "to the drives")) -> Link:
    """A link of a machine, or of a network; `ends` are its directions in words."""
    what = spec.model or ""
    if not spec.duplex:
        return Bus(name, spec.rate, spec.per_transfer, spec.write_rate, what)
    return DuplexLink(
        name, spec.rate, spec.per_transfer, spec.write_rate, what, command_rate=spec.command_rate, ends=ends
    )


def built_cable(name: str, spec: ChannelSpec) -> Link:
    """The cable between a drive and the links beyond."""
    what = spec.model or ""
    return DuplexLink(name, spec.rate, what=what) if spec.duplex else Link(name, spec.rate, what=what)
