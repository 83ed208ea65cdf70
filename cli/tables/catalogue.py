"""How an entry of a catalogue is shown: every field with where its number comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from ...model.files.catalogue_file import SourcedValue
from ..support.table import Table


def wide_console() -> Console:
    """A console whose piped output keeps its columns apart instead of being folded to 80 characters."""
    console = Console()
    return console if console.is_terminal else Console(width=200)


def makers_rate(rate: float) -> str:
    """A rate in the makers' decimal units: "266 MB/s", "3.20 GB/s"."""
    return f"{rate / 1e9:.2f} GB/s" if rate >= 1e9 else f"{rate / 1e6:.3g} MB/s"


def entry_document(name: str, values: Mapping[str, Any], sources: Mapping[str, SourcedValue]) -> dict[str, Any]:
    """Return one entry: ``name`` and ``fields``, each with ``value`` (SI units), ``source`` and ``assumed``.

    A field that the file leaves to its default has neither source nor assumption.
    """
    fields = {}
    for key, value in values.items():
        origin = sources.get(key)
        fields[key] = {
            "value": value,
            "source": origin.source if origin else None,
            "assumed": origin.assumed if origin else None,
        }
    return {"name": name, "fields": fields}


def entry_table(sources: Mapping[str, SourcedValue]) -> Table:
    """Return one entry as it is written in its file."""
    table = Table()
    table.add_column("field")
    table.add_column("value", justify="right")
    table.add_column("from")
    for key, origin in sources.items():
        words = Text(origin.source) if origin.source else Text(f"assumed: {origin.assumed}", style="yellow")
        table.add_row(Text(key), Text(_written(origin.value)), words)
    return table


def _written(value: Any) -> str:
    """A value as the file has it."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_written, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
