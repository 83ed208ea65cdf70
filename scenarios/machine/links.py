"""Links and cables, of a machine or of a network."""

from __future__ import annotations

from ...model.links.link import Bus, DuplexLink, Link
from ..description.machine import ChannelSpec, LinkSpec


def built_link(
    name: str, spec: LinkSpec | ChannelSpec, ends: tuple[str, str] = ("to the host", "to the drives")
) -> Link:
    """A link of a machine or of a network, or the cable of a drive; `ends` are a link's directions in words."""
    what = spec.model or ""
    if isinstance(spec, ChannelSpec):
        return DuplexLink(name, spec.rate, what=what) if spec.duplex else Link(name, spec.rate, what=what)
    if not spec.duplex:
        return Bus(name, spec.rate, spec.per_transfer, spec.write_rate, what)
    return DuplexLink(
        name, spec.rate, spec.per_transfer, spec.write_rate, what, command_rate=spec.command_rate, ends=ends
    )
