"""File systems: one model, and one file of numbers for each kind."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .geometry import on_array, with_log_on
from .settings import (
    FileSystemSettings,
    file_system_names,
    file_system_settings,
    file_system_sources,
    instead_of,
)

if TYPE_CHECKING:
    from .file_system import FileSystem
    from .nodes import Directory, File

__all__ = [
    "Directory",
    "File",
    "FileSystem",
    "FileSystemSettings",
    "file_system_names",
    "file_system_settings",
    "file_system_sources",
    "instead_of",
    "on_array",
    "with_log_on",
]

_SIMULATED = {"FileSystem": "file_system", "Directory": "nodes", "File": "nodes"}
"""Names that are imported when they are first used, and their modules: most machines have no file system."""


def __getattr__(name: str) -> Any:
    if name not in _SIMULATED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_SIMULATED[name]}", __name__), name)
