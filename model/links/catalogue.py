"""Buses, cables, networks and host bus adapters by name: "PCIe 4.0 x4", "SAS 12Gb/s x4", "10GbE", "9300-8i".

What a link moves for its users is less than its line rate: the line's code takes bits, and every packet has a head and
gaps around it. With `b` bits/s on each of `n` lanes, a code that leaves the share `c`, and packets of `p` bytes of data
and `o` others, each direction moves ``n b c / 8 * p / (p + o)`` bytes/s. The numbers are in `link_catalogue.yaml`, each
with its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..files.catalogue_file import SourcedValue
from ..files.quantities import format_size, parse_frequency, parse_size
from ..files.yaml_files import KeyPath, Positions, read_yaml

CATALOGUE = Path(__file__).parent / "catalogue" / "links.yaml"
LEAST_PAYLOAD, MOST_PAYLOAD = 128, 4096
"""Max_Payload_Size of PCI Express (bytes), a power of two."""
LEAST_MTU, MOST_MTU = 576, 9216
"""Bytes of an Ethernet frame after its header: what every IPv4 host takes, and what switches take."""
_FAMILIES = {
    "pcie": "PCIe {} x{}",
    "sata": "SATA {}",
    "sas": "SAS {} x{}",
    "fibre-channel": "{}GFC",
    "ethernet": "{}GbE",
}
_SERIES_OF_PCIE = ("pcie", "chipset", "adapter")


@dataclass(frozen=True, slots=True)
class LinkModel:
    """A link of the catalogue.

    Attributes
    ----------
    name
        "PCIe 4.0 x4".
    kind
        "pcie", "sata", "sas", "fibre-channel", "ethernet", "chipset" or "adapter".
    duplex
        Whether both directions work at once.
    rate, write_rate
        Bytes of data per second towards the host, and towards the drives.
    command_rate
        Commands per second that it takes at most; None for what is no adapter.
    line
        The line in words: "8 lanes of 8 Gb/s, 128/130, packets of 256 + 28 B".
    """

    name: str
    kind: str
    duplex: bool
    rate: float
    write_rate: float
    command_rate: float | None
    line: str


def link_names() -> tuple[str, ...]:
    """All names of the catalogue, family by family."""
    return tuple(_known())


def link_model(name: str, max_payload: int | None = None, mtu: int | None = None) -> LinkModel:
    """A link by its name, in any case of its letters.

    Parameters
    ----------
    name
        One of :func:`link_names`; "x1" may be left out.
    max_payload
        Bytes of data in a packet of PCI Express, if not those of the catalogue.
    mtu
        Bytes of an Ethernet frame after its header, 1500 unless given.

    Raises
    ------
    InputError
        If there is none of this name, or a size does not belong to it or cannot be; its place is the argument's name.
    """
    found = _known()[_canonical(name)]
    if max_payload is None and mtu is None:
        return found
    if max_payload is not None:
        if found.kind not in _SERIES_OF_PCIE:
            raise InputError("max_payload", f"found one of {found.name}", "expected: with PCI Express")
        if not LEAST_PAYLOAD <= max_payload <= MOST_PAYLOAD or max_payload & (max_payload - 1):
            allowed = f"expected: a power of two, {LEAST_PAYLOAD} to {MOST_PAYLOAD} bytes"
            raise InputError("max_payload", f"found {format_size(max_payload)}", allowed)
    if mtu is not None:
        if found.kind != "ethernet":
            raise InputError("mtu", f"found one of {found.name}", "expected: with Ethernet")
        if not LEAST_MTU <= mtu <= MOST_MTU:
            raise InputError("mtu", f"found {mtu} bytes", f"expected: {LEAST_MTU} to {MOST_MTU} bytes")
    return _models(max_payload, mtu)[found.name]


def link_sources(name: str) -> dict[str, SourcedValue]:
    """Where the numbers of a link come from, by field."""
    found = _known()[_canonical(name)]
    data, _ = _catalogue()
    if found.kind == "adapter":
        own = data["adapters"][found.name]
        return {key: _sourced(own[key]) for key in own} | link_sources(str(own["line"]["value"]))
    if found.kind == "chipset":
        own = data["chipsets"][found.name]
        return {"line": _sourced(own["line"])} | link_sources(str(own["line"]["value"]))
    family = data[found.kind]
    line = next(key for key in family["lines"] if found.name in _named(found.kind, key, family["lanes"]["value"]))
    sources = {key: _sourced(family["lines"][line][key]) for key in ("baud", "encoding")}
    sources |= {key: _sourced(family[key]) for key in ("duplex", "lanes", "payload", "link_layer")}
    return sources | {f"overhead {key}": _sourced(value) for key, value in family["overhead"].items()}


@lru_cache(maxsize=1)
def _catalogue() -> tuple[dict[str, Any], Positions]:
    """The file, of which every value is known to say where it comes from."""
    data, positions = read_yaml(CATALOGUE)
    _check_origins(data, positions, ())
    return data, positions


def _check_origins(data: Mapping[str, Any], positions: Positions, path: KeyPath) -> None:
    for key, inner in data.items():
        at = (*path, key)
        if not isinstance(inner, dict):
            if key != "name":
                raise InputError(positions.place(at), f"found {inner!r}"[:80], "expected: value, and source or assumed")
        elif "value" in inner:
            if inner.keys() not in ({"value", "source"}, {"value", "assumed"}):
                raise InputError(positions.place(at), "no origin", "expected: value, and either source or assumed")
        else:
            _check_origins(inner, positions, at)


def _sourced(entry: Mapping[str, Any]) -> SourcedValue:
    return SourcedValue(entry["value"], entry.get("source"), entry.get("assumed"))


def _known() -> dict[str, LinkModel]:
    return _models(None, None)


@lru_cache(maxsize=32)
def _models(max_payload: int | None, mtu: int | None) -> dict[str, LinkModel]:
    """All links with these packets, by name."""
    data, _ = _catalogue()
    found: dict[str, LinkModel] = {}
    for kind in _FAMILIES:
        for model in _family(kind, data[kind], max_payload, mtu):
            found[model.name] = model
    for name, entry in data["chipsets"].items():
        found[name] = replace(found[entry["line"]["value"]], name=name, kind="chipset")
    for name, entry in data["adapters"].items():
        drives, ports = entry["drives"]["value"], entry["ports"]["value"]
        host, lane = found[entry["line"]["value"]], found[f"{drives} x1"]
        found[name] = replace(
            host,
            name=name,
            kind="adapter",
            rate=min(host.rate, ports * lane.rate),
            write_rate=min(host.write_rate, ports * lane.write_rate),
            command_rate=float(entry["command_rate"]["value"]),
            line=f"{host.name}, {ports} ports of {drives}",
        )
    return found


def _family(kind: str, family: Mapping[str, Any], max_payload: int | None, mtu: int | None) -> list[LinkModel]:
    found = []
    payload = parse_size(family["payload"]["value"])
    overheads = [
        parse_size(family["overhead"][way]["value"]) + parse_size(family["link_layer"]["value"])
        for way in ("to_host", "to_drives")
    ]
    if kind == "pcie" and max_payload is not None:
        payload = max_payload
    if kind == "ethernet" and mtu is not None:
        # Heads of IP and TCP are inside the MTU; they are the same however long the packet is.
        payload += mtu - 1500
    for line, entry in family["lines"].items():
        baud, encoding = parse_frequency(entry["baud"]["value"]), str(entry["encoding"]["value"])
        data_bits, line_bits = (int(part) for part in encoding.split("/"))
        lanes = family["lanes"]["value"]
        for width, name in zip(lanes, _named(kind, line, lanes), strict=True):
            raw = width * baud * data_bits / line_bits / 8
            to_host, to_drives = (raw * payload / (payload + overhead) for overhead in overheads)
            lane_words = f"{width} lanes of " if width > 1 else ""
            words = f"{lane_words}{baud / 1e9:g} Gb/s, {encoding}, packets of {payload} + {overheads[0]} B"
            found.append(LinkModel(name, kind, family["duplex"]["value"], to_host, to_drives, None, words))
    return found


def _named(kind: str, line: str, lanes: list[int]) -> list[str]:
    return [_FAMILIES[kind].format(line, width) for width in lanes]


def _plain(name: str) -> str:
    """A name without what people write differently."""
    return re.sub(r"[\s_-]+", "", name.casefold()).replace("gbps", "gb/s").replace("pciexpress", "pcie")


def _canonical(name: str) -> str:
    by_plain = {_plain(known): known for known in _known()}
    plain = _plain(name)
    known = by_plain.get(plain) or by_plain.get(f"{plain}x1")
    if known is None:
        close = get_close_matches(plain, by_plain, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(by_plain[each] for each in close)}? " if close else ""
        allowed = "PCIe 1.0 to 6.0 x1 to x16, DMI 3.0 x4, SATA 6Gb/s, SAS 12Gb/s x4, 10GbE, 16GFC, 9300-8i and others"
        raise InputError("model", f"found the unknown link {name[:60]!r}", f"{hint}expected: {allowed} (raidsim links)")
    return known
