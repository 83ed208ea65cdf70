"""What the catalogues tell: all entries side by side, or every number of one of them with its source."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ...model.controller.catalogue import ControllerSpec, controller, controller_names, controller_sources
from ...model.core.errors import InputError
from ...model.file_system import file_system_names, file_system_settings, file_system_sources
from ...model.files.catalogue_file import SourcedValue
from ...model.files.quantities import format_size
from ...model.links.catalogue import LinkModel, link_model, link_names, link_sources
from ...model.network.protocols import ProtocolSpec, protocol, protocol_names, protocol_sources
from ..answer.numbers import COUNT, fixed
from ..answer.tree import Answer, Column, Marked, Row, Table, Words

Spec = TypeVar("Spec")
_US = fixed(0, " us")
_JOURNALS = {"none": "none", "blocks": "of blocks", "records": "of records"}


def makers_rate(rate: float) -> str:
    """A rate in the makers' decimal units: "266 MB/s", "3.20 GB/s"."""
    return f"{rate / 1e9:.2f} GB/s" if rate >= 1e9 else f"{rate / 1e6:.3g} MB/s"


def entry_document(name: str, values: Mapping[str, Any], sources: Mapping[str, SourcedValue]) -> dict[str, Any]:
    """Return one entry: ``name`` and ``fields``, each with ``value`` (SI units), ``source``, ``assumed``, ``spread``.

    A field that the file leaves to its default has neither source nor assumption.
    """
    fields = {}
    for key, value in values.items():
        origin = sources.get(key)
        fields[key] = {
            "value": value,
            "source": origin.source if origin else None,
            "assumed": origin.assumed if origin else None,
            "spread": origin.spread if origin else None,
        }
    return {"name": name, "fields": fields}


def entry_table(sources: Mapping[str, SourcedValue]) -> Table:
    """Return one entry as it is written in its file."""
    rows = [
        (key, _written(each.value), each.source or Marked(f"assumed{_spread(each)}: {each.assumed}", "doubt"))
        for key, each in sources.items()
    ]
    return Table("", (Column("field"), Column("value", show=str), Column("from")), rows)


def _spread(each: SourcedValue) -> str:
    """How far off an assumption may be: its standard deviation, as a factor."""
    return "" if each.spread is None else f" to a factor of {math.exp(each.spread):.2g}"


def _written(value: Any) -> str:
    """A value as the file has it."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_written, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Catalogue(Generic[Spec]):
    """A catalogue: its entries, where their numbers come from, and what a table shows of each.

    Attributes
    ----------
    name
        Its key in the JSON document of all entries.
    names, entry, sources
        What there is, an entry by its name, and the sources of its numbers.
    values
        An entry as plain data in SI units.
    columns, row
        Columns of the table, and the cells of an entry after its name.
    """

    name: str
    names: Callable[[], Sequence[str]]
    entry: Callable[[str], Spec]
    sources: Callable[[str], Mapping[str, SourcedValue]]
    values: Callable[[Spec], dict[str, Any]]
    columns: Sequence[Column]
    row: Callable[[Spec], Row]

    def known(self, name: str) -> str:
        """The name of an entry as the catalogue has it; `InputError` if there is none."""
        self.entry(name)
        return next(known for known in self.names() if known.casefold() == name.casefold())

    def document(self, name: str | None = None) -> dict[str, Any]:
        """All entries by name, or one with its sources, in SI units."""
        if name is None:
            return {self.name: {known: self.values(self.entry(known)) for known in self.names()}}
        return entry_document(self.known(name), self.values(self.entry(name)), self.sources(name))

    def table(self) -> Table:
        """All entries."""
        return Table("", self.columns, [(name, *self.row(self.entry(name))) for name in self.names()])

    def answer(self, name: str | None = None) -> Answer:
        """All entries, or one with the sources of its numbers."""
        return Answer("", [self.table() if name is None else entry_table(self.sources(name))])


def _dumped(spec: Any) -> dict[str, Any]:
    values: dict[str, Any] = spec.model_dump(mode="json")
    return values


def _rates(*names: str) -> list[Column]:
    return [Column(name, show=makers_rate) for name in names]


def _writes(spec: ControllerSpec) -> str:
    """What becomes of a write as the controller is shipped: its policy, unless the battery forbids it."""
    if spec.write_policy != "write-back":
        return spec.write_policy
    if not spec.writes_back:
        return "write-through"
    return "write-back" if spec.battery == "good" else "write-back, forced"


CONTROLLERS: Catalogue[ControllerSpec] = Catalogue(
    "controllers",
    controller_names,
    controller,
    controller_sources,
    _dumped,
    (
        Column("controller", whole=True),
        *_rates("host link"),
        Column("ports", show=str),
        Column("cache", show=str),
        *_rates("XOR"),
        Column("command", show=_US, scale=1e6),
        Column("writes"),
        Column("RAID levels"),
    ),
    lambda spec: (
        spec.host_rate,
        str(spec.ports),
        format_size(spec.cache),
        spec.xor_rate,
        spec.command,
        _writes(spec),
        ", ".join(level.removeprefix("raid") for level in spec.levels),
    ),
)


def _file_system_row(kind: Any) -> Row:
    journal = _JOURNALS[kind.journal] + (f", {format_size(kind.journal_size)}" if kind.journal != "none" else "")
    sizes = (format_size(kind.block), format_size(kind.group))
    placed = "at write-back" if kind.delayed else "at once"
    return (*sizes, kind.inode_place, kind.directories, kind.mapping, placed, journal)


FILE_SYSTEMS: Catalogue[Any] = Catalogue(
    "file_systems",
    file_system_names,
    file_system_settings,
    file_system_sources,
    _dumped,
    (
        Column("file system"),
        *(Column(name, show=str) for name in ("block", "group")),
        *map(Column, ("inodes", "directories", "bytes are found by", "place given", "journal")),
    ),
    _file_system_row,
)

_PROTOCOLS: Catalogue[ProtocolSpec] = Catalogue(
    "protocols",
    protocol_names,
    protocol,
    protocol_sources,
    _dumped,
    (
        Column("protocol", whole=True),
        Column("CPU a request", show=_US, scale=1e6),
        *_rates("sends", "receives"),
        Column("client adds", show=_US, scale=1e6),
        *(Column(name, show=str) for name in ("outstanding", "threads")),
    ),
    lambda spec: (
        spec.request_cpu,
        spec.send_rate,
        spec.receive_rate,
        spec.client,
        f"{spec.depth:,}" + (f" ({spec.device_depth:,} a device)" if spec.device_depth else ""),
        f"{spec.threads}" if spec.threads else "",
    ),
)


def _link_words(found: LinkModel) -> str:
    way = "each way at once" if found.duplex else "one way at a time"
    rates = makers_rate(found.rate)
    if found.write_rate != found.rate:
        rates = f"{rates} to the host, {makers_rate(found.write_rate)} to the drives"
    return f"{found.name}: {rates}, {way} ({found.line})"


LINKS: Catalogue[LinkModel] = Catalogue(
    "links",
    link_names,
    link_model,
    link_sources,
    dataclasses.asdict,
    (
        Column("link", whole=True),
        *_rates("to the host", "to the drives"),
        Column("both at once"),
        Column("commands/s", show=COUNT),
        Column("line", whole=True),
    ),
    lambda found: (found.rate, found.write_rate, "yes" if found.duplex else "no", found.command_rate, found.line),
)


def links_answer(name: str | None = None) -> Answer:
    """All links, and the protocols that a network in front of a machine may speak; or one of them."""
    if name is None:
        return Answer("", [LINKS.table(), _PROTOCOLS.table()])
    if _is_protocol(name):
        return _PROTOCOLS.answer(name.casefold())
    return Answer("", [Words(_link_words(link_model(name))), entry_table(link_sources(name))])


def links_document(name: str | None = None) -> dict[str, Any]:
    """The same as plain data in SI units."""
    if name is None:
        return {**LINKS.document(), **_PROTOCOLS.document()}
    if _is_protocol(name):
        return _PROTOCOLS.document(name.casefold())
    found, sources = link_model(name), link_sources(name)
    values = {**dataclasses.asdict(found), **{key: origin.value for key, origin in sources.items()}}
    return entry_document(found.name, values, sources)


def _is_protocol(name: str) -> bool:
    """Whether a name is a protocol's; `InputError` if it is no link's either."""
    if name.casefold() in protocol_names():
        return True
    try:
        link_model(name)
    except InputError as error:
        protocols = ", ".join(protocol_names())
        raise InputError(f"link {name!r}", error.found, f"{error.expected}, and {protocols}") from None
    return False
